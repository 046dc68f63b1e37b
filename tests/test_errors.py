"""What badak says when something goes wrong: one line of cause, one line of fix, for each mistake people make.

The numbers are those of docs/reference/errors.md.
"""

import traceback
import warnings

import numpy as np
import pytest

import badak
from badak import nn, optim
from badak.core import errors
from badak.core.errors import ArgumentError, BadakError, BadakWarning, IndexOutOfRangeError
from badak.inspect.introspection.error_codes import explain, situations
from badak.nn import functional as F
from tools import errors_page


def complaint(action, causes: int = 1) -> str:
    """What `action()` raises or warns of; it must be one complaint: a line of cause (or `causes`), a line of fix."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            action()
        except errors.BadakError as error:
            return well_formed(str(error), causes)
    spoken = [str(w.message) for w in caught if issubclass(w.category, errors.BadakWarning)]
    assert len(spoken) == 1, f"expected one complaint; got {spoken}"
    return well_formed(spoken[0], causes)


def well_formed(text: str, causes: int = 1) -> str:
    lines = text.split("\n")
    well = len(lines) == causes + 1 and all(lines) and lines[-1].startswith("fix: ")
    assert well, f"not {causes} of cause and one of fix:\n{text}"
    return text


def silent(action):
    """The result of `action()`, which must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return action()


def says(text: str, *phrases: str) -> None:
    missing = [phrase for phrase in phrases if phrase not in text]
    assert not missing, f"{missing} missing in:\n{text}"


def attention(embed_dim=8, heads=2, **options):
    badak.manual_seed(0)
    return nn.MultiheadAttention(embed_dim, heads, batch_first=True, **options)


def attend(B=2, T=5, C=8, **masks):
    x = badak.randn(B, T, C)
    return attention(C)(x, x, x, **masks)


# ------------------------------------------------------------------ masks


def test_what_is_of_another_kind_is_told_by_the_name_of_its_class():
    errors.expect_kind([], list | tuple, "f: expected a list; got {}", "[x]")
    with pytest.raises(errors.ArgumentTypeError) as caught:
        errors.expect_kind({}, list | tuple, "{}: expected a list; got {}", "[x]", "f")
    assert (caught.value.cause, caught.value.fix) == ("f: expected a list; got dict", "[x]")
    with pytest.raises(TypeError, match="cond: expected a tuple or a list of operands; got dict"):
        badak.cond(True, abs, abs, {})


def test_01_a_float_mask_of_zeros_and_ones():
    mask = badak.tril(badak.ones(5, 5))
    text = complaint(lambda: attend(attn_mask=mask))
    says(text, "attn_mask is float and holds only 0 and 1", "added", "fix: attn_mask=(mask == 0)")


def test_01_a_float_mask_of_zeros_and_minus_infinity_is_fine():
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    silent(lambda: attend(attn_mask=mask))


def test_02_a_mask_of_the_wrong_polarity():
    mask = badak.tril(badak.ones(5, 5, dtype=badak.bool))
    text = complaint(lambda: attend(attn_mask=mask))
    says(text, "attn_mask hides the diagonal", "True = hide", "fix: attn_mask=~mask")


def test_02_a_causal_mask_of_the_right_polarity_is_fine():
    mask = badak.triu(badak.ones(5, 5, dtype=badak.bool), diagonal=1)
    silent(lambda: attend(attn_mask=mask))


def test_01_a_float_padding_mask_of_zeros_and_ones():
    padding = badak.tensor([[1.0, 1.0, 1.0, 0.0, 0.0], [1.0] * 5])
    text = complaint(lambda: attend(key_padding_mask=padding))
    says(text, "key_padding_mask is float and holds only 0 and 1", "fix: key_padding_mask=(mask == 0)")


def test_01_a_float_padding_mask_that_adds_is_fine():
    padding = badak.tensor([[0.0, 0.0, 0.0, -np.inf, -np.inf], [0.0] * 5])
    silent(lambda: attend(key_padding_mask=padding))


@pytest.mark.parametrize("lead", [(4,)])
def test_02_a_mask_of_the_wrong_polarity_for_each_head(lead):
    mask = badak.tril(badak.ones(5, 5, dtype=badak.bool)).expand(*lead, 5, 5)
    says(complaint(lambda: attend(attn_mask=mask)), "attn_mask hides the diagonal", "fix: attn_mask=~mask")
    silent(lambda: attend(attn_mask=badak.triu(badak.ones(5, 5, dtype=badak.bool), 1).expand(*lead, 5, 5)))


