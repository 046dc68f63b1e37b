"""The experiments in full: `python -m bench.experiments [NAME ...]`, from the root of the repository.

Each one is trained on badak, and where a comparison is asked for also in PyTorch from the same seed over the same
batches. Results go to bench/results/experiments.json, curves to docs/img/, both into docs/reference/experiments.md,
experiment by experiment: what was run before stays. What a run said, test by test, is kept in bench/results/logs/. NAME=RUN takes
the figures from a run that `badak train` made with the same settings, its seconds from metrics.csv.
"""

import json
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import badak
from badak.generation import GenerationConfig
from badak.generation.text import fill_sentence, generate_text
from badak.training.build import build, start
from badak.training.curves import draw_curves
from badak.training.experiment import Experiment
from badak.training.loop import train
from badak.training.presets import PRESETS, Setup, change
from badak.training.run import Run
from badak.training.train_state import computing
from bench.conditions import conditions

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
RESULTS, LOGS = ROOT / "bench/results/experiments.json", ROOT / "bench/results/logs"
PAGE, PICTURES = ROOT / "docs/reference/experiments.md", ROOT / "docs/img"
BEGIN, END = "<!-- results: written by bench/experiments.py -->", "<!-- end of results -->"
MASKED = "Great minds [MASK] alike, but they also think differently"


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    title: str
    setup: Setup
    asked: str
    measure: Callable[[Run, Experiment], dict[str, Any]]
    seeds: tuple[int, ...] = (0,)
    beside_pytorch: bool = False
    summary: Callable[[list[dict]], str] = field(default=lambda runs: "; ".join(run["result"] for run in runs))


def accuracy(run: Run, experiment: Experiment) -> dict[str, Any]:
    """The accuracy after the last epoch."""
    value = run.rows()[-1].val_accuracy
    return {"accuracy": value, "result": f"{value:.4g}"}


def held_out_loss(run: Run, experiment: Experiment) -> dict[str, Any]:
    """The loss on held-out text, and a sample."""
    value = run.rows()[-1].val_loss
    sample = "".join(generate_text(experiment.model, experiment.vocabulary, "", GenerationConfig()))
    return {"held_out_loss": value, "sample": sample, "result": f"{value:.3f} nats"}


def completions(run: Run, experiment: Experiment) -> dict[str, Any]:
    """How many of the ten sentences are completed exactly from their first two words, greedily."""
    config = GenerationConfig(max_new_tokens=32, temperature=0.0, top_k=0)
    found = {}
    for sentence in experiment.corpus.text.split("\n"):
        prompt = " ".join(sentence.split()[:2])
        found[prompt] = "".join(generate_text(experiment.model, experiment.vocabulary, prompt, config, experiment.eos))
    exact = sum(found[" ".join(s.split()[:2])] == s for s in experiment.corpus.text.split("\n"))
    return {"exact": exact, "completions": found, "result": f"{exact} of 10 exact"}


def masked_word(run: Run, experiment: Experiment) -> dict[str, Any]:
    """The five most likely words for the hole."""
    _, (ranking,) = fill_sentence(experiment.model, experiment.vocabulary, MASKED)
    words = ", ".join(f"{word} {chance:.2f}" for word, chance in ranking)
    return {"ranking": ranking, "words_right": run.rows()[-1].val_accuracy, "result": words}


def numbers(run: Run, experiment: Experiment) -> dict[str, Any]:
    """How far the numbers of the last test are from the truth."""
    figures = experiment.closing_words()[0].removeprefix("test: ")
    return {"figures": figures, "result": figures}


def median(runs: list[dict]) -> str:
    """The accuracies and their median."""
    return f"{statistics.median(run['accuracy'] for run in runs):.4g} (median of {', '.join(r['result'] for r in runs)})"


def digits(preset: str, **sections: dict) -> Setup:
    """A preset of the classifier on the real files."""
    setup = change(PRESETS["classify"][preset], "data", {"path": str(DATA / "mnist")})
    for section, values in sections.items():
        setup = change(setup, section, values)
    return setup


