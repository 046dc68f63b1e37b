"""How operations that move values, and those of whole layers, are said in ONNX; `forms.py` has the rest."""

from typing import Any

import numpy as np

from badak.compat.torch.onnx.writer import FORMS, INT, Writer, form
from badak.compat.torch.tracing.record import Ref
from badak.compat.torch.tracing.sizes import name_of
from badak.core.errors import NotSupportedError, tr

_END = 2**62


@form("shape.Transpose")
def _transpose(w, out, x, a, b):
    perm = list(range(out.ndim))
    perm[a], perm[b] = perm[b], perm[a]
    return w.op("Transpose", w.of(x), perm=perm)


@form("shape.Split")
def _split(w, out, x, sizes, axis):
    made = w.op("Split", w.of(x), w.sizes(sizes), outputs=len(sizes), axis=axis)
    return [made] if len(sizes) == 1 else made


@form("shape.Unbind")
def _unbind(w, out, x, axis):
    n = w.array(x).shape[axis]
    return [w.op("Gather", w.of(x), w.constant(i, INT), axis=axis) for i in range(n)]


@form("rearrange.Flip")
def _flip(w, out, x, axes):
    axes = list(axes)
    ends = [w.constant([n] * len(axes), INT) for n in (-1, -_END, -1)]
    return w.op("Slice", w.of(x), ends[0], ends[1], w.constant(axes, INT), ends[2])


@form("rearrange.Roll")
def _roll(w, out, x, shifts, axes):
    y = w.of(x)
    for shift, axis in zip(shifts, axes):
        at = w.constant([axis], INT)
        cut = w.constant([-shift], INT)
        back = w.op("Slice", y, cut, w.constant([_END], INT), at)
        y = w.op("Concat", back, w.op("Slice", y, w.constant([0], INT), cut, at), axis=axis) if shift else y
    return y


@form("rearrange.Repeat")
def _tile(w, out, x, times):
    y = w.of(x)
    missing = len(times) - w.array(x).ndim
    return w.op("Tile", w.unsqueeze(y, *range(missing)) if missing > 0 else y, w.sizes(times))


@form("rearrange.RepeatInterleave")
def _repeat_interleave(w, out, x, times, axis):
    if not isinstance(times, int):
        raise NotSupportedError("onnx: repeat_interleave by a tensor has no form", "one number of times")
    y = w.unsqueeze(w.of(x), axis + 1)
    y = w.op("Tile", y, w.constant([times if i == axis + 1 else 1 for i in range(w.array(x).ndim + 1)], INT))
    shape = w.op("Shape", w.of(x))
    by = w.constant([times if i == axis else 1 for i in range(w.array(x).ndim)], INT)
    return w.op("Reshape", y, w.op("Mul", shape, by))


@form("pad.Pad")
def _pad(w, out, x, pads, value=0.0):
    before, after = zip(*pads)
    return w.op("Pad", w.of(x), w.sizes([*before, *after]), w.constant(value, out.dtype))


@form("pad.PadBy")
def _pad_by(w, out, x, takes):
    y = w.of(x)
    for axis, rows in takes:
        y = w.op("Gather", y, w.of(rows), axis=axis)
    return y


# ---------------------------------------------------------------- indices


def selected(w: Writer, y: str, ndim: int, key: Any) -> str:
    """y[key] for a key of ints, slices, None and ...."""
    key = key if isinstance(key, tuple) else (key,)
    used = sum(part is not None and part is not ... for part in key)
    at = key.index(...) if ... in key else len(key)
    full = (slice(None),) * (ndim - used)
    key = (*key[:at], *full, *key[at + 1 :])
    axis, cuts, gone, new = 0, [], [], []
    place = 0
    for part in key:
        if part is None:
            new.append(place)
            place += 1
            continue
        if isinstance(part, slice):
            if part != slice(None):
                step = part.step or 1
                start = (0 if step > 0 else -1) if part.start is None else part.start
                stop = (_END if step > 0 else -_END) if part.stop is None else part.stop
                cuts.append((axis, start, stop, step))
            place += 1
        else:
            gone.append((axis, part))
        axis += 1
    if cuts:
        axes, starts, stops, steps = zip(*cuts)
        y = w.op("Slice", y, w.sizes(starts), w.sizes(stops), w.constant(list(axes), INT), w.constant(list(steps), INT))
    for axis, part in reversed(gone):
        y = w.op("Gather", y, w.size(part), axis=axis)
    return w.unsqueeze(y, *new) if new else y


