"""A run as a graph: what `torch.jit.trace`, `torch.export` and `torch.onnx` stand on.

`record.py` watches a run (an observer of `core/events.py`) and writes down its operations, `sizes.py` finds out by further runs
which integers of it follow the sizes of the inputs, `forms.py` says each operation as a call of a public function, `program.py`
makes the `torch.fx` graph of it, `module.py` a module of that. `branches.py` reads whether sizes decide in a script, `twin.py`
keeps the program of a trace for inputs of another kind. `signature.py` checks calls; `archive.py` reads and writes files.
"""
