"""Layers, by the shape of what goes in: each gives how it is made, how it is called, and the shape that comes out."""

from tests.programs.drawing import Drawing, Value
from tests.programs.source import Block
from tests.programs.values import statements

ACTIVATIONS = [
    "nn.ReLU()", "nn.GELU()", "nn.GELU(approximate='tanh')", "nn.Tanh()", "nn.SiLU()", "nn.Sigmoid()",
    "nn.Softplus()", "nn.ELU()", "nn.LeakyReLU(0.1)", "nn.ReLU(inplace=True)", "nn.Hardswish()", "nn.PReLU()",
    "nn.Softmax(-1)", "nn.Identity()", "nn.Mish()", "nn.Dropout(0.3)", "nn.Dropout(0.5, inplace=True)",
    "nn.AlphaDropout(0.2)", "nn.Dropout(0.0)", "nn.LogSoftmax(-1)", "nn.SELU()",
]  # fmt: skip


def any_shape(g: Drawing, shape):
    """Layers that work along the last axis, or on each element."""
    C, n = shape[-1], g.size()
    return g.one(
        (f"nn.Linear({C}, {n}, bias={g.chance(0.8)})", "{f}({h})", (*shape[:-1], n)),
        (f"nn.Linear({C}, {n})", "{f}({h})", (*shape[:-1], n)),
        (f"nn.LayerNorm({C}, elementwise_affine={g.chance(0.8)})", "{f}({h})", shape),
        (f"nn.RMSNorm({C})", "{f}({h})", shape),
        (f"nn.LayerNorm({C}, bias=False)", "{f}({h})", shape),
        (g.one(*ACTIVATIONS), "{f}({h})", shape),
        (g.one(*ACTIVATIONS), "{f}({h})", shape),
        (f"nn.Sequential(nn.Linear({C}, {n}), {g.one(*ACTIVATIONS)}, nn.Linear({n}, {C}))", "{h} + {f}({h})", shape),
        (f"nn.Bilinear({C}, {C}, {n})", "{f}({h}, {h})", (*shape[:-1], n))
        if C <= 64  # C^2 n weights
        else (f"nn.Linear({C}, {n})", "{f}({h})", (*shape[:-1], n)),
        (f"nn.Linear({C}, {2 * n})", "F.glu({f}({h}))", (*shape[:-1], n)),
        (f"nn.utils.parametrize.register_parametrization(nn.Linear({C}, {n}), 'weight', nn.Tanh())", "{f}({h})", (*shape[:-1], n)),
        (f"nn.Linear({C}, {C})", "torch.utils.checkpoint.checkpoint({f}, {h}, use_reentrant=False)", shape),
        (f"nn.Linear({C}, {C}, bias=False)", "{f}({f}({h}).tanh())", shape),
        (f"nn.Linear({C}, {C})", "HalfSquare.apply({f}({h}))", shape),
        (
            f"nn.ModuleDict({{'a': nn.Linear({C}, {n}), 'b': nn.Linear({C}, {n})}})",
            "{f}['a']({h}) * {f}['b']({h}).sigmoid()",
            (*shape[:-1], n),
        ),
    )


def rows(g: Drawing, shape):
    """Layers for (B, C)."""
    B, C = shape
    H = g.one(2, 3, 5)
    return g.one(
        (f"nn.BatchNorm1d({C})", "{f}({h})", shape),
        (f"nn.BatchNorm1d({C}, momentum=None)", "{f}({h})", shape),
        (f"nn.BatchNorm1d({C}, track_running_stats=False)", "{f}({h})", shape),
        (f"nn.GRUCell({C}, {H})", "{f}({h}, {f}({h}))", (B, H)),
        (f"nn.LSTMCell({C}, {H})", "{f}({h})[0]", (B, H)),
        (f"nn.RNNCell({C}, {H})", "{f}({h})", (B, H)),
        (f"nn.GroupNorm(1, {C})", "{f}({h})", shape),
    )


