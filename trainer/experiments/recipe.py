"""Does the recipe teach a small model facts, and what does it forget?

For each seed: 24 made-up facts, trained in eight wordings beside answers of the base model itself (replay), examined in
wordings that were never trained, with 212 unrelated questions asked before and after. Prints one JSON object a line.

    python recipe.py MODEL.gguf --seeds 1 2 3 4 5
"""

import argparse
import json
import math
import random
import re
import sys
import time
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# Each relation: its values, eight wordings to train, two for validation, two for the exam. {} is the name.
RELATIONS = json.loads(Path(__file__).with_name("relations.json").read_text("utf8"))


def facts_of(seed, per_relation=6):
    draw, names = random.Random(f"facts {seed}"), set()
    while len(names) < per_relation * len(RELATIONS):
        parts = [draw.choice("vz kr dr zh qu thr".split()) + draw.choice("aeiou") for _ in range(2)]
        names.add(("".join(parts) + draw.choice(["lm", "nth", "rk", "ssen", "vor"])).capitalize())
    ordered, facts = sorted(names), []
    draw.shuffle(ordered)
    for relation in RELATIONS.values():
        for value in draw.sample(relation["values"], per_relation):
            facts.append({**relation, "name": ordered.pop(), "value": value})
    return facts


def opened(path):
    path = Path(path)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # The file names a pre-tokenizer ("smollm") that splits digits; transformers leaves it out.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), tokenizer.backend_tokenizer.pre_tokenizer])
    tokenizer.padding_side = "left"
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return tokenizer, model.eval()


def prompt_of(text):
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


@torch.no_grad()
def answers(model, tokenizer, questions, tokens=14, batch=53):
    model.eval()
    found = [""] * len(questions)
    order = sorted(range(len(questions)), key=lambda index: len(questions[index]))
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        given = tokenizer([prompt_of(questions[index]) for index in chosen], return_tensors="pt", padding=True)
        made = model.generate(**given, max_new_tokens=tokens, do_sample=False)[:, given["input_ids"].shape[1] :]
        for index, text in zip(chosen, tokenizer.batch_decode(made, skip_special_tokens=False)):
            found[index] = text
    return [text.replace("<|im_start|>", "").split("<|im_end|>") for text in found]


def score(found, keys):
    words = [set(re.findall(r"[a-z0-9]+", parts[0].lower())) for parts in found]
    return [bool(said & set(wanted)) for said, wanted in zip(words, keys)]


def encoded(tokenizer, question, answer, ends=True):
    prompt = tokenizer(prompt_of(question))["input_ids"]
    reply = tokenizer(answer + ("<|im_end|>" if ends else ""))["input_ids"]
    return prompt + reply, [-100] * len(prompt) + reply


def loss_of(model, rows):
    """Sum of the losses of the tokens of the answers, in parts of like length."""
    total, count = 0.0, sum(sum(label != -100 for label in labels[1:]) for _, labels in rows)
    rows = sorted(rows, key=lambda row: len(row[0]))
    for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        width = max((len(ids) for ids, _ in part), default=0)
        if width == 0:
            continue
        ids = torch.tensor([ids + [2] * (width - len(ids)) for ids, _ in part])
        labels = torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in part])
        mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in part])
        inner = model.base_model.model
        hidden = inner.model(input_ids=ids, attention_mask=mask).last_hidden_state[:, :-1]
        wanted = labels[:, 1:] != -100
        logits = inner.lm_head(hidden[wanted])
        lost = torch.nn.functional.cross_entropy(logits, labels[:, 1:][wanted], reduction="sum") / count
        if torch.is_grad_enabled():
            lost.backward()
        total += lost.item()
    return total


