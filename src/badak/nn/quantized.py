"""Layers whose weights take fewer bits: they answer, and `quantization.py` puts them into models."""

from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np

from badak import kernels
from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.kernels.half import BFLOAT16
from badak.nn.containers import ModuleList
from badak.nn.embedding import Embedding
from badak.nn.linear import Linear
from badak.nn.module import Module
from badak.nn.parameter import Parameter, same_memory
from badak.ops.quantized import EmbeddingBlocks, LinearBFloat16, LinearBlocks, LinearInt8
from badak.tensor import Tensor, apply, cat

BASES = "base", "base_layer"  # where adapters keep what they stand next to: `nn.lora`, peft
MOST_INPUTS = 131_072  # of an int8 layer: a sum of more products could leave 32 bits


class Quantized(Module):
    """What layers with narrow weights have in common: they answer, and that is all."""

    in_features: int
    out_features: int
    bias: Tensor | None

    def _expect_trainable(self, model: Module) -> None:
        cause = tr("train: {} holds weights that cannot be trained", type(self).__name__)
        raise ArgumentError(cause, "keep the float32 model for training, and badak.quantize a copy of it")

    def _apply(self, fn: Callable, recurse: bool = True):
        """As in Module, but floats keep their dtype: a 16-bit scale would make every weight wrong."""

        def moved(t: Tensor) -> Tensor:
            new = fn(t)
            return new if new.dtype is t.dtype else t

        return super()._apply(moved, recurse)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Int8Linear(Quantized):
    """y = x W^T + b with W[n] = scale[n] weight[n], weight int8: a row of W is rounded to 255 steps, each row of x likewise.

        scale[n] = max |W[n]| / 127          weight[n] = W[n] / scale[n], rounded to the nearest

    x (..., in_features) -> y (..., out_features). Sums of products are integers and exact, so the bits of y are the same on
    every CPU and any number of threads. No gradient.
    """

    def __init__(self, weight: np.ndarray, bias: np.ndarray | None) -> None:
        super().__init__()
        self.training = False
        self.out_features, self.in_features = weight.shape
        numbers, scale = kernels.active().quantize_rows(np.ascontiguousarray(weight, np.float32))
        self.register_buffer("weight", Tensor._of(numbers))
        self.register_buffer("scale", Tensor._of(scale))
        self.register_buffer("bias", None if bias is None else Tensor._of(np.array(bias, np.float32)))

    def forward(self, input: Tensor) -> Tensor:
        own = self._buffers
        return apply(LinearInt8, input, own["weight"], own["scale"], own["bias"])

    def numbers(self) -> np.ndarray:
        """W, float32 (out_features, in_features)."""
        return self._buffers["weight"]._array * self._buffers["scale"]._array[:, None]

    def part(self, input: Tensor, number: int, parts: int) -> Tensor:
        """The outputs of one of so many equal parts."""
        weight, scale = (self._buffers[name].chunk(parts)[number] for name in ("weight", "scale"))
        bias = self._buffers["bias"]
        return apply(LinearInt8, input, weight, scale, None if bias is None else bias.chunk(parts)[number])


class LinearOf16Bits(Quantized):
    """y = x W^T + b with weight = W rounded to bfloat16; x is rounded likewise where it is multiplied, sums are float32.

    x (..., in_features) -> y (..., out_features), in x's dtype. No gradient.
    """

    def __init__(self, weight: np.ndarray, bias: np.ndarray | None) -> None:
        super().__init__()
        self.training = False
        self.out_features, self.in_features = weight.shape
        self.register_buffer("weight", Tensor._of(np.ascontiguousarray(weight).astype(BFLOAT16, copy=False)))
        self.register_buffer("bias", None if bias is None else Tensor._of(np.array(bias, np.float32)))

    def forward(self, input: Tensor) -> Tensor:
        return apply(LinearBFloat16, input, self._buffers["weight"], self._buffers["bias"])

    def numbers(self) -> np.ndarray:
        """W, float32 (out_features, in_features)."""
        return self._buffers["weight"]._array.astype(np.float32)

    def part(self, input: Tensor, number: int, parts: int) -> Tensor:
        """The outputs of one of so many equal parts."""
        bias = self._buffers["bias"]
        weight = self._buffers["weight"].chunk(parts)[number]
        return apply(LinearBFloat16, input, weight, None if bias is None else bias.chunk(parts)[number])


def _no_sum(self: Tensor, *args: Any, **named: Any) -> NoReturn:
    cause = tr("weights in blocks cannot be added to, so adapters cannot be merged into them: they are bytes, not numbers")
    raise NotSupportedError(cause, "badak.nn.lora.merge_lora(model) first makes the weights whole; or merge before badak.quantize")


