import os
import resource
import subprocess
import sys

import pytest

from sentinel_trainer import checkpoints
from sentinel_trainer.disk import new_folder, replace_file
from sentinel_trainer.failures import TrainerFailure

FILES = {"adapter.safetensors": b"a" * 5000, "state.json": b"{}"}


def names(folder):
    return sorted(item.name for item in folder.iterdir())


def test_the_newest_complete_checkpoint_is_taken(tmp_path):
    for step in (1, 2, 3):
        checkpoints.save(tmp_path, step, FILES)
    checkpoints.prune(tmp_path, 2)
    assert names(tmp_path) == ["step-00000002", "step-00000003"]
    assert checkpoints.newest(tmp_path) == (tmp_path / "step-00000003", [])


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "no manifest", "half a manifest"])
def test_a_damaged_checkpoint_is_passed_over_and_named(tmp_path, damage):
    for step in (1, 2):
        checkpoints.save(tmp_path, step, FILES)
    file, manifest = (tmp_path / "step-00000002" / name for name in ("adapter.safetensors", "manifest.json"))
    {
        "cut": lambda: file.write_bytes(b"a" * 4999),
        "changed": lambda: file.write_bytes(b"a" * 4999 + b"b"),
        "missing": file.unlink,
        "no manifest": manifest.unlink,
        "half a manifest": lambda: manifest.write_bytes(manifest.read_bytes()[:20]),
    }[damage]()
    found, passed = checkpoints.newest(tmp_path)
    assert found == tmp_path / "step-00000001"
    assert len(passed) == 1 and "step-00000002" in passed[0]


def test_a_damaged_checkpoint_of_the_same_step_is_replaced(tmp_path):
    checkpoints.save(tmp_path, 1, FILES)
    (tmp_path / "step-00000001" / "state.json").unlink()
    checkpoints.save(tmp_path, 1, FILES)
    assert checkpoints.newest(tmp_path) == (tmp_path / "step-00000001", [])


def test_a_full_disk_leaves_the_checkpoint_before_and_nothing_of_the_new_one(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a small file system")
    try:
        checkpoints.save(place, 1, FILES)
        # It fits when it is looked at, and no longer when it is written.
        original = checkpoints.require_space
        checkpoints.require_space = lambda *_: None
        try:
            with pytest.raises(TrainerFailure) as raised:
                checkpoints.save(place, 2, {"adapter.safetensors": b"a" * 400_000})
        finally:
            checkpoints.require_space = original
        with pytest.raises(TrainerFailure, match="needs .* MB") as before:
            checkpoints.save(place, 2, {"adapter.safetensors": b"a" * 400_000})
        assert raised.value.code == before.value.code == "NO_SPACE"
        assert names(place) == ["step-00000001"]
        assert checkpoints.newest(place)[0] == place / "step-00000001"
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_folder_is_there_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "adapter") as work:
        (work / "half").write_text("half")
        raise RuntimeError
    assert names(tmp_path) == []
    with new_folder(tmp_path / "adapter") as work:
        (work / "whole").write_text("whole")
    assert names(tmp_path / "adapter") == ["whole"]
    with pytest.raises(TrainerFailure, match="exists"), new_folder(tmp_path / "adapter"):
        pass


def test_a_file_too_large_for_its_limit_is_not_replaced(tmp_path):
    replace_file(tmp_path / "a", b"before")
    program = (
        "import resource, signal, sys; from sentinel_trainer.disk import replace_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "replace_file(sys.argv[1], b'x' * 5000)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "a"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(__file__))},
    )
    assert "NO_SPACE" in ended.stderr or "There is no space left" in ended.stderr
    assert (tmp_path / "a").read_bytes() == b"before" and names(tmp_path) == ["a"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1000
