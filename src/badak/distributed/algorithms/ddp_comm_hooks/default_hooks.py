"""Hooks for `DistributedDataParallel.register_comm_hook`: the mean in the gradients' own dtype, or in a 16-bit one.

A hook is (state, bucket) -> a future of the bucket's values; the state of these is a process group, or None for all ranks.
"""

from collections.abc import Callable
from typing import Any

from badak.distributed.collectives import all_reduce
from badak.distributed.futures import Future
from badak.distributed.grad_bucket import GradBucket, one_tensor
from badak.distributed.group import chosen
from badak.tensor import Tensor
from badak.tensor.dtypes import bfloat16, dtype, float16

Hook = Callable[[Any, GradBucket], Future]


def _mean(process_group: Any, values: Tensor) -> Future:
    """values / n, then summed over the n ranks."""
    group = chosen(process_group)
    work = all_reduce(values.div_(group.size()), group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda done: done.value()[0])


def _as(kind: dtype, process_group: Any, bucket: GradBucket) -> Future:
    buffer = bucket.buffer()
    return _mean(process_group, buffer.to(kind)).then(lambda done: buffer.copy_(done.value()))


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean over the ranks, as without a hook, but divided before it is summed."""
    return _mean(process_group, bucket.buffer())


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean in float16: half of the bytes travel. What is above 65504 becomes infinite."""
    return _as(float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean in bfloat16: half of the bytes travel, 8 bits of each value are right."""
    return _as(bfloat16, process_group, bucket)


def _wrapped(hook: Hook, kind: dtype) -> Hook:
    def narrow(state: Any, bucket: GradBucket) -> Future:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(kind))
        return hook(state, bucket).then(lambda done: buffer.copy_(one_tensor(done.value(), buffer)))

    return narrow


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """The hook, on buckets in float16; what it gives comes back in the gradients' dtype."""
    return _wrapped(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """The hook, on buckets in bfloat16; what it gives comes back in the gradients' dtype."""
    return _wrapped(hook, bfloat16)
