"""Instructions of threads, on int64 at an address that is a multiple of 8. All are seq_cst: docs/explanation/threads.md."""

# mypy: disable-error-code="attr-defined,call-arg"

import platform

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from badak.kernels.numba.codegen.internals import cgutils

__all__ = ["INT64", "atomic_add", "atomic_load", "atomic_store", "call", "pause", "pointer_to", "swap_if"]

INT64 = ir.IntType(64)


def pointer_to(builder, address):
    """An address as LLVM's pointer to int64."""
    return builder.inttoptr(address, INT64.as_pointer())


@intrinsic
def atomic_load(typingctx, address):
    """The number at the address."""

    def codegen(context, builder, signature, values):
        return builder.load_atomic(pointer_to(builder, values[0]), "seq_cst", 8)

    return types.int64(types.int64), codegen


@intrinsic
def atomic_store(typingctx, address, value):
    """Write the number at the address."""

    def codegen(context, builder, signature, values):
        builder.store_atomic(values[1], pointer_to(builder, values[0]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_add(typingctx, address, value):
    """Add to the number at the address."""

    def codegen(context, builder, signature, values):
        builder.atomic_rmw("add", pointer_to(builder, values[0]), values[1], "seq_cst")
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def swap_if(typingctx, address, expected, value):
    """Write the number at the address if it is the expected one; whether it was."""

    def codegen(context, builder, signature, values):
        pair = builder.cmpxchg(pointer_to(builder, values[0]), values[1], values[2], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


@intrinsic
def call(typingctx, function, record, thread):
    """Call the C function void f(int64, int64) at an address."""

    def codegen(context, builder, signature, values):
        kind = ir.FunctionType(ir.VoidType(), [INT64, INT64])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def pause(typingctx):
    """Tell the core that this is a waiting loop."""

    def codegen(context, builder, signature, values):
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen
