"""The command line. Heavy packages are imported after the arguments were read, so that a mistake is answered at once."""

import argparse
import os
import sys
import traceback

from sentinel_trainer import __version__
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.lines import say

BUG = 1
# Threads that wait for each other by spinning make a busy machine ten times as slow. Read when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main(argv=None):
    """Runs one command and returns its exit code. A failure is the last line: {event: "failed", code, message, …}."""
    arguments = parser().parse_args(argv)
    try:
        return arguments.run(arguments) or 0
    except TrainerFailure as failure:
        say("failed", code=failure.code, message=failure.message, **failure.facts)
        return failure.exit
    except BrokenPipeError:
        return BUG
    except Exception as error:  # Whatever else happens is a bug; its place goes to stderr, its kind to the reader.
        traceback.print_exc(file=sys.stderr)
        say("failed", code="BUG", message=f"{type(error).__name__}: {error}")
        return BUG


def parser():
    whole = argparse.ArgumentParser(prog="sentinel-trainer", description=__doc__)
    whole.add_argument("--version", action="version", version=__version__)
    commands = whole.add_subparsers(required=True)

    train = commands.add_parser("train", help="train an adapter, or go on from the newest checkpoint")
    train.add_argument("plan", help="a JSON file: base, data, and what differs from the defaults")
    train.add_argument("--out", required=True, help="the folder for checkpoints and the adapter")
    train.add_argument("--attempt", type=int, help="take over from a lower attempt that may still be alive")
    train.set_defaults(run=run_train)

    convert = commands.add_parser("convert", help="turn PEFT's folder into a GGUF adapter, or back")
    convert.add_argument("adapter")
    convert.add_argument("--out", required=True)
    convert.add_argument("--base", help="checks that the adapter is for this base")
    convert.set_defaults(run=run_convert)

    merge = commands.add_parser("merge", help="write a whole model with adapters in its weights")
    merge.add_argument("adapters", nargs="+", metavar="ADAPTER[@SCALE]")
    merge.add_argument("--base", required=True)
    merge.add_argument("--out", required=True)
    merge.set_defaults(run=run_merge)

    evaluate = commands.add_parser("evaluate", help="ask questions in batches and hold the answers against their keys")
    evaluate.add_argument("adapters", nargs="*", metavar="ADAPTER[@SCALE]")
    evaluate.add_argument("--base", required=True)
    evaluate.add_argument("--questions", required=True, help="rows as for training; their answers are the keys")
    evaluate.add_argument("--batch", type=int, default=64)
    evaluate.add_argument("--max-tokens", type=int, default=32)
    evaluate.add_argument("--match", choices=["exact", "contains"], default="exact")
    evaluate.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    evaluate.set_defaults(run=run_evaluate)

    gate = commands.add_parser("gate", help="ask a base with and without an adapter what was held out, and what is unrelated")
    gate.add_argument("adapter")
    gate.add_argument("--base", required=True)
    gate.add_argument("--questions", required=True, help="what was held out; the answers of its rows are the keys")
    gate.add_argument("--report", required=True, help="the JSON file for all answers")
    gate.add_argument("--batch", type=int, default=64)
    gate.add_argument("--max-tokens", type=int, default=32)
    gate.add_argument("--match", choices=["exact", "contains"], default="exact")
    gate.set_defaults(run=run_gate)

    inspect = commands.add_parser("inspect", help="say what a base, an adapter, a checkpoint or a training is")
    inspect.add_argument("path")
    inspect.set_defaults(run=run_inspect)

    tokens = commands.add_parser("tokens", help="print the tokens of texts or conversations, one JSON value a line of stdin")
    tokens.add_argument("--base", required=True)
    tokens.set_defaults(run=run_tokens)

    doctor = commands.add_parser("doctor", help="check this environment, and how it reads a base's numbers")
    doctor.add_argument("--base")
    doctor.set_defaults(run=run_doctor)
    return whole


def run_train(arguments):
    from sentinel_trainer.plan import read_plan

    plan = read_plan(arguments.plan)
    from sentinel_trainer.train import train

    train(plan, arguments.out, arguments.attempt)


def run_convert(arguments):
    from sentinel_trainer.convert import convert

    convert(arguments.adapter, arguments.out, arguments.base)


def run_merge(arguments):
    from sentinel_trainer.merge import merge

    merge(arguments.base, layers_of(arguments.adapters), arguments.out)


def run_evaluate(arguments):
    from sentinel_trainer.evaluate import evaluate

    evaluate(
        arguments.base,
        layers_of(arguments.adapters),
        arguments.questions,
        batch=arguments.batch,
        tokens_max=arguments.max_tokens,
        match=arguments.match,
        precision=arguments.precision,
    )


def run_gate(arguments):
    from sentinel_trainer.gate import gate

    gate(
        arguments.base,
        arguments.adapter,
        arguments.questions,
        arguments.report,
        batch=arguments.batch,
        tokens_max=arguments.max_tokens,
        match=arguments.match,
    )


def run_inspect(arguments):
    from sentinel_trainer.show import inspect

    inspect(arguments.path)


def run_tokens(arguments):
    from sentinel_trainer.show import tokens

    tokens(arguments.base)


def run_doctor(arguments):
    from sentinel_trainer.doctor import doctor

    return 0 if doctor(arguments.base) else BUG


def layers_of(named):
    """`PATH` or `PATH@SCALE`, as steps name their layers."""
    layers = []
    for text in named:
        path, mark, scale = text.rpartition("@")
        try:
            layers.append((path, float(scale)) if mark else (text, 1.0))
        except ValueError:
            layers.append((text, 1.0))
    return layers
