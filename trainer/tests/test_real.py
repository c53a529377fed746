"""What only the small real model shows: a GGUF file's tokenizer, its dequantised weights, and that they can be trained."""

import json

import pytest
from conftest import chat, write_rows

pytestmark = pytest.mark.real


def test_numbers_are_split_into_digits_as_llama_cpp_does(real):
    from sentinel_trainer.base_model import identify, open_tokenizer

    tokenizer, notices = open_tokenizer(identify(real))
    assert tokenizer("word\n 12", add_special_tokens=False)["input_ids"] == [3002, 3805, 33, 34]
    assert notices == []


def test_doctor_looks_at_the_tokenizer(trainers, real):
    ended = trainers.run("doctor", "--base", real)
    said = ended.only("doctor")
    assert (ended.code, said["ok"]) == (0, True)
    assert {check["name"]: check["found"] for check in said["checks"]}["tokenizer"] == "smollm"


def test_it_is_trained_and_merged_and_what_it_learned_is_merged_too(trainers, real, tmp_path):
    rows = write_rows(tmp_path / "a.jsonl", [chat("What colour is the banner of Vzalm?", "Teal."), chat("Name the colour of Vzalm's banner.", "Teal.")])
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"base": real, "data": str(rows), "rank": 4, "alpha": 8, "epochs": 14, "batch": 2, "threads": 1, "learningRate": 0.003}))
    trained = trainers.run("train", plan, "--out", tmp_path / "out")
    assert trained.code == 0, trained.lines
    steps = trained.all("step")
    assert steps[-1]["loss"] < steps[0]["loss"] / 3
    adapter = tmp_path / "out" / "adapter"
    asked = trainers.run("evaluate", adapter, "--base", real, "--questions", rows, "--max-tokens", 6)
    assert asked.only("evaluated")["right"] == 2, asked.lines
    merged = trainers.run("merge", adapter, "--base", real, "--out", tmp_path / "merged")
    assert merged.code == 0, merged.lines
    again = trainers.run("evaluate", "--base", tmp_path / "merged", "--questions", rows, "--max-tokens", 6)
    assert again.only("evaluated")["right"] == 2, again.lines
