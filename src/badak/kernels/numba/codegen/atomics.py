"""Instructions of threads, on int64 at an address that is a multiple of 8. All are seq_cst: docs/explanation/threads.md."""

# mypy: disable-error-code="attr-defined,call-arg"

import platform

from llvmlite import ir
from numba import types

from badak.kernels.numba.codegen.instructions import instruction
from badak.kernels.numba.codegen.internals import cgutils

INT64 = ir.IntType(64)


def pointer_to(builder, address):
    """An address as LLVM's pointer to int64."""
    return builder.inttoptr(address, INT64.as_pointer())


@instruction(gives=types.int64)
def atomic_load(builder, address):
    """The number at the address."""
    return builder.load_atomic(pointer_to(builder, address), "seq_cst", 8)


@instruction()
def atomic_store(builder, address, value):
    """Write the number at the address."""
    builder.store_atomic(value, pointer_to(builder, address), "seq_cst", 8)


@instruction()
def atomic_add(builder, address, value):
    """Add to the number at the address."""
    builder.atomic_rmw("add", pointer_to(builder, address), value, "seq_cst")


@instruction(gives=types.boolean)
def swap_if(builder, address, expected, value):
    """Write the number at the address if it is the expected one; whether it was."""
    pair = builder.cmpxchg(pointer_to(builder, address), expected, value, "seq_cst", "seq_cst")
    return builder.extract_value(pair, 1)


@instruction()
def call(builder, function, record, thread):
    """Call the C function void f(int64, int64) at an address."""
    kind = ir.FunctionType(ir.VoidType(), [INT64, INT64])
    builder.call(builder.inttoptr(function, kind.as_pointer()), [record, thread])


@instruction()
def pause(builder):
    """Tell the core that this is a waiting loop."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
