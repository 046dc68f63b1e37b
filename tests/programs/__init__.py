"""Random programs: small networks and training loops that must give the same bits however they are run.

A program is Python source, drawn from a seed (`generate.py`); `run.py` runs it eager and compiled, with plain and fast
kernels, on one thread and on three, and under PyTorch, and writes down what can be seen of it: results, errors, parameters,
gradients, buffers, states of optimizers and generators. `judge.py` says where two such records differ; `shrink.py` drops
statements while they still do.

    python -m tests.programs --seeds 0:2000           run them; a program that differs is shrunk and printed
    python -m tests.programs --show 17                print one
    python -m tests.programs --file program.py        run one that was written down

Programs that once differed are kept in `found/`.
"""