def reviews(**sections: dict) -> Setup:
    """Korean film reviews."""
    setup = change(PRESETS["text"]["reviews"], "data", {"path": str(DATA / "nsmc")})
    for section, values in {"train": {}, **sections}.items():
        setup = change(setup, section, {"precision": "bf16", **values} if section == "train" else values)
    return setup


def larger(path: str, **sections: dict) -> Setup:
    """nanoGPT's larger setting, made smaller for two cores: half the width and context, batches of 32, bfloat16."""
    sizes = {"layers": 6, "heads": 6, "d_model": 192, "context": 128, "dropout": 0.2}
    settings = {"batch_size": 32, "lr": 1e-3, "precision": "bf16", "eval_every": 500}
    setup = change(PRESETS["gpt"]["characters"], "data", {"path": str(DATA / path)})
    for section, values in {"model": sizes, "train": settings, **sections}.items():
        before = {"model": sizes, "train": settings}.get(section, {})
        setup = change(setup, section, {**before, **values})
    return setup


READOUTS = ("flatten", "mean", "cls")
CASES = {
    "gpt-sentences": Case("GPT, ten sentences, `--preset sentences`, 50 epochs", PRESETS["gpt"]["sentences"],
                          "each sentence from its first two words", completions),
    "bert-proverbs": Case("BERT, thirty proverbs, `badak train bert`, 100 epochs", PRESETS["bert"]["proverbs"],
                          "think first", masked_word, seeds=(0, 1, 2)),
    "gpt-topics": Case("GPT, Python's help texts, `badak train gpt --corpus topics`", PRESETS["gpt"]["topics"],
                       "readable after about two minutes", held_out_loss),
    "gpt-shakespeare": Case("GPT, tinyshakespeare by characters, 2,000 steps",
                            change(PRESETS["gpt"]["characters"], "data", {"path": str(DATA / "tinyshakespeare/input.txt")}),
                            "held out ≤ 1.90 nats", held_out_loss),
    "gpt-shakespeare-large": Case("GPT, tinyshakespeare by characters, 6 layers, width 192, context 128, bfloat16, 3,000 steps",
                                  larger("tinyshakespeare/input.txt", train={"steps": 3_000}), "-", held_out_loss),
    "gpt-war-and-peace": Case("GPT, War and Peace, BPE of 4,000 tokens, the same model, dropout 0.1, 1,800 steps",
                              larger("prose", model={"dropout": 0.1}, train={"steps": 1_800},
                                     data={"tokens": "bpe", "vocabulary": 4_000}), "-", held_out_loss),
    "mnist-a-32": Case("MNIST A: 5,000 / 1,000, hidden 32, post-norm, Adam 1e-3, 10 epochs", digits("small"),
                       "PyTorch's, same seed", accuracy, seeds=(0, 1), beside_pytorch=True),
    "mnist-a-256-best": Case("MNIST A, hidden 256, pre-norm, warm-up, cosine, batch 32, pictures shifted by a pixel, 10 epochs",
                             digits("wide"),
                             "≥ 0.96, median of three", accuracy, seeds=(0, 1, 2), summary=median),
    "mnist-b": Case("MNIST B: 60,000 / 10,000, `badak train classify` (hidden 64, pre-norm, 6 epochs)", digits("digits"),
                    "≥ 0.98", accuracy),
    **{f"mnist-b-{pooling}": Case(f"the same, `--pooling {pooling}`", digits("digits", model={"pooling": pooling}), "-", accuracy)
       for pooling in ("mean", "cls")},
    "mnist-a-256": Case("MNIST A, hidden 256, post-norm, Adam 1e-3, 10 epochs", digits("small", model={"d_model": 256}),
                        "PyTorch's, same seed", accuracy, seeds=(0, 1), beside_pytorch=True),
    **{f"mnist-{pooling}": Case(f"MNIST, 10,000 / 10,000, `--train-images 10000 --epochs 3 --pooling {pooling}`",
                                digits("digits", model={"pooling": pooling}, data={"train_images": 10_000}, train={"epochs": 3}),
                                "-", accuracy, seeds=(0, 1, 2), summary=median) for pooling in READOUTS},
    **{f"nsmc-{pooling}": Case(f"Korean film reviews, `badak train text --pooling {pooling} --precision bf16`, 3 epochs",
                               reviews(model={"pooling": pooling}), "≥ 0.84", accuracy) for pooling in READOUTS[1:]},
    **{f"nsmc-numbers-{pooling}": Case(f"the same, `--task regression --pooling {pooling}`, 3 epochs",
                                       reviews(model={"pooling": pooling}, data={"task": "regression"}), "-", numbers)
       for pooling in READOUTS[1:]},
}  # fmt: skip


