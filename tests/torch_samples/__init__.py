"""badak against the data that PyTorch's authors wrote to test PyTorch: torch.testing._internal's op_db, module_db, optim_db.

We did not choose these inputs, so they show what we did not think of: sizes 0, scalars, negative and repeated positions,
every option. Each name that badak has too is run in both: results, gradients, shapes and dtypes must agree. A sample may
differ only for a reason that stands in `reasons.py`, and a reason that no longer holds fails.
"""

import functools


@functools.cache
def lists():
    """The module with PyTorch's lists of operations, which here do not look through the whole stack, at each sample, for the test
    that asks for it: in a process that has imported much that is most of the time."""
    from torch.testing._internal import common_methods_invocations, common_utils
    from torch.testing._internal.opinfo import core

    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
    return common_methods_invocations