@pytest.mark.parametrize("lead", [(1, 1), (2, 1), (2, 2)])
def test_02_a_mask_of_the_wrong_polarity_of_four_dims(lead):
    q = badak.randn(2, 2, 5, 4)
    hide = badak.triu(badak.ones(5, 5, dtype=badak.bool), 1).expand(*lead, 5, 5)
    text = complaint(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=hide))
    says(text, "attn_mask hides the diagonal", "True = keep; this looks like True = hide", "fix: attn_mask=~mask")
    silent(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=~hide))


@pytest.mark.parametrize("dtype", ["bool", "float"])
def test_02_a_mask_that_shows_the_future_alone(dtype):
    hide = badak.ones(5, 5).tril(-1).bool()  # where triu(1) was meant
    mask = hide if dtype == "bool" else badak.zeros(5, 5).masked_fill(hide, float("-inf"))
    says(complaint(lambda: attend(attn_mask=mask)), "lets each query see itself and what comes after it", "fix: ")
    q = badak.randn(2, 2, 5, 4)
    errors.forget_warnings()
    text = complaint(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=badak.ones(5, 5).triu().bool()))
    says(text, "In scaled_dot_product_attention True = keep", "badak.ones(T, T).tril().bool()")


def test_02_a_mask_of_minus_infinity_on_the_wrong_side():
    mask = badak.zeros(5, 5).masked_fill(badak.ones(5, 5).tril().bool(), float("-inf"))
    says(complaint(lambda: attend(attn_mask=mask)), "attn_mask is -inf on the diagonal for 5 of 5", "square_subsequent_mask")


@pytest.mark.parametrize("layer", ["MultiheadAttention", "TransformerEncoder", "scaled_dot_product_attention"])
def test_02_padding_of_the_wrong_polarity(layer):
    words = badak.arange(5) < badak.tensor([5, 3, 4])[:, None]  # True = a word
    x, q = badak.randn(3, 5, 8), badak.randn(3, 2, 5, 4)

    def run(mask):
        if layer == "MultiheadAttention":
            return attention()(x, x, x, key_padding_mask=mask)
        if layer == "TransformerEncoder":
            encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
            return encoder(x, src_key_padding_mask=mask)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=~mask[:, None, None, :])

    says(complaint(lambda: run(words)), "hides 1 of 3 sequences wholly, and of the others the beginning", "_mask=~mask")
    silent(lambda: run(~words))
    silent(lambda: run((~words).flip(1)))  # padded on the left


@pytest.mark.parametrize("rule", ["strictly causal", "prefix", "window", "future", "alike"])
def test_04_rules_of_positions_are_no_lengths(rule):
    t = badak.arange(5)
    keep = {
        "strictly causal": (t[None] < t[:, None]) | (t[None] == 0),
        "prefix": (t[None] <= t[:, None]) | (t[None] < 3),
        "window": (t[None] <= t[:, None]) & (t[None] > t[:, None] - 2),
        "future": (t[None] > t[:, None]) | (t[None] == 4),
        "alike": (t < 3).expand(5, 5),
    }[rule]
    q = badak.randn(5, 2, 5, 4)
    silent(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=keep))
    silent(lambda: attend(B=5, attn_mask=~keep))


@pytest.mark.parametrize("lengths", [(5, 5, 4, 4, 3), (2, 5, 1, 3, 4)])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("dtype", ["bool", "float"])
def test_04_padding_of_sorted_lengths_on_either_side(lengths, side, dtype):
    keep = badak.arange(5) < badak.tensor(lengths)[:, None]
    keep = keep if side == "right" else keep.flip(1)
    q, added = badak.randn(5, 2, 5, 4), badak.zeros(5, 5).masked_fill(~keep, float("-inf"))
    text = complaint(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=keep if dtype == "bool" else added))
    says(text, "(5, 5) is ambiguous: batch=5 and length=5", "mask[:, None, None, :]")
    errors.forget_warnings()
    text = complaint(lambda: attend(B=5, attn_mask=~keep if dtype == "bool" else added))
    says(text, "(5, 5) is ambiguous", "fix: key_padding_mask=mask")


