"""`train`: from a plan to an adapter, over any number of interruptions."""

import json
import math
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from sentinel_trainer import checkpoints
from sentinel_trainer.adapter import MANIFEST, Adapter, files_of, read_adapter
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.batches import order_of, train_loss, validation_loss
from sentinel_trainer.disk import new_folder, write_file
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.gguf_adapter import write_gguf
from sentinel_trainer.lease import Lease
from sentinel_trainer.lines import say
from sentinel_trainer.machine import environment, memory_bytes, settle
from sentinel_trainer.read_json import read_json
from sentinel_trainer.render import encode_row, template_hash
from sentinel_trainer.replay import replay_rows
from sentinel_trainer.rows import read_rows, refuse_held_out, refuse_noise
from sentinel_trainer.state import State


@dataclass
class Prepared:
    plan: object
    base: object
    rows: list
    validation: list
    data: object
    model: object
    identity: dict
    parents: list

    @property
    def pad(self):
        return self.base.tokenizer.eos_token_id

    @property
    def steps_an_epoch(self):
        return math.ceil(len(self.rows) / self.plan.batch)

    @property
    def steps(self):
        return self.plan.epochs * self.steps_an_epoch


def train(plan, out, attempt=None):
    """Trains into the folder `out`: `checkpoints/` while it lasts, `adapter/` at its end."""
    out = Path(out)
    lease = Lease(out, attempt)
    try:
        if lease.is_alone:
            for folder in (out, out / "checkpoints"):
                checkpoints.sweep(folder)
        data, validation = read_data(plan)
        facts = identify(plan.base)
        settle(threads_of(plan, out))
        prepared = prepare(plan, data, validation, facts, out)
        done = read_json(out / "adapter" / MANIFEST)
        if done is not None:
            require_same(done["training"]["identity"], prepared.identity)
            say("trained", out=str(out / "adapter"), id=done["id"], sha256=done["sha256"], metrics=done["metrics"], wasDone=True)
            return
        with Cancellation() as cancellation:
            run(prepared, out, lease, cancellation)
    finally:
        lease.close()


def read_data(plan):
    """Everything that can be refused is, before a model is loaded."""
    data = read_rows(plan.data)
    validation = None if plan.validation is None else read_rows(plan.validation)
    held_out = [read_rows(path) for path in plan.heldOut]
    refuse_noise(data, plan.noise)
    refuse_held_out(data, [*held_out, *([] if validation is None else [validation])])
    if validation is not None:
        refuse_held_out(validation, held_out)
    return data, validation


def threads_of(plan, out):
    """A resumed training takes the threads that it had: their number may change the last bits of a sum."""
    latest, _ = checkpoints.newest(out / "checkpoints")
    state = None if latest is None else read_json(latest / "state.json")
    return plan.threads if state is None else state["environment"]["threads"]


def prepare(plan, data, validation, facts, out):
    parent = None if plan.parent is None else read_adapter(plan.parent, facts)
    base = open_base(facts, plan.precision, plan.quantize)
    for notice in base.notices:
        say("notice", message=notice)
    rows = [encode_row(base.tokenizer, row, data.file, plan.maxTokens) for row in data.rows]
    held = [] if validation is None else validation.rows
    validated = [encode_row(base.tokenizer, row, validation.file, plan.maxTokens) for row in held]
    parents = [] if parent is None else [parent.manifest.get("id") if parent.manifest else None]
    identity = {
        "format": 1,
        "settings": plan.identity(),
        "base": facts.hash,
        "data": data.hash,
        "validation": None if validation is None else validation.hash,
        "parents": parents,
        "template": template_hash(base.tokenizer),
    }
    rows += replay_rows(base, plan, len(rows), out)
    model = with_adapter(base, plan, parent)
    return Prepared(plan, base, rows, validated, data, model, identity, parents)


def with_adapter(base, plan, parent):
    from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training

    inner = prepare_model_for_kbit_training(base.model) if plan.quantize else base.model
    torch.manual_seed(plan.seed)
    config = LoraConfig(
        r=plan.rank, lora_alpha=plan.alpha, target_modules=plan.targets, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM"
    )
    try:
        model = get_peft_model(inner, config)
    except ValueError as error:
        raise TrainerFailure("PLAN_INVALID", f'"targets" do not fit {base.facts.name}: {error}', key="targets") from error
    parameters = parameters_of(model)
    if parent is not None:
        if {name: tensor.shape for name, tensor in parent.tensors.items()} != {n: p.shape for n, p in parameters.items()}:
            raise TrainerFailure("PLAN_INVALID", '"parent" has another rank or other targets than the plan.', key="parent")
        with torch.no_grad():
            for name, tensor in parent.tensors.items():
                parameters[name].copy_(tensor * (parent.scaling / (plan.alpha / plan.rank) if name.endswith("lora_B") else 1.0))
    return model


