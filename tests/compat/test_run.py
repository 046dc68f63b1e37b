"""`badak run` and `import badak.as_torch`: arguments, exit codes, errors, other processes, notebooks."""

import pytest

pytestmark = pytest.mark.slow


def test_a_script_gets_its_arguments_its_name_and_its_folder(badak_run, program):
    program("value = 7", "folder/beside.py")
    path = program("import sys, beside, torch; print(__name__, sys.argv, beside.value, torch.ones(1).dtype)", "folder/p.py")
    done = badak_run(path, "--lr", "3", "-x", "--check")
    assert done.out == f"__main__ {[str(path), '--lr', '3', '-x', '--check']!r} 7 torch.float32\n"


def test_a_module_runs_as_with_python_m(badak_run, program):
    program("import sys, torch, torch.nn as nn; print(__name__, sys.argv[1:], nn.Linear(1, 2))", "package/part.py")
    assert badak_run("-m", "package.part", "a").out == ("__main__ ['a'] Linear(in_features=1, out_features=2, bias=True)\n")


def test_a_folder_with_a_main_runs(badak_run, program):
    assert badak_run(program("import torch; print(torch.Size([1]))", "folder/__main__.py").parent).out == ("torch.Size([1])\n")


def test_an_error_of_badak_shows_the_lines_of_the_program_only(badak_run, program):
    path = program("import torch\ndef f(x):\n    return x @ x\n\nprint('before')\nf(torch.ones(2, 3))\n")
    done = badak_run(path)
    assert (done.code, done.out) == (1, "before\n")
    assert done.err.count("File ") == 2
    assert "line 3, in f\n    return x @ x" in done.err
    assert "shapes cannot be multiplied" in done.err and "\nfix: " in done.err


def test_an_error_of_the_program_shows_its_whole_traceback(badak_run, program):
    done = badak_run(program("import json\njson.loads('{')\n"))
    assert done.code == 1
    assert "json/decoder.py" in done.err and "badak" not in done.err.replace("site-packages", "")


def test_names_in_messages_are_those_of_the_program(badak_run, program):
    done = badak_run(program("import torch\ntorch.nn.functional.linear([1.0], torch.ones(1, 1))\n"))
    assert "fix: torch.tensor(values)" in done.err


@pytest.mark.parametrize("ending, code", [("sys.exit(3)", 3), ("sys.exit()", 0), ("raise SystemExit('no')", 1)])
def test_the_exit_code_is_the_programs(ending, code, badak_run, program):
    assert badak_run(program(f"import sys\n{ending}")).code == code


def test_a_file_that_is_not_there_is_two_lines(badak_run):
    done = badak_run("nowhere.py")
    assert (done.code, done.err) == (
        2,
        "error: badak run: nowhere.py: No such file or directory\nfix: badak run SCRIPT [ARGS]\n",
    )


def test_a_syntax_error_is_shown_as_python_shows_it(badak_run, program):
    done = badak_run(program("x = = 1\n"))
    assert done.code == 1 and "SyntaxError" in done.err and "x = = 1" in done.err


def test_warnings_of_the_program_name_its_line(badak_run, program):
    assert "program.py:1: UserWarning: look" in badak_run(program("import warnings; warnings.warn('look')")).err


def test_processes_that_are_started_afresh_have_it_too(badak_run, program):
    text = """
import multiprocessing
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor(i) ** 2

def double(x):
    return (torch.ones(2) * x).sum().item()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]))
    print([b.tolist() for b in DataLoader(Squares(), 2, num_workers=1, multiprocessing_context="spawn")])
"""
    path = program(text)
    for way in ((path,), ("-m", path.stem)):
        done = badak_run(*way)
        assert done.out == "[2.0, 4.0]\n[[0, 1], [4, 9]]\n", done.err


def test_pythons_that_the_program_starts_have_it_too(badak_run, program):
    child = (
        "import importlib.util as u; print(u.find_spec('torch') is not None); import torch.nn.functional as F, torch; "
        "print(torch.__version__.split('+')[0], type(torch.nn.Linear(1, 1)), F.relu(torch.ones(1)).tolist())"
    )
    text = f"""
import subprocess, sys
import torch
once = [sys.executable, "-c", {child!r}]
print(subprocess.run(once, capture_output=True, text=True).stdout)
twice = "import subprocess, sys; print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout)"
print(subprocess.run([sys.executable, "-c", twice, *once], capture_output=True, text=True).stdout)
"""
    done = badak_run(program(text))
    assert done.out.split("\n\n")[0] == "True\n2.13.0 <class 'torch.nn.modules.linear.Linear'> [1.0]", done.out + done.err
    assert done.out.count("2.13.0") == 2


def test_one_line_on_top_of_a_notebook(python):
    done = python("-c", "import badak.as_torch\nimport torch, torch.nn.functional as F\nprint(F.relu(torch.ones(1)), torch.int64)")
    assert done.out == "tensor([1.]) torch.int64\n", done.err


def test_without_it_names_are_badaks(python):
    done = python(
        "-c",
        "import badak as torch\nprint(torch.float32, torch.ones(2).shape, torch.ones(1).type(), torch.__version__)",
    )
    assert done.out == "badak.float32 badak.Size([2]) badak.FloatTensor 0.1.0\n"


def test_it_comes_too_late_once_torch_is_imported(python):
    done = python("-c", "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nimport badak.as_torch")
    assert "torch is imported already" in done.err and "fix: import badak.as_torch first" in done.err


def test_every_name_for_a_module_is_the_same_module(python):
    code = """
import badak, badak.as_torch
import torch, torch.nn.functional, torch.optim.lr_scheduler, torch.cuda.amp, torch.utils.data.distributed, torch.linalg
from torch import nn, cuda
from torch.nn import functional as F
import torch.backends.cudnn as cudnn
assert torch is badak and nn is badak.nn and F is badak.nn.functional is torch.nn.functional
assert cuda is badak.cuda and cudnn is torch.backends.cudnn and torch.linalg is badak.linalg
assert torch.nn.__name__ == "badak.nn" and torch.nn.__spec__.name == "badak.nn"
print("same")
"""
    assert python("-c", code).out == "same\n"