def test_03_padding_given_as_attn_mask():
    mask = badak.zeros(2, 5, dtype=badak.bool)
    text = complaint(lambda: attend(attn_mask=mask))
    says(text, "attn_mask (2, 5)", "batch=2", "padding mask", "fix: key_padding_mask=mask")


def test_04_padding_of_a_square_batch_is_ambiguous():
    lengths = badak.tensor([5, 3, 4, 2, 1])
    keep = badak.arange(5)[None, :] < lengths[:, None]
    q = badak.randn(5, 2, 5, 4)
    text = complaint(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=keep))
    says(text, "(5, 5)", "ambiguous", "batch=5", "fix: ")


def test_04_a_causal_mask_of_a_square_batch_is_fine():
    q = badak.randn(5, 2, 5, 4)
    keep = badak.tril(badak.ones(5, 5, dtype=badak.bool))
    silent(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=keep))


def test_05_a_mask_that_does_not_broadcast_to_the_scores():
    q = badak.randn(2, 2, 5, 4)
    mask = badak.ones(2, 5, dtype=badak.bool)
    text = complaint(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=mask))
    says(text, "mask (2, 5) does not broadcast to scores (batch=2, heads=2, queries=5, keys=5)", "[:, None, None, :]")


def test_06_a_query_with_nothing_to_attend_to():
    padding = badak.tensor([[False] * 5, [True] * 5])
    x = badak.randn(2, 5, 8, requires_grad=True)
    layer = attention()
    results = []
    text = complaint(lambda: results.append(layer(x, x, x, key_padding_mask=padding)[0]))
    says(text, "have no visible key", "Output set to 0")
    y = results[0]
    bias = layer.out_proj.bias.detach().numpy()
    np.testing.assert_allclose(y.detach().numpy()[1], np.broadcast_to(bias, (5, 8)), atol=1e-6)
    y.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_07_a_batch_that_is_all_padding():
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)
    padding = badak.ones(2, 5, dtype=badak.bool)
    text = complaint(lambda: layer(badak.randn(2, 5, 8), src_key_padding_mask=padding))
    says(text, "every position in this batch is padding", "pad_id")


# ------------------------------------------------------------------ shapes


def test_08_batch_first_forgotten():
    layer = nn.MultiheadAttention(8, 2)
    x = badak.randn(2, 7, 8)
    mask = badak.triu(badak.ones(7, 7, dtype=badak.bool), diagonal=1)
    text = complaint(lambda: layer(x, x, x, attn_mask=mask))
    says(text, "query (2, 7, 8) is read as (length=2, batch=7) because batch_first=False", "7", "fix: batch_first=True")


def test_09_memory_of_another_batch():
    layer = nn.TransformerDecoderLayer(8, 2, 16)
    text = complaint(lambda: layer(badak.randn(2, 5, 8), badak.randn(2, 7, 8)))
    says(text, "(2, 5, 8)", "(2, 7, 8)", "batch 5", "7", "fix: batch_first=True")


def test_10_heads_that_do_not_divide():
    text = complaint(lambda: nn.MultiheadAttention(10, 4))
    says(text, "embed_dim=10 is not divisible by num_heads=4", "fix: num_heads in {1, 2, 5, 10} or embed_dim 8 or 12")


def test_13_a_sequence_that_is_too_long():
    from badak.models import GPT, GPTConfig

    config = GPTConfig(vocab_size=10, context=8, d_model=8, heads=2, layers=1)
    text = complaint(lambda: GPT(config)(badak.zeros(1, 9, dtype=badak.int64)))
    says(text, "length 9", "8", "fix: ")


def test_14_logits_of_every_position():
    badak.manual_seed(0)
    logits, target = badak.randn(2, 5, 7), badak.randint(0, 7, (2, 5))
    text = complaint(lambda: F.cross_entropy(logits, target))
    says(text, "(2, 5, 7) are read as (batch, classes, d1)", "fix: logits.flatten(0, 1) and target.flatten(), or logits.movedim")
    flat = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    assert F.cross_entropy(logits.movedim(-1, 1), target).item() == pytest.approx(flat.item(), rel=1e-6)


