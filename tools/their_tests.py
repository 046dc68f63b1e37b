"""Run the tests of another project, as they are, on badak, and on PyTorch where it is installed, and say which differ.

    git clone https://github.com/arogozhnikov/einops ../einops && python tools/their_tests.py einops ../einops
    python tools/their_tests.py einops ../einops --record        # and keep the counts for docs/reference/huggingface-tests.md
    python tools/their_tests.py captum --fetch ../clones         # clone it at the release that is written below, then run

The clone and what its tests need are the user's (`SUITES` says where the tests lie); nothing of it is kept but counts and names.
`--torch` and `--badak` name other Pythons than this one, such as that of an environment without PyTorch.
"""

import argparse
import datetime
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent.parent
RECORD = HERE / "tests" / "world" / "their_tests.json"


@dataclass(frozen=True)
class Suite:
    """Where a project's tests lie, as patterns of paths seen from `folder`, and how they are run."""

    tests: str
    folder: str = "."
    apart: bool = False  # a process for each file, where files have one name or go to other folders
    path: str = ""  # of the project's modules, seen from the clone, where it is not the folder itself
    environment: dict[str, str] = field(default_factory=dict)
    repository: str = ""  # on GitHub: owner/name@tag or commit
    options: str = ""  # of pytest


SUITES = {
    "einops": Suite("einops/tests", environment={"EINOPS_TEST_BACKENDS": "numpy,torch"}),
    "LLMs-from-scratch": Suite(
        "ch0*/*/tests.py ch0*/*/tests/test*.py pkg/llms_from_scratch/tests/test_*.py", apart=True, path="pkg"
    ),
    "micrograd": Suite("test"),
    "rotary-embedding-torch": Suite("tests"),
    "safetensors": Suite(" ".join(f"tests/test_{name}.py" for name in ("pt_comparison", "pt_model", "simple")), "bindings/python"),
    "timm": Suite(" ".join(f"tests/test_{name}.py" for name in "layers layers_drop layers_pool optim scheduler utils".split())),
    **{
        f"transformers-{name}": Suite(f"tests/models/{name}/test_modeling_{name}.py")
        for name in "bert clip gpt2 llama t5 vit wav2vec2 whisper".split()
    },
    "accelerate": Suite(
        " ".join(
            f"tests/test_{name}.py"
            for name in "data_loader grad_sync hooks memory_utils modeling_utils offload optimizer scheduler utils".split()
        ),
        path="src",
        repository="huggingface/accelerate@v1.14.0",
    ),
    "asteroid-filterbanks": Suite(
        "tests", repository="asteroid-team/asteroid-filterbanks@ddecf6b", options="--ignore tests/torch_stft_test.py"
    ),
    "backpack": Suite(
        "test/adaptive_avg_pool test/converter test/custom_module test/utils test/hessianfree test/bugfixes_test.py "
        "test/interface_test.py test/linear_test.py test/conv2d_test.py",
        repository="f-dangel/backpack@366bcd60",
        options="--timeout 120",
    ),
    "botorch": Suite(
        "test/posteriors test/acquisition/test_analytic.py test/models/transforms", repository="pytorch/botorch@e390e135c"
    ),
    "captum": Suite("tests/attr/test_*.py", repository="pytorch/captum@v0.8.0"),
    "diffusers": Suite(
        " ".join(f"tests/models/test_{name}.py" for name in "layers_utils activations attention_processor".split())
        + " tests/others/test_ema.py tests/others/test_training.py tests/models/unets/test_unet_2d_blocks.py "
        + " ".join(f"tests/models/unets/test_models_unet_{name}.py" for name in "1d 2d 2d_condition".split())
        + "".join(f" tests/models/autoencoders/test_models_{name}.py" for name in "autoencoder_kl autoencoder_tiny vq".split()),
        path="src",
        repository="huggingface/diffusers@v0.40.0",
        options="--timeout 120",
    ),
    "diffusers-schedulers": Suite("tests/schedulers", path="src", repository="huggingface/diffusers@v0.40.0"),
    "e3nn": Suite(
        " ".join(f"tests/o3/{name}_test.py" for name in "irreps rotation linear wigner".split()) + " tests/math",
        repository="e3nn/e3nn@2aa7f584",
        options="--timeout 120",
    ),
    "entmax": Suite("entmax", repository="deep-spin/entmax@c2bec6d"),
    "fvcore": Suite("tests/test_*.py tests/param_scheduler", repository="facebookresearch/fvcore@3378afe"),
    "geoopt": Suite(
        " ".join(
            f"tests/test_{name}.py"
            for name in "birkhoff cayley_transform euclidean origin product_manifold scaling spd_norm tensor_api utils "
            "wrapped_normal".split()
        ),
        repository="geoopt/geoopt@07598cd",
        options="--timeout 120 -W ignore::DeprecationWarning",
    ),
    "gpytorch": Suite("test", repository="cornellius-gp/gpytorch@v1.15.2"),
    "higher": Suite("tests", repository="facebookresearch/higher@15a247a"),
    "hypll": Suite("tests", repository="maxvanspengler/hyperbolic_learning_library@62ea788"),
    "ignite": Suite(
        "tests/ignite/engine tests/ignite/handlers tests/ignite/metrics",
        repository="pytorch/ignite@v0.5.5",
        # left out: files that need other libraries, one that begins worker processes hundreds of times, two of 2,000 tests each
        options="--timeout 120 --ignore tests/ignite/engine/test_deterministic.py "
        "--ignore tests/ignite/metrics/test_precision.py --ignore tests/ignite/metrics/test_recall.py",
    ),
    "julius": Suite("tests", repository="adefossez/julius@126d7ee"),
    "keras": Suite(
        " ".join(f"keras/src/layers/{name}" for name in "activations attention core merging normalization regularization".split()),
        repository="keras-team/keras@v3.15.1",
        environment={"KERAS_BACKEND": "torch"},
    ),
    "kornia": Suite(
        "tests/losses " + " ".join(f"tests/filters/test_{name}.py" for name in "blur gaussian sobel".split()),
        repository="kornia/kornia@b4f5a78a1",
    ),
    "kymatio": Suite(
        " ".join(f"tests/scattering{n}d/test_torch_*.py" for n in (1, 2)) + " tests/general/test_torch_backend.py",
        repository="kymatio/kymatio@11552ed5",
        options="--timeout 120",
    ),
    "Laplace": Suite("tests", repository="aleximmer/Laplace@44ea62a", options="--timeout 120"),
    "lightly": Suite("tests/loss tests/models tests/utils", repository="lightly-ai/lightly@e8d317fc", options="--timeout 120"),
    "lm-evaluation-harness": Suite(
        " ".join(
            f"tests/test_{name}.py"
            for name in "aggregation_pipeline cache evaluator_utils fewshot_context filters group metrics misc registry samplers "
            "task_manager utils".split()
        ),
        repository="EleutherAI/lm-evaluation-harness@v0.4.12",
    ),
    "linear_operator": Suite("test", repository="cornellius-gp/linear_operator@v0.6.1"),
    "litgpt": Suite(
        " ".join(f"tests/test_{name}.py" for name in "config lora model rope utils yarn".split()),
        repository="Lightning-AI/litgpt@v0.5.13",
    ),
    "local-attention": Suite("tests", repository="lucidrains/local-attention@1.11.2"),
    "OLMo": Suite(
        " ".join(
            f"tests/{name}_test.py" for name in "beam_search checkpoint config initialization model optim torch_util util".split()
        )
        + " tests/data tests/eval tests/hf_olmo",
        repository="allenai/OLMo@v0.6.0",
    ),
    "monai": Suite(
        "tests/losses/test_*.py tests/losses/*/test_*.py",
        repository="Project-MONAI/MONAI@d388d1c6f",
        options="--timeout 60 --ignore tests/losses/test_perceptual_loss.py",
    ),
    "neuraloperator": Suite(
        " ".join(
            f"neuralop/layers/tests/test_{name}.py"
            for name in "attention_layer fno_block padding resample spectral_convolution".split()
        )
        + " neuralop/losses",
        repository="neuraloperator/neuraloperator@93d3f063",
    ),
    "nflows": Suite("tests", repository="bayesiains/nflows@5d22344"),
    "normalizing-flows": Suite(
        "normflows", repository="VincentStimper/normalizing-flows@c6616b1", options="-o python_files=*_test.py"
    ),
    "opacus": Suite(
        " ".join(f"opacus/tests/{name}_test.py" for name in "batch_memory_manager dpdataloader per_sample_gradients_utils".split())
        + " opacus/tests/validators opacus/tests/schedulers "
        + " ".join(f"opacus/tests/grad_samples/{name}_test.py" for name in "linear embedding group_norm layer_norm".split()),
        repository="pytorch/opacus@4d0ebc84",
        options="--timeout 120",
    ),
    "open_clip": Suite(
        " ".join(
            f"tests/test_{name}.py" for name in "loss modern_text num_shards params retrieval_metrics siglip_chunked_loss".split()
        ),
        path="src",
        repository="mlfoundations/open_clip@v3.3.0",
    ),
    "peft": Suite(
        " ".join(
            f"tests/test_{name}.py"
            for name in "adamss_asa arrow bdlora bufferdict config cpt deft frod helpers incremental_pca initialization "
            "integrations lora_ga lora_variants lorafa low_level_api mapping mixed osf other pvera randlora shira trainable_tokens "
            "tuners_utils unilora vblora velora vera".split()
        ),
        path="src",
        repository="huggingface/peft@v0.20.0",
        environment={"HF_ENDPOINT": "nowhere://"},  # its tests ask the hub in spite of HF_HUB_OFFLINE, and wait
        options="-o addopts=",
    ),
    "pomegranate": Suite("tests", repository="jmschrei/pomegranate@e916273", options="--timeout 60"),
    "ptflops": Suite("tests", repository="sovrasov/flops-counter.pytorch@d612c75"),
    "pycox": Suite("tests", repository="havakv/pycox@v0.3.0"),
    "pypose": Suite(
        "tests/lietensor tests/basics tests/function tests/module/test_ekf.py tests/module/test_loss.py tests/module/test_pf.py "
        "tests/module/test_ukf.py tests/optim/test_jacobian.py tests/optim/test_scheduler.py",
        repository="pypose/pypose@2b684b00",
        options="--timeout 120",
    ),
    "pyro": Suite("tests/params tests/poutine tests/nn", repository="pyro-ppl/pyro@1.9.1"),
    "pyro-distributions": Suite("tests/distributions/test_[a-q]*.py", repository="pyro-ppl/pyro@1.9.1"),
    "pytorch-crf": Suite("tests", repository="kmkurn/pytorch-crf@623e340", options="-o addopts="),
    "pytorch-forecasting": Suite(
        "tests/test_metrics.py tests/test_utils tests/test_models/test_nn",
        repository="sktime/pytorch-forecasting@062aeb47",
        options="-o addopts=",
    ),
    "pytorch-lightning": Suite(
        "tests/tests_fabric/utilities "
        + " ".join(f"tests/tests_pytorch/{name}" for name in "utilities core trainer callbacks loops checkpointing tuner".split()),
        path="src",  # its package `lightning`; the two older names of it are not imported
        repository="Lightning-AI/pytorch-lightning@2.6.1",
        # left out: checkpoints of old releases, which are not in the repository, and fifty starts of processes in two files
        options="-o addopts= -p no:flaky -p no:rerunfailures --timeout 120 "
        + " ".join(
            f"--ignore tests/{name}.py"
            for name in "tests_fabric/utilities/test_spike tests_pytorch/callbacks/test_spike tests_pytorch/utilities/migration/"
            "test_utils tests_pytorch/checkpointing/test_legacy_checkpoints".split()
        ),
    ),
    "pytorch-metric-learning": Suite(
        "tests/losses tests/distances tests/reducers",
        repository="KevinMusgrave/pytorch-metric-learning@216a792",
        environment={"TEST_DEVICE": "cpu", "TEST_DTYPES": "float32,float64"},
        options="--timeout 60",
    ),
    "pytorch_ema": Suite("tests", repository="fadel/pytorch_ema@d661859"),
    "pytorch_optimizer": Suite("tests", repository="kozistr/pytorch_optimizer@v3.9.0"),
    "segmentation_models.pytorch": Suite(
        "tests/test_losses.py tests/test_preprocessing.py tests/base tests/models/test_fpn.py tests/models/test_psp.py",
        repository="qubvel-org/segmentation_models.pytorch@5006616",
        options="--timeout 120",
    ),
    "skorch": Suite("skorch/tests", repository="skorch-dev/skorch@v1.4.0", options="-o addopts="),
    "snntorch": Suite("tests/test_snntorch", repository="jeshraghian/snntorch@634fc22"),
    "speechbrain": Suite("tests/unittests", repository="speechbrain/speechbrain@9c826ef39", options="--timeout 60"),
    "stable-baselines3": Suite(
        " ".join(f"tests/test_{name}.py" for name in "distributions buffers utils gae train_eval_mode".split()),
        repository="DLR-RM/stable-baselines3@e05d2dbe",
        options="--timeout 120",
    ),
    "theseus": Suite(
        "tests/theseus_tests/geometry/test_*.py tests/theseus_tests/core/test_*.py tests/torchlie_tests",
        path="torchlie",
        repository="facebookresearch/theseus@c8583de4",
        options="--timeout 120",
    ),
    "tianshou": Suite("test/base", path=".", repository="thu-ml/tianshou@f2402056", options="--timeout 60"),
    "torch-optimizer": Suite("tests", repository="jettify/pytorch-optimizer@19c3e41", options="--timeout 60"),
    "tinygrad": Suite("test/backend/test_ops.py", repository="tinygrad/tinygrad@v0.13.0"),  # badak as what it is compared with
    "torch_geometric": Suite("test/nn/conv/test_[a-g]*.py test/nn/norm", repository="pyg-team/pytorch_geometric@5c6461b23"),
    "torchani": Suite("tests", repository="aiqm/torchani@800dcdd3", options="--timeout 60"),
    "torchcde": Suite(
        " ".join(f"test/test_{name}.py" for name in "hermite_cubic linear_interpolation log_ode misc natural_cubic_spline".split()),
        repository="patrick-kidger/torchcde@9ff6aba",
        options="--timeout 240",
    ),
    "torchdiffeq": Suite("tests/*_tests.py", repository="rtqichen/torchdiffeq@master"),
    "torchio": Suite("tests", path="src", repository="fepegar/torchio@9051dbcd", options="-o addopts= --timeout 60"),
    "TorchJD": Suite("tests/unit", path="src", repository="SimplexLab/TorchJD@862baeda", options="--timeout 120"),
    "torchmetrics": Suite(
        "tests/unittests/bases", path="src", repository="Lightning-AI/torchmetrics@v1.9.0", options="-o addopts="
    ),
    "torchquad": Suite("tests/*_test.py", repository="esa/torchquad@4e5e95b", options="--timeout 120"),
    "torchsde": Suite(
        "tests/test_brownian_path.py tests/test_brownian_tree.py",
        repository="google-research/torchsde@eb3a00e",
        options="--timeout 120",
    ),
    "torchtuples": Suite("tests", repository="havakv/torchtuples@v0.2.2"),
    "TransformerLens": Suite(
        "tests/unit",
        repository="TransformerLensOrg/TransformerLens@v3.5.0",
        options="-o addopts= --ignore tests/unit/test_make_docs.py",
    ),
    "trl": Suite("tests/test_utils.py tests/test_rewards.py tests/test_model_utils.py", repository="huggingface/trl@v1.9.0"),
    "vector-quantize-pytorch": Suite("tests", repository="lucidrains/vector-quantize-pytorch@1.32.0"),
    "vit-pytorch": Suite("tests"),
    "x-transformers": Suite("tests", repository="lucidrains/x-transformers@9252ed7", options="--timeout 60"),
    "zuko": Suite("tests", repository="probabilists/zuko@1.6.0"),
}


