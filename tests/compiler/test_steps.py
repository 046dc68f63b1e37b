"""Whole training steps: replayed, they give the bits of running them, whatever is in them."""

import numpy as np
import pytest

import badak
from badak import kernels, nn, optim
from badak.nn import functional as F


class Small(nn.Module):
    """A little of everything: embeddings, attention of a layer and by hand, dropout, norms, a tied head."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.token, self.place = nn.Embedding(11, 16, padding_idx=0), nn.Embedding(8, 16)
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout, "gelu", batch_first=True, norm_first=True)
        self.qkv, self.norm = nn.Linear(16, 48), nn.LayerNorm(16)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.token.weight
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = self.dropout(self.token(x) + self.place(badak.arange(x.size(1))))
        h = self.layer(h, src_key_padding_mask=x == 0)
        q, k, v = (part.unflatten(-1, (4, 4)).transpose(1, 2) for part in self.qkv(h).chunk(3, -1))
        h = h + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return self.head(self.norm(h))


class Pictures(nn.Module):
    """Convolution, batch norm with running statistics, pooling, a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.rows, self.head = nn.LSTM(12, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        h = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.head(self.rows(h.transpose(1, 2).flatten(2))[0][:, -1])


def tokens(seed):
    x = np.random.default_rng(seed).integers(1, 11, (3, 9))
    x[0, 6:] = 0
    return badak.tensor(x[:, :-1].tolist()), badak.tensor(x[:, 1:].tolist())


def pictures(seed):
    rng = np.random.default_rng(seed)
    return badak.tensor(rng.standard_normal((4, 1, 6, 6)).astype("f4").tolist()), badak.tensor(rng.integers(0, 3, 4).tolist())


def token_loss(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=0)


def picture_loss(model, x, y):
    return F.cross_entropy(model(x), y, label_smoothing=0.1)


def simple(model, optimizer, loss_of):
    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def clipped_and_scheduled(model, optimizer, loss_of):
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)

    def step(x, y):
        loss = loss_of(model, x, y)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        return {"loss": loss.detach(), "norm": norm}

    return step


def accumulated(model, optimizer, loss_of):
    def step(x, y):
        for half in (slice(0, 2), slice(2, None)):
            loss = loss_of(model, x[half], y[half]) / 2
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return [loss, None, 3]

    return step


def averaged(model, optimizer, loss_of):
    average = [p.detach().clone() for p in model.parameters()]
    plain = simple(model, optimizer, loss_of)

    def step(x, y):
        loss = plain(x, y)
        with badak.no_grad():
            for mean, p in zip(average, model.parameters()):
                mean.mul_(0.9).add_(p, alpha=0.1)
        return loss, average[1]

    return step


WAYS = [simple, clipped_and_scheduled, accumulated, averaged]
OPTIMIZERS = {
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "Adam amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True),
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.01),
}


def flat(value) -> list:
    """The bits of what a step returned."""
    if isinstance(value, badak.Tensor):
        return [value.detach()._array.tobytes()]
    if isinstance(value, dict):
        value = list(value.values())
    return [bit for part in value for bit in flat(part)] if isinstance(value, list | tuple) else [value]


def run(make, loss_of, batches, way, optimizer, compiled, steps=9):
    """(what the steps returned, the weights and buffers at the end, the compiled step)."""
    badak.manual_seed(3)
    model = make()
    step = way(model, optimizer(model.parameters()), loss_of)
    step = badak.compile(step) if compiled else step
    returned = [flat(step(*batches(seed % 4))) for seed in range(steps)]
    return returned, [bit for value in model.state_dict().values() for bit in flat(value)], step


def assert_same(make, loss_of, batches, way, optimizer, steps=9):
    arguments = make, loss_of, batches, way, optimizer
    expected, expected_state, _ = run(*arguments, False, steps)
    found, state, step = run(*arguments, True, steps)
    assert step.fallback_reason == "" and step.recordings
    assert found == expected
    assert state == expected_state


@pytest.mark.thin(8)
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("kernel_set", ["reference", "numba"])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_replayed_transformer_trains_to_the_same_bits(way, kernel_set, dropout):
    with kernels.use(kernel_set):
        assert_same(lambda: Small(dropout), token_loss, tokens, way, OPTIMIZERS["AdamW"])


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_goes_on_in_replays(name):
    assert_same(Small, token_loss, tokens, simple, OPTIMIZERS[name])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_replayed_convolutions_batch_norms_and_recurrences(way):
    assert_same(Pictures, picture_loss, pictures, way, OPTIMIZERS["SGD"])


@pytest.mark.slow
def test_replays_on_any_number_of_threads_give_the_same_bits():
    before, found = badak.get_num_threads(), []
    try:
        for threads in (1, 2, 4):
            badak.set_num_threads(threads)
            found.append(run(Small, token_loss, tokens, simple, OPTIMIZERS["AdamW"], compiled=True)[:2])
    finally:
        badak.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
