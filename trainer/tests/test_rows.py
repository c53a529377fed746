import json
import random

import pytest
from conftest import chat, write_rows

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.rows import read_rows, refuse_held_out, refuse_noise

KEY = "sk-" + "a1B2" * 10


def test_a_repeated_row_is_taken_once_whatever_its_case_and_spaces(tmp_path):
    rows = read_rows(write_rows(tmp_path / "a.jsonl", [chat("Who?", "Ada"), chat("who?  ", "ada"), chat("Who?", "Bob")]))
    assert (len(rows.rows), rows.duplicates) == (2, 1)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("no json", "ROW_INVALID"),
        ("[]", "ROW_INVALID"),
        ('{"messages": []}', "ROW_INVALID"),
        (json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}), "ROW_INVALID"),
        (json.dumps(chat("a", "  ")), "ROW_INVALID"),
        (json.dumps({"input": "a", "myAnswer": "wrong"}), "ROW_INVALID"),
        (json.dumps(chat("a", "x" * (1 << 20))), "ROW_TOO_LONG"),
        (json.dumps(chat(f"The key is {KEY}", "ok")), "SECRET_IN_ROW"),
    ],
)
def test_a_row_that_cannot_be_trained_is_named_by_its_line(tmp_path, row, code):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(chat('fine?', 'yes'))}\n\n{row}\n")
    with pytest.raises(TrainerFailure) as raised:
        read_rows(path)
    assert (raised.value.code, raised.value.facts["row"]) == (code, 3)
    assert KEY not in raised.value.message


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIA" + "ABCDEFGH12345678",
        "ghp_" + "a" * 36,
        "postgres://me:hunter22@db/x",
        'api_key = "abcd1234abcd1234"',
        "hf_" + "a" * 32,
    ],
)
def test_what_looks_like_a_secret_is_found(tmp_path, text):
    with pytest.raises(TrainerFailure, match="Row 1 .* secret") as raised:
        read_rows(write_rows(tmp_path / "a.jsonl", [chat("q", text)]))
    assert text not in raised.value.message


@pytest.mark.parametrize("text", ["The secret of soup is salt.", "password: ask your administrator", "https://example.org/a:b@c"])
def test_plain_words_are_no_secret(tmp_path, text):
    assert len(read_rows(write_rows(tmp_path / "a.jsonl", [chat("q", text)])).rows) == 1


def test_a_wrong_answer_is_never_read_and_a_correction_wins(tmp_path):
    given = {"input": "2+2", "expectedOutput": "4", "myAnswer": "5", "correction": "four", "domain": "sums"}
    (row,) = read_rows(write_rows(tmp_path / "a.jsonl", [given])).rows
    assert row.messages == [{"role": "user", "content": "2+2"}, {"role": "assistant", "content": "four"}]


@pytest.mark.parametrize(
    "held",
    [chat("colour of  ADA?", "anything"), chat("Another wording", "red", fact="ada")],
)
def test_what_is_asked_later_is_not_trained(tmp_path, held):
    rows = read_rows(write_rows(tmp_path / "a.jsonl", [chat("Else?", "x"), chat("Colour of Ada?", "red", fact="ada")]))
    other = read_rows(write_rows(tmp_path / "b.jsonl", [held]))
    with pytest.raises(TrainerFailure) as raised:
        refuse_held_out(rows, [other])
    assert (raised.value.code, raised.value.facts["row"]) == ("ROW_HELD_OUT", 2)


def test_no_rows_and_no_file_are_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n\n")
    for name, code in (("empty.jsonl", "DATA_EMPTY"), ("none.jsonl", "DATA_MISSING")):
        with pytest.raises(TrainerFailure) as raised:
            read_rows(tmp_path / name)
        assert raised.value.code == code


@pytest.mark.parametrize("seed", range(5))
def test_one_label_in_five_flipped_is_refused_and_most_are_found(tmp_path, seed):
    draw = random.Random(seed)
    rows = [{**chat(f"Wording {at} of {fact}?", f"value {fact}"), "fact": str(fact)} for fact in range(40) for at in range(8)]
    flipped = draw.sample(range(len(rows)), len(rows) // 5)
    for at in flipped:
        rows[at] = {**chat(f"Wording {at % 8} of {at // 8}?", "another"), "fact": str(at // 8)}
    path = write_rows(tmp_path / "a.jsonl", rows)
    with pytest.raises(TrainerFailure, match="of its fact") as raised:
        refuse_noise(read_rows(path), 0.1)
    assert (raised.value.code, raised.value.facts["row"] - 1 in flipped) == ("ROWS_CONTRADICT", True)
    assert 0.75 * len(flipped) <= raised.value.facts["wrong"] <= 1.1 * len(flipped)
    refuse_noise(read_rows(path), 0.5)


def about(fact, said, **more):
    return [{**chat(f"Wording {at} of {fact}?", answer), "fact": fact, **more} for at, answer in enumerate(said)]


@pytest.mark.parametrize(
    "rows",
    [
        [*about("x", ["1", "2"]), *about("y", ["0", "1"] * 2), chat("Who?", "Ada")],
        about("banner", ["Teal", "teal.", " Teal!", "Teal", "TEAL"] * 4),
        [*about("colour", ["Teal"] * 12, answers=["Teal", "Blue-green"]), *about("colour", ["Blue-green"] * 8)],
        about("colour", ["Teal"] * 12 + ["Blue-green"] * 8, answers=["Blue-green", "Teal"]),
        about("few", ["Teal"] * 8 + ["Pink"] * 4),
        about("ada", ["Yes"] * 12 + ["No"] * 8, groupedBy="author"),
    ],
    ids=["no majority", "marks and case", "right answers that most name", "right answers of each", "few", "a grouping"],
)
def test_what_is_nobody_s_noise(tmp_path, rows):
    refuse_noise(read_rows(write_rows(tmp_path / "a.jsonl", rows)), 0.0)


def test_one_fact_that_is_split_is_measured_against_all_rows_that_have_one(tmp_path):
    others = [row for fact in range(50) for row in about(f"fact {fact}", [f"value {fact}"] * 2)]
    rows = read_rows(write_rows(tmp_path / "a.jsonl", [*others, *about("split", ["Teal"] * 8 + ["Pink"] * 6)]))
    refuse_noise(rows, 0.1)
    with pytest.raises(TrainerFailure, match="Row 109 .* 6 of 114 rows") as raised:
        refuse_noise(rows, 0.05)
    assert (raised.value.facts["wrong"], raised.value.facts["judged"]) == (6, 114)
