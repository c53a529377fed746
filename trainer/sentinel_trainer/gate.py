"""`gate`: what a base answers without an adapter and with it, to the held-out questions and to unrelated ones.

It only asks and counts. Whether that is good enough is decided by whoever reads the report.
"""

import json
import time
from pathlib import Path

from sentinel_trainer.adapter import read_adapter
from sentinel_trainer.answers import answer
from sentinel_trainer.apply import added
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.disk import replace_file
from sentinel_trainer.evaluate import is_right
from sentinel_trainer.lines import say
from sentinel_trainer.render import template_hash
from sentinel_trainer.rows import read_rows
from sentinel_trainer.unrelated import asked_hash, asked_rows

# Their keys are single words, which a model says at once or not at all.
UNRELATED_TOKENS_MAX = 14


def gate(base_name, adapter_path, questions, report, *, batch, tokens_max, match):
    """Writes the report, and says `gated` with its counts."""
    held_out = read_rows(questions)
    facts = identify(base_name)
    adapter = read_adapter(adapter_path, facts)
    base = open_base(facts)
    for notice in base.notices:
        say("notice", message=notice)
    began = time.monotonic()
    sets = {"heldOut": (held_out.rows, match, tokens_max), "unrelated": (asked_rows(), "contains", UNRELATED_TOKENS_MAX)}
    found = {name: [asked(row, kind) for row in rows] for name, (rows, kind, _) in sets.items()}
    for arm, layers in (("before", []), ("after", [(adapter, 1.0)])):
        with added(base.model, layers):
            for name, (rows, kind, longest) in sets.items():
                for index, text in answer(base, rows, longest, batch):
                    right = is_right(text, rows[index].answers or (rows[index].answer,), kind)
                    found[name][index][arm] = {"answer": text, "right": right}
                say("asked", set=name, arm=arm, n=len(rows), right=sum(item[arm]["right"] for item in found[name]))
    whole = {
        "base": facts.shown(),
        "adapter": None if adapter.manifest is None else adapter.manifest.get("id"),
        "template": template_hash(base.tokenizer),
        "questions": {"heldOut": held_out.hash, "unrelated": asked_hash()},
        "tokensMax": tokens_max,
        **found,
    }
    replace_file(Path(report), json.dumps(whole, ensure_ascii=False).encode())
    say("gated", report=str(report), seconds=round(time.monotonic() - began, 3), **{name: len(rows) for name, rows in found.items()})


def asked(row, match):
    return {"row": row.number, "question": row.messages[-2]["content"], "key": list(row.answers or (row.answer,)), "match": match,
            "group": row.fact or row.group}
