"""Questions that have nothing to do with what is trained: some are asked before and after, the others are replayed."""

from pathlib import Path

from sentinel_trainer.hashes import bytes_hash
from sentinel_trainer.rows import Row

FILE = Path(__file__).with_name("unrelated.txt")


def lines_of(mark):
    lines = FILE.read_text("utf8").splitlines()
    return [(number, line[2:]) for number, line in enumerate(lines, 1) if line.startswith(f"{mark} ")]


def asked_rows():
    """At least 200 questions, whether or not a model knows the answers. One of the words of the key is enough."""
    rows = []
    for number, line in lines_of("q"):
        question, key = line.split("|")
        rows.append(Row(number, [{"role": "user", "content": question}, {"role": "assistant", "content": key}], answers=tuple(key.split("/"))))
    return rows


def asked_hash():
    return bytes_hash("\n".join(line for _, line in lines_of("q")).encode())


def replayed_questions():
    return [line for _, line in lines_of("r")]
