"""Which rows a step trains, and their loss."""

import random

import torch

from sentinel_trainer.render import IGNORED

# Of one pass through the model: rows of like length go together, so that little of it is padding.
TOKENS_A_PASS = 2048


def order_of(count, seed, epoch):
    """A pure function of the seed and the epoch: a resumed training needs no iterator's state."""
    order = list(range(count))
    random.Random(f"{seed}/{epoch}").shuffle(order)
    return order


def passes(rows):
    """The rows of a step in groups, each of at most TOKENS_A_PASS with its padding."""
    groups = []
    for row in sorted(rows, key=lambda row: (len(row.ids), row.ids)):
        if groups and len(row.ids) * (len(groups[-1]) + 1) <= TOKENS_A_PASS:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def loss_sum(model, rows, pad):
    """The sum over the tokens of the answers. Only their places go through the last, widest layer."""
    inner = model.get_base_model()
    device = inner.lm_head.weight.device
    width = max(len(row.ids) for row in rows)
    # Pads are at the end and masked by length, because the token that pads may be the one that ends an answer.
    ids = torch.tensor([row.ids + [pad] * (width - len(row.ids)) for row in rows], device=device)
    mask = torch.tensor([[1] * len(row.ids) + [0] * (width - len(row.ids)) for row in rows], device=device)
    labels = torch.tensor([row.labels + [IGNORED] * (width - len(row.ids)) for row in rows], device=device)[:, 1:]
    hidden = inner.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[:, :-1]
    wanted = labels != IGNORED
    logits = inner.lm_head(hidden[wanted]).float()
    return torch.nn.functional.cross_entropy(logits, labels[wanted], reduction="sum")


def train_loss(model, rows, pad):
    """Mean loss over the answers' tokens, with the gradients of all passes added up."""
    count, total = sum(row.targets for row in rows), 0.0
    for group in passes(rows):
        loss = loss_sum(model, group, pad) / count
        loss.backward()
        total += loss.item()
    return total


@torch.no_grad()
def validation_loss(model, rows, pad):
    total = sum(loss_sum(model, group, pad).item() for group in passes(rows))
    return total / sum(row.targets for row in rows)
