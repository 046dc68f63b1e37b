"""Steps under autocast and modules of bfloat16: replayed, they give the bits of running them, with the weights of today."""

import pytest

import badak
from badak import kernels, nn, optim
from badak.nn import functional as F
from tests.compiler.test_steps import (
    OPTIMIZERS,
    WAYS,
    Pictures,
    Small,
    assert_same,
    flat,
    picture_loss,
    pictures,
    run,
    simple,
    token_loss,
    tokens,
)


def cast(loss_of):
    """The same loss, computed under autocast."""

    def within(*arguments):
        with badak.autocast("cpu", dtype=badak.bfloat16):
            return loss_of(*arguments)

    return within


def half_tokens(model, x, y):
    return token_loss(model, x, y).float()


KINDS = {  # how the model is made, its loss
    "autocast": (Small, cast(token_loss)),
    "autocast, dropout": (lambda: Small(0.2), cast(token_loss)),
    "a bfloat16 module": (lambda: Small().bfloat16(), half_tokens),
    "a bfloat16 module, dropout": (lambda: Small(0.2).bfloat16(), half_tokens),
    "a float16 module": (lambda: Small().half(), half_tokens),
}


@pytest.mark.slow
@pytest.mark.parametrize("kernel_set", ["reference", "numba"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_replayed_step_trains_to_the_same_bits(kind, kernel_set):
    with kernels.use(kernel_set):
        assert_same(*KINDS[kind], tokens, simple, OPTIMIZERS["AdamW"])


@pytest.mark.thin(7)
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_way_and_optimizer_goes_on_in_replays(way, name):
    assert_same(*KINDS["autocast"], tokens, way, OPTIMIZERS[name])
    assert_same(*KINDS["a bfloat16 module"], tokens, way, OPTIMIZERS[name])


@pytest.mark.slow
def test_pictures_under_autocast():
    """Convolutions and recurrent layers, whose inputs autocast casts, and keeps cast weights of, again in every replay."""
    assert_same(Pictures, cast(picture_loss), pictures, simple, OPTIMIZERS["SGD"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["autocast", "a bfloat16 module"])
def test_any_number_of_threads_gives_the_same_bits(kind, threads):
    found = []
    for count in (1, 2, 4):
        with kernels.use("numba"), threads(count):
            found += [run(*KINDS[kind], tokens, simple, OPTIMIZERS["AdamW"], compiled)[:2] for compiled in (False, True)]
    assert all(each == found[0] for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["autocast", "a bfloat16 module"])
def test_a_replay_sees_what_happens_outside(kind):
    """Loaded and changed weights, other threads, eval and train, another rate, a new layer, another dtype."""
    make, loss_of = KINDS[kind]

    def with_events(compiled):
        badak.manual_seed(3)
        model = make()
        optimizer = optim.AdamW(model.parameters(), lr=0.01)
        step = simple(model, optimizer, loss_of)
        step = badak.compile(step, fullgraph=False) if compiled else step
        state = {name: value.clone() for name, value in model.state_dict().items()}

        def change():
            with badak.no_grad():
                model.qkv.weight.mul_(1.5)
                model.token.weight[3] = 0.25

        events = {
            5: lambda: model.load_state_dict(state),
            7: change,
            9: lambda: badak.set_num_threads(3),
            11: lambda: model.eval(),
            13: lambda: (model.train(), model.zero_grad()),
            15: lambda: optimizer.param_groups[0].update(lr=0.001),
            18: lambda: setattr(model, "norm", nn.LayerNorm(16).to(model.qkv.weight.dtype)),
            22: lambda: model.float(),
        }
        losses = []
        for number in range(27):
            events.get(number, int)()
            losses.append(step(*tokens(number)).item())
        return losses

    before = badak.get_num_threads()
    try:
        assert with_events(True) == with_events(False)
    finally:
        badak.set_num_threads(before)


def test_a_forward_under_autocast_sees_the_weights_of_today():
    badak.manual_seed(0)
    last = nn.Unflatten(0, (4, 1)), nn.Conv1d(1, 2, 1)
    layers = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), *last)

    def forward(x):
        with badak.autocast("cpu"):
            return layers(x)

    replayed, x = badak.compile(forward, fullgraph=True), badak.randn(4, 6)
    with badak.no_grad():
        for number in range(8):
            assert flat(replayed(x)) == flat(forward(x))
            for p in layers.parameters():
                p.add_(0.125 * number)
    assert replayed.recordings and replayed(x).dtype is badak.bfloat16


def test_a_block_around_a_compiled_step_runs_it_as_it_is_and_one_inside_is_replayed():
    model = nn.Linear(3, 2)
    step = badak.compile(lambda x: model(x).detach())
    x = badak.ones(4, 3)
    for _ in range(5):
        with badak.autocast("cpu"):
            assert step(x).dtype is badak.bfloat16
    assert not step.recordings
    for _ in range(5):
        assert step(x).dtype is badak.float32
    assert step.recordings


@pytest.mark.parametrize("enabled", [True, False])
def test_a_switch_of_precision_is_followed(enabled):
    """The step reads from an object whether it is to cast."""

    class Settings:
        half = enabled

    settings, model = Settings(), nn.Linear(3, 2)

    def step(x, settings):
        with badak.autocast("cpu", enabled=settings.half):
            return model(x).detach()

    replayed, x = badak.compile(step), badak.randn(4, 3)
    for number in range(16):
        settings.half = enabled ^ (number // 4 % 2 == 1)
        assert replayed(x, settings).dtype is (badak.bfloat16 if settings.half else badak.float32)


def test_scaled_losses_train_as_they_do_without_replays():
    """A scaler reads whether gradients are finite: its part of a step stays outside."""

    def trained(compiled):
        badak.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4))
        optimizer, scaler = optim.SGD(model.parameters(), lr=0.1), badak.amp.GradScaler("cpu", init_scale=8.0)

        def backward(x, y):
            with badak.autocast("cpu"):
                loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            return loss.detach()

        backward = badak.compile(backward) if compiled else backward
        x, y, losses = badak.randn(12, 8), badak.randint(0, 4, (12,)), []
        for _ in range(8):
            losses.append(backward(x, y).item())
            scaler.step(optimizer)
            scaler.update()
        return losses

    assert trained(True) == trained(False)


