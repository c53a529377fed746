"""JSON files of ours."""

import json
from pathlib import Path


def read_json(path):
    """The object in a file, or None where there is no such file or it is damaged."""
    try:
        value = json.loads(Path(path).read_text("utf8"))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
