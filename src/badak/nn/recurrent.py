"""Recurrent layers and cells: a state that is carried along a sequence."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.core.modes import modes
from badak.core.public_api import overriding
from badak.nn import functional as F
from badak.nn import init
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.nn.utils.packing import PackedSequence, lengths_of, packed_rows, unpacked
from badak.ops import recurrent as ops
from badak.tensor import Tensor, apply, empty, zeros
from badak.tensor.concat import cat, stack
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class _Weights(Module):
    """Parameters that all start uniform in +-1/sqrt(hidden_size)."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw all weights and biases again."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)


class RNNBase(_Weights):
    """Layers of a recurrent cell, in one or both directions. Names of the parameters: weight_ih_l0, weight_hh_l0_reverse, ..."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        self._check_numbers()
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                wide = input_size if layer == 0 else self._state_size * (2 if bidirectional else 1)
                rows = GATES[mode] * hidden_size
                self._add(f"weight_ih_{suffix}", (rows, wide), device, dtype)
                self._add(f"weight_hh_{suffix}", (rows, self._state_size), device, dtype)
                if bias:
                    self._add(f"bias_ih_{suffix}", (rows,), device, dtype)
                    self._add(f"bias_hh_{suffix}", (rows,), device, dtype)
                if proj_size:
                    self._add(f"weight_hr_{suffix}", (proj_size, hidden_size), device, dtype)
        self.reset_parameters()

    @property
    def _state_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _add(self, name: str, shape: tuple[int, ...], device, dtype) -> None:
        self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)))

    def _check_numbers(self) -> None:
        for name in ("bias", "batch_first"):
            if type(getattr(self, name)) is not bool:
                found = type(getattr(self, name)).__name__
                cause = tr("{} should be of type bool, got: {}", name, found)
                raise ArgumentTypeError(cause, tr("{}=True, and sizes as keywords", name))
        if not 0 <= self.dropout <= 1:
            cause = tr("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
            raise ArgumentError(cause)
        if self.input_size <= 0 or self.hidden_size <= 0 or self.num_layers <= 0:
            cause = tr("input_size, hidden_size and num_layers must be greater than zero; got {}, {} and {}", self.input_size,
                       self.hidden_size, self.num_layers)  # fmt: skip
            raise ArgumentError(cause, "input_size is the size of the last dim of the input")
        if self.proj_size and self.mode != "LSTM":
            raise ArgumentError("proj_size argument is only supported for LSTM, not RNN or GRU", "a Linear layer after it")
        if not 0 <= self.proj_size < self.hidden_size:
            cause = tr(
                "proj_size has to be smaller than hidden_size, and not negative; got {} and {}", self.proj_size, self.hidden_size
            )
            raise ArgumentError(cause, "proj_size=0 projects nothing")
        if self.dropout and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater "
                f"than 1, but got dropout={self.dropout} and num_layers={self.num_layers}",
                UserWarning,
                stacklevel=4,
            )

    def _suffixes(self, layer: int) -> tuple[str, ...]:
        return (f"l{layer}", f"l{layer}_reverse") if self.bidirectional else (f"l{layer}",)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _all_weights(self) -> list[list[str]]:
        """Their names."""
        kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] * self.bias), *(["weight_hr"] * (self.proj_size > 0))]
        suffixes = [suffix for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        return [[f"{kind}_{suffix}" for kind in kinds] for suffix in suffixes]

    @property
    def _flat_weights_names(self) -> list[str]:
        """What _all_weights has, in one list."""
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        """What all_weights has, in one list."""
        return [weight for weights in self.all_weights for weight in weights]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Tensor]) -> None:
        """From now on these are computed with."""
        for name, weight in zip(self._flat_weights_names, weights, strict=True):
            self._parameters[name] = weight  # type: ignore[assignment]

    def flatten_parameters(self) -> None:
        """Nothing to do: the weights need no single piece of memory here."""

    def forward(self, input: Tensor, hx: Tensor | Sequence[Tensor] | None = None) -> tuple:
        """(outputs, last state) of sequences (T, B, C), (B, T, C) with batch_first, (T, C), or a PackedSequence."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ShapeError(tr("{}: Expected input to be 2D or 3D, got {}D instead", type(self).__name__, input.dim()), None)
        kind = self.weight_ih_l0.dtype
        if input.dtype is not kind and modes.casting is None:
            cause = tr("RNN input dtype ({}) does not match weight dtype ({}).", input.dtype, kind)
            raise ArgumentTypeError(cause, f"x.to({kind})")
        batched = input.dim() == 3
        x = input if batched else input.unsqueeze(1)
        x = x.transpose(0, 1) if self.batch_first and batched else x
        if not x.shape[0]:
            raise ShapeError("Expected sequence length to be larger than 0 in RNN", "leave empty sequences out")
        y, states = self._run(x, self._states(x, hx, batched), None)
        y = y.transpose(0, 1) if self.batch_first and batched else y
        if not batched:
            y, states = y.squeeze(1), tuple(state.squeeze(1) for state in states)
        return y, self._hidden(states)

    def _forward_packed(self, packed: PackedSequence, hx):
        sizes = packed.batch_sizes._array
        x = unpacked(packed.data, sizes, len(sizes))
        states = self._states(x, hx, True)
        if hx is not None and packed.sorted_indices is not None:
            states = tuple(state.index_select(1, packed.sorted_indices) for state in states)
        y, states = self._run(x, states, packed)
        if packed.unsorted_indices is not None:
            states = tuple(state.index_select(1, packed.unsorted_indices) for state in states)
        return packed._replace(data=packed_rows(y, sizes)), self._hidden(states)

    def _run(self, x: Tensor, states: tuple[Tensor, ...], packed: PackedSequence | None):
        """All layers over x (T, B, C); states (layers * directions, B, H) each."""
        return overriding.asked_as(self.mode.lower(), self._layers, x, states, packed)

    def _layers(self, x: Tensor, states: tuple[Tensor, ...], packed: PackedSequence | None):
        lengths = None if packed is None else lengths_of(packed)
        last: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                first = tuple(state[len(last)] for state in states)
                y, *ends = self._layer(x, first, suffix, direction == 1, lengths)
                outputs.append(y)
                last.append(tuple(ends))
            x = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = self._dropped(x, packed)
        return x, tuple(stack(list(parts)) for parts in zip(*last))

    def _dropped(self, x: Tensor, packed: PackedSequence | None) -> Tensor:
        if packed is None:
            return F.dropout(x, self.dropout)
        sizes = packed.batch_sizes._array
        return unpacked(F.dropout(packed_rows(x, sizes), self.dropout), sizes, len(sizes))

    def _layer(self, x: Tensor, first, suffix: str, reverse: bool, lengths: np.ndarray | None):
        gx = F.linear(x, getattr(self, f"weight_ih_{suffix}"), getattr(self, f"bias_ih_{suffix}", None))
        w, b = getattr(self, f"weight_hh_{suffix}"), getattr(self, f"bias_hh_{suffix}", None)
        if self.proj_size:
            return _projected(gx, first, w, b, getattr(self, f"weight_hr_{suffix}"), reverse, lengths)
        return _steps(self.mode, gx, first, w, b, reverse, lengths)

    def _states(self, x: Tensor, hx, batched: bool) -> tuple[Tensor, ...]:
        """The first states, (layers * directions, B, H) each, checked."""
        if x.shape[-1] != self.input_size:
            cause = tr("input.size(-1) must be equal to input_size. Expected {}, got {}", self.input_size, x.shape[-1])
            raise ShapeError(cause, f"{type(self).__name__}({x.shape[-1]}, {self.hidden_size})")
        lead = (self.num_layers * (2 if self.bidirectional else 1), x.shape[1])
        shapes = [(*lead, self._state_size), (*lead, self.hidden_size)][: 2 if self.mode == "LSTM" else 1]
        if hx is None:
            return tuple(zeros(shape, dtype=x.dtype) for shape in shapes)
        given = tuple(hx) if self.mode == "LSTM" else (hx,)
        states = tuple(state if batched else state.unsqueeze(1) for state in given)
        for number, (state, shape) in enumerate(zip(states, shapes)):
            if tuple(state.shape) != shape:
                cause = tr("Expected hidden[{}] size {}, got {}", number, shape, list(state.shape))
                raise ShapeError(cause, "None starts with zeros")
        return states

    def _hidden(self, states: tuple[Tensor, ...]):
        return states if self.mode == "LSTM" else states[0]

    def extra_repr(self) -> str:
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        rest = [f", {name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return f"{self.input_size}, {self.hidden_size}{''.join(rest)}"


def _steps(mode: str, gx: Tensor, first, w, b, reverse: bool, lengths):
    """(y, last states) of one layer in one direction."""
    if mode == "LSTM":
        return apply(ops.LSTM, gx, *first, w, b, reverse=reverse, lengths=lengths)
    if mode == "GRU":
        return apply(ops.GRU, gx, *first, w, b, reverse=reverse, lengths=lengths)
    return apply(ops.RNN, gx, *first, w, b, relu=mode == "RNN_RELU", reverse=reverse, lengths=lengths)


def _projected(gx: Tensor, first, w, b, w_hr, reverse: bool, lengths):
    """As _steps of an LSTM whose state is P = w_hr h, (B, P), w (4H, P).

    W (w_hr h) = (W w_hr) h, so the layer is an ordinary one with the weights W w_hr, whose outputs are projected; only the
    first state is given as P already, and joins the first step's arguments.
    """
    T, B, _ = gx.shape
    start = np.zeros((T, B, 1), gx.dtype.numpy)
    start[(T if lengths is None else lengths) - 1 if reverse else 0, np.arange(B)] = 1
    gx = gx + Tensor._of(start) * F.linear(first[0], w)
    y, h, c = _steps("LSTM", gx, (zeros(B, w_hr.shape[1], dtype=gx.dtype), first[1]), w @ w_hr, b, reverse, lengths)
    return F.linear(y, w_hr), F.linear(h, w_hr), c


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_before + b_hh), or relu. Source: Elman 1990, "Finding structure in time"."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(tr("Unknown nonlinearity '{}'. Select from 'tanh' or 'relu'.", nonlinearity))
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """i, f, o = sigmoid(.), g = tanh(.) of W_ih x + b_ih + W_hh h + b_hh;   c = f c + i g,   h = o tanh(c).

    With proj_size, h = W_hr (o tanh(c)) of that size. The state is the pair (h, c). Sources: Hochreiter, Schmidhuber 1997,
    "Long short-term memory"; the projection: Sak, Senior, Beaufays 2014, "Long short-term memory based recurrent networks".

    Args:
        input_size: channels I of the input
        hidden_size: channels of the state
        num_layers: layers, one on top of the other
        bias: whether there are biases
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        dropout: probability between layers, in training
        bidirectional: also read from the end; the outputs have twice the channels
        proj_size: channels that h is projected to; 0 for none
        device, dtype: of the parameters

    Returns: module; `forward(x, (h, c))` gives (outputs, (h, c))

    Example:
        >>> output, (h, c) = nn.LSTM(3, 5, batch_first=True)(badak.randn(2, 7, 3))
        >>> tuple(output.shape), tuple(h.shape)
        ((2, 7, 5), (1, 2, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        )


class GRU(RNNBase):
    """r, z = sigmoid(.),   n = tanh(W_in x + b_in + r (W_hn h + b_hn)),   h = (1 - z) n + z h.

    Source: Cho et al. 2014, "Learning phrase representations using RNN encoder-decoder".

    Args:
        input_size: channels I of the input
        hidden_size: channels of the state
        num_layers: layers, one on top of the other
        bias: whether there are biases
        batch_first: tensors are (B, T, C) instead of (T, B, C)
        dropout: probability between layers, in training
        bidirectional: also read from the end; the outputs have twice the channels
        device, dtype: of the parameters

    Returns: module; `forward(x, h)` gives (outputs, h)

    Example:
        >>> output, h = nn.GRU(3, 5, batch_first=True)(badak.randn(2, 7, 3))
        >>> tuple(output.shape), tuple(h.shape)
        ((2, 7, 5), (1, 2, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)


class RNNCellBase(_Weights):
    """One step of a recurrent layer: weight_ih (n H, C), weight_hh (n H, H), bias_ih, bias_hh (n H,)."""

    mode = ""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Device = None, dtype: DType | None = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _step(self, input: Tensor, states) -> tuple[Tensor, ...]:
        """The new states of x (B, C) or (C,)."""
        return overriding.asked_as(f"{self.mode.lower()}_cell", self._stepped, input, states)

    def _stepped(self, input: Tensor, states) -> tuple[Tensor, ...]:
        batched = input.dim() == 2
        if input.dim() not in (1, 2):
            raise ShapeError(tr("{}: Expected input to be 1D or 2D, got {}D instead", type(self).__name__, input.dim()), None)
        x = input if batched else input.unsqueeze(0)
        count = 2 if self.mode == "LSTM" else 1
        if states is None:
            first = (zeros(x.shape[0], self.hidden_size, dtype=x.dtype),) * count
        else:
            first = tuple(state if batched else state.unsqueeze(0) for state in states)
        self._check(x, first)
        gx = F.linear(x, self.weight_ih, self.bias_ih).unsqueeze(0)
        _, *ends = _steps(self.mode, gx, first, self.weight_hh, self.bias_hh, False, None)
        return tuple(state if batched else state.squeeze(0) for state in ends)

    def _check(self, x: Tensor, states: tuple[Tensor, ...]) -> None:
        """Raise ShapeError where x is not (B, input_size), or a state not (B, hidden_size)."""
        fix = tr(
            "x (B, {}) or ({},), states (B, {}) or ({},)", self.input_size, self.input_size, self.hidden_size, self.hidden_size
        )
        if x.shape[1] != self.input_size:
            raise ShapeError(tr("input has inconsistent input_size: got {} expected {}", x.shape[1], self.input_size), fix)
        for number, state in enumerate(states):
            if state.dim() != 2:
                raise ShapeError(tr("Expected hidden{} to be {}D, got {} instead", number, x.dim(), list(state.shape)), fix)
            if state.shape[0] != x.shape[0]:
                cause = tr("Input batch size {} doesn't match hidden{} batch size {}", x.shape[0], number, state.shape[0])
                raise ShapeError(cause, fix)
            if state.shape[1] != self.hidden_size:
                cause = tr("hidden{} has inconsistent hidden_size: got {}, expected {}", number, state.shape[1], self.hidden_size)
                raise ShapeError(cause, fix)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(tr("Unknown nonlinearity: {}", nonlinearity), "'tanh' or 'relu'")
        self.nonlinearity, self.mode = nonlinearity, f"RNN_{nonlinearity.upper()}"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (h, c) -> (h', c')."""

    mode = "LSTM"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: DType | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step(input, hx)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU: h -> h'."""

    mode = "GRU"

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: DType | None = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    forward = RNNCell.forward
