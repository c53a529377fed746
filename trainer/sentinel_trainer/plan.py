"""What a training is asked to do: a JSON file, read strictly."""

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from sentinel_trainer.failures import TrainerFailure

# These decide where and how often something is kept, and not what comes out.
OUTSIDE_IDENTITY = {"base", "data", "validation", "heldOut", "parent", "checkpointEvery", "keep", "licence", "noise"}


@dataclass(frozen=True)
class Plan:
    """`base`: a GGUF file, a folder with safetensors, or an id of the hub. `data`, `validation`, `heldOut`: JSONL."""

    base: str
    data: str
    validation: str | None = None
    heldOut: list = field(default_factory=list)
    parent: str | None = None
    seed: int = 0
    rank: int = 16
    alpha: float = 32.0
    targets: list = field(
        default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    )
    learningRate: float = 1e-3
    epochs: int = 5
    batch: int = 16
    warmup: float = 0.05
    clip: float = 1.0
    maxTokens: int = 1024
    precision: str = "f32"
    quantize: bool = False
    validateEvery: int | None = None
    patience: int | None = None
    replay: float = 0.0
    noise: float = 0.1
    checkpointEvery: int = 10
    keep: int = 2
    threads: int | None = None
    licence: str = "unknown"

    def identity(self):
        """The settings that decide what the adapter becomes. A training goes on only under the same."""
        return {name: value for name, value in asdict(self).items() if name not in OUTSIDE_IDENTITY}


RANGES = {
    "rank": (1, 512),
    "alpha": (1e-6, 1e6),
    "learningRate": (1e-9, 1.0),
    "epochs": (1, 10_000),
    "batch": (1, 4096),
    "warmup": (0.0, 0.9),
    "clip": (1e-6, 1e6),
    "maxTokens": (8, 1_000_000),
    "validateEvery": (1, 1_000_000),
    "patience": (1, 1_000_000),
    "checkpointEvery": (1, 1_000_000),
    "keep": (1, 1_000_000),
    "threads": (1, 1024),
    "seed": (0, 2**63 - 1),
    "replay": (0.0, 10.0),
    "noise": (0.0, 1.0),
}
NUMBERS = {"alpha", "learningRate", "warmup", "clip", "replay", "noise"}
OPTIONAL = {"validation", "parent", "validateEvery", "patience", "threads"}


def read_plan(path):
    """The plan in a file; its paths are relative to the file's folder. Fails with PLAN_INVALID and the key."""
    path = Path(path)
    try:
        given = json.loads(path.read_text("utf8"))
    except OSError as error:
        raise TrainerFailure("PLAN_INVALID", f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise TrainerFailure("PLAN_INVALID", f"{path} is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise TrainerFailure("PLAN_INVALID", f"{path} holds no object.")
    return checked(given, path.parent)


def checked(given, folder):
    known = {item.name for item in fields(Plan)}
    for key in given:
        if key not in known:
            invalid(key, f"is not a setting; the settings are {', '.join(sorted(known))}")
    for key in ("base", "data"):
        if key not in given:
            invalid(key, "is missing")
    for key, value in given.items():
        check(key, value)
    if "patience" in given and given.get("validation") is None:
        invalid("patience", "needs a validation file")
    return Plan(**{key: placed(key, value, folder) for key, value in given.items()})


def check(key, value):
    if value is None and key in OPTIONAL:
        return
    if key in RANGES:
        wanted = (int, float) if key in NUMBERS else int
        low, high = RANGES[key]
        if isinstance(value, bool) or not isinstance(value, wanted) or not low <= value <= high:
            invalid(key, f"has to be {'a' if key in NUMBERS else 'a whole'} number from {low} to {high}")
    elif key in ("heldOut", "targets"):
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            invalid(key, "has to be a list of texts")
        if key == "targets" and not value:
            invalid(key, "names no layer")
    elif key == "precision":
        if value not in ("f32", "bf16"):
            invalid(key, 'has to be "f32" or "bf16"')
    elif key == "quantize":
        if not isinstance(value, bool):
            invalid(key, "has to be true or false")
    elif not isinstance(value, str) or value == "":
        invalid(key, "has to be a text")


def placed(key, value, folder):
    if key in ("data", "validation", "parent") and value is not None:
        return str((folder / value).resolve())
    if key == "heldOut":
        return [str((folder / item).resolve()) for item in value]
    if key == "base":
        return str((folder / value).resolve()) if (folder / value).exists() else value
    return value


def invalid(key, reason):
    raise TrainerFailure("PLAN_INVALID", f'"{key}" {reason}.', key=key)
