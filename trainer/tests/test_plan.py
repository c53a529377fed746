import json

import pytest

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.plan import read_plan


def read(tmp_path, **settings):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"base": "b", "data": "d.jsonl", **settings}))
    return read_plan(path)


@pytest.mark.parametrize(
    "setting",
    [{"learningRat": 1}, {"rank": 0}, {"rank": 1.5}, {"rank": True}, {"learningRate": "1e-3"}, {"targets": []},
     {"precision": "f16"}, {"patience": 2}, {"quantize": 1}, {"base": ""}, {"seed": -1}, {"heldOut": "gate.jsonl"}],
)
def test_a_setting_that_is_wrong_is_named(tmp_path, setting):
    with pytest.raises(TrainerFailure) as raised:
        read(tmp_path, **setting)
    assert (raised.value.code, raised.value.facts["key"]) == ("PLAN_INVALID", next(iter(setting)))


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_what_is_no_plan_is_refused(tmp_path, text):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(TrainerFailure, match="plan.json"):
        read_plan(tmp_path / "plan.json")


def test_paths_are_relative_to_the_plan_and_do_not_change_what_is_trained(tmp_path):
    plan = read(tmp_path, heldOut=["gate.jsonl"], keep=7)
    assert plan.data == str(tmp_path / "d.jsonl") and plan.heldOut == [str(tmp_path / "gate.jsonl")]
    assert plan.identity() == read(tmp_path).identity() != read(tmp_path, seed=1).identity()
