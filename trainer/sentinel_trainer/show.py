"""`inspect`: what a path holds; `tokens`: what a model makes of texts."""

import json
import sys
from pathlib import Path

from sentinel_trainer.adapter import CONFIG, read_adapter
from sentinel_trainer.base_model import gguf_text, identify, open_base
from sentinel_trainer.checkpoints import damage_of, newest
from sentinel_trainer.lines import say
from sentinel_trainer.read_json import read_json
from sentinel_trainer.render import render_prompt, template_hash


def inspect(name):
    path = Path(name)
    if path.is_dir() and (path / "checkpoints").is_dir():
        latest, passed = newest(path / "checkpoints")
        say("training", path=str(path), newest=None if latest is None else latest.name, passedOver=passed,
            isDone=(path / "adapter").is_dir(), state=None if latest is None else state_of(latest))
    elif path.is_dir() and (path / "state.json").is_file():
        say("checkpoint", path=str(path), damage=damage_of(path), state=state_of(path))
    elif (path.is_dir() and (path / CONFIG).is_file()) or is_gguf_adapter(path):
        adapter = read_adapter(path)
        say("adapter", path=str(path), rank=adapter.rank, alpha=adapter.alpha, targets=adapter.targets,
            parameters=sum(tensor.numel() for tensor in adapter.tensors.values()), manifest=adapter.manifest)
    else:
        facts = identify(name)
        architecture = gguf_text(facts.path, "general.architecture") if facts.kind == "gguf" else None
        say("base", path=facts.path, architecture=architecture, **facts.shown())


def is_gguf_adapter(path):
    return path.is_file() and gguf_text(path, "general.type") == "adapter"


def state_of(path):
    state = read_json(path / "state.json") or {}
    return {key: state.get(key) for key in ("step", "steps", "epoch", "validationLoss", "bestLoss", "bestStep", "attempt")}


def tokens(base_name):
    """Each line of stdin is a JSON text, or a list of messages; each line out has its tokens."""
    base = open_base(identify(base_name))
    say("tokenizer", template=template_hash(base.tokenizer), notices=base.notices)
    for line in sys.stdin:
        given = json.loads(line)
        text = given if isinstance(given, str) else render_prompt(base.tokenizer, given)
        say("tokens", text=text, ids=base.tokenizer(text, add_special_tokens=False)["input_ids"])
