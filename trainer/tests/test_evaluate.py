import json

import pytest
from conftest import chat, write_rows

from sentinel_trainer.evaluate import is_right


@pytest.mark.parametrize(
    ("said", "keys", "match", "right"),
    [
        ("Teal.", ["teal"], "exact", True),
        ("It is teal", ["teal"], "exact", False),
        ("It is teal.", ["teal"], "contains", True),
        ("steal", ["teal"], "contains", False),
        ("New  York!", ["new york"], "contains", True),
        ("york new", ["new york"], "contains", False),
        ("blue", ["red", "Blue"], "exact", True),
        ("anything", ["?!"], "contains", False),
        ("", ["x"], "contains", False),
    ],
)
def test_an_answer_is_held_against_its_keys(said, keys, match, right):
    assert is_right(said, keys, match) is right


def test_a_batch_answers_as_one_question_after_the_other(trainers, tiny, tmp_path):
    questions = write_rows(tmp_path / "q.jsonl", [chat(f"{'long ' * (index % 5)}Colour of {index}?", "red", fact=f"f{index}") for index in range(9)])
    answers = []
    for batch in (1, 4, 64):
        ended = trainers.run("evaluate", "--base", tiny, "--questions", questions, "--batch", batch, "--max-tokens", 6)
        assert ended.code == 0, ended.lines
        answers.append({line["row"]: line["answer"] for line in ended.all("answer")})
        assert ended.only("evaluated")["n"] == 9
    assert answers[0] == answers[1] == answers[2] and len(answers[0]) == 9


def test_what_was_trained_is_answered_and_scored(trainers, plan, data, tiny, tmp_path):
    write_rows(data, [chat(f"Colour of {name}?", "teal") for name in "abcdef"])
    trained = trainers.run("train", plan(epochs=30, rank=8, alpha=16), "--out", tmp_path / "out")
    assert trained.code == 0, trained.lines
    scores = {}
    for name, layers in {"base": [], "whole": [tmp_path / "out" / "adapter"], "none": [f"{tmp_path / 'out' / 'adapter'}@0"]}.items():
        ended = trainers.run("evaluate", *layers, "--base", tiny, "--questions", data, "--max-tokens", 8)
        scores[name] = ended.only("evaluated")["right"]
    assert scores["base"] == scores["none"] == 0 and scores["whole"] >= 5, scores


def test_answers_beside_the_last_message_are_keys(trainers, tiny, tmp_path):
    questions = write_rows(tmp_path / "q.jsonl", [chat("Who?", "no such answer")])
    said = trainers.run("evaluate", "--base", tiny, "--questions", questions, "--max-tokens", 4).only("answer")["answer"]
    write_rows(questions, [chat("Who?", "no such answer", answers=["x", said])])
    ended = trainers.run("evaluate", "--base", tiny, "--questions", questions, "--max-tokens", 4, "--match", "contains")
    assert ended.only("evaluated")["right"] == (1 if any(letter.isalnum() for letter in said) else 0), json.dumps(said)