class Outcome(NamedTuple):
    """passed, failed or skipped, and the error, or why it was skipped, in one line."""

    word: str
    error: str = ""


def outcomes(python: str, runner: tuple[str, ...], suite: Suite, source: Path, limit: float) -> dict[str, Outcome]:
    """What became of each test, by name."""
    kept: dict[str, Outcome] = {}
    where = source / suite.folder
    files = [str(path.relative_to(where)) for pattern in suite.tests.split() for path in sorted(where.glob(pattern))]
    for names in [[file] for file in files] if suite.apart else [files]:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            options = ["-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}", *suite.options.split()]
            command = [python, *runner, "-m", "pytest", *names, "--continue-on-collection-errors", *options]
            known = environment(python, suite, source)
            subprocess.run(command, cwd=where, env=known, stdout=sys.stderr, timeout=limit, check=False)
            kept |= dict(told(report))
    return kept


def environment(python: str, suite: Suite, source: Path) -> dict[str, str]:
    """The variables of a run: this badak, no downloads, and `python` is the Python that runs."""
    paths = [str(HERE / "src"), str(source / suite.path), *filter(None, [os.environ.get("PYTHONPATH")])]
    known = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join([str(Path(python).parent), os.environ["PATH"]]),
    }
    return os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"} | known | suite.environment


