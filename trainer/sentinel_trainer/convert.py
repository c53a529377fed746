"""`convert`: an adapter from PEFT's folder to a GGUF file, and back."""

from dataclasses import replace
from pathlib import Path

from sentinel_trainer.adapter import MANIFEST, files_of, read_adapter
from sentinel_trainer.base_model import identify, shape_of
from sentinel_trainer.disk import new_folder, write_file
from sentinel_trainer.gguf_adapter import write_gguf
from sentinel_trainer.hashes import file_hash
from sentinel_trainer.lines import say


def convert(source, out, base_name=None):
    """The direction follows from the source: a folder becomes a GGUF file, a GGUF file a folder."""
    facts = None if base_name is None else identify(base_name)
    adapter = read_adapter(source, facts)
    if Path(source).is_dir():
        if facts is not None and (adapter.manifest is None or "shape" not in adapter.manifest.get("base", {})):
            stated = {**(adapter.manifest or {}), "base": {**facts.shown(), "shape": configured_shape(facts)}}
            adapter = replace(adapter, manifest=stated)
        write_gguf(adapter, out)
        say("converted", out=str(out), format="gguf", sha256=file_hash(out), id=adapter.manifest.get("id"))
        return
    files = files_of(adapter, adapter.manifest["base"]["name"], adapter.manifest)
    with new_folder(out) as work:
        for name, content in files.items():
            write_file(work / name, content)
    say("converted", out=str(out), format="peft", sha256=file_hash(Path(out) / "adapter_model.safetensors"), manifest=MANIFEST)


def configured_shape(facts):
    """What a conversion needs to know of a base, from its configuration alone."""
    from transformers import AutoConfig

    if facts.kind == "gguf":
        config = AutoConfig.from_pretrained(str(Path(facts.path).parent), gguf_file=Path(facts.path).name)
    else:
        config = AutoConfig.from_pretrained(facts.path)
    return shape_of(config)
