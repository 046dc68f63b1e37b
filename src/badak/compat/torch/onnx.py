"""`torch.onnx`: badak exports nothing. What a library registers for exports is accepted, and exporting is an error."""

from types import SimpleNamespace
from typing import Any, NoReturn

from badak.core.public_api import MissingName


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises MissingName: badak writes no ONNX files."""
    raise MissingName(
        "torch.onnx.export: badak writes no ONNX files", "save the weights as safetensors and export them with PyTorch"
    )


dynamo_export = export


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int, **options: Any) -> None:
    """Accept a rule for exports."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Accept that a rule for exports is gone."""


def is_in_onnx_export() -> bool:
    """False."""
    return False


def _parse_args(*kinds: str) -> Any:
    return lambda function: function


symbolic_helper = SimpleNamespace(parse_args=_parse_args, quantized_args=_parse_args)
symbolic_opset9 = symbolic_opset11 = symbolic_opset12 = symbolic_opset13 = SimpleNamespace()