@form("index.Index")
def _index(w, out, x, key):
    key = key if isinstance(key, tuple) else (key,)
    places = [i for i, part in enumerate(key) if isinstance(part, Ref)]
    rest = [part for part in key if not isinstance(part, Ref)]
    if any(part is not ... and part != slice(None) for part in rest) or ... in key and key.index(...) < max(places):
        raise NotSupportedError("onnx: x[key] of tensors among slices that cut has no form", "index in two steps")
    if any(w.array(key[i]).dtype.kind == "b" for i in places):
        if key[places[0]] is not key[0] or len(places) > 1:
            raise NotSupportedError("onnx: a mask that is not the first index has no form", "x[mask]")
        found = w.op("Transpose", w.op("NonZero", w.of(key[0])), perm=[1, 0])
        return w.op("GatherND", w.of(x), found)
    if len(places) == 1:
        return w.op("Gather", w.of(x), w.of(key[places[0]]), axis=places[0])
    if places != list(range(places[0], places[0] + len(places))) or places[0] != 0:
        raise NotSupportedError("onnx: several index tensors that are not the first ones have no form", "index in two steps")
    common = w.of(key[places[0]])
    for i in places[1:]:  # what they broadcast to
        common = w.op("Add", common, w.op("Mul", w.of(key[i]), w.constant(0, INT)))
    shape = w.op("Shape", common)
    parts = [w.unsqueeze(w.op("Expand", w.as_dtype(key[i], INT), shape), -1) for i in places]
    return w.op("GatherND", w.of(x), w.op("Concat", *parts, axis=-1))


@form("along.Gather", "along.TakeAlong")
def _gather(w, out, x, index, dim):
    return w.op("GatherElements", w.of(x), w.of(index), axis=dim)


@form("along.ScatterFill")
def _scatter_fill(w, out, x, index, c, dim):
    filled = w.op("Expand", w.constant(c, out.dtype), w.op("Shape", w.of(index)))
    return w.op("ScatterElements", w.of(x), w.of(index), filled, axis=dim)


def _cut_like(w: Writer, src: Ref, index: Ref) -> str:
    """The part of src that has a place in index, which may be smaller."""
    if w.array(src).shape == w.array(index).shape:
        return w.of(src)
    return w.op("Slice", w.of(src), w.constant([0] * w.array(index).ndim, INT), w.op("Shape", w.of(index)))


# ---------------------------------------------------------------- writes: the value has another name from then on


@form("inplace._put")
def _put(w, out, x, value, name):
    return w.op("Expand", w.as_dtype(value, out.dtype), w.op("Shape", w.of(x)))


@form("inplace_ops._fill")
def _fill(w, out, x, value):
    return w.op("Expand", w.constant(value, out.dtype), w.op("Shape", w.of(x)))


@form("getset._assign")
def _assign(w, out, x, key, value):
    if any(isinstance(part, Ref) for part in (key if isinstance(key, tuple) else (key,))):
        raise NotSupportedError("onnx: x[tensor] = value has no form", "torch.where, or scatter")
    shape, flat = w.op("Shape", w.of(x)), w.constant([-1], INT)
    every = w.op("Range", w.constant(0, INT), w.op("ReduceProd", shape, keepdims=0), w.constant(1, INT))
    places = selected(w, w.op("Reshape", every, shape), out.ndim, key)
    values = w.op("Expand", w.as_dtype(value, out.dtype), w.op("Shape", places))
    y = w.op(
        "ScatterElements", w.op("Reshape", w.of(x), flat), w.op("Reshape", places, flat), w.op("Reshape", values, flat), axis=0
    )
    return w.op("Reshape", y, shape)


# ---------------------------------------------------------------- layers


def _spatial(stride: Any, padding: Any, dilation: Any) -> dict[str, list[int]]:
    return {"strides": list(stride), "pads": [*padding, *padding], "dilations": list(dilation)}


