"""Another program of this folder, with rows cut and gradients sent as if they were long: in_pieces.py PROGRAM ..."""

import runpy
import sys
from pathlib import Path

from badak.face.distributed import buckets, totals

totals.LONG, totals.HALVES, buckets.LONE = 256, 16, 64  # bytes
del sys.argv[0]
runpy.run_path(str(Path(__file__).parent / sys.argv[0]), run_name="__main__")
