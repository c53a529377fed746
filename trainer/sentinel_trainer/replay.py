"""Replay: answers of the base itself to unrelated questions, trained beside the new rows, so that little is forgotten."""

import json
import random

from sentinel_trainer.answers import whole_answers
from sentinel_trainer.disk import replace_file
from sentinel_trainer.lines import say
from sentinel_trainer.read_json import read_json
from sentinel_trainer.render import encode_prompt, encode_row
from sentinel_trainer.rows import Row, read_rows
from sentinel_trainer.unrelated import replayed_questions

TOKENS_MAX = 32
BATCH = 64


def replay_rows(base, plan, count, out):
    """`plan.replay` rows for each of `count`, in an order that follows from the seed. Each question is there as often as any other."""
    wanted = round(count * plan.replay)
    if wanted == 0:
        return []
    answered = [(row, ends) for row, ends in answers_of(base, out) if row.question not in held_out(plan) and row.answer.strip()]
    random.Random(f"replay {plan.seed}").shuffle(answered)
    chosen = [answered[index % len(answered)] for index in range(wanted)]
    return [encode_row(base.tokenizer, row, "unrelated.txt", plan.maxTokens, ends) for row, ends in chosen]


def held_out(plan):
    return {row.question for path in plan.heldOut for row in read_rows(path).rows}


def answers_of(base, out):
    """Asked once for a training: whoever goes on with it trains the same."""
    file = out / "replay.json"
    found = read_json(file)
    if found is None or found.get("base") != base.facts.hash:
        found = {"base": base.facts.hash, "answers": ask(base)}
        replace_file(file, json.dumps(found).encode())
    return [(row_of(index, question, text), ends) for index, (question, text, ends) in enumerate(found["answers"], 1)]


def row_of(number, question, text):
    return Row(number, [{"role": "user", "content": question}, {"role": "assistant", "content": text}])


def ask(base):
    questions = replayed_questions()
    prompts = [encode_prompt(base.tokenizer, [{"role": "user", "content": question}]) for question in questions]
    order = sorted(range(len(questions)), key=lambda index: (len(prompts[index]), index))
    found = {}
    for at in range(0, len(order), BATCH):
        chosen = order[at : at + BATCH]
        for index, answer in zip(chosen, whole_answers(base, [prompts[index] for index in chosen], TOKENS_MAX), strict=True):
            found[index] = answer
        say("replay", answered=len(found), of=len(questions))
    return [[questions[index], *found[index]] for index in range(len(questions))]