def texts(g: Drawing, shape):
    """Layers for (B, T, C)."""
    B, T, C = shape
    H, heads = g.one(2, 3, 4), g.one(*(n for n in (1, 2, 4) if C % n == 0))
    two = g.chance(0.4)
    kind, p = g.one("GRU", "LSTM", "RNN"), g.one(0.0, 0.0, 0.2)
    keep = f"torch.ones({T}, {T}).tril() == 0"
    return g.one(
        (f"nn.{kind}({C}, {H}, batch_first=True, bidirectional={two})", "{f}({h})[0]", (B, T, H * (1 + two))),
        (f"nn.{kind}({C}, {H}, num_layers=2, dropout={p})", "{f}({h}.transpose(0, 1))[0].transpose(0, 1)", (B, T, H)),
        (f"nn.MultiheadAttention({C}, {heads}, dropout={p}, batch_first=True)", "{f}({h}, {h}, {h})[0]", shape),
        (
            f"nn.MultiheadAttention({C}, {heads}, batch_first=True)",
            f"{{f}}({{h}}, {{h}}, {{h}}, attn_mask={keep}, need_weights=False)[0]",
            shape,
        ),
        (f"nn.MultiheadAttention({C}, {heads})", "{f}({h}, {h}, {h})[0] + {h}", shape),
        (
            f"nn.TransformerEncoderLayer({C}, {heads}, {H}, dropout={p}, batch_first=True, norm_first={g.chance(0.5)})",
            "{f}({h})",
            shape,
        ),
        (
            f"nn.TransformerDecoderLayer({C}, {heads}, {H}, dropout={p}, batch_first=True)",
            "{f}({h}, {h}.flip(1))",
            shape,
        ),
        (f"nn.Conv1d({T}, {H}, 1)", "{f}({h})", (B, H, C)),
        (f"nn.Conv1d({C}, {H}, 3, padding=1)", "{f}({h}.transpose(1, 2)).transpose(1, 2)", (B, T, H)),
        (f"nn.BatchNorm1d({T})", "{f}({h})", shape),
        (f"nn.InstanceNorm1d({T}, affine=True, track_running_stats={two})", "{f}({h})", shape) if C > 1 else None,
        (f"nn.ConvTranspose1d({T}, {H}, 2)", "{f}({h})", (B, H, C + 1)),
        (f"nn.AdaptiveAvgPool1d({H})", "{f}({h})", (B, T, H)),
        ("nn.MaxPool1d(2, stride=1, padding=1)", "{f}({h})", (B, T, C + 1)),
        ("nn.Dropout1d(0.3)", "{f}({h})", shape),
        (f"nn.Parameter(draw({T}, {C}))", "{h} + {f}", shape),
        (f"nn.Embedding({T}, {C})", f"{{h}} + {{f}}(torch.arange({T}))", shape),
    )


def pictures(g: Drawing, shape):
    """Layers for (B, C, H, W)."""
    B, C, H, W = shape
    n = g.one(2, 3, 4)
    return g.one(
        (f"nn.Conv2d({C}, {n}, 3, padding=1, bias={g.chance(0.7)})", "{f}({h})", (B, n, H, W)),
        (
            f"nn.Conv2d({C}, {n}, 1, padding_mode='{g.one('zeros', 'reflect', 'replicate', 'circular')}')",
            "{f}({h})",
            (B, n, H, W),
        ),
        (f"nn.Conv2d({C}, {C}, 3, padding=1, groups={C})", "{f}({h})", shape),
        (f"nn.BatchNorm2d({C})", "{f}({h})", shape),
        (f"nn.GroupNorm({C}, {C})", "{f}({h})", shape) if H * W > 1 else None,
        ("nn.MaxPool2d(2, stride=1, padding=1)", "{f}({h})", (B, C, H + 1, W + 1)),
        ("nn.AvgPool2d(2, stride=1, padding=1)", "{f}({h})", (B, C, H + 1, W + 1)),
        ("nn.AdaptiveAvgPool2d(2)", "{f}({h})", (B, C, 2, 2)),
        ("nn.AdaptiveMaxPool2d(2)", "{f}({h})", (B, C, 2, 2)),
        (f"nn.ConvTranspose2d({C}, {n}, 2)", "{f}({h})", (B, n, H + 1, W + 1)),
        (f"nn.Upsample(scale_factor=2, mode='{g.one('nearest', 'bilinear')}')", "{f}({h})", (B, C, 2 * H, 2 * W))
        if H < 7
        else None,
        ("nn.Dropout2d(0.3)", "{f}({h})", shape),
        ("nn.Softmax2d()", "{f}({h})", shape),
        ("nn.Flatten()", "{f}({h})", (B, C * H * W)),
        (f"nn.PReLU({C})", "{f}({h})", shape),
        (f"nn.Conv2d({C}, {4 * n}, 1)", "F.pixel_shuffle({f}({h}), 2)", (B, n, 2 * H, 2 * W)) if H < 7 else None,
    )


BY_RANK = {
    1: [any_shape],
    2: [any_shape, any_shape, rows],
    3: [any_shape, texts, texts],
    4: [pictures, pictures, any_shape],
}


