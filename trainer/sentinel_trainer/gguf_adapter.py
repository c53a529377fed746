"""Adapters in GGUF, as llama.cpp loads them.

llama.cpp rotates the halves of a head in another order than `transformers`, so the rows of the query's and the key's B
are permuted for Llama (and for no other architecture here); A never is. Left out, most short answers stay the same: only
logits show it.
"""

import json
import os
from pathlib import Path

import numpy

from sentinel_trainer.adapter import Adapter, require_pairs, targets_of
from sentinel_trainer.disk import flush_folder, no_space
from sentinel_trainer.failures import TrainerFailure

MANIFEST_KEY = "sentinel.manifest"
PERMUTED = {"llama": {"q_proj": "heads", "k_proj": "keyValueHeads"}}
# The projections by their name in `transformers` and in GGUF.
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
MODULES = {there: here for here, there in NAMES.items()}


def permute(rows, heads):
    """The rows of a matrix of [heads * size, n] in llama.cpp's order."""
    count, width = rows.shape
    return rows.reshape(heads, 2, count // heads // 2, width).swapaxes(1, 2).reshape(count, width)


def unpermute(rows, heads):
    count, width = rows.shape
    return rows.reshape(heads, count // heads // 2, 2, width).swapaxes(1, 2).reshape(count, width)


def heads_of(shape, module):
    """How many heads the rows of B are permuted by, or None."""
    kind = PERMUTED.get(shape["architecture"], {}).get(module.rsplit(".", 1)[1])
    return None if kind is None else shape[kind]


def write_gguf(adapter, path):
    """Writes the adapter to a file that appears whole or not at all."""
    from gguf import GGUFWriter

    manifest = adapter.manifest
    if manifest is None or "shape" not in manifest.get("base", {}):
        raise TrainerFailure("ADAPTER_UNSUPPORTED", "The adapter has no manifest that describes its base; name it with --base.")
    shape, path = manifest["base"]["shape"], Path(path)
    if path.exists():
        raise TrainerFailure("OUT_EXISTS", f"{path} exists. Name another place, or remove it.")
    work = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with no_space(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            writer = GGUFWriter(work, shape["architecture"])
            writer.add_type("adapter")
            writer.add_string("adapter.type", "lora")
            writer.add_float32("adapter.lora.alpha", float(adapter.alpha))
            writer.add_string(MANIFEST_KEY, json.dumps(manifest, sort_keys=True))
            for module in adapter.modules():
                write_module(writer, adapter, module, shape)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            with open(work, "rb") as file:
                os.fsync(file.fileno())
            os.replace(work, path)
            flush_folder(path.parent)
        finally:
            work.unlink(missing_ok=True)


def write_module(writer, adapter, module, shape):
    first, second = (adapter.tensors[f"{module}.lora_{part}"].float().numpy() for part in "AB")
    heads = heads_of(shape, module)
    if heads is not None:
        second = permute(second, heads)
    name = tensor_name(module)
    writer.add_tensor(f"{name}.weight.lora_a", numpy.ascontiguousarray(first))
    writer.add_tensor(f"{name}.weight.lora_b", numpy.ascontiguousarray(second))


def tensor_name(module):
    parts = module.split(".")
    inner = NAMES.get(".".join(parts[3:]))
    if parts[:2] != ["model", "layers"] or inner is None:
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"A GGUF adapter has no place for {module}.")
    return f"blk.{parts[2]}.{inner}"


def read_gguf(path):
    """The adapter in a GGUF file of ours. Fails where it is none, or where its base is not described."""
    import torch
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
    except (OSError, ValueError) as error:
        raise TrainerFailure("ADAPTER_MISSING", f"{path} is not a GGUF file: {error}") from error
    kind, alpha, manifest = (
        None if (field := reader.get_field(key)) is None else field.contents()
        for key in ("general.type", "adapter.lora.alpha", MANIFEST_KEY)
    )
    if kind != "adapter" or alpha is None:
        raise TrainerFailure("ADAPTER_MISSING", f"{path} is a GGUF file, but no LoRA adapter.")
    if manifest is None:
        raise TrainerFailure("ADAPTER_UNSUPPORTED", f"{path} was not written by this trainer: it does not describe its base.")
    stated = json.loads(manifest)
    shape, tensors, rank = stated["base"]["shape"], {}, 0
    for tensor in reader.tensors:
        block, part = tensor.name.split(".weight.lora_")
        _, layer, inner = block.split(".")
        module = f"model.layers.{layer}.{MODULES[inner]}"
        values = numpy.array(tensor.data, dtype=numpy.float32)
        heads = heads_of(shape, module)
        if part == "b" and heads is not None:
            values = unpermute(values, heads)
        if part == "a":
            rank = values.shape[0]
        tensors[f"{module}.lora_{part.upper()}"] = torch.from_numpy(numpy.ascontiguousarray(values))
    require_pairs(tensors, path)
    return Adapter(rank, float(alpha), targets_of(tensors), tensors, stated)
