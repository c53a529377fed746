import pytest

from sentinel_trainer import checkpoints
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.lease import Lease


def test_a_second_trainer_of_a_folder_is_refused_while_the_first_lives(tmp_path):
    first = Lease(tmp_path)
    with pytest.raises(TrainerFailure) as raised:
        Lease(tmp_path)
    assert raised.value.code == "OUT_TAKEN"
    first.close()
    assert Lease(tmp_path).attempt == 2


def test_a_trainer_that_was_followed_gives_nothing_its_name(tmp_path):
    first = Lease(tmp_path, 1)
    (tmp_path / "work").mkdir()
    second = Lease(tmp_path, 2)
    with pytest.raises(TrainerFailure) as raised:
        first.rename(tmp_path / "work", tmp_path / "done")
    assert raised.value.code == "LEASE_LOST" and (tmp_path / "work").exists()
    second.rename(tmp_path / "work", tmp_path / "done")
    assert (tmp_path / "done").exists()


def test_a_trainer_that_was_followed_replaces_and_removes_nothing(tmp_path):
    first, folder = Lease(tmp_path, 1), tmp_path / "checkpoints"
    second = Lease(tmp_path, 2)
    for step in (1, 2, 3):
        checkpoints.save(folder, step, {"state.json": b"second"}, publish=second.rename)
    with pytest.raises(TrainerFailure) as raised:
        checkpoints.save(folder, 2, {"state.json": b"first"}, publish=first.rename)
    assert raised.value.code == "LEASE_LOST"
    with pytest.raises(TrainerFailure) as raised, first.publishing():
        checkpoints.prune(folder, 1)
    assert raised.value.code == "LEASE_LOST"
    assert [item.name for item in sorted(folder.iterdir())] == ["step-00000001", "step-00000002", "step-00000003"]
    assert (folder / "step-00000002" / "state.json").read_bytes() == b"second"
    with second.publishing():
        checkpoints.prune(folder, 1)
    assert [item.name for item in folder.iterdir()] == ["step-00000003"]


def test_an_attempt_that_is_over_does_not_begin_again(tmp_path):
    Lease(tmp_path, 5).close()
    with pytest.raises(TrainerFailure) as raised:
        Lease(tmp_path, 5)
    assert raised.value.code == "LEASE_LOST"