class Blocks(Tensor):
    """What a program sees of the bytes of weights in blocks: libraries of adapters add to `weight.data`, or to a copy of it."""

    __add__ = __radd__ = __iadd__ = __sub__ = __isub__ = add = add_ = sub = sub_ = _no_sum  # type: ignore[assignment]

    @property  # type: ignore[override]
    def data(self) -> "Blocks | None":
        """The same bytes."""
        return Blocks.of(super().data)

    @data.setter  # type: ignore[override]
    def data(self, value: "Blocks") -> None:
        Tensor.data.fset(self, value)  # type: ignore[attr-defined]

    def clone(self, **options: Any) -> "Blocks":
        """A copy of the bytes."""
        return Blocks.of(super().clone(**options))

    @staticmethod
    def of(bytes_: Tensor) -> "Blocks":
        """This tensor's memory."""
        return same_memory(Blocks, bytes_)


class InBlocks(Quantized):
    """A matrix W in blocks of ggml's format `form` ("q8_0", "q4_0", "q4_k").

    weight: the bytes, uint8 (out_features, bytes of a row), as a GGUF file has them (`kernels/block_formats.py`)
    """

    adapted = False  # whether the model around it has adapters: such a model may be in training mode

    def _expect_trainable(self, model: Module) -> None:
        self.adapted = self.adapted or any(
            isinstance(part._modules.get(name), InBlocks) for part in model.modules() for name in BASES
        )
        if not self.adapted:
            super()._expect_trainable(model)

    def __init__(self, weight: np.ndarray, bias: np.ndarray | None, form: str) -> None:
        rows = kernels.active().quantize_blocks(np.ascontiguousarray(weight, np.float32), form)
        self._hold(rows, bias, form, weight.shape[1])

    def _hold(self, rows: np.ndarray, bias: np.ndarray | None, form: str, inputs: int) -> None:
        Module.__init__(self)
        self.training = False
        self.form, self.in_features, self.out_features = form, inputs, len(rows)
        self.register_buffer("weight", Tensor._of(rows))
        self.register_buffer("bias", None if bias is None else Tensor._of(np.array(bias, np.float32)))

    @classmethod
    def of_blocks(cls, rows: np.ndarray, bias: np.ndarray | None, form: str, inputs: int) -> Self:
        """The layer of these bytes (N, width), which are used where they lie."""
        layer = cls.__new__(cls)
        layer._hold(rows, bias, form, inputs)
        return layer

    def _multiplied(self, input, weight, bias):
        return apply(LinearBlocks, input, weight, bias, form=self.form, size=self.in_features)

    def numbers(self) -> np.ndarray:
        """W, float32 (out_features, in_features)."""
        return kernels.active().dequantize_blocks(self._buffers["weight"]._array, self.form, self.in_features)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        return Blocks.of(found) if name == "weight" and isinstance(found, Tensor) else found

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, form={self.form}"


class BlockLinear(InBlocks, Linear):
    """y = x W^T + b, W in blocks, x rounded to 8 bits in parts of 32 numbers.

    x (..., in_features) -> y (..., out_features). The bits of y are the same on every CPU, for any number of threads and of
    other rows. W is not trained; x has a gradient, dx = dy W, so that adapters next to it can learn: those of `nn.lora`, and of
    libraries that look for a Linear.
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._multiplied(input, self._buffers["weight"], self._buffers["bias"])

    def part(self, input: Tensor, number: int, parts: int) -> Tensor:
        """The outputs of one of so many equal parts."""
        weight, bias = self._buffers["weight"], self._buffers["bias"]
        return self._multiplied(input, weight.chunk(parts)[number], None if bias is None else bias.chunk(parts)[number])

    def whole(self) -> Linear:
        """The Linear of these numbers."""
        layer = Linear(self.in_features, self.out_features, bias=self.bias is not None)
        layer.weight = Parameter(Tensor._of(self.numbers()))
        layer.bias = None if self.bias is None else Parameter(self.bias)
        return layer


class BlockEmbedding(InBlocks):
    """y = W[ids], W in blocks: an Embedding that is not trained; and the head that is tied to it, `logits`.

    ids (...) -> y (..., embedding_dim); logits(h): h (..., embedding_dim) -> (..., num_embeddings). One storage for both.
    """

    @property
    def num_embeddings(self) -> int:
        """Rows of the table."""
        return self.out_features

    @property
    def embedding_dim(self) -> int:
        """Numbers of a row."""
        return self.in_features

    def forward(self, input: Tensor) -> Tensor:
        return apply(EmbeddingBlocks, self._buffers["weight"], input, form=self.form, size=self.in_features)

    def whole(self) -> Embedding:
        """The Embedding of these numbers."""
        return Embedding.from_pretrained(Tensor._of(self.numbers()), freeze=False)

    def logits(self, h: Tensor) -> Tensor:
        """h W^T."""
        return self._multiplied(h, self._buffers["weight"], None)


class JoinedLinear(Quantized):
    """Layers of one input whose outputs stand one after the other: a Linear whose rows are of several kinds."""

    def __init__(self, parts: list[Module]) -> None:
        super().__init__()
        self.training = False
        self.parts = ModuleList(parts)
        self.bias = None

    def forward(self, input: Tensor) -> Tensor:
        return cat([part(input) for part in self.parts], dim=-1)

    def extra_repr(self) -> str:
        return ""
