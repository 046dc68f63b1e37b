"""What badak.save and badak.load have to know of this room: how a Parameter is written and made, and that modules may be made."""

from badak.io import allowed, pickler, program
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor


def _rebuild_parameter(data: Tensor, requires_grad: bool = True, hooks=None, state=None) -> Parameter:
    return Parameter(data, requires_grad)


pickler.WRAPPED[Parameter] = "torch._utils._rebuild_parameter"
allowed.define("torch._utils._rebuild_parameter", _rebuild_parameter)
allowed.define("torch._utils._rebuild_parameter_with_state", _rebuild_parameter)
allowed.define("torch.nn.parameter.Parameter", Parameter)
program.trust(Module)
