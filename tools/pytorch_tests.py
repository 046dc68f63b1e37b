"""docs/reference/pytorch-tests.md: PyTorch's own tests on badak, counted file by file.

    apt-get source --download-only pytorch && tar xf pytorch_*.orig.tar.xz      Debian's source of PyTorch 1.13
    python tools/pytorch_tests.py pytorch-1.13.1 test_nn test_torch             run these files on both, record, write the page
    python tools/pytorch_tests.py                                               write the page from what is recorded

Each file runs on the installed PyTorch and on badak, where `import torch` gives badak; what passes on PyTorch counts. The helpers
of the tests are the installed PyTorch's (`tools/torch_helpers.py`). Nothing of PyTorch's is kept but counts and names.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from tools.their_tests import Outcome, Suite, cause, outcomes  # noqa: E402

RECORD, PAGE = HERE / "tests" / "world" / "pytorch_tests.json", HERE / "docs" / "reference" / "pytorch-tests.md"
OPTIONS = "-p tools.torch_helpers --noconftest --assert=plain -W ignore --tb=line"
NUMBER = re.compile(r"not (close|equal)|mismatch|[Jj]acobian|!= |is not true|False is not|differ", re.I)
MISSING = re.compile(r"badak does not have|NotSupportedError|has no attribute|no such operator|unexpected keyword|not understood")
APART = re.compile(r"built without mkldnn|NNPACK unavailable")  # asks which of PyTorch's own libraries computes
WITHOUT = {
    "_refs|python_ref": "they ask of `torch._refs`, PyTorch's second implementation of itself, written in Python",
    "numpy_array_binary_ufunc": "a NumPy array + a tensor must fail in them, which they call an issue of PyTorch's; badak adds",
}
REASONS = [
    ("test_conj_imag_view", "badak computes a conjugate at once: it is no view, and has no negative bit"),
    ("test_conj_neg_view_numpy", "badak computes a conjugate at once: it is no view, and has no negative bit"),
    ("test_neg_view", "what _neg_view gives is computed at once: it is no view, and can only be read"),
    ("math_view", "what _neg_view gives is computed at once: it is no view, and can only be read"),
    ("test_unfold_view", "windows of unfold show memory of others, and can only be read"),
    ("test_strides_propagation", "along dims of size 1 a result has other steps in memory"),
    ("test_linalg_lstsq", "with rcond=1 the drivers of LAPACK differ; badak leaves every singular value out"),
    ("nan location mismatch", "a query with nothing to attend to gives zeros in badak, NaN in PyTorch"),
    ("No warning should be raised", "badak warns of a step() before any backward(), PyTorch does not"),
    ("test_batchnorm_non_contig", "a result lies in rows where PyTorch's lies channels last"),
    ("test_conv_thnn_nhwc", "a result lies in rows where PyTorch's lies channels last"),
    ("test_mse_loss_size_warning", "badak warns of it once"),
    ("Norm_numeric", "rows of 9 million numbers: sums in float32"),
    ("test_nll_loss", "the mean of no losses is 0 with a warning in badak, NaN in PyTorch"),
    ("uses_readinto", "badak reads a file by read()"),
    ("test_gradcheck_jacobian_mismatch", "a message has other words"),
    ("test_inplace_on_view_backward", "the graph of a second derivative has nodes of other names"),
    ("test_once_differentiable", "a node of the graph has another name"),
    ("test_autograd_inplace_views_cross_dtype", "the test expects a transposed gradient, which it calls a bug of PyTorch's"),
    ("test_normal_tensor_view_output", "a view that is made under no_grad() or inference_mode() wants no gradient"),
    ("grad_output[0] has a", "a message writes a shape as (2, 2), PyTorch's as torch.Size([2, 2])"),
    ("expected a Tensor or a tuple of Tensors", "a message has other words"),
    ("functions with out=", "a message has other words"),
    ("test_pynode_destruction_deadlock", "a message has other words"),
    (
        "test_wishart_log_prob",
        "a draw that rounding makes singular has the log-determinant -inf, as in PyTorch, whose draws are others",
    ),
    ("test_make_dual_torch_dispatch", "__torch_dispatch__ of a class is not called"),
    ("test_profiler Asser", "an event of the profiler has the name of the operation of badak: scale for x * 2"),
    ("test_scatter__reductions_cpu_complex", "a product of complex numbers is rounded otherwise than one number after the other"),
    ("test_scatter_reduce_", "a product of complex numbers is rounded otherwise than one number after the other"),
    ("test_unique_dim", "rows with NaN come last; PyTorch's sort leaves them anywhere"),
    ("test_alias_from_buffer", "asarray copies what is no array"),
    ("test_private_stateless_warns", "the private name of a public module is imported without a warning"),
    ("conj_bit", "badak computes a conjugate at once: it is no view, and has no negative bit"),
]  # of other numbers, by a part of the test's name and what is said


def kind(error: str) -> str:
    """What stops a test: a name, another number, or another error."""
    return "missing" if MISSING.search(error) else "number" if NUMBER.search(error) else "other"


def compared(source: Path, file: str, limit: float, every: int = 1, without: str = "") -> dict:
    """Both counts of a file, and of each test that passes on PyTorch alone the cause; no test whose name `without` is found in."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("no PyTorch here\nfix: pip install torch, whose results and helpers of tests are needed")
    here = {"PYTHONPATH": os.pathsep.join([str(HERE / "src"), str(HERE)]), "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu"}  # with tools
    here |= {"OMP_NUM_THREADS": "1"}  # on shared cores, many threads for small arrays took twenty times as long
    suite = Suite(
        f"{file}.py",
        "test",
        options=OPTIONS,
        environment=here | {"PYTORCH_PRINT_REPRO_ON_FAILURE": "0", "TORCH_TESTS_EVERY": str(every), "TORCH_TESTS_WITHOUT": without},
    )
    expected = outcomes(sys.executable, (), suite, source, limit)
    suite.environment["TORCH_TESTING"] = str(Path(spec.origin).parent / "testing")
    found = outcomes(sys.executable, ("-m", "badak", "run"), suite, source, limit)
    return {"every": every} | ({"without": without} if without else {}) | counted(expected, found)


