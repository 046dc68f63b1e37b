"""How well a model writes the stories of `badak.data.stories`: it goes on from openings that it never read, and the grammar reads
what it wrote."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from badak.data.stories import COUNT, check_story, opening, sentences_of, stories
from badak.generation.logit_filters import GenerationConfig
from badak.generation.sampling import generate
from badak.generation.text import TextVocabulary
from badak.nn import Module

OPENINGS, BATCH = 100, 50


@dataclass(frozen=True)
class StoryTest:
    """Openings of stories behind the last one of the corpus; no story of the corpus has one of them."""

    language: str
    vocabulary: TextVocabulary
    end: int | None  # the token that ends a story

    @cached_property
    def openings(self) -> list[str]:
        """The first sentences of each story: the day, and everyone who is in it."""
        return [opening(story, self.language) for story in stories(self.language, COUNT + OPENINGS)[COUNT:]]

    def continuations(self, model: Module, each: Callable[[Any, Callable[[Any], Any]], list[Any]]) -> list[str]:
        """A story from each opening, drawn as `badak generate` does unless told otherwise. each: `Experiment.each`."""
        starts = range(0, OPENINGS, BATCH)
        batches = each(starts, lambda start: self._go_on(model, self.openings[start : start + BATCH]))
        return [text for batch in batches for text in batch]

    def _go_on(self, model: Module, openings: list[str]) -> list[str]:
        prompts = [self.vocabulary.encode(text).tolist() for text in openings]
        room = getattr(getattr(model, "config", None), "context", 2 * max(map(len, prompts))) - max(map(len, prompts))
        config = GenerationConfig(max_new_tokens=max(room, 1))
        suppressed = [token for token in self.vocabulary.special if token != self.end]
        written = generate(model, prompts, config, self.end, suppressed)
        rows = ([token for token in row.tolist() if token != self.end] for row in written)
        return [self.vocabulary.decode(row).partition("\n")[0] for row in rows]

    def figures(self, texts: list[str]) -> dict[str, float]:
        """Share of the written sentences that the grammar has, and of the stories that agree with themselves to the end."""
        read = [check_story(text, self.language) for text in texts]
        given = sum(len(sentences_of(text)) for text in self.openings)
        written = sum(one.sentences for one in read) - given
        return {
            "parsed": (sum(one.parsed for one in read) - given) / written if written else 0.0,
            "consistent": sum(one.consistent for one in read) / len(read),
        }