def test_14_axes_that_fit_nothing_are_named():
    text = complaint(lambda: F.cross_entropy(badak.randn(2, 5, 7), badak.zeros(2, 4, dtype=badak.int64)))
    says(text, "(2, 5, 7)", "(2, 4)", "fix: a target of shape (2, 7)")


def test_28_an_odd_d_model_has_positions():
    table = silent(lambda: nn.PositionalEncoding(7)(badak.zeros(1, 4, 7)))
    assert tuple(table.shape) == (1, 4, 7) and np.isfinite(table.detach().numpy()).all()


# ------------------------------------------------------------------ labels and ids


def test_11_a_label_out_of_range():
    text = complaint(lambda: F.cross_entropy(badak.randn(4, 3), badak.tensor([0, 1, 2, 3])))
    says(text, "target[3] = 3 but logits have 3 classes (valid 0..2, ignore_index=-100)", "1 of 4 labels", "fix: ")


def test_11_is_an_index_error_too():
    with pytest.raises(IndexError):
        F.cross_entropy(badak.randn(4, 3), badak.tensor([0, 1, 2, -5]))


def test_12_a_token_id_out_of_range():
    text = complaint(lambda: nn.Embedding(10, 4)(badak.tensor([[1, 10]])))
    says(text, "[0, 1] = 10 but Embedding has 10 rows (0..9)", "max id 10", "fix: vocab_size=11")


def test_15_nothing_to_learn_from():
    logits = badak.randn(4, 3, requires_grad=True)
    losses = []
    text = complaint(lambda: losses.append(F.cross_entropy(logits, badak.full((4,), -100))))
    says(text, "no label to learn from in this batch", "ignore_index=-100", "fix: ")
    assert losses[0].item() == 0.0
    losses[0].backward()
    assert not logits.grad.numpy().any()


# ------------------------------------------------------------------ modules, optimizers, graphs


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)
        self.dec_layers = [nn.Linear(4, 4) for _ in range(3)]


class Forgetful(nn.Module):
    def __init__(self):
        super().__init__()
        first, second = nn.Linear(4, 4), nn.Linear(4, 2)
        self.out = lambda x: second(first(x))


def test_17_layers_in_a_list():
    text = complaint(lambda: list(Decoder().parameters()))
    says(text, "Decoder.dec_layers is a list with 3 modules", "6 parameters", "not registered", "fix: nn.ModuleList(")


def test_17_layers_in_a_list_of_lists():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(2, 2)
            self.rows = [[nn.Linear(2, 2)], {"a": (nn.Linear(2, 2),)}]

    text = complaint(lambda: list(Net().parameters()))
    says(text, "Net.rows is a list with 2 modules: their 4 parameters are not registered")


def test_33_sigmoid_before_the_loss_that_takes_it():
    x = badak.randn(4, requires_grad=True)
    text = complaint(lambda: F.binary_cross_entropy_with_logits(x.sigmoid(), badak.ones(4)))
    says(text, "received what sigmoid made", "fix: pass logits")
    silent(lambda: F.binary_cross_entropy_with_logits(x, badak.ones(4)))


def test_34_a_state_that_is_carried_over():
    w, h = badak.randn(3, 3, requires_grad=True), badak.zeros(1, 3)

    def run():
        nonlocal h
        for _ in range(2):
            h = badak.tanh(h @ w + 1)
            h.sum().backward()

    says(complaint(run), "a second time", "h = h.detach()")


def scores_of(hidden_row: int, by: str):
    """A row of scores is hidden as people write it, one in ten ways of softmax."""
    scores, row = badak.randn(2, 4, 4, requires_grad=True), badak.arange(4) == hidden_row
    if by == "masked_fill":
        return scores, scores.masked_fill(row[:, None], float("-inf"))
    if by == "where":
        return scores, badak.where(row[:, None], badak.tensor(float("-inf")), scores)
    return scores, scores + badak.zeros(4, 4).masked_fill(row[:, None], float("-inf"))


