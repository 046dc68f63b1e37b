"""Tasks of lm-evaluation-harness, asked of a model of badak: `badak eval MODEL --tasks NAME`.

The harness (package lm_eval) says what is asked and how answers are counted; here its three questions are answered: how likely a
continuation is, how likely a whole text is, and what the model writes. Its files of tasks may hold names of Python functions and
templates; functions of such files are refused, and templates are rendered in a sandbox.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.data.tokenizer import Tokenizer
from badak.generation.folder import TextGenerator
from badak.generation.logit_filters import GenerationConfig
from badak.generation.reader import answering
from badak.generation.text import generate_text, prompt_ids
from badak.io.atomic import as_path
from badak.nn import functional as F
from badak.tensor import tensor

NEW_TOKENS = 256  # that are written where a task does not say how many, as in the harness


def run_tasks(
    writer: TextGenerator,
    tasks: Sequence[str],
    include_path: str | os.PathLike = "",
    num_fewshot: int | None = None,
    limit: int | None = None,
    batch_size: int = 16,
    apply_chat_template: bool = False,
    log: Callable[[str], None] = lambda words: None,
) -> dict[str, Any]:
    """What lm-evaluation-harness finds of a model: {"results": {task: {"acc,none": 0.5, ...}}, "n-samples": ..., "versions": ...}.

    Args:
        writer: a model with its vocabulary, as `load_generator` gives it
        tasks: names of tasks or of groups of them
        include_path: a folder with YAML files of tasks of your own
        num_fewshot: examples before each question; None: as the task says
        limit: questions of each task at most
        batch_size: texts that are computed together; no answer depends on it
        apply_chat_template: put questions as turns of a conversation
        log: called with words about how far it is

    Returns: the harness' own results, as it writes them to JSON

    Raises:
        ArgumentError: for a task that there is not, and for files of tasks that name functions of Python
        NotSupportedError: without the package lm_eval
    """
    if include_path and not as_path(include_path).is_dir():
        raise ArgumentError(tr("{}: no folder", include_path), "a folder with YAML files of tasks")
    evaluator, managers = _harness()
    manager = managers.TaskManager(include_path=str(include_path) or None)
    known = set(manager.all_tasks)
    for name in tasks:
        if name not in known:
            near = [each for each in sorted(known) if name.lower() in each.lower()][:3]
            fix = (
                tr("one of {}", ", ".join(near)) if near else tr("lm_eval ls tasks lists them; --include-path FOLDER adds your own")
            )
            raise ArgumentError(tr("no task is called {!r:.60}", name), fix)
    if apply_chat_template and writer.template is None:
        raise ArgumentError("the model has no chat template", "leave out --apply-chat-template")
    found = evaluator.simple_evaluate(
        _as_harness_model(writer, batch_size, log), tasks=list(tasks), task_manager=manager, num_fewshot=num_fewshot, limit=limit,
        apply_chat_template=apply_chat_template, bootstrap_iters=1000, log_samples=False, verbosity="ERROR",
    )  # fmt: skip
    kept = ("results", "groups", "n-shot", "n-samples", "versions", "higher_is_better", "configs")
    return {name: found[name] for name in kept if name in found}


def _harness() -> tuple[Any, Any]:
    try:
        import lm_eval.api.registry
        import lm_eval.api.task
        import lm_eval.evaluator
        import lm_eval.tasks
        import lm_eval.tasks._yaml_loader
        import lm_eval.utils
        from jinja2 import BaseLoader, StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        raise NotSupportedError(tr("the package lm_eval is not installed ({})", error), 'pip install "badak[eval]"') from None
    room = ImmutableSandboxedEnvironment(loader=BaseLoader(), undefined=StrictUndefined)
    room.filters |= lm_eval.utils.env.filters
    lm_eval.utils.env = room
    _own_code_alone(lm_eval.tasks._yaml_loader, Path(lm_eval.tasks.__file__).parent)
    lm_eval.api.task.get_metric = _known_metrics(lm_eval.api.registry)
    return lm_eval.evaluator, lm_eval.tasks


def _own_code_alone(loader: Any, package: Path) -> None:
    """Let the harness load functions of Python for its own tasks alone, however a file names them (`!function`, includes)."""
    if getattr(loader._load_module_with_cache, "of_badak", False):
        return
    module, function = loader._load_module_with_cache, loader._import_func_in_yml

    def load(path: Path) -> Any:
        _expect_own(path, package)
        return module(path)

    def named(qual: str, base_dir: Path) -> Any:
        _expect_own(base_dir, package)
        return function(qual, base_dir)

    load.of_badak = True  # type: ignore[attr-defined]
    loader._load_module_with_cache, loader._import_func_in_yml = load, named


def _expect_own(place: Path, package: Path) -> None:
    if not Path(place).resolve().is_relative_to(package.resolve()):
        cause = tr("{}: a task names a function of Python (!function), which badak does not run", place)
        raise ArgumentError(cause, "a template in its place")


def _known_metrics(registry: Any) -> Callable[..., Any]:
    """The harness' own metrics by name; another would be a program out of a folder or of the Hub."""

    def get_metric(name: str, hf_evaluate_metric: bool = False) -> Any:
        found = None if hf_evaluate_metric else registry.get_metric(name) if name in registry.metric_registry else None
        if found is None:
            cause = tr("lm_eval has no metric {!r:.60}, and badak runs none of a file or of the Hub", name)
            raise ArgumentError(cause, "one of its own")
        return found

    return get_metric


