"""Automatic differentiation, as PyTorch names it. The walk itself is `autograd/engine.py`."""

from badak.autograd import anomaly_mode as anomaly_mode
from badak.autograd import function as function
from badak.autograd import functional as functional
from badak.autograd import grad_mode as grad_mode
from badak.autograd import graph as graph
from badak.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from badak.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from badak.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from badak.autograd.differentiate import backward as backward
from badak.autograd.differentiate import grad as grad
from badak.autograd.function import Function as Function
from badak.autograd.function import FunctionContext as FunctionContext
from badak.autograd.grad_mode import enable_grad as enable_grad
from badak.autograd.grad_mode import inference_mode as inference_mode
from badak.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from badak.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from badak.autograd.grad_mode import is_multithreading_enabled as is_multithreading_enabled
from badak.autograd.grad_mode import no_grad as no_grad
from badak.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from badak.autograd.grad_mode import set_multithreading_enabled as set_multithreading_enabled
from badak.autograd.gradcheck import GradcheckError as GradcheckError
from badak.autograd.gradcheck import gradcheck as gradcheck
from badak.autograd.gradcheck import gradgradcheck as gradgradcheck
from badak.autograd.saved import SavedTensor as SavedTensor
from badak.autograd.variable import Variable as Variable
from badak.autograd.variable import variable as variable
from badak.core.public_api import door as _door

__getattr__, __dir__ = _door(__name__)
