"""Rows of data sets: a conversation whose last message is the answer, one JSON object a line."""

import hashlib
import json
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.secrets import secret_in

LINE_BYTES_MAX = 1 << 20
# Rows of a fact, of which one answer can be most.
MAJORITY_OF = 3
# Fewer rows that contradict are no noise, whatever share they are.
CONTRADICTING_MIN = 5
PAIRS = [("input", "correction"), ("input", "expectedOutput"), ("input", "expected"), ("input", "output"),
         ("prompt", "completion"), ("question", "answer")]


@dataclass(frozen=True)
class Row:
    """`number` counts lines of the file from 1. `answers` are all that count as right, where a row says so.

    A `fact` that is asked later is never trained. A `group` may be: it only says which questions belong together.
    Where a row says by which field it was grouped, its `fact` is a document or an author, of which many things are asked.
    """

    number: int
    messages: list
    tools: list | None = None
    fact: str | None = None
    group: str | None = None
    answers: tuple = ()
    is_grouped: bool = False

    @property
    def question(self):
        return normal("\n".join(text_of(message) for message in self.messages[:-1] if message["role"] != "system"))

    def content_key(self):
        """The same for rows that say the same."""
        said = [[message["role"], normal(text_of(message))] for message in self.messages]
        return hashlib.sha256(json.dumps([said, self.tools], sort_keys=True).encode()).digest()

    @property
    def answer(self):
        return self.messages[-1]["content"]

    @property
    def right(self):
        """Every answer that it takes for right, each once."""
        return dict.fromkeys(bare(answer) for answer in (self.answer, *self.answers))


@dataclass(frozen=True)
class Rows:
    rows: list
    duplicates: int
    hash: str
    file: str


def normal(text):
    """Equal for texts that differ in case, white space or the form of their characters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def bare(text):
    """The same without marks at the end; what has nothing else stays."""
    end = len(text := normal(text))
    while end > 0 and (text[end - 1].isspace() or text[end - 1] in ".!?,;:…。！？"):
        end -= 1
    return text[:end] or text


def text_of(message):
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content, sort_keys=True)


def read_rows(path, limit=2_000_000):
    """All rows but repeated ones. Fails with the number of the first row that cannot be used."""
    path = Path(path)
    if not path.is_file():
        raise TrainerFailure("DATA_MISSING", f"There is no file {path}.", file=str(path))
    rows, seen, duplicates, digest = [], set(), 0, hashlib.sha256()
    with open(path, "rb") as file:
        number = 0
        while line := file.readline(LINE_BYTES_MAX + 2):
            number += 1
            if len(line.rstrip(b"\r\n")) > LINE_BYTES_MAX:
                refuse("ROW_TOO_LONG", path, number, f"is longer than {LINE_BYTES_MAX} bytes")
            if not line.strip():
                continue
            row = read_row(line, path, number)
            key = row.content_key()
            if key in seen:
                duplicates += 1
                continue
            if len(rows) >= limit:
                refuse("DATA_TOO_LARGE", path, number, f"is beyond the {limit} rows that one training takes")
            seen.add(key)
            digest.update(json.dumps([row.messages, row.tools, row.fact], sort_keys=True).encode())
            rows.append(row)
    if not rows:
        raise TrainerFailure("DATA_EMPTY", f"{path} has no rows.", file=str(path))
    return Rows(rows, duplicates, digest.hexdigest(), str(path))


def read_row(line, path, number):
    try:
        given = json.loads(line)
    except ValueError:
        refuse("ROW_INVALID", path, number, "is not JSON")
    if not isinstance(given, dict):
        refuse("ROW_INVALID", path, number, "is not an object")
    messages = given.get("messages") if "messages" in given else pair(given)
    check_messages(messages, path, number)
    tools, answers = given.get("tools"), given.get("answers", [])
    fact, group = (None if given.get(key) is None else str(given[key]) for key in ("fact", "group"))
    if tools is not None and not isinstance(tools, list):
        refuse("ROW_INVALID", path, number, 'has "tools" that are not a list')
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        refuse("ROW_INVALID", path, number, 'has "answers" that are not a list of texts')
    found = secret_in("\n".join(text_of(message) for message in messages))
    if found is not None:
        refuse("SECRET_IN_ROW", path, number, f"holds what looks like a secret ({found}); take it out", rule=found)
    return Row(number, messages, tools, fact, group, tuple(answers), given.get("groupedBy") is not None)


def pair(given):
    """A question and its answer in two fields. A wrong answer beside the right one (`myAnswer`) is never read."""
    for asked, said in PAIRS:
        if isinstance(given.get(asked), str) and isinstance(given.get(said), str):
            return [{"role": "user", "content": given[asked]}, {"role": "assistant", "content": given[said]}]
    return None


def check_messages(messages, path, number):
    if not isinstance(messages, list) or len(messages) < 2:
        refuse("ROW_INVALID", path, number, 'has neither "messages" nor a question with its answer')
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            refuse("ROW_INVALID", path, number, "has a message without a role")
    last = messages[-1]
    if last["role"] != "assistant" or not isinstance(last.get("content"), str) or not last["content"].strip():
        refuse("ROW_INVALID", path, number, "does not end with an answer of the assistant")


def refuse_held_out(rows, held_out):
    """Nothing that is asked later may be trained: no question, and no fact where rows name theirs."""
    for other in held_out:
        questions = {row.question for row in other.rows}
        facts = {row.fact for row in other.rows if row.fact is not None}
        for row in rows.rows:
            if row.question in questions:
                refuse("ROW_HELD_OUT", rows.file, row.number, f"asks a question of {other.file}")
            if row.fact in facts:
                refuse("ROW_HELD_OUT", rows.file, row.number, f'is about "{row.fact}", as {other.file} is')


def refuse_noise(rows, limit):
    """Rows about one fact answer alike: where most of a fact's rows do, the others are taken for wrong."""
    facts, wrong = {}, []
    for row in rows.rows:
        if row.fact is not None and not row.is_grouped:
            facts.setdefault(row.fact, []).append(row)
    judged = sum(len(about) for about in facts.values())
    for about in facts.values():
        answer, count = Counter(answer for row in about for answer in row.right).most_common(1)[0]
        if len(about) < MAJORITY_OF or count * 2 <= len(about):
            continue
        right = {other for row in about if answer in row.right for other in row.right}
        wrong += [row for row in about if right.isdisjoint(row.right)]
    if len(wrong) >= CONTRADICTING_MIN and len(wrong) > limit * judged:
        first = min(row.number for row in wrong)
        refuse(
            "ROWS_CONTRADICT", rows.file, first,
            f"answers otherwise than most rows of its fact, as {len(wrong)} of {judged} rows with a fact do; correct them, or raise \"noise\" ({limit})",
            wrong=len(wrong), judged=judged,
        )


def refuse(code, path, number, reason, **facts):
    raise TrainerFailure(code, f"Row {number} of {path} {reason}.", row=number, file=str(path), **facts)