class Questions:
    """The three questions of the harness, answered by a model."""

    def __init__(self, writer: TextGenerator, batch_size: int) -> None:
        self.writer, self.batch_size = writer, batch_size
        self.context: int = writer.model.config.context

    @property
    def before(self) -> int:
        """The token that stands before a text that nothing stands before: the vocabulary's own, else that which ends one."""
        vocabulary = self.writer.vocabulary
        marks = vocabulary.encode("", marks=True).tolist() if isinstance(vocabulary, Tokenizer) and vocabulary.prompt_marks else []
        hints: Any = getattr(self.writer.model, "hints", None)
        said = (getattr(hints, "settings", None) or {}).get("bos_token_id")
        named = [said] if isinstance(said, int) and not isinstance(said, bool) else []
        return (marks or named or list(self.writer.ends) or prompt_ids(vocabulary, "").tolist())[0]

    def tokens(self, text: str, marks: bool | None = None) -> list[int]:
        """The tokens of a text; of no text none."""
        return prompt_ids(self.writer.vocabulary, text, marks).tolist() if text else []

    def likelihoods(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[tuple[float, bool]]:
        """Of each (context, continuation), tokens: the log-likelihood of the continuation, and whether greedy decoding writes it.

        What does not fit into the model's context is cut off at the beginning. A text that several share is computed once.
        """
        asked: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for at, (context, rest) in enumerate(pairs):
            asked[tuple([*context, *rest][-(self.context + 1) :][:-1])].append(at)
        found: list[tuple[float, bool]] = [(0.0, True)] * len(pairs)
        texts = sorted(asked, key=len)
        with answering(self.writer.model):
            for start in range(0, len(texts), self.batch_size):
                some = texts[start : start + self.batch_size]
                longest = max(map(len, some))
                logits = self.writer.model(tensor([[*text, *[0] * (longest - len(text))] for text in some]))
                logits = logits["logits"] if isinstance(logits, Mapping) else getattr(logits, "logits", logits)
                for row, text in enumerate(some):
                    for at in asked[text]:
                        tail = tensor(list(pairs[at][1]))[-len(text) :]
                        scores = F.log_softmax(logits[row, len(text) - len(tail) : len(text)].float(), dim=-1)
                        total = scores.gather(1, tail[:, None]).double().sum()
                        found[at] = total.item(), bool((scores.argmax(dim=-1) == tail).all())
        return found

    def write(self, prompt: str, until: Sequence[str], most: int, **settings: Any) -> str:
        """What the model writes after a prompt, up to one of the texts `until`."""
        ids = self.tokens(prompt)
        if most >= self.context:
            cause = tr("the task asks for {} new tokens, and the model reads {}", most, self.context)
            raise ArgumentError(cause, "a model with a longer context")
        vocabulary = self.writer.vocabulary
        while len(ids) > self.context - most and prompt:  # cut off at the beginning, as the harness does
            prompt = vocabulary.decode(ids[-(self.context - most) :])
            shorter = self.tokens(prompt)
            ids, prompt = (shorter, prompt) if len(shorter) < len(ids) else (shorter[1:], prompt[1:])
        config = replace(GenerationConfig(max_new_tokens=most, temperature=0.0, top_k=0), **settings)
        pieces = generate_text(self.writer.model, vocabulary, prompt, config, self.writer.ends, until)
        next(pieces)
        return "".join(pieces)


def _as_harness_model(writer: TextGenerator, batch_size: int, log: Callable[[str], None]) -> Any:
    """The model as the harness wants one."""
    from lm_eval.api.model import TemplateLM
    from lm_eval.utils import get_rolling_token_windows, make_disjoint_window

    questions = Questions(writer, batch_size)

    class HarnessModel(TemplateLM):
        """A model of badak, as lm-evaluation-harness asks one."""

        eot_token_id = writer.ends[0] if writer.ends else questions.before
        prefix_token_id = questions.before
        max_length = questions.context
        tokenizer_name = "badak"

        def tok_encode(self, string: str, add_special_tokens: bool | None = None, **kwargs: Any) -> list[int]:
            return questions.tokens(string, add_special_tokens)

        def _loglikelihood_tokens(self, requests: list, **kwargs: Any) -> list[tuple[float, bool]]:
            log(tr("continuations: {:,}", len(requests)))
            return questions.likelihoods([(context, rest) for _, context, rest in requests])

        def loglikelihood_rolling(self, requests: list, disable_tqdm: bool = False) -> list[float]:
            log(tr("texts: {:,}", len(requests)))
            windows = [
                [
                    make_disjoint_window(window)
                    for window in get_rolling_token_windows(questions.tokens(each.args[0]), questions.before, questions.context, 1)
                ]
                for each in requests
            ]
            scores = iter(questions.likelihoods([pair for several in windows for pair in several]))
            return [sum(next(scores)[0] for _ in several) for several in windows]

        def generate_until(self, requests: list, disable_tqdm: bool = False) -> list[str]:
            log(tr("answers: {:,}", len(requests)))
            return [self._written(*each.args) for each in requests]

        def _written(self, prompt: str, asked: dict[str, Any]) -> str:
            until = asked.get("until") or []
            named = [asked[name] for name in ("max_gen_toks", "max_new_tokens", "max_tokens") if name in asked]
            draws = asked.get("do_sample", float(asked.get("temperature") or 0.0) > 0)
            names = ("temperature", "top_k", "top_p") if draws else ()
            settings = {name: asked[name] for name in names if asked.get(name) is not None}
            if draws:
                settings.setdefault("temperature", 1.0)
            until = [until] if isinstance(until, str) else [each for each in until if each]
            return questions.write(prompt, until, int(named[0]) if named else NEW_TOKENS, **settings)

        def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
            assert writer.template is not None  # noqa: S101  (run_tasks has asked)
            return writer.template(chat_history)

    return HarnessModel()
