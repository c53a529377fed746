"""Identity is the hash of the content."""

import hashlib
import json
from pathlib import Path


def file_hash(path):
    """SHA-256 of a file, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bytes_hash(content):
    return hashlib.sha256(content).hexdigest()


def value_hash(value):
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return bytes_hash(canonical(value).encode())


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def folder_hash(folder, names):
    """SHA-256 over the names and the contents of these files of a folder."""
    return value_hash({name: file_hash(Path(folder) / name) for name in names})
