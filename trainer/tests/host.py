"""Loads the libraries once, and forks a trainer for each line of stdin. It computes nothing itself, so a fork is safe."""

import json
import os
import signal
import sys
from pathlib import Path

import peft  # noqa: F401
import torch  # noqa: F401
import transformers  # noqa: F401
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM  # noqa: F401

import sentinel_trainer.train  # noqa: F401
from sentinel_trainer.cli import main

CHANGES = {"os.rename": 2, "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1}


def kill_at(count, under):
    """Ends this process with -9 before it makes that change of a file."""
    seen = [0]

    def hook(event, args):
        if event == "open":
            path, mode, flags = args
            writes = (isinstance(mode, str) and any(letter in mode for letter in "wax+")) or (
                mode is None and isinstance(flags, int) and flags & os.O_CREAT)
            paths = [path] if writes else []
        else:
            paths = args[: CHANGES.get(event, 0)]
        if not any(isinstance(path, (str, os.PathLike)) and str(path).startswith(under) for path in paths):
            return
        if seen[0] == count:
            os.kill(os.getpid(), signal.SIGKILL)
        seen[0] += 1

    sys.addaudithook(hook)


def run(request):
    said = os.open(request["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(said, 1)
    os.dup2(os.open(Path(request["said"]).with_suffix(".err"), os.O_WRONLY | os.O_CREAT, 0o600), 2)
    if request["killAt"] is not None:
        kill_at(request["killAt"], request["under"])
    try:
        code = main(request["argv"])
    except SystemExit as error:
        code = error.code
    sys.stdout.flush()
    os._exit(code)


print("ready", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "wait" in request:
        _, status = os.waitpid(request["wait"], 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
        continue
    child = os.fork()
    if child == 0:
        run(request)
    print(child, flush=True)
