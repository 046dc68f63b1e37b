"""What could stand where a [MASK] stands."""

from collections.abc import Sequence

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.data.validation import several, whole
from badak.generation.logit_filters import forbid
from badak.generation.reader import answering
from badak.generation.validation import expect_model
from badak.nn import Module
from badak.tensor import Tensor


def fill_mask(
    model: Module, ids: Tensor, mask_id: int, top: int = 5, suppress_tokens: Sequence[int] = ()
) -> list[list[tuple[int, float]]]:
    """For each `mask_id` in ids (T,), from left to right, the `top` most likely tokens as (id, probability).

    The `suppress_tokens` are not among them; the probabilities of all others add up to 1.
    """
    expect_model("fill_mask", model)
    whole("fill_mask", "top", top)
    whole("fill_mask", "mask_id", mask_id, least=0)
    suppress_tokens = [
        whole("fill_mask", tr("a token of suppress_tokens"), one, least=0)
        for one in several("fill_mask", suppress_tokens, tr("tokens"), "suppress_tokens=[0]")
    ]
    if not isinstance(ids, Tensor) or ids.dim() != 1:
        got = tuple(ids.shape) if isinstance(ids, Tensor) else type(ids).__name__
        raise ArgumentTypeError(tr("fill_mask: expected one sentence ids (T,) as a Tensor; got {}", got), "ids[0] of a batch")
    places = [place for place, token in enumerate(ids.tolist()) if token == mask_id]
    if not places:
        cause = tr("fill_mask: the sentence has no [MASK]")
        raise ArgumentError(cause, fix='write [MASK] for a word, e.g. "Great minds [MASK] alike".')
    with answering(model):
        chances = forbid(model(ids[None])[0], suppress_tokens).softmax(dim=-1)  # (T, V)
    rankings = []
    for place in places:
        values, indices = chances[place].topk(min(top, chances.shape[-1] - len(set(suppress_tokens))))
        rankings.append(list(zip(indices.tolist(), values.tolist())))
    return rankings
