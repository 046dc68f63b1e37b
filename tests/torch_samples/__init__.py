"""badak against the data that PyTorch's authors wrote to test PyTorch: torch.testing._internal's op_db, module_db, optim_db.

We did not choose these inputs, so they show what we did not think of: sizes 0, scalars, negative and repeated positions,
every option. Each name that badak has too is run in both: results, gradients, shapes and dtypes must agree. A sample may
differ only for a reason that stands in `reasons.py`, and a reason that no longer holds fails.
"""
