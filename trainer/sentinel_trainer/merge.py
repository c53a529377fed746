"""`merge`: a whole model with adapters added to its weights."""

import shutil
from pathlib import Path

from sentinel_trainer.adapter import read_adapter
from sentinel_trainer.apply import add_to
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.disk import new_folder, write_json
from sentinel_trainer.lines import say


def merge(base_name, layers, out):
    """`layers`: pairs of a path and a scale. Writes a folder with safetensors, in f32."""
    facts = identify(base_name)
    adapters = [(read_adapter(path, facts), scale) for path, scale in layers]
    base = open_base(facts)
    for adapter, scale in adapters:
        add_to(base.model, adapter, scale)
    parts = [
        {"id": None if adapter.manifest is None else adapter.manifest.get("id"), "scale": scale} for adapter, scale in adapters
    ]
    with new_folder(out) as work:
        base.model.save_pretrained(work)
        base.tokenizer.save_pretrained(work)
        write_json(work / "merge.json", {"base": facts.shown(), "layers": parts})
    say("merged", out=str(Path(out)), base=facts.shown(), layers=parts, bytes=size_of(out), free=shutil.disk_usage(out).free)


def size_of(folder):
    return sum(item.stat().st_size for item in Path(folder).rglob("*") if item.is_file())
