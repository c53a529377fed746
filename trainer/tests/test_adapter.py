"""Adapters on disk, in GGUF, in weights: they say the same in each form."""

import json
import shutil

import numpy
import pytest
import torch
from conftest import chat, make_model, write_rows

from sentinel_trainer.adapter import read_adapter
from sentinel_trainer.apply import add_to, added
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.gguf_adapter import permute, unpermute

IDS = torch.tensor([[1, 20, 40, 60, 80, 100, 120, 140]])


@pytest.fixture(scope="module")
def trained(trainers, tiny, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    data = write_rows(folder / "a.jsonl", [chat(f"Colour of {name}?", colour) for name, colour in zip("abcd", ["red", "blue", "teal", "pink"])])
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"base": str(tiny), "data": str(data), "rank": 4, "alpha": 8, "epochs": 6, "batch": 2, "threads": 1, "learningRate": 0.02}))
    ended = trainers.run("train", plan, "--out", folder / "out")
    assert ended.code == 0, ended.lines
    return folder / "out" / "adapter"


@torch.no_grad()
def logits(model):
    return model(input_ids=IDS).logits


def test_our_sum_is_what_peft_computes(tiny, trained):
    from peft import PeftModel

    base = open_base(identify(str(tiny)))
    plain = logits(base.model)
    add_to(base.model, read_adapter(trained))
    theirs = logits(PeftModel.from_pretrained(open_base(identify(str(tiny))).model, str(trained)).eval())
    assert (plain - theirs).abs().max() > 0.1
    assert (logits(base.model) - theirs).abs().max() < 1e-4


def test_scale_zero_is_the_base_and_taking_off_restores_it_bit_by_bit(tiny, trained):
    base, adapter = open_base(identify(str(tiny))), read_adapter(trained)
    plain = logits(base.model)
    with added(base.model, [(adapter, 0.0)]):
        assert torch.equal(logits(base.model), plain)
    with added(base.model, [(adapter, 1.0)]):
        assert not torch.equal(logits(base.model), plain)
    assert torch.equal(logits(base.model), plain)


def test_a_gguf_adapter_and_back_is_the_same_adapter(trainers, trained, tmp_path):
    made = trainers.run("convert", trained, "--out", tmp_path / "a.gguf")
    assert made.code == 0, made.lines
    back = trainers.run("convert", tmp_path / "a.gguf", "--out", tmp_path / "back")
    assert back.code == 0, back.lines
    for name in ("adapter_model.safetensors", "adapter_config.json"):
        assert (tmp_path / "back" / name).read_bytes() == (trained / name).read_bytes()
    first, second = (json.loads((folder / "manifest.json").read_text()) for folder in (trained, tmp_path / "back"))
    assert first == second


def test_rows_of_query_and_key_are_permuted_and_no_others(trainers, trained, tmp_path):
    from gguf import GGUFReader

    trainers.run("convert", trained, "--out", tmp_path / "a.gguf")
    reader = GGUFReader(tmp_path / "a.gguf")
    assert reader.get_field("general.architecture").contents() == "llama"
    assert reader.get_field("general.type").contents() == "adapter"
    assert reader.get_field("adapter.lora.alpha").contents() == 8
    tensors = {tensor.name: numpy.array(tensor.data) for tensor in reader.tensors}
    adapter = read_adapter(trained)
    assert len(tensors) == 2 * 2 * 7
    for theirs, ours, heads in (("attn_q", "self_attn.q_proj", 4), ("attn_k", "self_attn.k_proj", 2), ("attn_v", "self_attn.v_proj", None), ("ffn_down", "mlp.down_proj", None)):
        first, second = (adapter.tensors[f"model.layers.1.{ours}.lora_{part}"].numpy() for part in "AB")
        assert numpy.array_equal(tensors[f"blk.1.{theirs}.weight.lora_a"], first)
        wanted = second if heads is None else permute(second, heads)
        assert numpy.array_equal(tensors[f"blk.1.{theirs}.weight.lora_b"], wanted)
        assert heads is None or not numpy.array_equal(wanted, second)


def test_a_permuted_adapter_fits_permuted_weights():
    """llama.cpp has the base's rows permuted, and adds B·A to them: both ways have to be the same sum."""
    draw = numpy.random.default_rng(1)
    weight, first, second = draw.normal(size=(32, 16)), draw.normal(size=(4, 16)), draw.normal(size=(32, 4))
    there = permute(weight, 4) + permute(second, 4) @ first
    assert numpy.allclose(unpermute(there, 4), weight + second @ first)
    assert numpy.array_equal(unpermute(permute(weight, 4), 4), weight)
    # The order that llama.cpp's converter writes: the halves of a head are interleaved.
    assert permute(numpy.arange(8).reshape(8, 1), 1).ravel().tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


