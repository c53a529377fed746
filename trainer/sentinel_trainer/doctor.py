"""`doctor`: whether this environment can train, and which versions it has."""

import importlib.metadata
import platform

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.lines import say

NEEDED = ("torch", "transformers", "peft", "gguf", "safetensors", "tokenizers", "numpy")
# "word" and a number over a line break: without its own pre-tokenizer the model sees other tokens than it was trained on.
DIGITS = ("word\n 12", "in 1984, 7 of 365 days", "  33\t4")


def doctor(base_name=None):
    """Says `doctor`: {ok, checks: [{name, ok, found, remedy?}]}. Returns whether all is well."""
    checks = [version_of(name) for name in NEEDED]
    if all(check["ok"] for check in checks):
        checks.append(accelerator())
        if base_name is not None:
            checks.append(checked_tokenizer(base_name))
    ok = all(check["ok"] for check in checks)
    say("doctor", ok=ok, python=platform.python_version(), checks=checks)
    return ok


def version_of(name):
    try:
        return {"name": name, "ok": True, "found": importlib.metadata.version(name)}
    except importlib.metadata.PackageNotFoundError:
        return {"name": name, "ok": False, "found": None, "remedy": "sentinel trainer install --again"}


def accelerator():
    import torch

    found = torch.cuda.get_device_name() if torch.cuda.is_available() else f"none, {torch.get_num_threads()} threads of the CPU"
    return {"name": "accelerator", "ok": True, "found": found}


def checked_tokenizer(base_name):
    """A model that cannot be read is no fault of the environment: it is a row of its own beside the others."""
    try:
        return tokenizer_of(base_name)
    except TrainerFailure as failure:
        return {"name": "tokenizer", "ok": False, "found": failure.message, "remedy": "name another model"}


def tokenizer_of(base_name):
    """Texts with numbers, as a model whose file says "smollm" splits them: digit by digit."""
    from sentinel_trainer.base_model import gguf_text, identify, open_tokenizer

    facts = identify(base_name)
    named = gguf_text(facts.path, "tokenizer.ggml.pre") if facts.kind == "gguf" else None
    tokenizer, notices = open_tokenizer(facts)
    check = {"name": "tokenizer", "ok": True, "found": named or "tokenizer.json"}
    if notices:
        return {**check, "notice": notices[0]}
    if named == "smollm":
        for text in DIGITS:
            pieces = tokenizer.convert_ids_to_tokens(tokenizer(text, add_special_tokens=False)["input_ids"])
            if any(sum(letter.isdigit() for letter in piece) > 1 for piece in pieces):
                return {**check, "ok": False, "remedy": "install the trainer again: numbers are not split into digits"}
    return check
