"""Whole trainings of a tiny model, each a process of its own."""

import json
import os
import random
import shutil
from hashlib import sha256

import pytest
from conftest import chat, make_model, write_rows

SHA = "adapter_model.safetensors"


def hash_of(out):
    return sha256((out / "adapter" / SHA).read_bytes()).hexdigest()


@pytest.fixture
def undisturbed(trainers, plan, tmp_path):
    ended = trainers.run("train", plan(), "--out", tmp_path / "undisturbed")
    assert ended.code == 0, ended.lines
    return hash_of(tmp_path / "undisturbed")


def test_a_training_says_what_it_does_and_learns(trainers, plan, tmp_path):
    ended = trainers.run("train", plan(epochs=12), "--out", tmp_path / "out")
    assert ended.code == 0, ended.lines
    steps, trained = ended.all("step"), ended.only("trained")
    assert [line["step"] for line in steps] == list(range(1, 37)) and steps[0]["steps"] == 36
    assert set(steps[0]) == {"event", "step", "steps", "epoch", "loss", "learningRate", "tokensPerSecond", "etaSeconds", "memoryBytes"}
    assert steps[-1]["loss"] < steps[0]["loss"] / 2 and steps[-1]["epoch"] == 12
    manifest = json.loads((tmp_path / "out" / "adapter" / "manifest.json").read_text())
    assert manifest["sha256"] == hash_of(tmp_path / "out") == trained["sha256"]
    assert manifest["rank"] == 4 and manifest["parents"] == [] and manifest["data"]["rows"] == 6
    assert [line["step"] for line in ended.all("checkpoint")] == list(range(2, 37, 2))


def test_the_same_plan_gives_the_same_adapter_and_another_seed_another(trainers, plan, tmp_path, undisturbed):
    trainers.run("train", plan(), "--out", tmp_path / "again")
    trainers.run("train", plan(seed=4), "--out", tmp_path / "other")
    assert hash_of(tmp_path / "again") == undisturbed != hash_of(tmp_path / "other")


def test_killed_before_any_change_of_a_file_it_ends_as_if_undisturbed(trainers, plan, tmp_path, undisturbed):
    """kill -9 at file changes of a whole training; each time it goes on from a checkpoint or begins again."""
    step, at, resumed = int(os.environ.get("TRAINER_KILL_STEP", "3")), random.Random(7).randrange(3), 0
    while True:
        out = tmp_path / f"killed-{at}"
        killed = trainers.run("train", plan(), "--out", out, kill_at=at, under=out)
        if killed.code == 0:
            break
        assert killed.code == -9, killed.lines
        ended = trainers.run("train", plan(), "--out", out)
        assert ended.code == 0, (at, ended.lines)
        assert hash_of(out) == undisturbed, at
        announced = [line["step"] for line in killed.all("checkpoint")]
        if announced and not ended.only("trained")["wasDone"]:
            assert ended.only("resumed")["step"] >= announced[-1], at
            resumed += 1
        assert list(out.rglob("*.tmp")) == [], at
        shutil.rmtree(out)
        at += step
    assert at > 40 and resumed > 2


def test_patience_that_is_never_asked_gives_the_last_adapter(trainers, plan, tmp_path, undisturbed):
    held = write_rows(tmp_path / "held.jsonl", [chat("Colour of z?", "red")])
    ended = trainers.run("train", plan(validation=str(held), patience=2, validateEvery=1000), "--out", tmp_path / "out")
    assert ended.only("trained")["metrics"]["bestStep"] is None and hash_of(tmp_path / "out") == undisturbed


def test_killed_while_it_computes_it_ends_as_if_undisturbed(trainers, plan, tmp_path, undisturbed):
    out, draw = tmp_path / "killed", random.Random(5)
    steps = 0
    for _ in range(3):
        started = trainers.start("train", plan(), "--out", out)
        steps = min(5, steps + draw.randrange(1, 3))
        started.until("step", 1)
        started.signal("SIGKILL")
        started.end()
    assert trainers.run("train", plan(), "--out", out).code == 0
    assert hash_of(out) == undisturbed


