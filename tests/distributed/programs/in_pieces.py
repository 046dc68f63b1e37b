"""Another program of this folder, with rows cut and gradients sent as if they were long: in_pieces.py [HOW] PROGRAM ...

HOW: apart, as if the ranks were on several machines; refused, rank 1 gets no shared memory.
"""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

from badak.distributed import group, reducer, shared, totals

totals.LONG, totals.HALVES, reducer.LONE, shared.PIECE, shared.PAGE = 256, 16, 64, 128, 64  # bytes
given = shared.shared_memory


def refused(MPI, comm):
    """One rank gets none."""

    def allocate(size, unit, comm):
        window = MPI.Win.Allocate_shared(size, unit, comm=comm)
        if comm.rank == 1:
            raise MPI.Exception(MPI.ERR_NO_MEM)
        return window

    names = {name: getattr(MPI, name) for name in ("COMM_TYPE_SHARED", "Exception", "IN_PLACE", "MIN")}
    found = given(SimpleNamespace(**names, Win=SimpleNamespace(Allocate_shared=allocate)), comm)
    assert found is None
    return found


HOW = {"apart": lambda MPI, comm: None, "refused": refused}
if sys.argv[1] in HOW:
    group.shared_memory = HOW[sys.argv[1]]
    del sys.argv[1]
del sys.argv[0]
runpy.run_path(str(Path(__file__).parent / sys.argv[0]), run_name="__main__")
