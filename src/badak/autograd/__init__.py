"""Automatic differentiation, as PyTorch names it. The walk itself is `badak.graph`."""

from ..naming import door as _door
from . import anomaly_mode as anomaly_mode
from . import function as function
from . import grad_mode as grad_mode
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .differentiate import backward as backward
from .differentiate import grad as grad
from .function import Function as Function
from .function import FunctionContext as FunctionContext
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .gradcheck import GradcheckError as GradcheckError
from .gradcheck import gradcheck as gradcheck
from .variable import Variable as Variable

__getattr__ = _door(__name__)
