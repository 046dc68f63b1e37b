"""The whole path: from a tokenizer to a model that answers, on a laptop. Read it from the end: `walk` is the path.

    1 tokenizer    cut text into tokens: what the model reads and writes
    2 pretrain     which token comes next? The model learns the language from stories
    3 tune         dialogues: it learns to answer, and only what the assistant says counts
    4 reward       sums that it was never shown: it answers, and is told only whether the answer was right (GRPO)

After each stage the same five questions are asked, and the same held-out data is scored. Each stage is a folder that
`badak chat`, `badak serve` and transformers can open. A path that was interrupted goes on where it was.
"""

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from badak.cli.course.questions import FIVE, Asked, carries, story_questions, sum_question, sums
from badak.core.errors import ArgumentError
from badak.core.i18n import LANGUAGES, tr
from badak.data import DataLoader, RandomSampler, Subset, TensorDataset, pad
from badak.data.stories import stories
from badak.data.tokenizer import Tokenizer
from badak.data.tokenizer_files import token_ids, tokenizer_files
from badak.data.tokens import TokenWindows
from badak.generation.logit_filters import GenerationConfig
from badak.generation.reader import answering
from badak.generation.sampling import generate
from badak.generation.settings import generation_config
from badak.io.atomic import make_folder, write_file
from badak.io.sealed import seal, unseal
from badak.models.gpt import GPT, GPTConfig
from badak.models.hints import TEMPLATE, Hints
from badak.nn import functional as F
from badak.tensor import Tensor, arange, tensor
from badak.tensor.random import Generator, manual_seed
from badak.training.dialogues import ChatFormat, dialogue_rows, questions, read_questions
from badak.training.experiment import IGNORED
from badak.training.fit import fit
from badak.training.grpo import GroupSampler, GRPOLoss, mean_reward

STAGES = ("tokenizer", "pretrain", "tune", "reward")
CHAT = ChatFormat()
GREEDY = GenerationConfig(max_new_tokens=24, temperature=0.0, top_k=0)
REPORT, MODEL, RUN = "path.json", "model", "run"
EACH_SUM, REPEATED = 4, 12  # how often a sum comes in an epoch of stage 3; one story of so many comes again
TOGETHER = 100  # questions that are answered at once


@dataclass(frozen=True)
class Sizes:
    """How large the model is, how much it learns from, and how long."""

    stories: int = 6_000
    vocabulary: int = 600  # tokens; digits are never joined
    d_model: int = 128
    layers: int = 4
    heads: int = 4
    context: int = 192
    batch_size: int = 32
    pretrain_steps: int = 1_500
    shown_sums: int = 1_400  # without a carry, of 8,100 sums; the others are for the reward stage, and for scores
    shown_carries: int = 100  # sums with a carry
    tune_steps: int = 2_000
    reward_steps: int = 400
    prompts: int = 16  # questions of one update of the reward stage,
    group_size: int = 8  # and the answers to each
    held_out: int = 200  # stories, questions and sums of each kind