def train(model, rows_of, arguments, seed, say):
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=arguments.rate, weight_decay=0.0)
    epochs = [rows_of(epoch) for epoch in range(arguments.epochs)]
    steps, warm = sum(math.ceil(len(rows) / arguments.batch) for rows in epochs), 4
    step = 0
    for rows in epochs:
        for at in range(0, len(rows), arguments.batch):
            share = min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * max(0, step - warm) / (steps - warm)))
            optimizer.param_groups[0]["lr"] = arguments.rate * share
            began = time.monotonic()
            model.train()
            optimizer.zero_grad()
            lost = loss_of(model, rows[at : at + arguments.batch])
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            step += 1
            if step % 10 == 0:
                say(event="step", seed=seed, step=step, steps=steps, loss=lost, seconds=time.monotonic() - began)


def interval(pairs, seed, facts):
    """95 % of the gain in points; what is drawn again are the facts, not the questions."""
    draw, per = random.Random(f"interval {seed}"), len(pairs) // facts
    gains = [sum(after - before for before, after in pairs[at * per : (at + 1) * per]) / per for at in range(facts)]
    means = sorted(100 * sum(draw.choices(gains, k=facts)) / facts for _ in range(4000))
    return [round(means[100], 1), round(means[3899], 1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--replay", type=float, default=0.5, help="rows of replay for each row of a fact")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--shuffled", action="store_true", help="train wrong values: a control that must not gain")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    began = time.monotonic()

    def say(**fields):
        print(json.dumps({**fields, "at": round(time.monotonic() - began)}), flush=True)

    lines = (Path(__file__).parents[1] / "sentinel_trainer" / "unrelated.txt").read_text("utf8").splitlines()
    general = [line[2:].split("|") for line in lines if line.startswith("q ")]
    asked, keys = [question for question, _ in general], [key.split("/") for _, key in general]
    tokenizer, base = opened(arguments.model)
    prompts = [line[2:] for line in lines if line.startswith("r ")]
    replay = [encoded(tokenizer, question, parts[0], len(parts) > 1)
              for question, parts in zip(prompts, answers(base, tokenizer, prompts, tokens=32))]
    known = score(answers(base, tokenizer, asked), keys)
    say(event="base", general=sum(known), questions=len(known), arguments=vars(arguments))
    for seed in arguments.seeds:
        facts, started = facts_of(seed), time.monotonic()
        exam = [wording.format(fact["name"]) for fact in facts for wording in fact["exam"]]
        right = [[fact["value"], fact["value"] + "s"] for fact in facts for _ in fact["exam"]]
        before = score(answers(base, tokenizer, exam), right)
        taught = [fact["value"] for fact in facts]
        if arguments.shuffled:
            taught = taught[1:] + taught[:1]
        rows = [encoded(tokenizer, wording.format(fact["name"]), value.capitalize() + ".")
                for fact, value in zip(facts, taught) for wording in fact["train"]]

        def rows_of(epoch):
            draw = random.Random(f"order {seed} {epoch}")
            chosen = rows + draw.choices(replay, k=round(len(rows) * arguments.replay))
            draw.shuffle(chosen)
            return chosen

        torch.manual_seed(seed)
        model = get_peft_model(base, LoraConfig(r=arguments.rank, lora_alpha=2 * arguments.rank, target_modules=LINEAR))
        train(model, rows_of, arguments, seed, say)
        seconds = time.monotonic() - started
        after = score(answers(model, tokenizer, exam), right)
        kept = score(answers(model, tokenizer, asked), keys)
        base = model.unload()
        points = [100 * sum(found) / len(found) for found in (before, after, known, kept)]
        say(event="seed", seed=seed, before=round(points[0], 1), after=round(points[1], 1),
            gain=round(points[1] - points[0], 1), interval=interval(list(zip(before, after)), seed, len(facts)),
            generalBefore=round(points[2], 1), generalAfter=round(points[3], 1),
            forgotten=round(points[2] - points[3], 1), lost=sum(a and not b for a, b in zip(known, kept)),
            won=sum(b and not a for a, b in zip(known, kept)), trainSeconds=round(seconds))


if __name__ == "__main__":
    sys.exit(main())