@pytest.mark.parametrize("by", ["masked_fill", "where", "add"])
@pytest.mark.parametrize("softmax", ["F.softmax", "exp", "log_softmax"])
def test_35_softmax_of_hidden_rows_by_hand(by, softmax):
    scores, masked = scores_of(2, by)
    if softmax == "F.softmax":
        weights, words = F.softmax(masked, dim=-1), "softmax gave NaN for 2 of 8 rows. A row whose scores are all -inf has no"
    elif softmax == "log_softmax":
        weights, words = F.log_softmax(masked, dim=-1).exp(), "log_softmax gave NaN for 2 of 8 rows"
    else:
        e = masked.exp()
        weights, words = e / e.sum(dim=-1, keepdim=True), "what went into matmul"
    loss = (weights @ badak.ones(2, 4, 3, requires_grad=True)).sum()
    says(complaint(loss.backward), "the loss is NaN", words, "fix: ")
    assert np.isnan(loss.item())


def test_35_rows_that_see_something_are_fine():
    _, masked = scores_of(9, "masked_fill")
    silent(F.softmax(masked, dim=-1).sum().backward)


def test_35_a_parameter_that_is_nan():
    model = nn.Linear(3, 3)
    with badak.no_grad():
        model.weight[1, 2] = float("nan")
    text = complaint(model(badak.ones(1, 3)).sum().backward)
    says(text, "a parameter of shape (3, 3) holds 1 NaN before this step", "fix: a smaller learning rate")


def test_35_data_that_are_nan():
    x = badak.tensor([[1.0, float("nan"), 2.0]])
    says(complaint(nn.Linear(3, 3)(x).sum().backward), "what went into linear held 1 NaN of 3 numbers", "the data")


def test_35_zero_times_infinity():
    x = badak.zeros(3, requires_grad=True)
    says(complaint((x * x.log()).sum().backward), "nothing that was kept for backward is", "set_detect_anomaly")


def test_17_is_said_once():
    model = Decoder()
    complaint(lambda: list(model.parameters()))
    silent(lambda: list(model.parameters()))


def test_17_layers_that_are_registered_elsewhere_are_fine():
    model = nn.Module()
    model.layers = nn.ModuleList([nn.Linear(2, 2)])
    model.shortcuts = [model.layers[0]]
    silent(lambda: list(model.parameters()))


def test_18_an_optimizer_without_parameters():
    text = complaint(lambda: optim.Adam(Forgetful().parameters(), lr=1e-3))
    says(text, "no parameters", "fix: ")
    with pytest.raises(ValueError, match="empty parameter list"):
        optim.SGD([], lr=0.1)


def test_20_an_overwritten_output():
    def action():
        y = badak.ones(2, requires_grad=True).exp()
        y += 1
        y.sum().backward()

    says(complaint(action), "output of exp", "overwritten", "modified by an inplace operation", "y = y + 1")


def test_23_a_loss_without_a_graph():
    with badak.no_grad():
        loss = badak.ones(2, requires_grad=True).mean()
    says(complaint(loss.backward), "does not require grad", "no_grad()", "fix: ")