def test_the_best_adapter_and_the_patience_survive_a_kill(trainers, plan, tmp_path):
    held = write_rows(tmp_path / "held.jsonl", [chat("Colour of z?", "red"), chat("Colour of y?", "blue")])
    settings = {"validation": str(held), "patience": 2, "validateEvery": 1, "checkpointEvery": 1, "epochs": 30, "learningRate": 0.05}
    whole = trainers.run("train", plan(**settings), "--out", tmp_path / "whole")
    metrics = whole.only("trained")["metrics"]
    assert metrics["steps"] < 90 and metrics["bestStep"] == metrics["steps"] - 2, metrics
    assert metrics["bestLoss"] == min(line["validationLoss"] for line in whole.all("validation"))
    out = tmp_path / "killed"
    started = trainers.start("train", plan(**settings), "--out", out)
    started.until("checkpoint", 1)
    started.signal("SIGKILL")
    assert started.end().code == -9
    again = trainers.run("train", plan(**settings), "--out", out)
    assert again.only("trained")["metrics"] == metrics and hash_of(out) == hash_of(tmp_path / "whole")
    # Killed after the last checkpoint and before there was an adapter, it does not train on.
    shutil.rmtree(out / "adapter")
    last = trainers.run("train", plan(**settings), "--out", out)
    assert last.all("step") == [] and hash_of(out) == hash_of(tmp_path / "whole")


def test_a_damaged_newest_checkpoint_is_passed_over_aloud(trainers, plan, tmp_path, undisturbed):
    out = tmp_path / "out"
    trainers.run("train", plan(), "--out", out)
    shutil.rmtree(out / "adapter")
    newest = max((out / "checkpoints").iterdir())
    file = newest / "adapter.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    ended = trainers.run("train", plan(), "--out", out)
    assert newest.name in ended.only("notice")["message"]
    assert ended.only("resumed")["step"] == 4 and hash_of(out) == undisturbed


def test_a_training_that_is_done_is_not_done_again(trainers, plan, tmp_path, undisturbed):
    ended = trainers.run("train", plan(), "--out", tmp_path / "undisturbed")
    assert ended.only("trained")["wasDone"] is True and ended.all("step") == []


@pytest.mark.parametrize("change", [{"seed": 9}, {"rank": 2}, {"epochs": 3}])
def test_a_folder_goes_on_only_with_its_own_plan(trainers, plan, tmp_path, undisturbed, change):
    ended = trainers.run("train", plan(**change), "--out", tmp_path / "undisturbed")
    failed = ended.only("failed")
    assert (ended.code, failed["code"]) == (5, "RESUME_DIFFERS") and next(iter(change)) in failed["message"]


def test_other_data_under_the_same_name_are_noticed(trainers, plan, data, tmp_path):
    out = tmp_path / "out"
    trainers.run("train", plan(), "--out", out)
    shutil.rmtree(out / "adapter")
    write_rows(data, [chat("Colour of q?", "red"), chat("Colour of r?", "blue")])
    assert trainers.run("train", plan(), "--out", out).only("failed")["code"] == "RESUME_DIFFERS"


