"""What a state_dict that does not fit looks like: a prefix too many, another vocabulary, names that nearly match."""

import difflib
from collections.abc import Mapping
from typing import Any

from badak.core.errors import tr

_WRAPPERS = {"module.": tr(" (DataParallel)"), "_orig_mod.": tr(" (a compiled model)")}
_NEAREST = 3  # pairs of keys shown


def diagnose(module: Any, state: Mapping, missing: list[str], unexpected: list[str]) -> tuple[list[str], str | None]:
    """(lines, fix): what explains the problems, best explanation first; the fix of the first that has one."""
    own = module.state_dict()
    looked_for = _inside(own, state), _prefix(own, state), _vocabulary(module, own, state), _nearest(missing, unexpected)
    found = [item for item in looked_for if item]
    fixes = [fix for _, fix in found if fix]
    return [line for line, _ in found], fixes[0] if fixes else None


def _inside(own: Mapping, state: Mapping) -> tuple[str, str] | None:
    """A whole checkpoint was given, and the weights stand under one of its keys."""
    for key, value in state.items():
        if isinstance(value, Mapping) and any(name in own for name in value):
            return tr("this is a whole checkpoint: the weights stand under {!r}.", key), f"load_state_dict(checkpoint[{key!r}])"
    return None


def _prefix(own: Mapping, state: Mapping) -> tuple[str, str] | None:
    """Every key of the file begins with a prefix that the model does not have, or the other way round."""
    for keys, others, where in ((state, own, "file"), (own, state, "model")):
        first = next(iter(keys), "")
        parts = first.split(".")
        for depth in range(1, len(parts)):
            prefix = ".".join(parts[:depth]) + "."
            if not all(key.startswith(prefix) for key in keys):
                break
            if any(key.removeprefix(prefix) in others for key in keys) and first not in others:
                example = tr('nearest match: "{}" is "{}"', first, first.removeprefix(prefix))
                if where == "file":
                    wrapper = _WRAPPERS.get(prefix, "")
                    line = tr("all {} keys start with '{}'{}; {} here.", len(keys), prefix, wrapper, example)
                    return line, f'load_state_dict(state, strip_prefix="{prefix}")'
                line = tr(
                    "all {} keys of the model start with '{}', those of the file do not; {} there.", len(keys), prefix, example
                )
                inner = prefix.rstrip(".")
                plain = all(name.isidentifier() for name in inner.split("."))
                part = f"model.{inner}" if plain else f'model.get_submodule("{inner}")'
                return line, f"{part}.load_state_dict(state)"
    return None


def _vocabulary(module, own: Mapping, state: Mapping) -> tuple[str, str] | None:
    """The embedding has another number of rows, everything else of its width is the same."""
    rows = {}
    for key, value in own.items():
        given = tuple(getattr(state.get(key), "shape", ()))
        here = tuple(getattr(value, "shape", ()))
        if given and len(given) == len(here) and given[0] != here[0] and given[1:] == here[1:]:
            rows[key] = given[0], here[0]
    embeddings = {name for name, sub in module.named_modules() if hasattr(sub, "num_embeddings")}
    first = next((key for key in rows if key.rpartition(".")[0] in embeddings), None)
    if first is None:
        return None
    given, here = rows[first]
    others = dict.fromkeys(k.rpartition(".")[0] for k in rows if k != first and rows[k] == rows[first])
    others.pop(first.rpartition(".")[0], None)
    too = tr(" ({} too)", ", ".join(others)) if others else ""
    name = first.rpartition(".")[0] or type(module).__name__
    line = tr("{}: file has {} tokens, model {}{}. Rows 0-{} can be reused.", name, given, here, too, min(given, here) - 1)
    return line, tr("build the model with vocab_size={}", given)


def _nearest(missing: list[str], unexpected: list[str]) -> tuple[str, None] | None:
    """Pairs of a missing and an unexpected key that differ little."""
    pairs = []
    for key in missing:
        close = difflib.get_close_matches(key, unexpected, n=1, cutoff=0.8)
        if close:
            pairs.append(f'"{key}" is perhaps "{close[0]}"')
        if len(pairs) == _NEAREST:
            break
    return (f"nearest matches: {', '.join(pairs)}.", None) if pairs else None


def other_weights(module: Any, state: Mapping) -> tuple[str, str] | None:
    """(cause, fix) where one side has a layer with 8-bit weights and their scale, and the other side has not.

    Copied, they would be numbers between -127 and 127 in the place of weights, or the other way round.
    """
    own = {name: buffer for name, buffer in module.named_buffers() if name.endswith("weight")}
    here = {name for name, buffer in own.items() if buffer.dtype.name == "int8"}
    kinds = {key: getattr(getattr(value, "dtype", None), "name", "") for key, value in state.items()}
    there = {key for key, name in kinds.items() if name == "int8" and key.removesuffix("weight") + "scale" in state}
    name = type(module).__name__
    for key in kinds:
        if key in there and key not in here:
            cause = tr("load_state_dict: {} is int8 with a scale in the file, {} has float weights there", key, name)
            return cause, tr("badak.quantize(model, badak.int8) first, as it was done when the file was written")
        if key in here and kinds[key].startswith(("float", "bfloat")):
            cause = tr("load_state_dict: {} is {} in the file, {} was quantized to int8", key, kinds[key], name)
            return cause, tr("load it into the model before badak.quantize(model, badak.int8)")
    return None