def counted(expected: dict[str, Outcome], found: dict[str, Outcome]) -> dict:
    """How many tests pass on PyTorch, how many of these on badak, and what stops the others."""
    none = Outcome("missing", "not collected")
    passing = [test for test, one in expected.items() if one.word == "passed"]
    apart = {test for test in passing if found.get(test, none).word == "skipped" and APART.search(found[test].error)}
    wanted = sorted(set(passing) - apart)
    stopped = {test: found.get(test, none) for test in wanted if found.get(test, none).word != "passed"}
    kinds = Counter(kind(one.error) for one in stopped.values())
    said = [one.error if one.word == "failed" else f"{one.word}: {one.error}" for one in stopped.values()]
    causes = Counter(f"{kind(text)}: {cause(text)}" for text in said)
    numbers = {test.rpartition("::")[2]: one.error[:110] for test, one in stopped.items() if kind(one.error) == "number"}
    counts = {"torch": len(wanted), "badak": len(wanted) - len(stopped), "apart": len(apart), "date": str(datetime.date.today())}
    return counts | {"kinds": dict(kinds), "causes": dict(causes.most_common(12)), "numbers": numbers}


def page() -> str:
    """The page, from what is recorded."""
    known = json.loads(RECORD.read_text(encoding="utf-8"))
    rows, parts, numbers = [], [], []
    left_out = [
        f"- Of {name}.py no test was run whose name matches `{kept['without']}`: {WITHOUT.get(kept['without'], 'by hand')}."
        for name, kept in known["files"].items()
        if "without" in kept
    ]
    for name, kept in known["files"].items():
        share = f"{kept['badak'] / max(1, kept['torch']):.1%}"
        kinds = " | ".join(str(kept["kinds"].get(each, 0)) for each in ("missing", "number", "other"))
        rows.append(
            f"| {name}.py | {kept['every']} | {kept['torch']} | {kept['badak']} | {share} | {kinds} | "
            f"{kept.get('apart', 0)} | {kept['date']} |"
        )
        causes = "\n".join(f"| {count} | {_cell(what)} |" for what, count in kept["causes"].items())
        for test, what in kept["numbers"].items():
            numbers.append(
                f"| {name}.py | {test} | {_cell(what)} | {next((why for key, why in REASONS if key in f'{test} {what}'), 'open')} |"
            )
        parts.append(f"### {name}.py\n\n| tests | cause |\n| --- | --- |\n{causes}\n" if causes else "")
    return f"""# PyTorch's own tests on badak

Written by `tools/pytorch_tests.py`.

The test files of PyTorch {known["release"]} were run on the CPU by PyTorch {known["torch"]} and by `badak run -m pytest`, with the
helpers of tests that PyTorch {known["torch"]} brings. Counted are the tests that pass on PyTorch, some of every file ("one test
of"), chosen by their names. What the older files ask of names that are gone, of a GPU or of a compiler fails or is skipped on
PyTorch, and is not counted. A test that computes for more than 20 s fails, on both sides. Tests that ask whether oneDNN or
NNPACK, libraries of PyTorch's, computes a convolution are skipped on badak and not counted; how many stands next to the others.

| file | one test of | pass on PyTorch | of these on badak | share | a name is missing | number | other error | oneDNN | run on |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}

{chr(10).join(left_out)}

## What stops the others

The causes that stop most, per file; numbers in the messages are written N.

{chr(10).join(filter(None, parts))}
## Other numbers

Tests that say that two values differ, where neither a name nor an argument is missing. The last column
says what is known of the reason.

| file | test | what it says | reason |
| --- | --- | --- | --- |
{chr(10).join(numbers)}
"""


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def main() -> None:
    """Run what was asked for, record it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, nargs="?", help="the folder of PyTorch's source, which has a folder test")
    parser.add_argument("files", nargs="*", help="test_nn, distributions/test_distributions")
    parser.add_argument("--limit", type=float, default=900, help="seconds that one file may take on each side")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run one test of N, chosen by its name")
    parser.add_argument("--without", default="", metavar="PATTERN", help="run no test whose name this is found in")
    args = parser.parse_args()
    for file in args.files:
        kept = compared(args.source.resolve(), file, args.limit, args.every, args.without)
        print(f"{file}: {kept['badak']} of {kept['torch']}")
        for what, count in kept["causes"].items():
            print(f"{count:6} {what}")
        known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"files": {}}
        known |= {
            "release": args.source.resolve().name.removeprefix("pytorch-"),
            "torch": importlib.metadata.version("torch").partition("+")[0],
        }
        known["files"] = dict(sorted((known["files"] | {file: kept}).items()))
        RECORD.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