@pytest.mark.parametrize(
    ("key", "value"),
    [("use_rslora", True), ("use_dora", True), ("alpha_pattern", {"q_proj": 3}), ("rank_pattern", {"q_proj": 3}),
     ("lora_bias", True), ("modules_to_save", ["lm_head"]), ("peft_type", "IA3")],
)
def test_what_gguf_cannot_say_is_refused(trainers, trained, tmp_path, key, value):
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    config = json.loads((copy / "adapter_config.json").read_text())
    (copy / "adapter_config.json").write_text(json.dumps({**config, key: value}))
    ended = trainers.run("convert", copy, "--out", tmp_path / "a.gguf")
    assert (ended.code, ended.only("failed")["code"]) == (4, "ADAPTER_UNSUPPORTED")
    assert not (tmp_path / "a.gguf").exists()


def test_weights_that_are_not_the_manifests_are_refused(trained, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    path = copy / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    with pytest.raises(TrainerFailure, match="manifest"):
        read_adapter(copy)


@pytest.mark.parametrize("form", ["peft", "gguf"])
def test_an_adapter_for_another_base_is_refused_at_every_door(trainers, trained, tmp_path, form):
    other = make_model(tmp_path / "other", seed=2)
    questions = write_rows(tmp_path / "q.jsonl", [chat("Who?", "Ada")])
    adapter = trained
    if form == "gguf":
        adapter = tmp_path / "a.gguf"
        trainers.run("convert", trained, "--out", adapter)
    for argv in (
        ["merge", adapter, "--base", other, "--out", tmp_path / "merged"],
        ["evaluate", adapter, "--base", other, "--questions", questions],
        ["convert", adapter, "--base", other, "--out", tmp_path / "converted"],
    ):
        ended = trainers.run(*argv)
        assert (ended.code, ended.only("failed")["code"]) == (4, "BASE_DIFFERS"), argv
    assert not (tmp_path / "merged").exists() and not (tmp_path / "converted").exists()


def test_an_adapter_without_a_manifest_is_held_against_the_shapes(trainers, trained, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / "manifest.json").unlink()
    wide = make_model(tmp_path / "wide", width=64)
    ended = trainers.run("merge", copy, "--base", wide, "--out", tmp_path / "merged")
    assert (ended.code, ended.only("failed")["code"]) == (4, "BASE_DIFFERS")
    assert trainers.run("convert", copy, "--out", tmp_path / "a.gguf").only("failed")["code"] == "ADAPTER_UNSUPPORTED"


def test_a_merged_model_answers_as_base_and_adapter_do(trainers, tiny, trained, tmp_path):
    ended = trainers.run("merge", f"{trained}@0.5", trained, "--base", tiny, "--out", tmp_path / "merged")
    assert ended.code == 0, ended.lines
    base, adapter = open_base(identify(str(tiny))), read_adapter(trained)
    add_to(base.model, adapter, 0.5)
    add_to(base.model, adapter, 1.0)
    merged = open_base(identify(str(tmp_path / "merged")))
    assert (logits(merged.model) - logits(base.model)).abs().max() < 1e-5
    assert [layer["scale"] for layer in json.loads((tmp_path / "merged" / "merge.json").read_text())["layers"]] == [0.5, 1.0]


def test_inspect_says_what_a_path_holds(trainers, tiny, trained, tmp_path):
    trainers.run("convert", trained, "--out", tmp_path / "a.gguf")
    assert trainers.run("inspect", tiny).only("base")["kind"] == "folder"
    for path in (trained, tmp_path / "a.gguf"):
        shown = trainers.run("inspect", path).only("adapter")
        assert (shown["rank"], shown["alpha"], len(shown["targets"])) == (4, 8, 7)
        assert shown["manifest"]["base"]["hash"] == identify(str(tiny)).hash
    training = trainers.run("inspect", trained.parent).only("training")
    assert training["isDone"] and training["state"]["step"] == 10
    checkpoint = trainers.run("inspect", trained.parent / "checkpoints" / training["newest"]).only("checkpoint")
    assert checkpoint["damage"] is None
    assert trainers.run("inspect", tmp_path / "nothing").only("failed")["code"] == "BASE_MISSING"
