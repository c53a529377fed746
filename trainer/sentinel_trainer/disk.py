"""Files and folders that are there whole or not at all: written beside their place, flushed, and renamed."""

import errno
import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from sentinel_trainer.failures import TrainerFailure

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def flush_folder(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_file(path, content):
    """Writes bytes and flushes them to the disk."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_json(path, value):
    write_file(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False).encode())


def replace_file(path, content):
    """A file that others read while it is replaced."""
    path = Path(path)
    with no_space(path.parent):
        work = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            write_file(work, content)
            os.replace(work, path)
        finally:
            work.unlink(missing_ok=True)
        flush_folder(path.parent)


def rename_over(work, path):
    """Gives a folder its name, in the place of one that has it."""
    if path.exists():
        remove(path)
    os.rename(work, path)


def remove(path):
    """A folder loses its name at once, and its files afterwards."""
    gone = path.with_name(f"{path.name}.{os.getpid()}.gone.tmp")
    os.rename(path, gone)
    shutil.rmtree(gone, ignore_errors=True)


@contextmanager
def no_space(folder):
    """A full disk is a failure with a name."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise TrainerFailure("NO_SPACE", f"There is no space left for {folder}. Free some and start again.") from error


@contextmanager
def new_folder(path, publish=os.rename):
    """Yields a folder to write into, which takes its name `path` at the end; after a failure nothing is left of it."""
    path = Path(path)
    if path.exists():
        raise TrainerFailure("OUT_EXISTS", f"{path} exists. Name another place, or remove it.")
    work = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with no_space(path.parent):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            yield work
            for inner in sorted(work.rglob("*")):
                flush(inner)
            flush_folder(work)
            publish(work, path)
            flush_folder(path.parent)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def flush(path):
    if path.is_dir():
        flush_folder(path)
        return
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def require_space(folder, size):
    """Fails before anything is written where `size` bytes do not fit."""
    free = shutil.disk_usage(folder).free
    if free < size:
        needed, left = size / 1e6, free / 1e6
        raise TrainerFailure("NO_SPACE", f"A checkpoint needs {needed:.0f} MB, and {folder} has {left:.0f} MB left.")
