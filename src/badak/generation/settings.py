"""How a model writes unless told otherwise, as generation_config.json says it."""

from collections.abc import Mapping, Sequence
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.generation.logit_filters import GenerationConfig

ALWAYS = ("max_new_tokens", "no_repeat_ngram_size", "num_beams", "repetition_penalty", "length_penalty")
DRAWING = {"temperature": 1.0, "top_k": 50, "top_p": 1.0, "min_p": 0.0}  # of transformers, where it draws
GREEDY = {"temperature": 0.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def sample_config(said: Mapping[str, Any], where: Any) -> GenerationConfig:
    """What generation_config.json says; where it does not say whether tokens are drawn, they are, as badak draws them."""
    values = {name: said[name] for name in ALWAYS if said.get(name) is not None}
    if said.get("do_sample") is True:
        values |= {name: usual if said.get(name) is None else said[name] for name, usual in DRAWING.items()}
    elif said.get("do_sample") is False:
        values |= GREEDY
    try:
        return GenerationConfig(**values)
    except ArgumentError as error:
        raise FileError(tr("{}: {}", where, error.cause), "fix the file, or take it out") from None


def generation_config(config: GenerationConfig, ids: Mapping[str, Any], suppress_tokens: Sequence[int] = ()) -> dict[str, Any]:
    """generation_config.json for a model that writes so; ids: of its marks, by their names there."""
    made: dict[str, Any] = {**ids, **{name: getattr(config, name) for name in ALWAYS}}
    made["do_sample"] = config.temperature > 0 and config.num_beams == 1
    if made["do_sample"]:
        made |= {name: getattr(config, name) for name in DRAWING}
    return made | ({"suppress_tokens": sorted(suppress_tokens)} if suppress_tokens else {})


def suppressed(said: Mapping[str, Any], size: int) -> tuple[int, ...]:
    """The tokens of a vocabulary of `size` that are never written."""
    alone, words = said.get("suppress_tokens"), said.get("bad_words_ids")
    found = list(alone) if isinstance(alone, list) else []
    found += [word[0] for word in words if isinstance(word, list) and len(word) == 1] if isinstance(words, list) else []
    return tuple(one for one in found if type(one) is int and 0 <= one < size)
