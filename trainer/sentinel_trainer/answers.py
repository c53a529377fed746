"""Greedy answers in batches, which a CPU gives eight times as fast as one after the other."""

import torch

from sentinel_trainer.render import encode_prompt


@torch.no_grad()
def answer(base, rows, tokens_max, batch):
    """The text of each answer, in the order of the rows. `answered` yields (row's index, text) as they come."""
    prompts = [encode_prompt(base.tokenizer, row.messages[:-1], row.tools) for row in rows]
    # Rows of like length share a batch, so that little of it is padding.
    order = sorted(range(len(rows)), key=lambda index: (len(prompts[index]), index))
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        for index, text in zip(chosen, answer_batch(base, [prompts[index] for index in chosen], tokens_max), strict=True):
            yield index, text


def answer_batch(base, prompts, tokens_max):
    return [text for text, _ in whole_answers(base, prompts, tokens_max)]


def whole_answers(base, prompts, tokens_max):
    """Each answer, and whether it came to its end within `tokens_max`."""
    model, tokenizer = base.model, base.tokenizer
    width, pad = max(map(len, prompts)), tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    ids = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts], device=model.device)
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=model.device)
    made = model.generate(
        input_ids=ids,
        attention_mask=mask,
        max_new_tokens=tokens_max,
        do_sample=False,
        pad_token_id=pad,
        eos_token_id=tokenizer.eos_token_id,
    )
    end = tokenizer.eos_token_id
    return [(tokenizer.decode(until_end(row, end)), end in row) for row in made[:, width:].tolist()]


def until_end(ids, end):
    return ids[: ids.index(end)] if end in ids else ids
