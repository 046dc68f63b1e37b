"""Another program of this folder, with rows cut and gradients sent as if they were long: in_pieces.py [apart] PROGRAM ..."""

import runpy
import sys
from pathlib import Path

from badak.face.distributed import buckets, group, shared, totals

totals.LONG, totals.HALVES, buckets.LONE, shared.PIECE = 256, 16, 64, 128  # bytes
if sys.argv[1] == "apart":  # as if the ranks were on several machines
    group.shared_memory = lambda MPI, comm: None
    del sys.argv[1]
del sys.argv[0]
runpy.run_path(str(Path(__file__).parent / sys.argv[0]), run_name="__main__")