def test_24_backward_twice():
    x = badak.ones(2, requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    says(complaint(loss.backward), "second time", "fix: ", "retain_graph=True")


def test_25_a_step_without_backward():
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    says(complaint(optimizer.step), "step() before backward()", "no gradient")


def test_25_frozen_parameters_beside_trained_ones_are_fine():
    layer = nn.Linear(2, 2)
    layer.bias.requires_grad_(False)
    layer(badak.ones(1, 2)).sum().backward()
    silent(optim.SGD(layer.parameters(), lr=0.1).step)


# ------------------------------------------------------------------ checkpoints


def test_26_another_vocabulary():
    small, large = nn.Sequential(nn.Embedding(10, 4)), nn.Sequential(nn.Embedding(12, 4))
    text = complaint(lambda: large.load_state_dict(small.state_dict()), causes=3)  # every problem at once
    says(text, "10", "12", "0.weight", "fix: ")


def test_27_prefixed_keys():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    state = {f"module.{key}": value for key, value in model.state_dict().items()}
    text = complaint(lambda: model.load_state_dict(state), causes=4)
    says(text, "all 4 keys start with 'module.'", "fix: ", 'strip_prefix="module."')


def test_27_the_fix_works():
    model = nn.Sequential(nn.Linear(2, 2))
    state = {f"module.{key}": value for key, value in model.state_dict().items()}
    assert not any(silent(lambda: model.load_state_dict(state, strip_prefix="module.")))


# ------------------------------------------------------------------ the first call


@pytest.mark.slow
def test_32_the_first_compilation_is_announced(tmp_path):
    import os
    import subprocess
    import sys

    script = "import badak; badak.ones(3).relu()"
    environment = {
        **os.environ,
        "BADAK_KERNELS": "numba",
        "BADAK_NUM_THREADS": "1",  # no helper, which would compile much else
        "NUMBA_CACHE_DIR": str(tmp_path),
        "BADAK_CACHE": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    says(done.stderr, "compil", "BADAK_KERNELS=reference")


# ------------------------------------------------------------------ the classes


def test_every_error_is_caught_by_what_pytorch_raises_there():
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.BadakError) and kind is not errors.BadakError:
            assert issubclass(kind, RuntimeError | TypeError | ValueError), kind
            assert str(kind("cause", "do this")) == "cause\nfix: do this"


# ------------------------------------------------------------------ the page

PAGE = errors_page.blocks()


@pytest.mark.parametrize("title, code, text, fixed", PAGE, ids=[title.split(".")[0] for title, *_ in PAGE])
def test_the_page_of_errors_shows_what_badak_says(title, code, text, fixed):
    assert errors_page.complaint(code) == text, "run python tools/errors_page.py"
    assert text and fixed is not None and errors_page.complaint(fixed) == ""


def test_each_code_has_its_section():
    assert [one.code for one in situations()] == [one.code for one in situations("ko")] == list(range(1, 36))
    assert [f"{one.code}. {one.name}" for one in situations()] == errors_page.titles()


@pytest.mark.slow
def test_codes_of_the_source_are_in_the_table():
    given = errors_page.codes()
    assert given <= {one.code for one in situations()}
    shown = {int(title.partition(".")[0]) for title, *_ in PAGE}
    assert shown <= given, "these are shown by a program and say no code"


def test_the_code_stands_below_the_message():
    with pytest.raises(IndexOutOfRangeError) as caught:
        F.cross_entropy(badak.randn(4, 3), badak.tensor([0, 1, 2, 3]))
    assert caught.value.code == "BADAK-011"
    assert "".join(traceback.format_exception_only(caught.value)).splitlines()[-1] == "badak explain BADAK-011"
    with pytest.warns(BadakWarning) as heard:
        F.cross_entropy(badak.randn(4, 3), badak.full((4,), -100))
    assert heard[0].message.code == "BADAK-015" and f"{heard[0].message}".endswith("\nbadak explain BADAK-015")


def test_explain_by_code_and_by_word():
    says(explain("BADAK-011"), "A label out of range", "F.cross_entropy", "target[3] = 3", "Fixed:")
    assert explain("11") == explain("badak-011")
    titles = explain("mask").splitlines()
    assert len(titles) > 3 and all(title.startswith("BADAK-") for title in titles)
    with pytest.raises(ArgumentError, match="nothing is called 'nonsense'"):
        explain("nonsense")


@pytest.mark.parametrize("call", [
    lambda x: F.relu(x.tolist()),
    lambda x: nn.Linear(3, 4)(x.tolist()),
    lambda x: badak.zeros(x),
    lambda x: F.cross_entropy(badak.zeros(2, 3), x.tolist()),
    lambda x: nn.Embedding(x, 3),
    lambda x: badak.cat(x.tolist()),
    lambda x: badak.tensor([x.tolist(), "a"]),
    lambda x: F.softmax(badak.zeros(2, 2), dim=x),
    lambda x: optim.Adam(nn.Linear(2, 2).parameters(), lr=x),
    lambda x: nn.Linear(2, 2).load_state_dict({"weight": x.numpy(), "bias": x.tolist()}),
    lambda x: badak.randn(*x.tolist()),
    lambda x: badak.ones(2).view(*x.tolist()),
])  # fmt: skip
def test_numbers_are_not_printed_by_the_thousand(call):
    with pytest.raises(BadakError) as caught:
        call(badak.arange(5000.0))
    assert len(str(caught.value)) < 3000


def test_a_long_cause_keeps_its_ends_and_its_lines():
    error = ArgumentError("begin " + "1.0, " * 5000 + "end\n" + "a line\n" * 900)
    first = error.cause.splitlines()[0]
    assert first.startswith("begin 1.0") and first.endswith("end") and len(first) < 2000
    assert error.cause.count("a line\n") == 900


@pytest.mark.parametrize(
    ("action", "name", "fix"),
    [
        (lambda: optim.Optimizer([nn.Parameter(badak.ones(1))], {}).step(), "Optimizer does not define step", "def step("),
        (lambda: badak.utils.data.Dataset()[0], "Dataset does not define __getitem__", "def __getitem__(self, index)"),
        (lambda: iter(badak.utils.data.Sampler()), "Sampler does not define __iter__", "def __iter__(self)"),
        (
            lambda: badak.distributions.ExponentialFamily(validate_args=False).entropy(),
            "ExponentialFamily does not define _natural_params",
            "def _natural",
        ),
        (lambda: badak.distributions.Transform()(badak.ones(1)), "Transform does not define _call", "def _call(self, x)"),
        (
            lambda: badak.distributions.constraints.Constraint().check(1),
            "Constraint does not define check",
            "def check(self, value)",
        ),
    ],
)
def test_a_base_class_names_the_method_that_is_missing(action, name, fix):
    said = complaint(action)
    assert said.startswith(name) and f"fix: {fix}" in said
    with pytest.raises(NotImplementedError):  # what programs written for PyTorch catch
        action()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (lambda: badak.func.vmap(3), "vmap: expected a function; got int\nfix: vmap(function)"),
        (lambda: badak.func.jacrev(3), "jacrev: expected a function; got int"),
        (
            lambda: badak.func.linearize(lambda x: 1, badak.ones(2)),
            "linearize: expected a function that gives tensors; it gave int",
        ),
        (lambda: badak.autograd.function.once_differentiable(3), "once_differentiable: expected a function; got int"),
        (lambda: badak.distributions.register_kl(3, 4), "Expected a distribution class but got 3"),
        (lambda: badak.distributions.Normal(0.0, 1.0).sample(3), "expected sizes as sample_shape; got 3\nfix: sample((3,))"),
        (lambda: badak.distributions.TransformedDistribution(3, []), "TransformedDistribution: expected a distribution; got int"),
        (lambda: badak.distributions.LKJCholesky(2.5), "Expected dim to be an integer greater than or equal to 2. Found dim=2.5."),
        (
            lambda: badak.distributions.MultivariateNormal(badak.zeros(3), badak.eye(2)),
            "covariance_matrix of shape (2, 2) does not fit",
        ),
        (
            lambda: nn.utils.prune.l1_unstructured(nn.Linear(2, 2), "wait", 0.5),
            "prune: Linear has no parameter 'wait'\nfix: one of weight",
        ),
        (
            lambda: nn.utils.prune.global_unstructured([nn.Linear(2, 2)], nn.utils.prune.L1Unstructured, amount=1),
            "expected (module, name)",
        ),
        (
            lambda: nn.utils.prune.custom_from_mask(nn.Linear(2, 2), "weight", [1]),
            "custom_from_mask: expected a tensor as the mask",
        ),
        (lambda: nn.utils.spectral_norm(nn.Linear(2, 2), "wait"), "spectral_norm: Linear has no parameter 'wait'"),
        (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 2), dim=7), "Dimension out of range"),
        (lambda: cyclic(step_size_up=-3), "CyclicLR: expected step_size_up > 0; got -3"),
        (
            lambda: optim.lr_scheduler.PolynomialLR(optim.SGD([nn.Parameter(badak.ones(1))]), power=-1.0),
            "PolynomialLR: expected power >= 0",
        ),
        (lambda: cyclic(scale_fn=3), "CyclicLR: scale_fn: expected a function; got int"),
    ],
)
def test_what_is_given_instead_of_a_function_a_class_or_a_size(action, said):
    assert said in complaint(action)


def cyclic(**options):
    return optim.lr_scheduler.CyclicLR(optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1, momentum=0.9), 0.1, 0.2, **options)


@pytest.mark.parametrize("library", ["badak", "torch"])
def test_an_argument_that_is_given_twice_is_named_as_python_names_it(library):
    """Lightning reads the argument's name from the error."""
    import importlib

    loader = importlib.import_module(f"{library}.utils.data").DataLoader
    with pytest.raises(TypeError, match=r"^DataLoader\.__init__\(\) got multiple values for argument 'dataset'"):
        loader([1], dataset=[2])
