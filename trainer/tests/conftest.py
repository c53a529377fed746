"""A tiny model that is made here, and trainers that are processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def make_model(folder, *, width=32, seed=1, model_type="llama"):
    """A random model with a byte-level tokenizer, as a folder with safetensors."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    inner = Tokenizer(models.BPE({token: index for index, token in enumerate([*special, *letters])}, []))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(special) + len(letters), hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=True, initializer_range=0.5,
        bos_token_id=1, eos_token_id=2,  # A pad would have a row of zeros, and the pad of the tokenizer is the end.
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def real():
    """The small real model, a GGUF file."""
    path = os.environ.get("SENTINEL_TEST_MODEL")
    if path is None or not Path(path).is_file():
        pytest.skip("SENTINEL_TEST_MODEL names no GGUF file")
    return path


COLOURS = ["red", "blue", "green", "teal", "pink", "grey"]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf8")
    return path


def chat(question, answer, **more):
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}], **more}


@pytest.fixture
def data(tmp_path):
    return write_rows(tmp_path / "train.jsonl", [chat(f"Colour of {name}?", colour) for name, colour in zip("abcdef", COLOURS)])


@pytest.fixture
def plan(tmp_path, tiny, data):
    """Writes a plan; `plan(epochs=3)` changes what is said."""

    def write(name="plan.json", **settings):
        path = tmp_path / name
        given = {"base": str(tiny), "data": str(data), "rank": 4, "alpha": 8, "epochs": 2, "batch": 2, "threads": 1,
                 "learningRate": 0.01, "checkpointEvery": 2, "seed": 3, **settings}
        path.write_text(json.dumps(given))
        return path

    return write


class Trainers:
    """Starts trainers as children of a process that has loaded the libraries, so that each starts in milliseconds."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        self.host = subprocess.Popen(
            [sys.executable, str(TESTS / "host.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        )
        assert self.host.stdout.readline() == "ready\n"

    def start(self, *argv, kill_at=None, under=None):
        """`kill_at`: the trainer is killed with -9 before that change of a file below `under`, counted from 0."""
        self.count += 1
        said = self.folder / f"said-{self.count}.jsonl"
        request = {"argv": [str(item) for item in argv], "said": str(said), "killAt": kill_at, "under": str(under)}
        self.host.stdin.write(json.dumps(request) + "\n")
        self.host.stdin.flush()
        return Started(self, int(self.host.stdout.readline()), said)

    def run(self, *argv, **options):
        started = self.start(*argv, **options)
        return started.end()

    def wait(self, pid):
        self.host.stdin.write(json.dumps({"wait": pid}) + "\n")
        self.host.stdin.flush()
        return int(self.host.stdout.readline())

    def close(self):
        self.host.stdin.close()
        self.host.wait(30)


class Started:
    def __init__(self, trainers, pid, said):
        self.trainers, self.pid, self.said = trainers, pid, said

    def lines(self):
        text = self.said.read_text("utf8") if self.said.exists() else ""
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def until(self, event, count=1, seconds=120):
        """Waits until an event was said that often."""
        end = time.monotonic() + seconds
        while sum(line["event"] == event for line in self.lines()) < count:
            assert time.monotonic() < end, f"no {event} in {self.lines()}"
            time.sleep(0.002)

    def signal(self, name):
        os.kill(self.pid, getattr(signal, name))

    def end(self):
        return Ended(self.trainers.wait(self.pid), self.lines())


class Ended:
    def __init__(self, code, lines):
        self.code, self.lines = code, lines

    def only(self, event):
        found = [line for line in self.lines if line["event"] == event]
        assert len(found) == 1, self.lines
        return found[0]

    def all(self, event):
        return [line for line in self.lines if line["event"] == event]


@pytest.fixture(scope="session")
def trainers(tmp_path_factory):
    found = Trainers(tmp_path_factory.mktemp("said"))
    yield found
    found.close()
