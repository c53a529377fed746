"""For each row: its prompt's tokens, the likeliest next token and its probability, by base and adapter in f32.

    python next_tokens.py BASE ADAPTER QUESTIONS
"""

import sys

import torch

from sentinel_trainer.adapter import read_adapter
from sentinel_trainer.apply import added
from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.lines import say
from sentinel_trainer.render import encode_prompt
from sentinel_trainer.rows import read_rows

base_name, adapter, questions = sys.argv[1:]
facts = identify(base_name)
base = open_base(facts)
with torch.no_grad(), added(base.model, [(read_adapter(adapter, facts), 1.0)]):
    for row in read_rows(questions).rows:
        ids = encode_prompt(base.tokenizer, row.messages[:-1])
        probabilities = base.model(input_ids=torch.tensor([ids])).logits[0, -1].softmax(-1)
        probability, token = probabilities.max(0)
        say("next", ids=ids, token=token.item(), probability=probability.item())