def test_a_loss_that_is_no_number_ends_it_with_its_last_good_checkpoint(trainers, plan, tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    broken = make_model(tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    weights["model.embed_tokens.weight"][ord("f") - 30] = torch.nan
    weights = {name: torch.full_like(value, torch.nan) if name.endswith("norm.weight") else value for name, value in weights.items()}
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    ended = trainers.run("train", plan(base=str(broken)), "--out", tmp_path / "out")
    failed = ended.only("failed")
    assert (ended.code, failed["code"], failed["step"]) == (5, "LOSS_NOT_FINITE", 1)
    assert not (tmp_path / "out" / "adapter").exists()


def test_a_cancelled_training_keeps_its_checkpoint_and_registers_nothing(trainers, plan, tmp_path):
    started = trainers.start("train", plan(epochs=2000), "--out", tmp_path / "out")
    started.until("checkpoint")
    started.signal("SIGTERM")
    ended = started.end()
    assert (ended.code, ended.only("failed")["code"]) == (143, "CANCELLED")
    assert not (tmp_path / "out" / "adapter").exists() and list((tmp_path / "out" / "checkpoints").iterdir())


def test_two_trainers_of_one_folder(trainers, plan, tmp_path):
    started = trainers.start("train", plan(epochs=2000), "--out", tmp_path / "out")
    started.until("step")
    second = trainers.run("train", plan(epochs=2000), "--out", tmp_path / "out")
    assert (second.code, second.only("failed")["code"]) == (7, "OUT_TAKEN")
    started.signal("SIGKILL")
    started.end()


def test_a_trainer_that_stood_still_writes_nothing_after_it_was_followed(trainers, plan, tmp_path, undisturbed):
    out = tmp_path / "out"
    first = trainers.start("train", plan(), "--out", out, "--attempt", "1")
    first.until("step", 1)
    first.signal("SIGSTOP")
    second = trainers.run("train", plan(), "--out", out, "--attempt", "2")
    assert second.code == 0, second.lines
    before = sorted(str(item) for item in out.rglob("*") if not item.name.endswith(".tmp"))
    first.signal("SIGCONT")
    ended = first.end()
    assert (ended.code, ended.only("failed")["code"]) == (7, "LEASE_LOST")
    assert sorted(str(item) for item in out.rglob("*")) == before
    assert hash_of(out) == undisturbed


def test_a_trainer_that_stood_still_removes_nothing_of_the_one_that_passed_it(trainers, plan, tmp_path):
    out, long = tmp_path / "out", plan(epochs=20, keep=1000)
    first = trainers.start("train", long, "--out", out, "--attempt", "1")
    first.until("step", 1)
    first.signal("SIGSTOP")
    second = trainers.run("train", long, "--out", out, "--attempt", "2")
    assert second.code == 0, second.lines
    first.signal("SIGCONT")
    ended = first.end()
    assert (ended.code, ended.only("failed")["code"]) == (7, "LEASE_LOST")
    assert [item.name for item in sorted((out / "checkpoints").iterdir())] == [f"step-{step:08d}" for step in range(2, 61, 2)]


def test_it_goes_on_from_a_parent(trainers, plan, tmp_path, undisturbed):
    parent = str(tmp_path / "undisturbed" / "adapter")
    ended = trainers.run("train", plan(parent=parent, epochs=1), "--out", tmp_path / "child")
    assert ended.code == 0, ended.lines
    first = trainers.run("train", plan(epochs=1, seed=8), "--out", tmp_path / "first")
    assert ended.all("step")[0]["loss"] < first.all("step")[0]["loss"]
    manifest = json.loads((tmp_path / "child" / "adapter" / "manifest.json").read_text())
    stated = json.loads((tmp_path / "undisturbed" / "adapter" / "manifest.json").read_text())
    assert manifest["parents"] == [stated["id"]]


def test_a_parent_of_another_base_is_refused(trainers, plan, tmp_path, undisturbed):
    other = make_model(tmp_path / "other", seed=2)
    parent = str(tmp_path / "undisturbed" / "adapter")
    ended = trainers.run("train", plan(base=str(other), parent=parent), "--out", tmp_path / "child")
    assert (ended.code, ended.only("failed")["code"]) == (4, "BASE_DIFFERS")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"base": "/nowhere/model.gguf"}, "BASE_MISSING"),
        ({"data": "/nowhere/rows.jsonl"}, "DATA_MISSING"),
        ({"targets": ["no_such_layer"]}, "PLAN_INVALID"),
        ({"maxTokens": 8}, "ROW_TOO_LONG"),
    ],
)
def test_what_cannot_be_trained_leaves_no_adapter(trainers, plan, tmp_path, settings, code):
    ended = trainers.run("train", plan(**settings), "--out", tmp_path / "out")
    assert ended.only("failed")["code"] == code and ended.code != 0
    assert not (tmp_path / "out" / "adapter").exists()


def test_a_base_that_went_away_while_training_stopped(trainers, plan, tmp_path):
    gone = make_model(tmp_path / "gone")
    started = trainers.start("train", plan(base=str(gone), epochs=2000), "--out", tmp_path / "out")
    started.until("checkpoint")
    started.signal("SIGKILL")
    started.end()
    shutil.rmtree(gone)
    ended = trainers.run("train", plan(base=str(gone), epochs=2000), "--out", tmp_path / "out")
    assert (ended.code, ended.only("failed")["code"]) == (4, "BASE_MISSING")


def test_bf16_trains(trainers, plan, tmp_path):
    ended = trainers.run("train", plan(precision="bf16", epochs=6), "--out", tmp_path / "out")
    assert ended.code == 0, ended.lines
    steps = ended.all("step")
    assert steps[-1]["loss"] < steps[0]["loss"]


def test_four_bits_need_cuda(trainers, plan, tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("a GPU with CUDA is there: the refusal cannot be seen")
    ended = trainers.run("train", plan(quantize=True), "--out", tmp_path / "out")
    assert (ended.code, ended.only("failed")["code"]) == (4, "QUANTIZATION_UNAVAILABLE")


def test_four_bits_train_where_cuda_is(trainers, plan, tmp_path):
    import torch

    if not torch.cuda.is_available():
        pytest.skip("QLoRA: there is no GPU with CUDA")
    ended = trainers.run("train", plan(quantize=True, epochs=8), "--out", tmp_path / "out")
    assert ended.code == 0, ended.lines
    steps = ended.all("step")
    assert steps[-1]["loss"] < steps[0]["loss"]