class Encoder(nn.Module):
    """Self-attention of packed heads and a feed-forward net, with biases."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down, self.norm = nn.Linear(16, 64), nn.Linear(64, 16), nn.LayerNorm(16)

    def forward(self, x):
        heads = [part.view(*x.shape[:2], 2, 8).transpose(1, 2) for part in self.qkv(x).split(16, dim=2)]
        x = self.norm(x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(x.shape)))
        return self.norm(x + self.down(F.gelu(self.up(x))))


@pytest.mark.parametrize("length", [1, 5, 28])
def test_kernels_stand_for_all_of_an_encoder_in_bfloat16(length):
    with kernels.use("numba"), badak.no_grad():
        narrow = Encoder().eval().bfloat16()
        step = badak.compile(narrow.forward)
        x = badak.randn(3, length, 16).bfloat16()
        for _ in range(4):
            step(x)
        (plan,) = step.recordings
        assert [entry for entry in plan.entries if entry.calls is None] == []


def test_kernels_stand_for_attention_forward_and_backward_under_autocast():
    with kernels.use("numba"):
        model = Encoder()

        def step(x):
            model.zero_grad()
            with badak.autocast("cpu", dtype=badak.bfloat16):
                loss = model(x).float().square().mean()
            loss.backward()
            return loss

        compiled, x = badak.compile(step), badak.randn(3, 7, 16)
        for _ in range(4):
            compiled(x)
        (plan,) = compiled.recordings
        python = {entry.op.name for entry in plan.entries if entry.calls is None and hasattr(entry, "op")}
        assert python.isdisjoint({"attention", "split", "linear", "layer_norm", "gelu", "add"})
