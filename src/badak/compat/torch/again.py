"""The program of `badak run`, once more: a process that multiprocessing starts afresh runs this as its main module."""

import os

import badak.as_torch  # noqa: F401
from badak.compat.torch.run import PROGRAM, source_of

exec(compile(source_of(os.environ[PROGRAM]), os.environ[PROGRAM], "exec"))
