"""Checkpoints: each is a folder that is complete on the disk before it has its name.

`step-00000010/` holds its files and, written last, `manifest.json` with the size and the SHA-256 of each. A reader takes
the newest one that is as its manifest says.
"""

import os
import re
import shutil
from pathlib import Path

from sentinel_trainer.disk import flush_folder, no_space, remove, rename_over, require_space, write_file, write_json
from sentinel_trainer.hashes import bytes_hash, file_hash
from sentinel_trainer.read_json import read_json

NAME = re.compile(r"step-(\d{8})")


def name_of(step):
    return f"step-{step:08d}"


def save(folder, step, files, publish=rename_over):
    """Writes `files` (name to bytes) as the checkpoint of a step and returns its path. Nothing half written stays."""
    folder = Path(folder)
    final, work = folder / name_of(step), folder / f"{name_of(step)}.{os.getpid()}.tmp"
    with no_space(folder):
        folder.mkdir(parents=True, exist_ok=True)
        require_space(folder, sum(len(content) for content in files.values()) + (1 << 16))
        try:
            work.mkdir()
            for name, content in files.items():
                write_file(work / name, content)
            parts = {name: {"bytes": len(content), "sha256": bytes_hash(content)} for name, content in files.items()}
            write_json(work / "manifest.json", {"step": step, "files": parts})
            flush_folder(work)
            # One of this step that is there already was found damaged, or it would have been taken.
            publish(work, final)
            flush_folder(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return final


def steps_in(folder):
    """The checkpoints of a folder, newest first."""
    folder = Path(folder)
    if not folder.is_dir():
        return []
    found = [(int(match[1]), item) for item in folder.iterdir() if (match := NAME.fullmatch(item.name))]
    return [item for _, item in sorted(found, reverse=True)]


def newest(folder):
    """The newest complete checkpoint, or None, and why newer ones were passed over."""
    passed = []
    for item in steps_in(folder):
        damage = damage_of(item)
        if damage is None:
            return item, passed
        passed.append(f"{item.name}: {damage}")
    return None, passed


def damage_of(path):
    """What is wrong with a checkpoint, or None."""
    manifest = read_json(path / "manifest.json")
    if manifest is None:
        return "it has no manifest that can be read"
    for name, stated in manifest["files"].items():
        file = path / name
        if not file.is_file():
            return f"{name} is missing"
        if file.stat().st_size != stated["bytes"] or file_hash(file) != stated["sha256"]:
            return f"{name} is not what was written"
    return None


def prune(folder, keep):
    """Keeps the newest."""
    for item in steps_in(folder)[keep:]:
        remove(item)


def sweep(folder):
    """Removes what writers that were killed have left unfinished."""
    for item in Path(folder).glob("*.tmp"):
        if item.is_dir():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)
