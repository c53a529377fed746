"""All that a training is, besides its plan and its base: what a checkpoint holds and a resumed training goes on from."""

import json

import torch
from safetensors.torch import load_file, save


class State:
    """`history`: the loss of each step. `best`: the adapter with the lowest validation loss, where early stopping asks for it."""

    def __init__(self, parameters, optimizer, keeps_best):
        self.parameters, self.optimizer, self.keeps_best = parameters, optimizer, keeps_best
        self.step, self.epoch, self.position = 0, 0, 0
        self.history, self.validations = [], []
        self.best, self.best_loss, self.best_step, self.since_best = None, None, None, 0
        self.tokens = 0

    def snapshot(self):
        return {name: parameter.detach().to("cpu", torch.float32).clone() for name, parameter in self.parameters.items()}

    def note_validation(self, loss):
        """Returns whether it was the best so far."""
        self.validations.append([self.step, loss])
        if self.best_loss is None or loss < self.best_loss:
            self.best_loss, self.best_step, self.since_best = loss, self.step, 0
            self.best = self.snapshot() if self.keeps_best else None
            return True
        self.since_best += 1
        return False

    def files(self, facts):
        """The files of a checkpoint. `facts` go into state.json beside the state."""
        moments = {}
        for index, parameter in enumerate(self.parameters.values()):
            for key, value in self.optimizer.state.get(parameter, {}).items():
                moments[f"{index}.{key}"] = value.detach().to("cpu").contiguous()
        random = {"cpu": torch.get_rng_state()}
        if torch.cuda.is_available():
            random["cuda"] = torch.cuda.get_rng_state()
        kept = ("step", "epoch", "position", "history", "validations", "best_loss", "best_step", "since_best", "tokens")
        stated = {**facts, **{camel(key): getattr(self, key) for key in kept}}
        files = {
            "adapter.safetensors": save(self.snapshot()),
            "optimizer.safetensors": save(moments),
            "random.safetensors": save(random),
            "state.json": json.dumps(stated, sort_keys=True, allow_nan=False).encode(),
        }
        if self.best is not None:
            files["best.safetensors"] = save(self.best)
        return files

    def load(self, folder, stated):
        """Becomes what a checkpoint holds."""
        for name, value in load_file(folder / "adapter.safetensors").items():
            self.parameters[name].data.copy_(value)
        moments = load_file(folder / "optimizer.safetensors")
        for index, parameter in enumerate(self.parameters.values()):
            found = {key.split(".", 1)[1]: value for key, value in moments.items() if key.split(".", 1)[0] == str(index)}
            # The count of steps stays on the CPU, where AdamW puts it.
            self.optimizer.state[parameter] = {
                key: value if key == "step" else value.to(parameter.device) for key, value in found.items()
            }
        random = load_file(folder / "random.safetensors")
        torch.set_rng_state(random["cpu"])
        if "cuda" in random and torch.cuda.is_available():
            torch.cuda.set_rng_state(random["cuda"])
        for key in ("step", "epoch", "position", "history", "validations", "best_loss", "best_step", "since_best", "tokens"):
            setattr(self, key, stated[camel(key)])
        if (folder / "best.safetensors").is_file():
            self.best = load_file(folder / "best.safetensors")


def camel(key):
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest)
