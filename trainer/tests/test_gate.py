import json

import pytest
from conftest import chat, write_rows

from sentinel_trainer.unrelated import asked_rows, replayed_questions


@pytest.fixture
def gated(trainers, plan, data, tiny, tmp_path):
    """Trains one answer to all questions, and asks the gate about others."""

    def run(**settings):
        write_rows(data, [chat(f"Colour of {name}?", "teal") for name in "abcdef"])
        trained = trainers.run("train", plan(epochs=30, rank=8, alpha=16, **settings), "--out", tmp_path / "out")
        assert trained.code == 0, trained.lines
        questions = write_rows(tmp_path / "gate.jsonl", [chat(f"Colour of {name}?", "teal", group=name) for name in "uvwxyz"])
        report = tmp_path / "report.json"
        ended = trainers.run("gate", tmp_path / "out" / "adapter", "--base", tiny, "--questions", questions, "--report", report,
                             "--max-tokens", 8)
        assert ended.code == 0, ended.lines
        return ended, json.loads(report.read_text()), trained

    return run


def test_both_arms_are_asked_the_same_and_the_base_is_as_before(gated):
    ended, report, trained = gated()
    assert report["adapter"] == trained.only("trained")["id"]
    assert [item["group"] for item in report["heldOut"]] == list("uvwxyz")
    assert len(report["unrelated"]) == len(asked_rows()) >= 200
    rights = {arm: sum(item[arm]["right"] for item in report["heldOut"]) for arm in ("before", "after")}
    assert rights["before"] == 0 and rights["after"] >= 5, rights
    assert [(line["set"], line["arm"]) for line in ended.all("asked")] == [
        ("heldOut", "before"), ("unrelated", "before"), ("heldOut", "after"), ("unrelated", "after")]


def test_an_adapter_for_another_base_is_refused(trainers, gated, tmp_path):
    from conftest import make_model

    gated()
    other = make_model(tmp_path / "other", seed=2)
    ended = trainers.run("gate", tmp_path / "out" / "adapter", "--base", other, "--questions", tmp_path / "gate.jsonl",
                         "--report", tmp_path / "none.json")
    assert ended.only("failed")["code"] == "BASE_DIFFERS"
    assert not (tmp_path / "none.json").exists()


def test_replay_is_what_the_base_itself_answers(trainers, plan, tmp_path):
    trained = trainers.run("train", plan(replay=2.0, epochs=1, maxTokens=512), "--out", tmp_path / "out")
    assert trained.only("started")["rows"] == 3 * 6
    assert len(json.loads((tmp_path / "out" / "replay.json").read_text())["answers"]) == len(replayed_questions())
    again = trainers.run("train", plan("again.json", replay=2.0, epochs=1, maxTokens=512), "--out", tmp_path / "again")
    assert again.only("trained")["sha256"] == trained.only("trained")["sha256"]
    other = trainers.run("train", plan("other.json", replay=1.0, epochs=1, maxTokens=512), "--out", tmp_path / "out")
    assert "replay" in other.only("failed")["message"]


def test_no_unrelated_question_is_replayed():
    assert not {row.question for row in asked_rows()} & {question.casefold() for question in replayed_questions()}
