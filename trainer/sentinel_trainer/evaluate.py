"""`evaluate`: questions asked of a base with its adapters, in batches, each answer held against its key."""

import re
import time

from sentinel_trainer.adapter import read_adapter
from sentinel_trainer.answers import answer
from sentinel_trainer.apply import added
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.lines import say
from sentinel_trainer.rows import normal, read_rows


def plain(text):
    """Words without marks around them: "Teal." and "teal" are the same answer."""
    return " ".join(re.findall(r"\w+", normal(text)))


def is_right(said, keys, match):
    """`exact`: the answer is the key. `contains`: the key's words stand in it, one after the other."""
    found = plain(said)
    if match == "exact":
        return any(found == plain(key) for key in keys)
    return any(f" {plain(key)} " in f" {found} " for key in keys if plain(key))


def evaluate(base_name, layers, questions, *, batch, tokens_max, match, precision="f32"):
    """Says `answer` for each question and `evaluated` at the end: {n, right, share, seconds, layers}."""
    asked = read_rows(questions)
    facts = identify(base_name)
    adapters = [(read_adapter(path, facts), scale) for path, scale in layers]
    base = open_base(facts, precision)
    for notice in base.notices:
        say("notice", message=notice)
    began, right = time.monotonic(), 0
    with added(base.model, adapters):
        for index, text in answer(base, asked.rows, tokens_max, batch):
            row = asked.rows[index]
            good = is_right(text, row.answers or (row.answer,), match)
            right += good
            say("answer", row=row.number, fact=row.fact, answer=text, right=good)
    say(
        "evaluated",
        n=len(asked.rows),
        right=right,
        share=right / len(asked.rows),
        match=match,
        questions=asked.hash,
        base=facts.shown(),
        layers=[
            {"id": None if adapter.manifest is None else adapter.manifest.get("id"), "scale": scale} for adapter, scale in adapters
        ],
        seconds=round(time.monotonic() - began, 3),
    )