def parameters_of(model):
    """What is trained, by the names that adapters have on disk."""
    found = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            found[name.removeprefix("base_model.model.").removesuffix(".default.weight")] = parameter
    return dict(sorted(found.items()))


def run(prepared, out, lease, cancellation):
    plan = prepared.plan
    parameters = parameters_of(prepared.model)
    optimizer = torch.optim.AdamW(list(parameters.values()), lr=plan.learningRate, weight_decay=0.0)
    state = State(parameters, optimizer, keeps_best=plan.patience is not None)
    runs_on = environment(plan.precision)
    begun_at = resume(prepared, state, out / "checkpoints", runs_on)
    say(
        "started",
        step=begun_at,
        steps=prepared.steps,
        rows=len(prepared.rows),
        duplicates=prepared.data.duplicates,
        validationRows=len(prepared.validation),
        parameters=sum(parameter.numel() for parameter in parameters.values()),
        attempt=lease.attempt,
        environment=runs_on,
    )
    walk(prepared, state, out, lease, cancellation, runs_on)
    publish(prepared, state, out, lease, runs_on)


def resume(prepared, state, folder, runs_on):
    """Loads the newest complete checkpoint. Returns the step that it stands at, 0 where there is none."""
    latest, passed = checkpoints.newest(folder)
    for damage in passed:
        say("notice", message=f"A checkpoint was passed over: {damage}.")
    if latest is None:
        return 0
    stated = read_json(latest / "state.json")
    require_same(stated["identity"], prepared.identity)
    differing = [key for key, value in stated["environment"].items() if runs_on.get(key) != value]
    if differing:
        say("notice", message=f"The training goes on elsewhere ({', '.join(differing)}): its last bits may differ.")
    state.load(latest, stated)
    say("resumed", step=state.step, checkpoint=latest.name)
    return state.step


def require_same(before, now):
    differing = [key for key in now if before.get(key) != now[key]]
    if differing:
        settings = [key for key, value in now["settings"].items() if before.get("settings", {}).get(key) != value]
        words = ", ".join([*(key for key in differing if key != "settings"), *settings])
        raise TrainerFailure("RESUME_DIFFERS", f"The folder holds a training with another {words}. Name another folder.")


def walk(prepared, state, out, lease, cancellation, runs_on):
    plan = prepared.plan
    saved = state.step
    while state.epoch < plan.epochs and not has_stopped(plan, state):
        order = order_of(len(prepared.rows), plan.seed, state.epoch)
        while state.position < len(order):
            cancellation.check()
            train_step(prepared, state, order)
            is_last = state.position >= len(order)
            if is_due(plan, state, is_last) and validate(prepared, state):
                checkpoint(prepared, state, out, lease, runs_on)
                return
            if state.step - saved >= plan.checkpointEvery:
                checkpoint(prepared, state, out, lease, runs_on)
                saved = state.step
        state.epoch, state.position = state.epoch + 1, 0


def train_step(prepared, state, order):
    plan, began = prepared.plan, time.monotonic()
    chosen = [prepared.rows[index] for index in order[state.position : state.position + plan.batch]]
    rate = rate_at(state.step, prepared.steps, plan)
    for group in state.optimizer.param_groups:
        group["lr"] = rate
    prepared.model.train()
    state.optimizer.zero_grad(set_to_none=True)
    loss = train_loss(prepared.model, chosen, prepared.pad)
    norm = torch.nn.utils.clip_grad_norm_(list(state.parameters.values()), plan.clip).item()
    if not math.isfinite(loss) or not math.isfinite(norm):
        raise TrainerFailure(
            "LOSS_NOT_FINITE", f"The loss of step {state.step + 1} is no number. A lower learning rate may help.", step=state.step + 1
        )
    state.optimizer.step()
    state.step, state.position = state.step + 1, state.position + len(chosen)
    state.history.append(loss)
    tokens, seconds = sum(len(row.ids) for row in chosen), time.monotonic() - began
    state.tokens += tokens
    say(
        "step",
        step=state.step,
        steps=prepared.steps,
        epoch=round(state.step / prepared.steps_an_epoch, 4),
        loss=loss,
        learningRate=rate,
        tokensPerSecond=round(tokens / seconds, 1),
        etaSeconds=round(seconds * (prepared.steps - state.step), 1),
        memoryBytes=memory_bytes(),
    )


