"""What runs a kernel: its driver, and the worker that each thread is in.

driver(tasks, threads, team, keep, a0, a1, ...)     packs the arguments into a record and shares the tasks out
worker(record, thread)                              does the tasks of one thread's part, then what others have left
"""

# mypy: disable-error-code="attr-defined,call-arg"

import copy

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from badak.core.signals import uninterrupted
from badak.kernels.numba.codegen.atomics import INT64, pointer_to
from badak.kernels.numba.codegen.bfloat16 import viewed
from badak.kernels.numba.codegen.compile import FLAGS, OPTIONS, WITHIN, kept, type_of
from badak.kernels.numba.codegen.internals import Copy, cgutils, event
from badak.kernels.numba.codegen.linking import link_callbacks
from badak.kernels.numba.codegen.parts import parts_without_code

_APART = 8  # int64s from counter to counter: each has a cache line of its own
KEPT = 64  # bytes at the head of a kept call: the worker's address, tasks, threads; then counters, then the record


def compile_driver(function, words, dtype, exact, on_compiling):
    """Compile driver(tasks, threads, team, keep, a0, a1, ...), which runs function(task, a0, a1, ...) for every task.

    Where `keep` is not 0 but an address, the driver runs nothing and leaves there what `CallList.play` needs to run it later.
    on_compiling() is called if the driver is not on disk and has to be compiled.
    """
    body = numba.njit(fastmath=False if exact else FLAGS, **WITHIN)(function)
    names = ", ".join(f"a{i}" for i in range(len(words)))
    name = f"{function.__name__}_driver"
    source = f"def {name}(tasks, threads, team, keep, {names}): run_tasks(body, ({names},), tasks, threads, team, keep)"
    scope = {"run_tasks": _run_tasks, "body": body, "__name__": function.__module__}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)
    driver = kept(numba.njit(no_cfunc_wrapper=True, **OPTIONS)(scope[name]), function)
    kinds = [type_of(word, dtype) for word in words]
    with uninterrupted(), event.install_listener("numba:compile", _Compiling(on_compiling)):
        link_callbacks(dtype, function.__code__.co_filename)
        with parts_without_code(name, function.__qualname__):
            driver.compile(types.void(types.int64, types.int64, types.int64, types.int64, *kinds))
    driver.disable_compile()  # another type of argument is our mistake, not a reason to compile again
    return driver


class _Compiling(event.Listener):
    def __init__(self, tell):
        self.tell = tell

    def on_start(self, happening):
        self.tell()

    def on_end(self, happening):
        pass


@intrinsic
def _run_tasks(typingctx, body, arguments, tasks, threads, team, keep):
    """Call body(task, *arguments) for task in range(tasks), on `threads` threads of the team at the address `team`.

    The arguments and one task counter for each thread go into a record on the stack. A function worker(record, thread) does
    the tasks of that thread's part, then what is left of the others'; one thread calls it directly, more through
    `badak_share`. Where `keep` is an address, the record goes there instead, after the address of the worker.
    """
    argument_types = (types.int64, *map(viewed, arguments.types))
    body.dispatcher.compile(argument_types)
    compiled = body.dispatcher.overloads[argument_types]

    def codegen(context, builder, signature, values):
        context.active_code_library.add_linking_library(Copy(compiled))
        _, packed, tasks, threads, team, keep = values
        packed = _borrowed(builder, packed, arguments.types)
        record_type = ir.LiteralStructType([INT64, INT64, INT64.as_pointer(), packed.type])
        worker = _build_worker(context, builder.module, compiled, argument_types, record_type)
        start = builder.ptrtoint(worker, INT64)
        with builder.if_else(builder.icmp_signed("==", keep, INT64(0))) as (now, later):
            with now:
                counters = builder.alloca(INT64, size=builder.mul(threads, INT64(_APART)))
                record = cgutils.alloca_once(builder, record_type)
                for i, value in enumerate((tasks, threads, counters, packed)):
                    builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
                with cgutils.for_range(builder, threads) as loop:
                    first = builder.sdiv(builder.mul(loop.index, tasks), threads)
                    builder.store(first, builder.gep(counters, [builder.mul(loop.index, INT64(_APART))]))
                address = builder.ptrtoint(record, INT64)
                with builder.if_else(builder.icmp_signed("<", threads, INT64(2))) as (alone, together):
                    with alone:
                        builder.call(worker, [address, INT64(0)])
                    with together:
                        kind = ir.FunctionType(ir.VoidType(), [INT64] * 4)
                        share = cgutils.get_or_insert_function(builder.module, kind, "badak_share")
                        builder.call(share, [start, address, threads, team])
            with later:
                for i, value in enumerate((start, tasks, threads)):
                    builder.store(value, pointer_to(builder, builder.add(keep, INT64(8 * i))))
                counters = builder.add(keep, INT64(KEPT))
                after = builder.add(counters, builder.mul(threads, INT64(8 * _APART)))
                record = builder.inttoptr(after, record_type.as_pointer())
                for i, value in enumerate((tasks, threads, pointer_to(builder, counters), packed)):
                    builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
        return context.get_dummy_value()

    return types.void(body, arguments, tasks, threads, team, keep), codegen


def _borrowed(builder, packed, kinds):
    """The packed arguments without the owners of their arrays, which the caller holds.

    Counting references, which threads would do on one and the same number, then does nothing; and a record may be kept.
    """
    for i, kind in enumerate(kinds):
        if isinstance(kind, types.Array):
            for owner in (0, 1):  # of Numba's array: meminfo and parent
                nobody = packed.type.elements[i].elements[owner](None)
                packed = builder.insert_value(packed, nobody, [i, owner])
    return packed


def _build_worker(context, module, compiled, argument_types, record_type):
    """The LLVM function worker(record, thread): every task of part `thread`, then of the next part that has some left.

    Neighbouring tasks stay on one thread, kernel after kernel: what it wrote is in its own cache when it reads it.
    """
    worker = ir.Function(module, ir.FunctionType(ir.VoidType(), [INT64, INT64]), module.get_unique_name("worker"))
    worker.linkage = "internal"
    body = copy.copy(compiled.fndesc)
    body.mangled_name = Copy.named(body.mangled_name, compiled)
    worker.attributes.add("noinline")  # one machine code for one thread and for many
    builder = ir.IRBuilder(worker.append_basic_block("entry"))
    record = builder.inttoptr(worker.args[0], record_type.as_pointer())
    tasks, threads, counters, packed = (
        builder.load(cgutils.gep_inbounds(builder, record, 0, i)) for i in range(len(record_type.elements))
    )
    values = cgutils.unpack_tuple(builder, packed, len(argument_types) - 1)
    with cgutils.for_range(builder, threads) as parts:
        part = builder.srem(builder.add(worker.args[1], parts.index), threads)
        counter = builder.gep(counters, [builder.mul(part, INT64(_APART))])
        end = builder.sdiv(builder.mul(builder.add(part, INT64(1)), tasks), threads)
        take, run, done = (worker.append_basic_block(name) for name in ("take", "run", "done"))
        builder.branch(take)
        builder.position_at_end(take)
        task = builder.atomic_rmw("add", counter, INT64(1), "monotonic")  # only the number counts; see docs/explanation/threads.md
        builder.cbranch(builder.icmp_signed("<", task, end), run, done)
        builder.position_at_end(run)
        context.call_internal_no_propagate(builder, body, compiled.signature, [task, *values])
        builder.branch(take)
        builder.position_at_end(done)
    builder.ret_void()
    return worker
