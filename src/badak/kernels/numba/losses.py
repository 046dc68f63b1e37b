"""The squared error in one pass; the other elementwise losses are those of `reference`."""

import numpy as np

from badak.kernels.memory_format import turn
from badak.kernels.numba._blocks import block, blocks_of, flat
from badak.kernels.numba.threadpool.parallel import parallel


@parallel("W1 R1 R1")
def mse_block(task, loss, x, target):
    """loss = (x - target)^2."""
    loss, x, target = block(task, loss), block(task, x), block(task, target)
    for i in range(x.size):
        d = x[i] - target[i]
        loss[i] = d * d


@parallel("W1 R1 R1 R1")
def mse_backward_block(task, dx, dloss, x, target):
    """dx = 2 (x - target) dloss."""
    two = x.dtype.type(2)
    dx, dloss, x, target = block(task, dx), block(task, dloss), block(task, x), block(task, target)
    for i in range(x.size):
        dx[i] = two * (x[i] - target[i]) * dloss[i]


def mse(x, target):
    """loss = (x - target)^2; x and target of one shape."""
    if turned := turn(x.shape, x, target):
        axes, back = turned
        return mse(x.transpose(axes), target.transpose(axes)).transpose(back)
    loss = np.empty(x.shape, x.dtype)
    mse_block(blocks_of(x.size), x.size * 0.4, loss.reshape(-1), flat(x), flat(target))
    return loss


def mse_backward(dloss, x, target):
    """dx = 2 (x - target) dloss, and dtarget = -dx."""
    if turned := turn(x.shape, dloss, x, target):
        axes, back = turned
        return mse_backward(dloss.transpose(axes), x.transpose(axes), target.transpose(axes)).transpose(back)
    dx = np.empty(x.shape, x.dtype)
    mse_backward_block(blocks_of(x.size), x.size * 0.5, dx.reshape(-1), flat(dloss), flat(x), flat(target))
    return dx
