import pytest
from conftest import chat, write_rows

from sentinel_trainer.base_model import identify, open_base
from sentinel_trainer.batches import loss_sum, order_of, passes
from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.render import IGNORED, Encoded, encode_row, render_prompt
from sentinel_trainer.rows import read_rows


@pytest.fixture(scope="module")
def base(tiny):
    return open_base(identify(str(tiny)))


def encoded(base, tmp_path, row, tokens_max=200):
    rows = read_rows(write_rows(tmp_path / "a.jsonl", [row]))
    return encode_row(base.tokenizer, rows.rows[0], rows.file, tokens_max)


def test_only_the_answer_and_its_end_are_trained(base, tmp_path):
    row = encoded(base, tmp_path, chat("Who?", "Ada"))
    assert row.labels[-1] == row.ids[-1] == base.tokenizer.eos_token_id
    answer = [label for label in row.labels if label != IGNORED]
    assert base.tokenizer.decode(answer) == "Ada<|im_end|>"
    before = row.ids[: len(row.ids) - len(answer)]
    assert row.labels[: len(before)] == [IGNORED] * len(before)
    assert base.tokenizer.decode(before) == render_prompt(base.tokenizer, [{"role": "user", "content": "Who?"}])


def test_a_row_that_is_too_long_is_refused_and_never_cut(base, tmp_path):
    with pytest.raises(TrainerFailure) as raised:
        encoded(base, tmp_path, chat("Who? " * 50, "Ada"))
    assert (raised.value.code, raised.value.facts["row"]) == ("ROW_TOO_LONG", 1)


def test_padding_changes_no_loss_though_the_pad_is_the_end(base):
    model = type("Bare", (), {"get_base_model": lambda self: base.model})()
    short, long = Encoded([1, 20, 21, 2], [IGNORED, IGNORED, 21, 2]), Encoded([1, *range(30, 60), 2], [IGNORED] * 30 + [59, 2])
    apart = loss_sum(model, [short], 2).item() + loss_sum(model, [long], 2).item()
    assert loss_sum(model, [short, long], 2).item() == pytest.approx(apart, rel=1e-5)


def test_the_loss_is_that_of_transformers(base):
    import torch

    model = type("Bare", (), {"get_base_model": lambda self: base.model})()
    row = Encoded([1, 20, 21, 22, 2], [IGNORED, IGNORED, 21, 22, 2])
    theirs = base.model(input_ids=torch.tensor([row.ids]), labels=torch.tensor([row.labels])).loss.item()
    assert loss_sum(model, [row], 2).item() / 3 == pytest.approx(theirs, rel=1e-5)


def test_an_order_is_a_function_of_seed_and_epoch():
    assert order_of(50, 1, 0) == order_of(50, 1, 0) != order_of(50, 1, 1)
    assert sorted(order_of(50, 2, 0)) == list(range(50)) != order_of(50, 2, 0)


def test_passes_hold_each_row_once_and_stay_in_their_bound():
    rows = [Encoded([1] * length, [1] * length) for length in (5, 900, 30, 900, 1500, 3000)]
    groups = passes(rows)
    assert sorted(len(row.ids) for group in groups for row in group) == sorted(len(row.ids) for row in rows)
    assert all(len(group) == 1 or len(group) * max(len(row.ids) for row in group) <= 2048 for group in groups)
