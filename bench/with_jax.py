"""JAX: the whole step (forward, backward, AdamW) is one jit with donated buffers; a whole text is one jit with a scan.

Weights carry the names of `workloads.shapes`; matrices are stored (in, out), as JAX's libraries store them.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.workloads import BETAS, EPS, WEIGHT_DECAY, Workload, data, sinusoid, weights

ACTIVATIONS = {
    "rows": lambda x: jax.nn.gelu(x, approximate=True),
    "gpt": lambda x: jax.nn.gelu(x, approximate=True),
    "write": lambda x: jax.nn.gelu(x, approximate=True),
    "bert": lambda x: jax.nn.gelu(x, approximate=False),
    "encode": lambda x: jax.nn.gelu(x, approximate=False),
    "translate": jax.nn.relu,
}


def linear(p, name, x):
    """x W + b with batch and time as one axis, which is 5 to 10 % faster here than the batched product."""
    *axes, width = x.shape
    return (x.reshape(-1, width) @ p[f"{name}.weight"] + p[f"{name}.bias"]).reshape(*axes, -1)


def norm(p, name, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def attend(q, k, v, heads, keep=None):
    """q (B, T, C), k and v (B, S, C), keep (T, S) with True = attend -> (B, T, C)."""
    q, k, v = (x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q * (1 / math.sqrt(q.shape[-1])) @ k.swapaxes(-1, -2)
    if keep is not None:
        scores = jnp.where(keep, scores, -1e30)
    y = jax.nn.softmax(scores, -1) @ v
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def self_attention(p, name, x, heads, keep=None):
    q, k, v = jnp.split(linear(p, f"{name}.qkv", x), 3, -1)
    return linear(p, f"{name}.out", attend(q, k, v, heads, keep))


def cross_attention(p, name, x, memory, heads):
    k, v = jnp.split(linear(p, f"{name}.kv", memory), 2, -1)
    return linear(p, f"{name}.out", attend(linear(p, f"{name}.q", x), k, v, heads))


def feed_forward(p, name, x, activation):
    return linear(p, f"{name}.down", activation(linear(p, f"{name}.up", x)))


def past(T):
    """(T, T): position i sees those up to i."""
    return jnp.tril(jnp.ones((T, T), bool))


def encoder(p, stack, x, work: Workload):
    for i in range(work.layers):
        name = f"{stack}.{i}"
        x = norm(p, f"{name}.norm1", x + self_attention(p, f"{name}.attention", x, work.heads))
        x = norm(p, f"{name}.norm2", x + feed_forward(p, name, x, ACTIVATIONS[work.family]))
    return x


def decoder(p, x, memory, work: Workload):
    for i in range(work.layers):
        name = f"decoder.{i}"
        x = norm(p, f"{name}.norm1", x + self_attention(p, f"{name}.attention", x, work.heads, past(work.T)))
        x = norm(p, f"{name}.norm2", x + cross_attention(p, f"{name}.cross", x, memory, work.heads))
        x = norm(p, f"{name}.norm3", x + feed_forward(p, name, x, jax.nn.relu))
    return x


def cross_entropy(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits, -1), y[..., None], -1).mean()


def gpt(p, work, x, y):
    h = p["token.weight"][x] + p["position.weight"][: work.T]
    for i in range(work.layers):
        name = f"blocks.{i}"
        h = h + self_attention(p, f"{name}.attention", norm(p, f"{name}.norm1", h), work.heads, past(work.T))
        h = h + feed_forward(p, name, norm(p, f"{name}.norm2", h), ACTIVATIONS["gpt"])
    h = norm(p, "norm", h)
    return cross_entropy(h @ p["token.weight"].T if work.tied else linear(p, "head", h), y)


def rows(p, work, x, y):
    h = encoder(p, "blocks", linear(p, "rows", x) + sinusoid(work.T, work.d), work)
    return cross_entropy(linear(p, "head", h.reshape(h.shape[0], -1)), y)


def bert(p, work, x, segment, y):
    h = p["token.weight"][x] + p["position.weight"][: work.T] + p["segment.weight"][segment]
    return cross_entropy(linear(p, "head", encoder(p, "blocks", norm(p, "norm", h), work)), y)


def encode(p, work, x):
    h = p["token.weight"][x] + p["position.weight"][: work.T] + p["segment.weight"][0]
    h = encoder(p, "blocks", norm(p, "norm", h), work).mean(1)
    return h / jnp.linalg.norm(h, axis=-1, keepdims=True)


def translate(p, work, source, x, y):
    scale, places = math.sqrt(work.d), sinusoid(work.T, work.d)
    memory = norm(p, "encoder_norm", encoder(p, "encoder", p["source.weight"][source] * scale + places, work))
    h = norm(p, "decoder_norm", decoder(p, p["target.weight"][x] * scale + places, memory, work))
    return cross_entropy(linear(p, "head", h), y)


MODELS = {"gpt": gpt, "rows": rows, "bert": bert, "encode": encode, "translate": translate}


def adamw(p, gradient, first, second, step, lr):
    """AdamW on a dictionary of arrays: equation for equation that of PyTorch."""
    beta1, beta2 = BETAS
    correct1, correct2 = 1 - beta1 ** step.astype(jnp.float32), 1 - beta2 ** step.astype(jnp.float32)
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradient)
    second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradient)

    def moved(w, m, v):
        return w - lr * (m / correct1 / (jnp.sqrt(v / correct2) + EPS) + WEIGHT_DECAY * w)

    return jax.tree.map(moved, p, first, second), first, second


def load(work: Workload) -> dict:
    """The shared weights, matrices of linears transposed."""
    tables = ("token", "position", "segment", "source", "target")
    return {
        name: jnp.asarray(value.T.copy() if value.ndim == 2 and name.split(".")[0] not in tables else value)
        for name, value in weights(work).items()
    }


def batch_of(work: Workload) -> list:
    return [jnp.asarray(x.astype(np.int32) if x.dtype == np.int64 else x) for x in data(work).values()]


class Training:
    """Forward, backward and AdamW as one compiled function."""

    def __init__(self, work: Workload):
        p = load(work)
        self.parameters = sum(value.size for value in p.values())
        zeros = [jax.tree.map(jnp.zeros_like, p) for _ in range(2)]
        self.state, self.batch = (p, *zeros, jnp.zeros((), jnp.int32)), batch_of(work)

        def step(p, first, second, count, *batch):
            loss, gradient = jax.value_and_grad(lambda p: MODELS[work.family](p, work, *batch))(p)
            p, first, second = adamw(p, gradient, first, second, count + 1, work.lr)
            return (p, first, second, count + 1), loss

        self.compiled = jax.jit(step, donate_argnums=(0, 1, 2, 3))

    def step(self) -> float:
        self.state, loss = jax.block_until_ready(self.compiled(*self.state, *self.batch))
        return float(loss)


class Encoding:
    def __init__(self, work: Workload):
        self.p, self.batch = load(work), batch_of(work)
        self.parameters = sum(value.size for value in self.p.values())
        self.compiled = jax.jit(lambda p, x: encode(p, work, x))

    def step(self) -> float:
        return float(self.compiled(self.p, *self.batch).block_until_ready()[:, 0].sum())


class Writing:
    """Prompt and all tokens as one compiled function: the cache has its full length from the start, behind a mask."""

    def __init__(self, work: Workload):
        self.p, (self.prompt,) = load(work), batch_of(work)
        self.parameters = sum(value.size for value in self.p.values())
        self.compiled = jax.jit(lambda p, prompt: self.write(p, prompt, work))

    def step(self) -> float:
        tokens = np.asarray(self.compiled(self.p, self.prompt)).astype(np.int64)
        return float(np.dot(tokens % 9973, np.arange(1, len(tokens) + 1)) % 1_000_003)

    def write(self, p, prompt, work: Workload):
        empty = tuple(jnp.zeros((1, work.T, work.d)) for _ in range(2 * work.layers))
        token, cache = next_token(p, prompt, 0, empty, work)

        def go_on(carry, place):
            token, cache = carry
            token, cache = next_token(p, token[None], place, cache, work)
            return (token, cache), token[0]

        _, rest = lax.scan(go_on, (token, cache), jnp.arange(work.prompt, work.T - 1))
        return jnp.concatenate([token, rest])


def next_token(p, x, start, cache, work: Workload):
    """x (1, T) after `start` others -> the most likely next token (1,) and the cache with keys and values of x."""
    T = x.shape[1]
    h = p["token.weight"][x] + lax.dynamic_slice_in_dim(p["position.weight"], start, T)
    keep = jnp.arange(work.T)[None] <= (start + jnp.arange(T))[:, None]
    new = []
    for i in range(work.layers):
        name = f"blocks.{i}"
        q, k, v = jnp.split(linear(p, f"{name}.attention.qkv", norm(p, f"{name}.norm1", h)), 3, -1)
        keys = lax.dynamic_update_slice(cache[2 * i], k, (0, start, 0))
        values = lax.dynamic_update_slice(cache[2 * i + 1], v, (0, start, 0))
        new += [keys, values]
        h = h + linear(p, f"{name}.attention.out", attend(q, keys, values, work.heads, keep))
        h = h + feed_forward(p, name, norm(p, f"{name}.norm2", h), ACTIVATIONS["write"])
    logits = norm(p, "norm", h[:, -1]) @ p["token.weight"].T
    return jnp.argmax(logits, -1).astype(jnp.int32), tuple(new)


def build(work: Workload, variant: str, precision: str):
    """The work of JAX."""
    if work.family == "write":
        return Writing(work)
    return Encoding(work) if work.family == "encode" else Training(work)
