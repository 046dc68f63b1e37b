"""From one language to another: sentences through a Seq2Seq, the beams of many of them at once.

translate(model, tokenizer, ["ein hund rennt."], TranslateConfig())          ["a dog is running."]
cross_attention(model, source, target)                                       which words each word was made of
bleu(hypotheses, references, lowercase=True)                                 how near they are, and how that was counted
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.data.marian import MarianTokens
from badak.data.padding import pad
from badak.data.tokenizer import Tokenizer
from badak.generation.beams import search
from badak.generation.logit_filters import GenerationConfig
from badak.generation.reader import answering
from badak.io.config import Checked, option
from badak.models.seq2seq import Seq2Seq
from badak.nn import KeyValueCache
from badak.tensor import Tensor, full, stack

MARKS = ("<pad>", "<s>", "</s>")  # filling, start and end
LONGER, MORE = 2, 10  # a translation has at most 2 S + 10 tokens
MAX_BEAMS = 2_000  # texts that go through the decoder at once: fewer sentences where each has many beams


@dataclass(frozen=True)
class TranslateConfig(Checked):
    """How a translation is looked for."""

    num_beams: int = option(5, "beam search with this many beams", at_least=1, at_most=1_000)
    length_penalty: float = option(1.0, "above 0 favors long translations, below 0 short ones", at_least=-10, at_most=10)
    batch_size: int = option(64, "sentences per batch", unit="sentences", at_least=1)


def one_by_one(lots: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
    """What `work` gives for each."""
    return [work(some) for some in lots]


Each = Callable[[Sequence[Any], Callable[[Any], Any]], list[Any]]


def spaced(sentences: Iterable[str]) -> list[str]:
    """A space before the first word of each makes it the token that it is elsewhere."""
    return [f" {words}" if (words := sentence.strip()) else "" for sentence in sentences]


def framed(tokenizer: Tokenizer | MarianTokens, sentences: Iterable[str]) -> list[np.ndarray]:
    """The tokens of each sentence and the mark of its end."""
    end = tokenizer.ids[MARKS[2]]
    return [np.append(ids, end) for ids in tokenizer.encode_all(spaced(sentences))]


def translate(
    model: Seq2Seq, tokenizer: Tokenizer | MarianTokens, sentences: Sequence[str], config: TranslateConfig | None = None,
    each: Each = one_by_one, cut: Callable[[int, int], None] | None = None,
) -> list[str]:  # fmt: skip
    """The translation of each sentence, "" for one that is empty.

    each(lots, work) -> what work gives for each lot of sentences, in their order: several ranks may share them.
    cut(i, tokens) is told which sentence is longer than the model reads: its beginning is translated. Without it that is an
    ArgumentError.
    """
    made: list[str] = [""] * len(sentences)
    rows, context = framed(tokenizer, sentences), model.config.context
    for i, row in enumerate(rows):
        if cut is not None and len(row) > context:
            cut(i, len(row))
            rows[i] = np.append(row[: context - 1], row[-1])
    for i, ids in translations(model, rows, config or TranslateConfig(), each).items():
        made[i] = tokenizer.decode(ids, skip_special=True).strip()
    return made


def translations(
    model: Seq2Seq, rows: Sequence[np.ndarray], config: TranslateConfig, each: Each = one_by_one
) -> dict[int, np.ndarray]:
    """The tokens of the translations of `rows`, each with the mark of its end, by their numbers; empty sentences have none."""
    context, eos = model.config.context, model.config.eos_id
    for i, row in enumerate(rows):
        if len(row) > context:
            cause = tr("sentence {} has {} tokens, the model reads {}", i + 1, len(row), context)
            raise ArgumentError(cause, "cut it into shorter sentences")
    order = sorted((i for i, row in enumerate(rows) if len(row) > 1), key=lambda i: (len(rows[i]), i))
    made: dict[int, np.ndarray] = {}
    batch_size = min(config.batch_size, max(1, MAX_BEAMS // config.num_beams))
    lots = [order[begin : begin + batch_size] for begin in range(0, len(order), batch_size)]

    def work(some: list[int]) -> list[np.ndarray]:
        return translate_ids(model, pad([rows[i] for i in some], model.config.pad_id), config)

    for some, texts in zip(lots, each(lots, work)):
        for i, text in zip(some, texts):
            end = np.flatnonzero(text == eos)
            made[i] = text[: end[0] + 1] if len(end) else text
    return made


def translate_ids(model: Seq2Seq, source: Tensor, config: TranslateConfig) -> list[np.ndarray]:
    """The tokens of the best translation of each row of source (B, S), without the mark of the start."""
    marks, S = model.config, source.shape[1]
    longest = min(LONGER * S + MORE, marks.context - 1)
    how = GenerationConfig(max_new_tokens=longest, num_beams=config.num_beams, length_penalty=config.length_penalty)
    start = full((len(source), 1), marks.sos_id, dtype=source.dtype)
    suppress_tokens = sorted({marks.pad_id, marks.sos_id} - {marks.eos_id})
    made = search(SourceReader(model, source, longest), start, how, marks.eos_id, suppress_tokens)
    return [text[1:].numpy() for text in made]


class SourceReader:
    """Reads translations (R, T) that grow at their ends, next to what they are translations of, and gives the logits (R, V) of the
    token that comes next."""

    def __init__(self, model: Seq2Seq, source: Tensor, max_length: int) -> None:
        self.model, self.source = model, source
        self.cache = KeyValueCache(model.config.decoder_layers, max_length)

    def read(self, texts: Tensor) -> Tensor:
        """The logits after the last token of texts, which begin with what was read before."""
        memory = self.cache.memory
        if memory is None:
            memory = self.model.encode(self.source)
        return self.model.decode(texts[:, self.cache.length :], memory, self.source, self.cache)[:, -1]

    def take(self, rows: Tensor) -> None:
        """Go on with these rows (R',)."""
        self.cache.take(rows)
        self.source = self.source[rows]


def cross_attention(model: Seq2Seq, source: Tensor, target: Tensor) -> Tensor:
    """How much each token of target (T,) looks at each of source (S,), in each layer and head: (L, H, T, S), rows of sum 1."""
    seen: list[Tensor] = []

    def look(attention, args, kwargs) -> None:
        if not kwargs.get("need_weights"):
            padding = kwargs.get("key_padding_mask")
            _, weights = attention(*args, key_padding_mask=padding, need_weights=True, average_attn_weights=False)
            seen.append(weights[0])

    hooks = [layer.multihead_attn.register_forward_pre_hook(look, with_kwargs=True) for layer in model.decoder.layers]
    try:
        with answering(model):
            model(source[None], target[None])
    finally:
        for hook in hooks:
            hook.remove()
    return stack(seen)


def bleu(hypotheses: Sequence[str], references: Sequence[str], lowercase: bool = False) -> tuple[float, str]:
    """The BLEU of translations against one reference each, and sacrebleu's signature: how it was counted.

    Source: Papineni et al. 2002; Post, "A Call for Clarity in Reporting BLEU Scores", 2018.
    """
    return _counted("BLEU", hypotheses, references, lowercase=lowercase)


def chrf(hypotheses: Sequence[str], references: Sequence[str], lowercase: bool = False) -> tuple[float, str]:
    """The chrF2 of translations against one reference each, which counts letters and not words, and sacrebleu's signature.

    Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".
    """
    return _counted("CHRF", hypotheses, references, lowercase=lowercase)


def _counted(name: str, hypotheses: Sequence[str], references: Sequence[str], **settings: Any) -> tuple[float, str]:
    try:
        import sacrebleu.metrics  # an extra: only whoever counts needs it
    except ImportError:
        raise NotSupportedError("the library sacrebleu is not installed", 'pip install "badak[translate]"') from None
    if len(hypotheses) != len(references):
        cause = tr("{}: {} translations for {} references", name.lower(), len(hypotheses), len(references))
        raise ArgumentError(cause, "a reference for each translation")
    metric = getattr(sacrebleu.metrics, name)(**settings)
    return metric.corpus_score(list(hypotheses), [list(references)]).score, str(metric.get_signature())
