"""A conversation: what was said before stays in the model's cache, and only what is new is read before an answer.

    chat = Chat(writer, GenerationConfig(max_new_tokens=100))
    for piece in chat.ask("Hello"):
        print(piece, end="", flush=True)

Where the model's folder has a chat template the turns are written as it says. Else each turn is a line, and an answer ends with its
line.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.core.public_api import guard_types as _guard_types
from badak.data.validation import text
from badak.generation.folder import TextGenerator, Turn
from badak.generation.logit_filters import GenerationConfig
from badak.generation.reader import Reader
from badak.generation.sampling import stream
from badak.generation.text import TextVocabulary, noted, pieces_of, prompt_ids, until
from badak.tensor import from_numpy


class Chat:
    """A writer with its history.

    system         what stands before everything, and is never cut off
    you, answer    what stands before each turn, where turns are lines
    tell           called with a sentence when the history becomes longer than the model's context, the first time
    """

    def __init__(
        self,
        writer: TextGenerator,
        config: GenerationConfig,
        system: str = "",
        you: str = "",
        answer: str = "",
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        if config.num_beams > 1:
            raise ArgumentError("chat streams one text, beams are several", "num_beams=1")
        self.writer, self.config, self.tell, self.told = writer, config, tell, False
        self.before = {"system": "", "user": text("Chat", you), "assistant": text("Chat", answer)}
        self.system: list[Turn] = [{"role": "system", "content": text("Chat", system)}] if system else []
        self.turns: list[Turn] = []
        self.answers = 0  # since the history began: each has draws of its own
        self.reader = Reader(writer.model, 1)

    def ask(self, question: str) -> Iterator[str]:
        """The answer as it comes. Whoever stops in between keeps what was written so far as the answer.

        Raises ArgumentError for a question of words or characters that the model has never seen; the history is as it was.
        """
        asked = [*self.turns, {"role": "user", "content": text("ask", question)}]
        ids = self._fitting(asked)  # before anything is kept
        return self._answer(asked, ids)

    def _answer(self, asked: list[Turn], ids: np.ndarray) -> Iterator[str]:
        writer, said = self.writer, []
        suppress_tokens = [token for token in writer.vocabulary.special if token not in writer.ends]
        config = replace(self.config, seed=self.config.seed + self.answers)
        self.answers += 1
        tokens = (
            int(one)
            for one in stream(writer.model, from_numpy(ids)[None], config, writer.ends, suppress_tokens, reader=self.reader)
        )
        pieces = pieces_of(writer.vocabulary, noted(tokens, writer.ends))
        if writer.template is None:
            pieces = until(pieces, ["\n"], stripped=True)
        try:
            for piece in pieces:
                said.append(piece)
                yield piece
        finally:
            self.turns = [*asked, {"role": "assistant", "content": "".join(said)}]

    def reset(self) -> None:
        """Forget what was said."""
        self.turns, self.answers = [], 0

    def _fitting(self, turns: list[Turn]) -> np.ndarray:
        """The tokens of as many of the last turns as leave room for an answer; the older ones are dropped."""
        context = getattr(getattr(self.writer.model, "config", None), "context", None)
        vocabulary: TextVocabulary = self.writer.vocabulary
        marks = None if self.writer.template is None else False  # a template writes its own
        ids = prompt_ids(vocabulary, self._text(turns[-1:] if self.writer.alone else turns), marks)
        if context is None:
            return ids
        room = context - min(self.config.max_new_tokens, context // 2)
        while len(ids) > room and len(turns) > 1:
            del turns[:2]
            ids = prompt_ids(vocabulary, self._text(turns), marks)
            self._say(context)
        if len(ids) > room:
            self._say(context)
        return ids[-max(room, 1) :]

    def _say(self, context: int) -> None:
        if not self.told:
            self.told = True
            self.tell(tr("the model sees {} tokens: what was said first is left out from now on", context))

    def _text(self, turns: list[Turn]) -> str:
        return conversation(self.writer, [*self.system, *turns], self.before)


def conversation(writer: TextGenerator, turns: Sequence[Turn], before: Mapping[str, str] = MappingProxyType({})) -> str:
    """The text of turns, up to where the next answer begins: as the folder's template writes it, else a line for each turn.

    before: what stands before the turns of a role, where turns are lines.
    """
    if writer.template is not None:
        return writer.template(turns)
    between = " " if writer.alone else "\n"
    said = "".join(f"{before.get(turn['role'], '')}{turn['content']}{between}" for turn in turns)
    return said + before.get("assistant", "")


_guard_types(globals(), __name__)
