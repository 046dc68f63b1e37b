"""Valid files of every reader, changed at random, and what the reader makes of them.

    python -m tests.io.mutations --count 10000 --reader pt --reader idx --seed 7

Each changed file must end in a value or in badak's own error of two lines. Anything else is wrong: another exception, a hang, a
crash, memory beyond 2 GB, a process or a file that the reader opens. `changes.py` changes files, `programs.py` pickles, `runs.py`
the folders of training runs, `folders.py` those of models and of tokens; `readers.py` makes and reads them, `worker.py` judges one
after the other in a process with limits, `__main__.py` counts. The n-th file of a reader depends on the seed and n alone:
--first n --count 1 reads it again, --keep FOLDER keeps what was wrong.
"""
