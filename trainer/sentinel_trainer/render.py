"""Conversations as tokens, in the rendering of the model's own chat template."""

from dataclasses import dataclass

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.hashes import bytes_hash
from sentinel_trainer.rows import refuse

IGNORED = -100


@dataclass(frozen=True)
class Encoded:
    """`labels` are the tokens of the answer with its end, and IGNORED before it."""

    ids: list
    labels: list

    @property
    def targets(self):
        return sum(label != IGNORED for label in self.labels)


def template_hash(tokenizer):
    if not isinstance(tokenizer.chat_template, str):
        raise TrainerFailure("TEMPLATE_UNFIT", "The model has no chat template, so nobody knows how it is asked.")
    return bytes_hash(tokenizer.chat_template.encode())


def render_prompt(tokenizer, messages, tools=None):
    """The text that a model is asked to go on with."""
    return tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=True)


def encode_prompt(tokenizer, messages, tools=None):
    return tokenizer(render_prompt(tokenizer, messages, tools), add_special_tokens=False)["input_ids"]


def encode_row(tokenizer, row, file, tokens_max, ends=True):
    """The row as tokens. Fails with the row's number where the template refuses it or it is too long.

    `ends`: the answer is whole, so that its end is trained, too.
    """
    try:
        prompt = render_prompt(tokenizer, row.messages[:-1], row.tools)
        whole = tokenizer.apply_chat_template(row.messages, tools=row.tools, tokenize=False)
    except Exception as error:  # A template is a program of its own: it raises whatever it likes.
        refuse("ROW_INVALID", file, row.number, f"is refused by the model's chat template: {error}")
    if not whole.startswith(prompt):
        refuse("TEMPLATE_UNFIT", file, row.number, "is rendered otherwise with its answer than without it")
    end = tokenizer.eos_token
    said = whole[len(prompt) :]
    # What a template writes after the end of the answer belongs to the next message.
    said = said[: said.rindex(end)] if end in said else said.rstrip("\n")
    before = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    after = tokenizer(said, add_special_tokens=False)["input_ids"] + ([tokenizer.eos_token_id] if ends else [])
    if len(before) + len(after) > tokens_max:
        reason = f"has {len(before) + len(after)} tokens, more than the {tokens_max} of maxTokens"
        refuse("ROW_TOO_LONG", file, row.number, reason)
    return Encoded(before + after, [IGNORED] * len(before) + after)