def test_a_replay_goes_on_after_what_happens_outside():
    """Loading weights, other threads, eval and train, gradients set to None, another rate: each as without compiling."""

    def with_events(compiled):
        badak.manual_seed(3)
        model = Small(0.1)
        optimizer = optim.AdamW(model.parameters(), lr=0.01)
        step = simple(model, optimizer, token_loss)
        step = badak.compile(step) if compiled else step
        state = {name: value.clone() for name, value in model.state_dict().items()}
        events = {
            5: lambda: model.load_state_dict(state),
            8: lambda: badak.set_num_threads(3),
            11: lambda: model.eval(),
            15: lambda: (model.train(), model.zero_grad()),
            19: lambda: optimizer.param_groups[0].update(lr=0.001),
            22: lambda: setattr(model, "norm", nn.LayerNorm(16)),
            25: lambda: model.double() and model.float(),
        }
        losses = []
        for number in range(30):
            events.get(number, int)()
            losses.append(step(*tokens(number)).item())
        return losses

    before = badak.get_num_threads()
    try:
        assert with_events(True) == with_events(False)
    finally:
        badak.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AdamW", "SGD"])
def test_batches_of_two_sizes_take_turns_on_one_optimizer(name):
    def cut(seed):
        x, y = tokens(seed)
        return (x[:2], y[:2]) if seed % 2 else (x, y)

    assert_same(Small, token_loss, cut, simple, OPTIMIZERS[name], 14)


def test_recordings_of_training_and_of_testing_live_side_by_side():
    badak.manual_seed(0)
    model = Small(0.3)
    forward = badak.compile(lambda x: model(x).detach())
    with badak.no_grad():
        for number in range(12):
            model.train(number % 4 < 2)
            model.token.train()  # changes nothing
            x = tokens(number)[0]
            state = badak.get_rng_state()
            expected = model(x)
            badak.set_rng_state(state)
            assert flat(forward(x)) == flat(expected)
    assert len(forward.recordings) == 2


def test_a_cache_is_filled_by_replays_as_it_is_without():
    """One token at a time, its place a tensor: every call has the same shapes."""

    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(8, 24)
            self.register_buffer("keys", badak.zeros(1, 2, 12, 4))
            self.register_buffer("values", badak.zeros(1, 2, 12, 4))

        def forward(self, x, place):
            q, k, v = (part.view(1, 1, 2, 4).transpose(1, 2) for part in self.qkv(x).split(8, dim=2))
            at = place + badak.arange(1)
            self.keys.index_copy_(2, at, k)
            self.values.index_copy_(2, at, v)
            keep = badak.arange(12) <= at[:, None]
            return F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=keep)

    badak.manual_seed(0)
    model, twin = Cached(), Cached()
    twin.load_state_dict(model.state_dict())
    twin.compile()
    with badak.no_grad():
        for place in range(12):
            x, at = badak.randn(1, 1, 8), badak.tensor(place)
            assert flat(twin(x, at)) == flat(model(x, at))
        with pytest.raises(IndexError, match="index_copy"):
            twin(x, badak.tensor(12))
    assert flat(twin.keys) == flat(model.keys)


def test_ids_out_of_range_raise_in_a_replay_and_change_nothing():
    badak.manual_seed(3)
    model = Small()
    step = badak.compile(simple(model, optim.SGD(model.parameters(), lr=0.1), token_loss))
    for seed in range(5):
        step(*tokens(seed))
    before = [p.detach().numpy().copy() for p in model.parameters()]
    x, y = tokens(0)
    x[1, 2] = 11
    with pytest.raises(IndexError, match="Embedding has 11 rows"):
        step(x, y)
    assert all(np.array_equal(a, p.detach().numpy()) for a, p in zip(before, model.parameters()))
    x[1, 2] = 3
    y[0, 0] = -5
    with pytest.raises(IndexError, match="-5"):
        step(x, y)
    assert np.isfinite(step(*tokens(1)).item())


def test_long_rows_of_a_table_are_shortened_in_replays():
    """In the calls that were recorded no row was too long."""

    def trained(compiled):
        badak.manual_seed(0)
        table = nn.Embedding(5, 3, max_norm=1.0)
        with badak.no_grad():
            table.weight.mul_(0.1)
        optimizer = optim.SGD(table.parameters(), lr=0.5)

        def step(ids):
            optimizer.zero_grad()
            loss = -table(ids).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        step = badak.compile(step, fullgraph=True) if compiled else step
        return [step(badak.tensor([number % 5, (number + 2) % 5])).item() for number in range(15)]

    assert trained(True) == trained(False)


def test_a_part_of_a_list_of_modules_is_taken_within_a_step():
    layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(x):
        for layer in layers[:2]:
            x = layer(x)
        return x

    step = badak.compile(forward)
    x = badak.randn(3, 4)
    with badak.no_grad():
        for _ in range(5):
            assert step(x).tolist() == forward(x).tolist()
        assert step.recordings and not step.fallback_reason
        layers[1] = nn.Linear(4, 4)
        for _ in range(4):
            assert step(x).tolist() == forward(x).tolist()
        layers.insert(0, nn.Linear(4, 4))
        for _ in range(4):
            assert step(x).tolist() == forward(x).tolist()
        assert not step.fallback_reason
    assert list(layers[1:3].state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