@form("conv.Conv")
def _conv(w, out, x, weight, b, stride, padding, dilation, groups=1):
    kernel = list(w.array(weight).shape[2:])
    return w.op("Conv", w.of(x), w.of(weight), w.of(b), kernel_shape=kernel, group=groups, **_spatial(stride, padding, dilation))


@form("conv.ConvTranspose")
def _conv_transpose(w, out, x, weight, b, stride, padding, dilation, output_padding, groups=1):
    more = {"kernel_shape": list(w.array(weight).shape[2:]), "group": groups, "output_padding": list(output_padding)}
    return w.op("ConvTranspose", w.of(x), w.of(weight), w.of(b), **more, **_spatial(stride, padding, dilation))


@form("windows.MaxPool")
def _max_pool(w, out, x, kernel, stride, padding, ceil_mode, dilation):
    more = {"kernel_shape": list(kernel), "ceil_mode": int(ceil_mode)} | _spatial(stride, padding, dilation)
    y, index = w.op("MaxPool", w.of(x), outputs=2, **more)
    n = w.op("ReduceProd", w.op("Slice", w.op("Shape", w.of(x)), *(w.constant([i], INT) for i in (2, _END, 0))), keepdims=0)
    return [y, w.op("Mod", index, n)]  # ONNX counts from the start of the tensor, PyTorch from that of the image


@form("windows.AvgPool")
def _avg_pool(w, out, x, kernel, stride, padding, ceil_mode, include_pad=True, divisor=0):
    more = {"kernel_shape": list(kernel), "ceil_mode": int(ceil_mode), "strides": list(stride), "pads": [*padding, *padding]}
    y = w.op("AveragePool", w.of(x), count_include_pad=int(include_pad or bool(divisor)), **more)
    return y if not divisor else w.op("Mul", y, w.constant(np.prod(kernel) / divisor, out.dtype))