def trained(setup: Setup, folder: Path, say: Callable[[str], None]) -> tuple[Run, Experiment, dict]:
    """A new run, and what it took."""
    run, experiment = start(folder, setup, log=say)
    with conditions() as taken:
        train(experiment, setup.train, run, lambda progress: progress.row and say(f"  {progress.row}"))
    return run, experiment, taken


def finished(setup: Setup, folder: Path) -> tuple[Run, Experiment, dict]:
    """A run that was made before, with the same settings; tested once more."""
    run = Run.open(folder)
    experiment = build(change(run.setup, "data", {"path": setup.data.path}), tokenizer=run.vocabulary())
    asked = change(setup, "train", {"seed": run.setup.train.seed})
    for section in ("train", "data"):
        found = getattr(experiment.setup, section)
        assert found == getattr(asked, section), f"{folder} was trained with {found}"
    assert experiment.setup.model.pooling == asked.model.pooling
    run.load_weights(experiment.model)
    with badak.no_grad(), computing(setup.train):
        experiment.evaluate()
    return run, experiment, {"seconds": round(run.rows()[-1].seconds, 1)}


def run_case(name: str, case: Case, folders: list[Path]) -> dict[str, Any]:
    """Train every seed, or take the runs in `folders`; measure, draw the first one's curves."""
    runs, twins, said = [], [], []

    def say(line: str) -> None:
        print(line, flush=True)
        said.append(line)

    for place, seed in enumerate(case.seeds):
        setup = change(case.setup, "train", {"seed": seed})
        with tempfile.TemporaryDirectory() as folder:
            run, experiment, taken = finished(setup, folders[place]) if folders else trained(setup, Path(folder) / "run", say)
            runs.append({"seed": seed, **case.measure(run, experiment), **taken})
            say(f"seed {seed}: {runs[-1]['result']}, {', '.join(f'{name} {value}' for name, value in taken.items())}")
            if seed == case.seeds[0]:
                PICTURES.mkdir(parents=True, exist_ok=True)
                draw_curves(run.rows(), setup.metric, PICTURES / f"{name}.png", case.title.replace("`", ""), print)
        if case.beside_pytorch:
            from bench.torch_digits import accuracy_after_training

            twins.append(accuracy_after_training(setup, build(setup)))
        print(name, runs[-1]["result"], twins, flush=True)
    if not folders:
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{name}.log").write_text("\n".join(said) + "\n", encoding="utf-8")
    beside = ", ".join(f"{value:.4g}" for value in twins)
    facts = {name: fact for name, fact in badak.info().items() if name != "cache"}  # a folder of this machine says nothing
    where = {"python": platform.python_version(), "badak": badak.__version__, **facts}
    return {"title": case.title, "asked": case.asked, "badak": case.summary(runs), "pytorch": beside, "runs": runs, "where": where}


def write_page(results: dict[str, Any]) -> None:
    """Put the table into docs/reference/experiments.md, between its two marks."""
    lines = ["| experiment | expected | badak | PyTorch, same seeds | seconds |", "|---|---|---|---|---|"]
    for name in CASES:
        if name in results:
            row = results[name]
            seconds = ", ".join(f"{run['seconds']:.0f}" for run in row["runs"])
            lines.append(f"| {row['title']} | {row['asked']} | {row['badak']} | {row['pytorch'] or '-'} | {seconds} |")
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}", encoding="utf-8")


def main(names: list[str]) -> None:
    """Run the cases named, or all."""
    for name, _, folders in (one.partition("=") for one in names or CASES):
        result = run_case(name, CASES[name], [Path(folder) for folder in folders.split(",") if folder])
        results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        results[name] = result
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        write_page(results)


if __name__ == "__main__":
    main(sys.argv[1:])