def layer(g: Drawing, shape):
    """(construction, call, shape) of one that takes this shape."""
    found = None
    while found is None:
        found = g.one(*BY_RANK[len(shape)])(g, shape)
    return found


def half_square() -> Block:
    """A function of the program's own, with its derivative."""
    block = Block("class HalfSquare(torch.autograd.Function):", ["@staticmethod"])
    block.block("def forward(ctx, x):").add("ctx.save_for_backward(x)", "return x * x * 0.5")
    block.add("@staticmethod")
    block.block("def backward(ctx, dy):").add("(x,) = ctx.saved_tensors", "return dy * x")
    return block


class Net:
    """A class of modules in the program, `class Net(nn.Module)`, with one instance of it: model."""

    def __init__(self, g: Drawing, shape, ids: int = 0, name: str = "Net"):
        """It takes floats of this shape; with ids, integers below `ids` of it, and begins with an embedding."""
        self.g, self.input, self.names = g, shape, []
        block = g.program.block(f"class {name}(nn.Module):")
        self.init, self.forward = block.block("def __init__(self):"), block.block("def forward(self, h):")
        self.init.add("super().__init__()")
        before, g.setup = g.setup, g.program
        if ids:
            size = g.one(2, 4, 6)
            shape = (*shape, size)
            options = g.one("", "", "", ", padding_idx=0", ", scale_grad_by_freq=True", ", max_norm=1.0")
            self._layer(f"nn.Embedding({ids}, {size}{options})", "{f}({h})")
        for _ in range(g.number(1, 5)):
            shape = self._part(shape)
        if not any(
            word in str(self.init) for word in ("Linear", "Conv", "Embedding", "Cell", "Parameter", "GRU(", "LSTM(", "RNN(")
        ):
            self._layer(f"nn.Linear({shape[-1]}, 3)" if shape else "nn.PReLU()", "{f}({h})")
            shape = (*shape[:-1], 3) if shape else shape
        self.output = shape
        self.forward.add("return h")
        g.setup = before

    def _layer(self, construction: str, call: str) -> None:
        name = f"f{len(self.names)}"
        if "HalfSquare" in call and "class HalfSquare" not in str(self.g.program):
            self.g.program.items.insert(3, half_square())
        self.names.append(name)
        self.init.add(f"self.{name} = {construction}")
        self.forward.add("h = " + call.format(f=f"self.{name}", h="h"))

    def _part(self, shape):
        g = self.g
        if g.chance(0.75) and shape:
            construction, call, shape = layer(g, shape)
            self._layer(construction, call)
            return shape
        if g.chance(0.3):
            return self._state(shape)
        pool, body = [Value("h", shape, False)], Block()
        statements(g, body, pool, g.number(1, 3))
        self.forward.add(*body.items)
        if pool[-1].name != "h":
            self.forward.add(f"h = {pool[-1].name}")
        return pool[-1].shape

    def _state(self, shape):
        """Something that the module itself holds: a number, a buffer, a switch."""
        g = self.g
        made, used = g.one(
            ("self.scale = 0.5", "h = h * self.scale"),
            ("self.register_buffer('steps', torch.zeros(()))", "self.steps += 1; h = h / self.steps"),
            (
                "self.register_buffer('mean', torch.zeros(()))",
                "self.mean.lerp_(h.detach().mean(), 0.1); h = h - self.mean",
            ),
            ("self.calls = 0", "self.calls += 1; h = h * (0.5 if self.calls % 2 else 1.0)"),
            ("self.calls = 0", "self.calls += 1"),
            ("self.gain = nn.Parameter(torch.ones(()))", "h = h * self.gain"),
            ("self.kept = None", "self.kept = h.detach()"),
            ("self.kept = torch.zeros(())", "h = h + self.kept; self.kept = h.detach().mean()"),
            ("self.on = True", "h = h.relu() if self.training and self.on else h"),
            (
                "self.register_buffer('seen', torch.zeros(2))",
                "self.seen[0] = h.detach().amax(); h = h / (1 + self.seen[0].abs())",
            ),
            ("self.seen = []", "self.seen.append(float(h.detach().sum())); del self.seen[:-3]"),
            (
                "self.weights = nn.ParameterList([nn.Parameter(torch.ones(())) for _ in range(2)])",
                "h = h * self.weights[0] + self.weights[1]",
            ),
        )
        self.init.add(made)
        self.forward.add(*used.split("; "))
        return shape
