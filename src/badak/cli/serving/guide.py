"""Answers that a grammar allows, exactly: which tokens may come next is said by llguidance, for JSON schemas and Lark grammars."""

import json
from typing import Any

import numpy as np

from badak.cli.serving.errors import RequestError
from badak.cli.serving.fields import Fields
from badak.core.errors import NotSupportedError, tr
from badak.data.text import WordVocabulary
from badak.data.tokenizer import Tokenizer
from badak.generation.text import TextVocabulary
from badak.tensor import Tensor, from_numpy

COMPACT = {"whitespace_flexible": False}  # a small model fills its answer with spaces where it may


def library() -> Any:
    """llguidance, which is an extra."""
    try:
        import llguidance.numpy
    except ImportError:
        raise NotSupportedError("the library llguidance is not installed", 'pip install "badak[serve]"') from None
    return llguidance


class Grammars:
    """Grammars over the tokens of a vocabulary. ends: those that end a text."""

    def __init__(self, vocabulary: TextVocabulary, ends: tuple[int, ...], size: int):
        self.vocabulary, self.ends, self.size = vocabulary, ends, size
        self.made: Any = None

    def guide(self, form: Fields | None, grammar: str | None) -> "TokenGuide | None":
        """What `response_format`, or a Lark grammar, asks for; None where that is text. RequestError for what has no meaning."""
        if form is None:
            return None if grammar is None else self._checked(library().LLMatcher.grammar_from_lark(grammar), "grammar")
        kinds = ("text", "json_object", "json_schema")
        kind = form.pick("type", None, lambda x: x in kinds, " or ".join(kinds))
        if kind is None:
            raise form.misfit("type", " or ".join(kinds))
        schema = form.table("json_schema")
        form.close()
        if kind == "text":
            return None if grammar is None else self.guide(None, grammar)
        if grammar is not None:
            raise RequestError("response_format and grammar are given both", "one of them", param="grammar")
        wanted: Any = {"type": "object"}
        if kind == "json_schema":
            if schema is None:
                raise form.misfit(
                    "json_schema", tr("an object with a schema"), tr('"json_schema": {"name": "x", "schema": {"type": "object"}}')
                )
            schema.text("name"), schema.text("description"), schema.flag("strict")
            wanted = schema.pick("schema", {}, lambda x: isinstance(x, dict), tr("an object, a JSON schema"))
            schema.close()
        try:
            made = library().LLMatcher.grammar_from_json_schema(json.dumps(wanted), defaults=COMPACT)
        except ValueError as error:
            raise _no_grammar(str(error), "response_format") from None
        return self._checked(made, "response_format")

    def _checked(self, grammar: str, param: str) -> "TokenGuide":
        if self.made is None:
            self.made = self._tokens()
        matcher = library().LLMatcher(self.made, grammar, log_level=0)
        if matcher.is_error():
            raise _no_grammar(matcher.get_error(), param)
        return TokenGuide(matcher, self.made.vocab_size, self.ends)

    def _tokens(self) -> Any:
        """The vocabulary as llguidance knows it."""
        end, size = list(self.ends) or [len(self.vocabulary)], len(self.vocabulary)
        if not isinstance(self.vocabulary, Tokenizer):
            return library().LLTokenizer(library().TokenizerWrapper(_Table(self.vocabulary, end[0])), eos_token=end)
        table = self.vocabulary.to_dict()
        if not self.ends:  # llguidance wants an end; the model has no such token, and never writes it
            flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            table["added_tokens"].append({"id": size, "content": "<|end of the grammar|>", "special": True, **flags})
        return library().LLTokenizer(json.dumps(table), n_vocab=max(self.size, size + 1), eos_token=end)


class _Table:
    """The tokens of a vocabulary of characters or words as bytes, with an end where none of them ends a text.

    Behind them all bytes stand as tokens, too. The model writes none of these: llguidance says with them what a grammar forces.
    """

    bos_token_id = None

    def __init__(self, vocabulary: TextVocabulary, end: int):
        gap = " " if isinstance(vocabulary, WordVocabulary) else ""
        special = {*vocabulary.special, end}
        texts = [f"<{i}>" if i in special else gap + vocabulary.decode([i]) for i in range(len(vocabulary))]
        self.tokens = [text.encode() for text in texts] + [b"<end>"] * (end == len(vocabulary))
        self.tokens += [bytes([byte]) for byte in range(256)]
        self.eos_token_id, self.special_token_ids = end, sorted(special)
        self.ids = {text: i for i, text in reversed([*enumerate(self.tokens)]) if i not in special}
        self.longest = max(map(len, self.ids))

    def __call__(self, text: bytes) -> list[int]:
        """The tokens of a text, the longest ones first."""
        found, at = [], 0
        while at < len(text):
            size = next(size for size in range(min(self.longest, len(text) - at), 0, -1) if text[at : at + size] in self.ids)
            found.append(self.ids[text[at : at + size]])
            at += size
        return found


class TokenGuide:
    """The place in a grammar where an answer is."""

    def __init__(self, matcher: Any, size: int, ends: tuple[int, ...]):
        self.matcher, self.ends = matcher, ends
        self.bits = library().numpy.allocate_token_bitmask(1, size)

    def copy(self) -> "TokenGuide":
        """The same place, for another answer."""
        return TokenGuide(self.matcher.deep_copy(), 32 * self.bits.shape[1], self.ends)

    def masked(self, logits: Tensor) -> Tensor:
        """logits (1, V) without the tokens that the grammar does not allow next."""
        library().numpy.fill_next_token_bitmask(self.matcher, self.bits)
        if self.matcher.is_error():
            raise self._failed()
        allowed = np.unpackbits(self.bits.view(np.uint8), bitorder="little")[: logits.shape[1]].astype(bool)
        if len(allowed) < logits.shape[1]:
            allowed = np.concatenate([allowed, np.zeros(logits.shape[1] - len(allowed), bool)])
        left = logits.masked_fill(from_numpy(~allowed)[None], float("-inf"))
        if not np.isfinite(left.numpy()).any():
            cause = tr("the grammar goes on with what no token of the model is")
            raise RequestError(cause, "a grammar of letters that the model knows")
        return left

    def take(self, token: int) -> bool:
        """Go on behind a token; whether the answer is whole."""
        if token in self.ends:
            return True
        if not self.matcher.consume_token(token):
            raise self._failed()
        return self.matcher.is_stopped()

    def _failed(self) -> RequestError:
        why = self.matcher.get_error().split("\n")[0][:200]
        return RequestError(tr("the grammar failed: {}", why), "a simpler grammar")


def _no_grammar(why: str, param: str) -> RequestError:
    """The complaint about a grammar that is none."""
    cause = tr("{}: llguidance refuses it: {}", param, why.splitlines()[0][:200])
    return RequestError(cause, "a grammar that it knows", param=param)
