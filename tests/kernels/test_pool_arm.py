"""What LLVM makes of the accesses to the team's words on AArch64, which reorders plain ones (docs/explanation/threads.md)."""

import re

import pytest

from tests.kernels.twin import fast_kernels

fast_kernels()

import llvmlite.binding as llvm  # noqa: E402
import numba  # noqa: E402

from badak.kernels.numba.codegen.compile import OPTIONS  # noqa: E402
from badak.kernels.numba.threadpool import pool as teams  # noqa: E402

ACCESSES = """
define i64 @f(ptr %a, ptr %b) {
  store atomic i64 1, ptr %a seq_cst, align 8
  %1 = load atomic i64, ptr %b seq_cst, align 8
  %2 = atomicrmw add ptr %a, i64 %1 seq_cst
  %3 = cmpxchg ptr %b, i64 %1, i64 2 seq_cst seq_cst
  ret i64 %2
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("function, arguments", [(teams._share, 4), (teams._serve, 1)], ids=["share", "serve"])
def test_every_access_to_a_word_is_seq_cst(function, arguments):
    teams.team.start()  # links the semaphores by their names
    compiled = numba.njit(**OPTIONS)(function)
    compiled.compile((numba.types.int64,) * arguments)
    (code,) = compiled.inspect_llvm().values()
    accesses = re.findall(r".* = (?:load atomic|atomicrmw|cmpxchg) .*|.*store atomic .*", code)
    assert len(accesses) > 5 and all("seq_cst" in each for each in accesses)


@pytest.mark.parametrize("features", ["", "+lse,+rcpc"])
def test_such_accesses_stay_in_order_on_arm(features):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple("aarch64-unknown-linux-gnu")
    except RuntimeError:
        pytest.skip("this LLVM makes no code for AArch64")
    machine, module = target.create_target_machine(opt=2, features=features), llvm.parse_assembly(ACCESSES)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    made = re.findall(r"^\t([a-z]+)\t", machine.emit_assembly(module), flags=re.MULTILINE)
    wanted = {"stlr", "ldar", *(("ldaddal", "casal") if features else ("ldaxr", "stlxr"))}
    assert wanted <= set(made) and not {"ldr", "str", "ldapr", "ldxr", "stxr"} & set(made)