def rate_at(step, steps, plan):
    """Linear warm-up, then a cosine to zero."""
    warm = math.ceil(steps * plan.warmup)
    if step < warm:
        return plan.learningRate * (step + 1) / warm
    return plan.learningRate * 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def is_due(plan, state, ends_epoch):
    return ends_epoch if plan.validateEvery is None else state.step % plan.validateEvery == 0


def validate(prepared, state):
    """Returns whether training stops here, because the validation loss has not fallen for long enough."""
    if not prepared.validation:
        return False
    prepared.model.eval()
    loss = validation_loss(prepared.model, prepared.validation, prepared.pad)
    if not math.isfinite(loss):
        raise TrainerFailure("LOSS_NOT_FINITE", f"The validation loss after step {state.step} is no number.", step=state.step)
    is_best = state.note_validation(loss)
    stops = has_stopped(prepared.plan, state)
    say("validation", step=state.step, validationLoss=loss, isBest=is_best, stops=stops)
    return stops


def has_stopped(plan, state):
    """Whether the validation loss has not fallen for as long as the plan has patience."""
    return plan.patience is not None and state.since_best >= plan.patience


def checkpoint(prepared, state, out, lease, runs_on):
    facts = {"identity": prepared.identity, "environment": runs_on, "attempt": lease.attempt, "steps": prepared.steps}
    folder = out / "checkpoints"
    path = checkpoints.save(folder, state.step, state.files(facts), publish=lease.rename)
    with lease.publishing():
        checkpoints.prune(folder, prepared.plan.keep)
    say("checkpoint", step=state.step, path=str(path))


def publish(prepared, state, out, lease, runs_on):
    plan, base = prepared.plan, prepared.base
    # Early stopping asks for the adapter that validated best; without it the last one is what was asked for.
    chosen = state.snapshot() if state.best is None else state.best
    metrics = {
        "steps": state.step,
        "epochs": round(state.step / prepared.steps_an_epoch, 4),
        "loss": state.history[-1],
        "validationLoss": state.validations[-1][1] if state.validations else None,
        "bestLoss": state.best_loss,
        "bestStep": state.best_step,
        "tokens": state.tokens,
    }
    manifest = {
        "format": 1,
        "base": {**base.facts.shown(), "shape": base.shape},
        "template": prepared.identity["template"],
        "data": {"hash": prepared.data.hash, "rows": len(prepared.data.rows), "duplicates": prepared.data.duplicates},
        "rank": plan.rank,
        "alpha": plan.alpha,
        "targets": sorted(plan.targets),
        "seed": plan.seed,
        "metrics": metrics,
        "parents": prepared.parents,
        "licence": plan.licence,
        "training": {"identity": prepared.identity, "environment": runs_on},
    }
    adapter = Adapter(plan.rank, float(plan.alpha), plan.targets, chosen, manifest)
    with new_folder(out / "adapter", publish=lease.rename) as work:
        for name, content in files_of(adapter, base.facts.name, manifest).items():
            write_file(work / name, content)
        curve = {"loss": state.history, "validation": state.validations}
        write_file(work / "curve.json", json.dumps(curve).encode())
        write_gguf(read_adapter(work), work / "adapter.gguf")
    done = read_json(out / "adapter" / MANIFEST)
    say("trained", out=str(out / "adapter"), id=done["id"], sha256=done["sha256"], metrics=metrics, wasDone=False)


class Cancellation:
    """A signal to end is heard between two steps, so that no file is left half written."""

    def __enter__(self):
        self.asked, self.before = False, {}
        for name in (signal.SIGTERM, signal.SIGINT):
            self.before[name] = signal.signal(name, self.ask)
        return self

    def __exit__(self, *_):
        for name, handler in self.before.items():
            signal.signal(name, handler)

    def ask(self, *_):
        self.asked = True

    def check(self):
        if self.asked:
            raise TrainerFailure("CANCELLED", "The training was cancelled. Its newest checkpoint is kept.")
