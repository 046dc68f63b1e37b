"""Dialogues: how turns become tokens, which of them the model learns to write, and files of questions and answers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from badak.core.errors import ArgumentError, FileError, tr
from badak.data import pad
from badak.data.csv import Table
from badak.data.dataset import TensorDataset
from badak.data.tokenizer import GPT2_END, Tokenizer
from badak.generation.folder import Turn
from badak.training.experiment import IGNORED


@dataclass(frozen=True)
class ChatFormat:
    """How a dialogue is written: a mark before each turn, and a mark behind each answer.

        <|user|>question<|assistant|>answer<|endoftext|>

    Args:
        user: the mark before what the user says
        assistant: the mark before an answer
        end: the mark behind an answer

    Example:
        >>> from badak.training.dialogues import ChatFormat
        >>> ChatFormat().text([{"role": "user", "content": "Hello"}])
        '<|user|>Hello<|assistant|>'
    """

    user: str = "<|user|>"
    assistant: str = "<|assistant|>"
    end: str = GPT2_END

    @property
    def marks(self) -> tuple[str, str, str]:
        """The three marks, to train a tokenizer with: `Tokenizer.train_bpe(texts, 1000, special=format.marks)`."""
        return self.end, self.user, self.assistant

    @property
    def template(self) -> str:
        """The same as a chat template in the language of Jinja, for other programs."""
        return (
            "{% for message in messages %}{% if message['role'] == 'assistant' %}"
            f"{self.assistant}{{{{ message['content'] }}}}{self.end}"
            f"{{% else %}}{self.user}{{{{ message['content'] }}}}{{% endif %}}{{% endfor %}}"
            f"{{% if add_generation_prompt %}}{self.assistant}{{% endif %}}"
        )

    def text(self, turns: Sequence[Turn]) -> str:
        """The turns, up to where the next answer begins.

        Raises ArgumentError for a turn that has a mark in it: it could speak for somebody else.
        """
        return "".join(map(self._turn, turns)) + self.assistant

    def _turn(self, turn: Turn) -> str:
        said = turn["content"]
        if mark := next((mark for mark in self.marks if mark in said), None):
            raise ArgumentError(tr("a dialogue has the mark {} in its text", mark), "take it out of the text, or name other marks")
        return f"{self.assistant}{said}{self.end}" if turn["role"] == "assistant" else f"{self.user}{said}"

    def encode(self, tokenizer: Tokenizer, turns: Sequence[Turn]) -> tuple[np.ndarray, np.ndarray]:
        """A dialogue as what a model reads and what it learns to write: only the answers of the assistant, and their ends.

        Args:
            tokenizer: one that has the marks
            turns: {"role": "user" or "assistant", "content": text}, in order

        Returns: ids and labels, int64 (T,) each; labels[t] is the token behind ids[t], -100 where it is not the assistant's

        Example:
            >>> from badak.data.tokenizer import Tokenizer
            >>> from badak.training.dialogues import ChatFormat
            >>> chat = ChatFormat()
            >>> tokenizer = Tokenizer.train_bpe(["Hello"], 259, special=chat.marks)
            >>> ids, labels = chat.encode(tokenizer, [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}])
            >>> tokenizer.decode(labels[labels >= 0])
            '2<|endoftext|>'
        """
        ids, written = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
        for turn in turns:
            part = tokenizer.encode(self._turn(turn))
            ids.append(part)
            written.append(np.arange(len(part)) > 0 if turn["role"] == "assistant" else np.zeros(len(part), bool))
        whole, own = np.concatenate(ids), np.concatenate(written)
        return whole[:-1], np.where(own, whole, IGNORED)[1:]


def dialogue_rows(
    dialogues: Sequence[Sequence[Turn]],
    tokenizer: Tokenizer,
    context: int,
    chat: ChatFormat = ChatFormat(),
    texts: Sequence[str] = (),
) -> TensorDataset:
    """Dialogues as rows of one length: ids (N, T) and labels (N, T), filled up behind, where nothing is learned.

    With `texts` the model repeats what it was pretrained with, so that it does not forget it: every token of these is a label.

    Args:
        dialogues: lists of turns
        tokenizer: one that has the marks of `chat`
        context: the most tokens of a row
        chat: how a dialogue is written
        texts: plain texts, as further rows; each stands between two marks `chat.end`

    Returns: a data set of N rows

    Raises:
        ArgumentError: for a dialogue longer than the context

    Example:
        >>> from badak.data.tokenizer import Tokenizer
        >>> from badak.training.dialogues import ChatFormat, dialogue_rows, questions
        >>> tokenizer = Tokenizer.train_bpe(["Hello"], 259, special=ChatFormat().marks)
        >>> ids, labels = dialogue_rows(questions([("1+1", "2")]), tokenizer, 16)[0]
        >>> (labels >= 0).sum().item()
        2
    """
    rows = [chat.encode(tokenizer, turns) for turns in dialogues]
    whole = tokenizer.encode_all([f"{chat.end}{text}{chat.end}" for text in texts])
    rows += [(ids[:-1], ids[1:]) for ids in whole]
    longest = max(range(len(rows)), key=lambda i: len(rows[i][0]), default=0)
    if not rows or len(rows[longest][0]) > context:
        had = (
            tr("row {} has {} tokens, more than {}", longest + 1, len(rows[longest][0]), context)
            if rows
            else tr("there is no dialogue")
        )
        raise ArgumentError(tr("dialogue_rows: {}", had), "a larger context, or leave long dialogues out")
    return TensorDataset(pad([ids for ids, _ in rows], tokenizer.ids[chat.end]), pad([labels for _, labels in rows], IGNORED))


def questions(pairs: Sequence[tuple[str, str]]) -> list[list[Turn]]:
    """Questions and their answers as dialogues of two turns."""
    return [[{"role": "user", "content": asked}, {"role": "assistant", "content": told}] for asked, told in pairs]


def read_questions(path: str | os.PathLike) -> list[tuple[str, str]]:
    """The first two columns of a CSV or TSV file with a header: questions and answers, each pair once, in their order."""
    table = Table.read(path, header="yes")
    if table.width < 2:
        raise FileError(tr("{}: one column; a question and its answer are two", path), "a comma or a tab between them")
    rows = table.rows
    return list(dict.fromkeys((row[0].strip(), row[1].strip()) for row in rows if row[0].strip() and row[1].strip()))
