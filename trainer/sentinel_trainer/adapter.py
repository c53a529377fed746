"""Adapters on disk: PEFT's two files, and a manifest that says what they are and for which base."""

import json
from dataclasses import dataclass
from pathlib import Path

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.hashes import bytes_hash, file_hash, value_hash
from sentinel_trainer.read_json import read_json

WEIGHTS, CONFIG, MANIFEST = "adapter_model.safetensors", "adapter_config.json", "manifest.json"
PREFIX = "base_model.model."
# Keys of PEFT's configuration that change what an adapter computes in ways that a GGUF adapter cannot say.
UNSAYABLE = {
    "use_rslora": "rank-stabilised scaling (use_rslora)",
    "use_dora": "DoRA",
    "alpha_pattern": "alpha_pattern",
    "rank_pattern": "rank_pattern",
    "lora_bias": "lora_bias",
    "modules_to_save": "modules_to_save",
    "fan_in_fan_out": "fan_in_fan_out",
    "target_parameters": "target_parameters",
    "trainable_token_indices": "trainable_token_indices",
}


@dataclass(frozen=True)
class Adapter:
    """`tensors`: names such as `model.layers.0.self_attn.q_proj.lora_A` to matrices, A of [r, in], B of [out, r]."""

    rank: int
    alpha: float
    targets: list
    tensors: dict
    manifest: dict | None = None

    @property
    def scaling(self):
        return self.alpha / self.rank

    def modules(self):
        """The projections that the adapter changes."""
        return sorted({name.rsplit(".", 1)[0] for name in self.tensors})


def weights_of(adapter):
    """The bytes of adapter_model.safetensors: the same for the same adapter."""
    from safetensors.torch import save

    named = {
        f"{PREFIX}{name}.weight": tensor.detach().to("cpu").contiguous() for name, tensor in sorted(adapter.tensors.items())
    }
    return save(named, metadata={"format": "pt"})


def config_of(adapter, base_name):
    """PEFT's configuration, as far as it decides what the adapter computes."""
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_name,
        "r": adapter.rank,
        "lora_alpha": adapter.alpha,
        "lora_dropout": 0.0,
        "target_modules": sorted(adapter.targets),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "use_rslora": False,
        "use_dora": False,
    }
    return json.dumps(config, indent=1, sort_keys=True).encode()


def files_of(adapter, base_name, manifest):
    """All files of an adapter by name. Its `id` is the hash of what it computes, whenever and wherever it was made."""
    weights, config = weights_of(adapter), config_of(adapter, base_name)
    identity = {
        "weights": bytes_hash(weights),
        "rank": adapter.rank,
        "alpha": adapter.alpha,
        "base": manifest["base"]["hash"],
    }
    stated = {**manifest, "id": value_hash(identity), "sha256": bytes_hash(weights)}
    written = json.dumps(stated, indent=1, sort_keys=True, allow_nan=False).encode()
    return {WEIGHTS: weights, CONFIG: config, MANIFEST: written}


def read_adapter(path, base=None):
    """An adapter from PEFT's folder or a GGUF file. Fails where it is none, is damaged, or is for another base."""
    path = Path(path)
    if path.is_file():
        from sentinel_trainer.gguf_adapter import read_gguf

        adapter = read_gguf(path)
    else:
        adapter = read_folder(path)
    require_base(adapter, base, path)
    return adapter


def require_base(adapter, base, path):
    stated = None if adapter.manifest is None else adapter.manifest.get("base", {}).get("hash")
    if base is not None and stated is not None and stated != base.hash:
        name = adapter.manifest["base"].get("name")
        raise TrainerFailure(
            "BASE_DIFFERS",
            f"{path} is an adapter for {name} ({stated[:12]}), and {base.name} is {base.hash[:12]}.",
        )


def read_folder(path):
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    config = read_json(path / CONFIG)
    if config is None or not (path / WEIGHTS).is_file():
        raise TrainerFailure("ADAPTER_MISSING", f"{path} holds no adapter: it needs {CONFIG} and {WEIGHTS}.")
    if config.get("peft_type") != "LORA":
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path} is an adapter of the kind {config.get('peft_type')}.")
    for key, words in UNSAYABLE.items():
        if config.get(key):
            raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path} uses {words}, which other formats cannot say.")
    manifest = read_json(path / MANIFEST)
    if manifest is not None and manifest.get("sha256") not in (None, file_hash(path / WEIGHTS)):
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path / WEIGHTS} is not the file that its manifest describes.")
    try:
        loaded = load_file(path / WEIGHTS)
    except (SafetensorError, ValueError) as error:
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path / WEIGHTS} cannot be read: {error}") from error
    tensors = {plain_name(name, path): tensor.float() for name, tensor in loaded.items()}
    require_pairs(tensors, path)
    return Adapter(config["r"], float(config["lora_alpha"]), targets_of(tensors), tensors, manifest)


def plain_name(name, path):
    if not name.startswith(PREFIX) or not name.endswith((".lora_A.weight", ".lora_B.weight")):
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path} holds {name}, which is no part of a LoRA adapter.")
    return name[len(PREFIX) : -len(".weight")]


def require_pairs(tensors, path):
    for name in tensors:
        if f"{name[:-1]}{'B' if name.endswith('A') else 'A'}" not in tensors:
            raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path} holds {name} without its other matrix.")


def targets_of(tensors):
    return sorted({name.split(".")[-2] for name in tensors})