def told(report: Path) -> Iterator[tuple[str, Outcome]]:
    """Name and outcome of each test of a report in JUnit's form."""
    if not report.exists():
        return
    for case in xml.parse(report).iter("testcase"):
        parts = {child.tag: child for child in case}
        broken = parts.get("failure", parts.get("error"))
        word = "failed" if broken is not None else "skipped" if "skipped" in parts else "passed"
        told = broken if broken is not None else parts.get("skipped")
        error = "" if told is None else " ".join((told.get("message") or told.text or "").split()[:60])
        yield f"{case.get('classname')}::{case.get('name')}", Outcome(word, error)


def cause(error: str) -> str:
    """An error without what differs from test to test: paths, numbers, addresses, names in quotes, all after the first sentence."""
    text = re.split(r" fix: | assert |Captured |\. (?=[A-Z])", error)[0]
    text = re.sub(r"(/[\w.-]+){2,}", "PATH", text)
    text = re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    return text[:110] or "no word of it"


def commit(source: Path) -> str:
    """Which commit of the project was run."""
    done = subprocess.run(["git", "-C", source, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True)
    return done.stdout.strip() or "no git repository"


def compared(name: str, source: Path, torch: str, badak: str, limit: float) -> dict:
    """Both counts, and the tests that pass with PyTorch alone."""
    suite = SUITES[name]
    found = outcomes(badak, ("-m", "badak", "run"), suite, source, limit)
    kept = {"commit": commit(source), "date": str(datetime.date.today()), "badak": passed(found)}
    if torch:
        expected = outcomes(torch, (), suite, source, limit)
        none = Outcome("missing", "not collected")
        only = sorted(test for test, one in expected.items() if one.word == "passed" and found.get(test, none).word != "passed")
        causes = Counter(cause(found.get(test, none).error or found.get(test, none).word) for test in only)
        both = passed(expected) - len(only)
        kept |= {"badak": both, "torch": passed(expected), "only torch": only, "causes": dict(causes.most_common(12))}
    return kept


def passed(found: dict[str, Outcome]) -> int:
    """How many tests passed."""
    return sum(one.word == "passed" for one in found.values())


def fetched(name: str, folder: Path) -> Path:
    """The clone of a suite at its release below `folder`, made where it is not there."""
    repository, _, release = SUITES[name].repository.partition("@")
    clone = folder / name
    if not clone.exists():
        address = f"https://github.com/{repository}.git"
        subprocess.run(["git", "clone", "-q", "--depth", "1", "--branch", release, address, str(clone)], check=True)
    return clone


def record(name: str, kept: dict) -> None:
    """Keep the counts of a project for docs/reference/huggingface-tests.md."""
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    lines = [f"{json.dumps(each)}: {json.dumps(one)}" for each, one in sorted((known | {name: kept}).items())]
    RECORD.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def main() -> None:
    """Run what was asked for and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("source", type=Path, nargs="?", help="the folder of the clone")
    parser.add_argument("--fetch", type=Path, metavar="FOLDER", help="clone the release that is written here into this folder")
    here = sys.executable if importlib.util.find_spec("torch") else ""
    parser.add_argument("--torch", default=here, metavar="PYTHON", help="a Python with PyTorch (default: this one, if it has)")
    parser.add_argument("--badak", default=sys.executable, metavar="PYTHON", help="the Python that runs badak (default: this)")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that one run of pytest may take")
    parser.add_argument("--record", action="store_true", help=f"keep the counts in {RECORD.relative_to(HERE)}")
    args = parser.parse_args()
    if args.fetch:
        if not SUITES[args.suite].repository:
            parser.error(f"no release of {args.suite} is written down\nfix: clone it, and give the folder")
        args.source = fetched(args.suite, args.fetch)
    if args.source is None or not args.source.is_dir():
        given = "no folder was given" if args.source is None else f"{args.source} is no folder"
        parser.error(f"{given}\nfix: the folder of a clone of {args.suite}")
    kept = compared(args.suite, args.source.resolve(), args.torch, args.badak, args.limit)
    beside = f", {kept['torch']} on PyTorch" if "torch" in kept else ""
    print(f"{args.suite} ({kept['commit']}): {kept['badak']} tests pass on badak{beside}")
    for test in kept.get("only torch", ()):
        print(f"  only on PyTorch: {test}")
    for what, count in kept.get("causes", {}).items():
        print(f"{count:6} {what}")
    if args.record:
        record(args.suite, kept)


if __name__ == "__main__":
    main()
