"""Instructions of floats that Numba lacks, or would not leave as they are written.

Each is a Python function (its meaning, and what runs without JIT) with a compiled body of one or two instructions. They are
compiled without fast-math flags (`rounded`; left to itself, Numba hands the caller's flags on), so that range reductions
built of them are not re-associated away.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from badak.kernels.numba.codegen.internals import cgutils
from badak.kernels.update import fma, largest, quotient


def is_float32(kind):
    """Whether an argument of an `overload` (a Numba type there) is float32."""
    return kind == types.float32


def rounded(meaning):
    """As `overload`: every operation of the compiled body is rounded on its own."""
    return overload(meaning, jit_options={"fastmath": False})


def minus(a, b):
    """a - b, rounded on its own: of x - top - rest the compiler would make x - (top + rest), and lose the digits of rest."""
    return a - b


def over_root(x):
    """1 / sqrt(x). With fast-math flags it would be an estimate, improved: NaN instead of 0 for infinity."""
    return type(x)(1) / np.sqrt(x)


def rint(x):
    """The nearest integer, as a float."""
    return np.rint(x)


def pow2(n):
    """2^n for a whole-valued float32 n in [-126, 127]; 0 for n = -127."""
    return np.float32(0) if n == -127 else np.float32(2.0) ** n


def _llvm_call(builder, name, values):
    width = "f32" if values[0].type == ir.FloatType() else "f64"
    kind = ir.FunctionType(values[0].type, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.{width}"), values)


@intrinsic
def _fma(typingctx, a, b, c):
    return a(a, b, c), lambda context, builder, signature, values: _llvm_call(builder, "fma", values)


@intrinsic
def _rint(typingctx, x):
    return x(x), lambda context, builder, signature, values: _llvm_call(builder, "rint", values)


@intrinsic
def _largest(typingctx, a, b):
    return a(a, b), lambda context, builder, signature, values: _llvm_call(builder, "maximum", values)


@intrinsic
def _pow2(typingctx, n):
    def codegen(context, builder, signature, values):
        bits = ir.IntType(32)
        biased = builder.add(builder.fptosi(values[0], bits), bits(127))
        return builder.bitcast(builder.shl(biased, bits(23)), ir.FloatType())

    return n(n), codegen


@rounded(quotient)
def _(a, b):
    one = np.float32(1) if is_float32(b) else 1.0

    def compiled(a, b):
        # high = 1 / b rounded and low, what it lacks, are worked out once for all a. So q is one of the two numbers next to a / b,
        # what is left over is exact, and the sum rounds as the quotient does (Markstein 1990). An overflow is left as it is.
        high = one / b
        low = fma(-b, high, one) * high
        near = a * high
        q = fma(a, high, a * low)
        q = fma(fma(-q, b, a), high, q)
        return near if near == np.inf else q

    return compiled


rounded(fma)(lambda a, b, c: lambda a, b, c: _fma(a, b, c))
rounded(minus)(lambda a, b: lambda a, b: a - b)
rounded(over_root)(lambda x: lambda x: type(x)(1) / np.sqrt(x))
rounded(rint)(lambda x: lambda x: _rint(x))
rounded(largest)(lambda a, b: lambda a, b: _largest(a, b))
rounded(pow2)(lambda n: lambda n: _pow2(n))
