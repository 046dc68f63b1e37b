"""What `badak run` says where a library of Hugging Face finds its input bad: a line of cause, a line of fix.

The library's own error comes with a page of its inside, and some advise what cannot help here, such as a package for
quantised weights. Known by where it was raised and by its words; any other error is shown as Python shows it.
"""

import os
import re
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from badak.core.errors import BadakError, DeviceError, FileError, NotSupportedError, StateError, tr

_LIBRARIES = ("transformers", "sentence_transformers", "peft", "accelerate", "diffusers", "timm")


def advised(error: BaseException) -> BadakError | None:
    """The two lines for an error that a library raised, with the frames before the library; None for one that is not known."""
    frames, own = _frames(error.__traceback__)
    if not frames or any(each.f_globals.get("__name__") == "__main__" for each in frames):  # the program's own is among them
        return None
    if isinstance(error, FileError | StateError | DeviceError):
        return error.with_traceback(own)
    for rule in _RULES:
        told = rule(str(error), frames)
        if told is not None:
            return told.with_traceback(own)
    return None


def _frames(trace: TracebackType | None) -> tuple[list[FrameType], TracebackType | None]:
    """The frames from the first one of a library on, and the traceback that ends before it."""
    before: list[TracebackType] = []
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in _LIBRARIES:
        before.append(trace)
        trace = trace.tb_next
    inside = []
    while trace is not None:
        inside.append(trace.tb_frame)
        trace = trace.tb_next
    own: TracebackType | None = None
    for each in reversed(before):
        own = TracebackType(own, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return inside, own


def _value(frames: list[FrameType], name: str) -> Any:
    """What the innermost frame that has a local variable of this name has there."""
    return next((each.f_locals[name] for each in reversed(frames) if each.f_locals.get(name) is not None), None)


def _quantised(said: str, frames: list[FrameType]) -> BadakError | None:
    places = [each.f_globals.get("__name__", "") for each in frames]
    if not any(place.startswith(("transformers.quantizers", "transformers.utils.quantization_config")) for place in places):
        return None
    config = _value(frames, "quantization_config") or _value(frames, "quantization_config_dict")
    method = config.get("quant_method") if isinstance(config, dict) else getattr(config, "quant_method", None)
    known = f" by {getattr(method, 'value', method)}" if method else ""
    cause = tr("from_pretrained: the weights are to be quantised{}, and badak computes in float32, float16 and bfloat16", known)
    return NotSupportedError(cause, "weights that are not quantised, and no quantization_config (nor in config.json)")


def _other_shapes(said: str, frames: list[FrameType]) -> BadakError | None:
    if "ignore_mismatched_sizes" not in said:
        return None
    found = sorted(getattr(_value(frames, "loading_info"), "mismatched_keys", ()))
    name, theirs, ours = found[0] if found else (tr("a weight"), "one shape", "another")
    more = tr(", and {} more weights have other shapes", len(found) - 1) if len(found) > 1 else ""
    shapes = [tuple(shape) if isinstance(shape, tuple) else shape for shape in (theirs, ours)]
    cause = tr("from_pretrained: {} is {} in the checkpoint and {} in the model{}", name, shapes[0], shapes[1], more)
    return StateError(cause, "the config.json that belongs to the checkpoint; ignore_mismatched_sizes=True draws them again")


def _missing_file(said: str, frames: list[FrameType]) -> BadakError | None:
    path = re.search(r"No such file or directory: '?\"?(.+?\.(?:safetensors|bin))\b", said)
    if path is None:
        return None
    folder, name = os.path.split(path[1])
    part = tr(" (a part of the weights, which the index next to it names)") if re.search(r"-of-\d+\.", name) else ""
    cause = tr("from_pretrained: {} is missing in {}{}", name, folder, part)
    return FileError(cause, "copy it from where the others came, or save the model again")


def _damaged(said: str, frames: list[FrameType]) -> BadakError | None:
    if "deserializing header" not in said:
        return None
    path = _value(frames, "file") or _value(frames, "checkpoint_file") or _value(frames, "filename") or tr("a file")
    why = said.rpartition(": ")[2]
    return FileError(tr("from_pretrained: {} is cut short or no safetensors file ({})", path, why), "copy or download it again")


def _own_code(said: str, frames: list[FrameType]) -> BadakError | None:
    where = re.search(r"repository (\S+) (?:contains|references) custom code|Loading (\S+) requires (?:you )?to execute", said)
    if where is None:
        return None
    cause = tr("from_pretrained: {} brings code of its own, which is run only where the program allows it", where[1] or where[2])
    return NotSupportedError(cause, "read its .py files; then from_pretrained(..., trust_remote_code=True)")


def _no_weights(said: str, frames: list[FrameType]) -> BadakError | None:
    folder = re.search(r"no file named (.+), found in directory (.+?)\.?$", said)
    if folder is None:
        return None
    cause = tr("from_pretrained: {} holds none of {}", folder[2], folder[1])
    return FileError(cause, "the folder that save_pretrained wrote, with its weights")


_RULES: tuple[Callable[[str, list[FrameType]], BadakError | None], ...] = (
    _quantised, _other_shapes, _missing_file, _damaged, _own_code, _no_weights,
)  # fmt: skip
