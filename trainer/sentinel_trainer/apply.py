"""Adapters on a loaded model: added to its weights, or taken off again."""

from contextlib import contextmanager

import torch

from sentinel_trainer.failures import TrainerFailure


def delta_of(adapter, module, scale):
    first, second = adapter.tensors[f"{module}.lora_A"], adapter.tensors[f"{module}.lora_B"]
    return (second.float() @ first.float()) * (adapter.scaling * scale)


@torch.no_grad()
def add_to(model, adapter, scale=1.0):
    """Adds `scale` times the adapter to the weights. Several in a row are their exact weighted sum."""
    modules = dict(model.named_modules())
    for module in adapter.modules():
        weight = getattr(modules.get(module), "weight", None)
        delta = delta_of(adapter, module, scale)
        if weight is None or weight.shape != delta.shape:
            found = "nothing" if weight is None else f"a matrix of {list(weight.shape)}"
            raise TrainerFailure(
                "BASE_DIFFERS", f"The adapter changes {module} of {list(delta.shape)}, where the model has {found}."
            )
        weight.add_(delta.to(weight.device, weight.dtype))


@contextmanager
def added(model, adapters):
    """The model with its adapters, a list of (adapter, scale). Afterwards its weights are those of before, bit by bit."""
    modules = dict(model.named_modules())
    touched = {module for adapter, _ in adapters for module in adapter.modules() if module in modules}
    before = {module: modules[module].weight.detach().clone() for module in touched}
    try:
        for adapter, scale in adapters:
            add_to(model, adapter, scale)
        yield model
    finally:
        with torch.no_grad():
            for module, weight in before.items():
                modules[module].weight.copy_(weight)