@form("attention.Attention")
def _attention(w, out, q, k, v, keep, bias, drop, causal=None, scale=None, p=0.0, want_weights=False):
    if drop is not None:
        raise NotSupportedError("onnx: attention with dropout has no form", "model.eval()")
    dtype, D = w.array(q).dtype, w.array(q).shape[-1]
    query, key, value = w.of(q), w.of(k), w.of(v)
    heads, groups = w.array(q).shape[1], w.array(k).shape[1]
    if heads != groups:
        key, value = (_repeated_heads(w, x, heads // groups) for x in (key, value))
    query = w.op("Mul", query, w.constant(D**-0.5 if scale is None else scale, dtype))
    scores = w.op("MatMul", query, w.op("Transpose", key, perm=[0, 1, 3, 2]))
    if bias is not None:
        scores = w.op("Add", scores, w.of(bias))
    visible = w.of(keep) if keep is not None else None
    if causal is not None:
        T, S = (w.op("Gather", w.op("Shape", x), w.constant(2, INT)) for x in (query, key))
        zero, one = w.constant(0, INT), w.constant(1, INT)
        last = w.op("Add", w.unsqueeze(w.op("Range", zero, T, one), 1), w.size(causal))
        seen = w.op("LessOrEqual", w.unsqueeze(w.op("Range", zero, S, one), 0), last)
        visible = seen if visible is None else w.op("And", visible, seen)
    if visible is not None:
        scores = w.op("Where", visible, scores, w.constant(np.finfo(dtype).min, dtype))
    weights = w.op("Softmax", scores, axis=-1)
    if visible is not None:  # a query that sees nothing gets zeros
        weights = w.op("Where", visible, weights, w.constant(0, dtype))
    y = w.op("MatMul", weights, value)
    return [y, weights] if want_weights else y


def _repeated_heads(w: Writer, x: str, times: int) -> str:
    """(B, G, S, D) with each head `times` times."""
    y = w.op("Tile", w.unsqueeze(x, 2), w.constant([1, 1, times, 1, 1], INT))
    shape = w.op("Mul", w.op("Shape", x), w.constant([1, times, 1, 1], INT))
    return w.op("Reshape", y, shape)


_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}  # the order of ONNX, in places of PyTorch's


def _recurrent(
    w: Writer, kind: str, gx: Ref, states: list, weight: Ref, b: Any, reverse: bool, lengths: Any, **more: Any
) -> list[str]:
    """A recurrent layer in one direction, from the input where the gates' input side is a Linear of it."""
    gates, H = _GATES[kind], w.array(weight).shape[1]
    step = w.made.get(gx.number)
    if step is not None and name_of(step.function) == "linear.Linear":
        x, w_in, b_in = step.inputs
        source, first, offset = w.of(x), w.array(w_in), None if b_in is None else w.array(b_in)
        constant = all(ref is None or w.value(ref).kind in ("held", "constant") for ref in (w_in, b_in))
    else:
        source, constant = w.of(gx), True
        first, offset = np.eye(len(gates) * H, dtype=w.array(gx).dtype), None
    if not constant or any(ref is not None and w.value(ref).kind not in ("held", "constant") for ref in (weight, b)):
        raise NotSupportedError(tr("onnx: {} whose weights are computed has no form", kind), "weights that are parameters")
    order = np.concatenate([np.arange(gate * H, (gate + 1) * H) for gate in gates])
    zeros = np.zeros(len(gates) * H, first.dtype)
    biases = [zeros if each is None else each for each in (offset, None if b is None else w.array(b))]
    inputs = [source, *(w.constant(a[order][None]) for a in (first, w.array(weight)))]
    inputs.append(w.constant(np.concatenate([a[order] for a in biases])[None]))
    inputs.append(None if lengths is None else w.cast(w.of(lengths), np.dtype(np.int32)))
    inputs += [w.unsqueeze(w.of(state), 0) for state in states]
    direction = "reverse" if reverse else "forward"
    y, *last = w.op(kind, *inputs, outputs=1 + len(states), hidden_size=H, direction=direction, **more)
    return [w.squeeze(y, 1), *(w.squeeze(x, 0) for x in last)]


FORMS |= {
    "shape.View": lambda w, out, x, shape: w.op("Reshape", w.of(x), w.sizes(shape), allowzero=1 if 0 in shape else None),
    "rearrange.Reshape": lambda w, out, x, shape: w.op("Reshape", w.of(x), w.sizes(shape), allowzero=1 if 0 in shape else None),
    "shape.Permute": lambda w, out, x, axes: w.op("Transpose", w.of(x), perm=[axis % out.ndim for axis in axes]),
    "shape.Expand": lambda w, out, x, shape: w.op("Expand", w.of(x), w.sizes(shape)),
    "concat.Cat": lambda w, out, *xs, axis: w.op("Concat", *(w.as_dtype(x, out.dtype) for x in xs), axis=axis),
    "concat.Stack": lambda w, out, *xs, axis: w.op("Concat", *(w.unsqueeze(w.as_dtype(x, out.dtype), axis) for x in xs), axis=axis),
    "triangular.Tril": lambda w, out, x, k=0: w.op("Trilu", w.of(x), w.size(k), upper=0),
    "triangular.Triu": lambda w, out, x, k=0: w.op("Trilu", w.of(x), w.size(k), upper=1),
    "index.Select": lambda w, out, x, key: selected(w, w.of(x), w.array(x).ndim, key),
    "reduce.OneOf": lambda w, out, x, index: _gather(w, out, x, index, -1),
    "along.IndexSelect": lambda w, out, x, index, dim: w.op("Gather", w.of(x), w.of(index), axis=dim),
    "along.Scatter": lambda w, out, x, index, src, dim: w.op(
        "ScatterElements", w.of(x), w.of(index), _cut_like(w, src, index), axis=dim
    ),
    "along.ScatterAdd": lambda w, out, x, index, src, dim: w.op(
        "ScatterElements", w.of(x), w.of(index), _cut_like(w, src, index), axis=dim, reduction="add"
    ),
    "recurrent.LSTM": lambda w, out, gx, h0, c0, weight, b, reverse=False, lengths=None: _recurrent(
        w, "LSTM", gx, [h0, c0], weight, b, reverse, lengths
    ),
    "recurrent.GRU": lambda w, out, gx, h0, weight, b, reverse=False, lengths=None: _recurrent(
        w, "GRU", gx, [h0], weight, b, reverse, lengths, linear_before_reset=1
    ),
    "recurrent.RNN": lambda w, out, gx, h0, weight, b, relu=False, reverse=False, lengths=None: _recurrent(
        w, "RNN", gx, [h0], weight, b, reverse, lengths, activations=["Relu" if relu else "Tanh"]
    ),
}