SIZES = {
    "full": Sizes(),
    "quick": Sizes(
        stories=400, vocabulary=320, d_model=48, layers=2, heads=2, batch_size=8, pretrain_steps=60, shown_sums=300,
        shown_carries=100, tune_steps=80, reward_steps=15, prompts=4, group_size=4, held_out=20,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class PathConfig:
    """language: of the stories and the questions; dialogues: a file of questions and answers of your own; sizes: see Sizes."""

    language: str = "en"
    dialogues: str = ""
    seed: int = 0
    sizes: Sizes = SIZES["full"]

    def __post_init__(self):
        if self.language not in LANGUAGES:
            raise ArgumentError(tr("path: expected one of the languages {}; got {!r:.40}", ", ".join(LANGUAGES), self.language))


class Material:
    """All that is learned from, and apart from it all that is only scored: no text is in both."""

    def __init__(self, config: PathConfig):
        size, language = config.sizes, config.language
        told = stories(language, 2 * size.stories + 2 * size.held_out, config.seed)
        self.stories, told = told[: size.stories], told[size.stories :]
        self.held_out_stories, told = told[: size.held_out], told[size.held_out :]
        asked = story_questions(told, language, config.seed)
        self.held_out_asked = asked[: size.held_out]
        self.asked = [one for one in asked[size.held_out :] if one not in set(self.held_out_asked)]
        pairs = sums(config.seed)
        for name, with_carry in (("plain", False), ("carry", True)):
            chosen = [pair for pair in pairs if carries(*pair) == with_carry][: size.held_out]
            setattr(self, name, [sum_question(x, y, language) for x, y in chosen])
            pairs = [pair for pair in pairs if pair not in set(chosen)]
        shown = {
            *[pair for pair in pairs if not carries(*pair)][: size.shown_sums],
            *[pair for pair in pairs if carries(*pair)][: size.shown_carries],
        }
        self.sums = [sum_question(x, y, language) for x, y in pairs if (x, y) in shown]
        self.rewarded = [sum_question(x, y, language) for x, y in pairs if (x, y) not in shown]
        own = read_questions(config.dialogues) if config.dialogues else []
        random.Random(config.seed).shuffle(own)
        cut = len(own) - len(own) // 20
        self.own, self.held_out_own = own[:cut], own[cut:]
        self.five = FIVE[language]

    plain: list[Asked]
    carry: list[Asked]

    def texts(self) -> list[str]:
        """What the tokenizer is made of: everything to learn from, without its digits, so that each digit is a token."""
        whole = [
            *self.stories,
            *(text for pair in self.own for text in pair),
            *(text for one in self.asked for text in pair_of(one)),
        ]
        return [re.sub(r"\d", " ", text) for text in whole]


def pair_of(asked: Asked) -> tuple[str, str]:
    """A question and its answer."""
    return asked.question, asked.answer


# Scores: the same ones after each stage


def answers(model: GPT, tokenizer: Tokenizer, asked: Sequence[str], config: GenerationConfig = GREEDY) -> list[str]:
    """What the model answers to each question, alone."""
    prompts = [prompt_of(tokenizer, question) for question in asked]
    marks, end = [tokenizer.ids[mark] for mark in CHAT.marks[1:]], tokenizer.ids[CHAT.end]
    written: list[Tensor] = []
    for at in range(0, len(prompts), TOGETHER):
        written += generate(model, prompts[at : at + TOGETHER], config, end, marks)
    return [tokenizer.decode(text[len(prompt) :].tolist(), skip_special=True).strip() for text, prompt in zip(written, prompts)]


def prompt_of(tokenizer: Tokenizer, question: str) -> list[int]:
    """The tokens of a question, up to where its answer begins."""
    return tokenizer.encode(CHAT.text([{"role": "user", "content": question}])).tolist()


def share_right(model: GPT, tokenizer: Tokenizer, asked: Sequence[Asked]) -> float:
    """The share of questions that are answered word for word."""
    told = answers(model, tokenizer, [one.question for one in asked])
    return sum(given == one.answer for given, one in zip(told, asked)) / len(asked)


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy of the next token, nats; -100 counts nothing."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def held_out_loss(model: GPT, data: Any) -> float:
    """The mean loss of a data set's labels, nats."""
    total, count = 0.0, 0
    with answering(model):
        for ids, labels in DataLoader(data, batch_size=32):
            number = int((labels != IGNORED).sum())
            total, count = total + loss_of(model(ids), labels).item() * number, count + number
    return total / count


def scores_of(model: GPT, tokenizer: Tokenizer, material: Material, context: int) -> dict[str, float]:
    """How well a model does what each stage teaches, on data that none of them has seen."""
    windows = windows_of(tokenizer, material.held_out_stories, context)
    apart: Any = Subset(windows, range(0, len(windows), context))
    found = {
        "perplexity": float(tensor(held_out_loss(model, apart)).exp()),
        "dialogue_loss": held_out_loss(model, fitting(map(pair_of, material.held_out_asked), tokenizer, context)),
        "stories_right": share_right(model, tokenizer, material.held_out_asked),
        "sums_right": share_right(model, tokenizer, material.plain),
        "carries_right": share_right(model, tokenizer, material.carry),
    }
    if material.held_out_own:
        found["own_dialogue_loss"] = held_out_loss(model, fitting(material.held_out_own, tokenizer, context))
    return found


# Data of the stages


def windows_of(tokenizer: Tokenizer, texts: Sequence[str], context: int) -> TokenWindows:
    """Texts one after the other, a mark behind each, in windows that may begin anywhere."""
    return TokenWindows(tokenizer.encode("".join(text + CHAT.end for text in texts)), context)


def fitting(pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, context: int, texts: Sequence[str] = ()) -> TensorDataset:
    """Questions and answers as dialogues; those that do not fit into the context are left out; and plain texts."""
    short = [pair for pair in pairs if len(tokenizer.encode("".join(pair))) <= context - 3]
    texts = [text for text in texts if len(tokenizer.encode(text)) < context]
    return dialogue_rows(questions(short), tokenizer, context, CHAT, texts)


# The stages: each takes the model of the one before, and leaves one


def make_tokenizer(config: PathConfig, material: Material) -> tuple[GPT, Tokenizer]:
    """Stage 1: a tokenizer, and a model that has learned nothing."""
    size = config.sizes
    tokenizer = Tokenizer.train_bpe(material.texts(), size.vocabulary, special=CHAT.marks)
    shape = GPTConfig(len(tokenizer), size.context, size.d_model, size.heads, size.layers, initializer_range=size.d_model**-0.5)
    return GPT(shape), tokenizer


def pretrain(model: GPT, tokenizer: Tokenizer, config: PathConfig, material: Material, **keep: Any) -> None:
    """Stage 2: what comes next? Every token of the stories is a label."""
    size = config.sizes
    windows = windows_of(tokenizer, material.stories, size.context)
    order = RandomSampler(windows, replacement=True, num_samples=size.pretrain_steps * size.batch_size, generator=drawn_by(config))
    loader: DataLoader = DataLoader(windows, size.batch_size, sampler=order)
    fit(model, loader, loss_of, steps=size.pretrain_steps, lr=2e-3, beta2=0.99, weight_decay=0.1, max_grad_norm=1.0, **keep)


def tune(model: GPT, tokenizer: Tokenizer, config: PathConfig, material: Material, **keep: Any) -> None:
    """Stage 3: supervised tuning. Only answers are labels. Some stories come again, so that they are not forgotten."""
    size = config.sizes
    taught = [*map(pair_of, material.asked), *(pair_of(one) for one in material.sums * EACH_SUM)]
    data = fitting([*taught, *material.own], tokenizer, size.context, material.stories[::REPEATED])
    loader: DataLoader = DataLoader(data, size.batch_size, sampler=RandomSampler(data, generator=drawn_by(config)))
    steps = size.tune_steps * (len(taught) + len(material.own)) // len(taught)  # with more to learn, each row comes as often
    fit(model, loader, loss_of, steps=steps, lr=1e-3, beta2=0.99, max_grad_norm=1.0, **keep)


def reward(model: GPT, tokenizer: Tokenizer, config: PathConfig, material: Material, reference: GPT, **keep: Any) -> None:
    """Stage 4: GRPO. No answer is shown: the model draws eight, and those that are right become likelier than the others."""
    size, asked = config.sizes, material.rewarded

    def right(question: int, answer: list[int]) -> float:
        return float(tokenizer.decode(answer).strip() == asked[question].answer)

    prompts = [prompt_of(tokenizer, one.question) for one in asked]
    data = TensorDataset(pad(prompts, 0), tensor([len(prompt) for prompt in prompts]), arange(len(prompts)))
    loader: DataLoader = DataLoader(data, size.prompts, sampler=RandomSampler(data, generator=drawn_by(config)), drop_last=True)
    marks = tuple(tokenizer.ids[mark] for mark in CHAT.marks[1:])
    sampler = GroupSampler(model, reference, right, tokenizer.ids[CHAT.end], size.group_size, suppress_tokens=marks)
    val = [batch for batch, _ in zip(loader, range(2))]
    fit(
        model, loader, GRPOLoss(kl=0.01), prepare=sampler, val=val, metrics={"reward": mean_reward}, steps=size.reward_steps,
        lr=3e-4, beta2=0.99, max_grad_norm=1.0, warmup_steps=min(20, size.reward_steps), **keep,
    )  # fmt: skip


def drawn_by(config: PathConfig) -> Generator:
    """What draws the order of the data."""
    return Generator().manual_seed(config.seed)


# The path


def walk(config: PathConfig, folder: str | Path, log: Callable[[str], None] = print) -> list[dict[str, Any]]:
    """Go the path, or on with it: all stages that `folder` does not have yet. A row for each stage: scores, answers, seconds.

    The same settings give the same bits, also where the path was interrupted.

    Args:
        config: language, data, sizes and seed
        folder: where the stages are kept
        log: called with lines that say how far it is

    Returns: for each stage its name, seconds, scores by name, and the answers to the five questions

    Raises:
        ArgumentError: where the folder has a path with other settings
    """
    place = make_folder(Path(folder))
    rows, material = begun(config, place), Material(config)
    for number, stage in enumerate(STAGES[len(rows) :], len(rows)):
        log(tr("stage {} of {}: {}", number + 1, len(STAGES), stage))
        since = time.perf_counter()
        model, tokenizer = go(stage, config, material, place, log)
        seconds = time.perf_counter() - since
        save(model, tokenizer, stage_folder(place, stage) / MODEL)
        scores = scores_of(model, tokenizer, material, config.sizes.context)
        told = answers(model, tokenizer, material.five)
        rows.append({"stage": stage, "seconds": seconds, "scores": scores, "answers": told})
        write_report(config, place, rows)
    return rows


def go(stage: str, config: PathConfig, material: Material, place: Path, log: Callable[[str], None]) -> tuple[GPT, Tokenizer]:
    """One stage: the model of the stage before, trained further."""
    number = STAGES.index(stage)
    manual_seed(config.seed + number)
    if number == 0:
        return make_tokenizer(config, material)
    before = stage_folder(place, STAGES[number - 1]) / MODEL
    model, tokenizer = GPT.from_pretrained(before), Tokenizer.load(before)
    steps = getattr(config.sizes, f"{stage}_steps")
    keep: dict[str, Any] = {
        "folder": stage_folder(place, stage) / RUN,
        "resume": True,
        "log": log,
        "eval_every": max(steps // 5, 1),
    }
    if stage == "reward":
        keep["reference"] = GPT.from_pretrained(before)
    train: Any = {"pretrain": pretrain, "tune": tune, "reward": reward}[stage]
    train(model, tokenizer, config, material, **keep)
    return model, tokenizer


def stage_folder(place: Path, stage: str) -> Path:
    """Where a stage is kept."""
    return place / f"{STAGES.index(stage) + 1}-{stage}"


def save(model: GPT, tokenizer: Tokenizer, folder: Path) -> None:
    """Keep a model with its tokenizer, its chat template and how it writes: what Hugging Face's library opens, too."""
    make_folder(folder.parent)
    ids: dict[str, Any] = dict(token_ids(tokenizer))
    end = tokenizer.ids[CHAT.end]
    ids |= {"eos_token_id": end, "pad_token_id": end}
    files = {**tokenizer_files(tokenizer, length=model.config.context), TEMPLATE: CHAT.template.encode()}
    marks = [tokenizer.ids[mark] for mark in CHAT.marks[1:]]
    model.hints = Hints(ids, generation_config(replace(GREEDY, max_new_tokens=60), ids, marks), files)
    model.save_pretrained(folder)


def write_report(config: PathConfig, place: Path, rows: list[dict[str, Any]]) -> None:
    """Keep what was found so far; a stage counts as done from here on."""
    data = seal({"settings": asdict(config), "stages": rows})
    write_file(place / REPORT, lambda file: file.write(data))


def begun(config: PathConfig, place: Path) -> list[dict[str, Any]]:
    """The rows of the stages that are done. ArgumentError where they were done with other settings."""
    if not (place / REPORT).is_file():
        return []
    table = unseal(place / REPORT, tr("another folder begins again"))
    if table["settings"] != asdict(config):
        raise ArgumentError(tr("{}: this path was begun with other settings", place), "the same options, or another --run")
    return table["stages"]
