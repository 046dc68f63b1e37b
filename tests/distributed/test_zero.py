"""ZeroRedundancyOptimizer in real processes: the bits of the optimizer without ranks, the values of torch's, and wrong use."""

import pickle

import numpy as np
import pytest

from tests.distributed.ranks import PROGRAMS, launch, torch_ranks

pytestmark = pytest.mark.slow


def results(folder, ranks):
    """What each rank wrote."""
    return [pickle.loads((folder / f"rank-{r}.pickle").read_bytes()) for r in range(ranks)]


@pytest.mark.thin(1)
@pytest.mark.parametrize("ranks, kernels", [(2, "reference"), (3, "numba")])
def test_trainings_have_the_bits_without_ranks_and_the_values_of_torch(ranks, kernels, tmp_path):
    ours, theirs = tmp_path / "badak", tmp_path / "torch"
    for folder in (ours, theirs):
        folder.mkdir()
    torch_ranks(ranks, PROGRAMS / "zero.py", theirs)
    done = launch(ranks, PROGRAMS / "zero.py", ours, BADAK_KERNELS=kernels)
    assert done.code == 0, done.err
    for mine, judge in zip(results(ours, ranks), results(theirs, ranks)):
        assert mine.keys() == judge.keys()
        for case, found in mine.items():
            for one, other, judged in zip(found["ranks"], found["alone"], judge[case]["ranks"]):
                assert one.tobytes() == other.tobytes(), case
                # six steps with a rounding of 6e-8 or two each, of values below 4; Adam may double them where gradients are small
                if not case.startswith("bits of"):
                    np.testing.assert_allclose(one, judged, rtol=0, atol=4e-6, err_msg=case)
    for case, found in results(ours, ranks)[0].items():
        judge = results(theirs, ranks)[0][case]
        assert_same_state(case, found, judge)


def assert_same_state(case, found, judge):
    """What was consolidated is what the optimizer without ranks remembers, in torch's form."""
    if "state of ranks" not in found:
        return
    state, alone, judged = found["state of ranks"], found["state of alone"], judge["state of ranks"]
    assert found["groups of ranks"] == found["groups of alone"] == judge["groups of ranks"], case
    assert state.keys() == alone.keys() == judged.keys(), case
    for number, memory in state.items():
        assert memory.keys() == alone[number].keys() == judged[number].keys(), case
        for name, value in memory.items():
            same = value is None if alone[number][name] is None else value.tobytes() == alone[number][name].tobytes()
            assert same, (case, number, name)


SAID = {  # what both ranks are told
    "class": "ArgumentTypeError: ZeroRedundancyOptimizer: optimizer_class should be a class of optimizers; got str / "
    "fix: optimizer_class=torch.optim.AdamW",
    "LBFGS": "ArgumentError: ZeroRedundancyOptimizer: LBFGS does not update each parameter by itself / "
    "fix: optimizer_class=torch.optim.AdamW, or another that does",
    "no optimizer": "ArgumentTypeError: ZeroRedundancyOptimizer: optimizer_class gave a list, which is no optimizer / "
    "fix: a class such as torch.optim.AdamW, or a function that makes one",
    "overlap": "ArgumentError: ZeroRedundancyOptimizer: overlap_with_ddp=True is not there: ranks update when step() is called / "
    "fix: overlap_with_ddp=False, and step() after backward()",
    "empty": "ArgumentError: no parameters: ZeroRedundancyOptimizer got an empty parameter list.",
    "setting": "ArgumentError: Adam: ",
    "group": "ArgumentError: Adam: ",
    "after": "no error",
    "parameters": "DistBackendError: collective no. 4 of the world is not the same on all ranks: "
    "ZeroRedundancyOptimizer of Adam for 1 parameter in 1 group (",
    "rate": "DistBackendError: collective no. 6 of the world is not the same on all ranks: "
    "2 parameters after a step of Adam with lr 0.1 on rank 0; 2 parameters after a step of Adam with lr 0.2 on rank 1 / fix: ",
    "early": "StateError: Optimizer state has not been consolidated on this rank. / fix: consolidate_state_dict(to=",
    "to": "ArgumentError: consolidate_state_dict: to=2 is no rank of a group of 2 / fix: 0 to 1",
    "copy": "StateError: a ZeroRedundancyOptimizer cannot be copied or pickled: its memory lies on several ranks / "
    "fix: consolidate_state_dict(), then state_dict()",
    "foreign": "OptimizerStateError: Adam.load_state_dict: the state of a parameter of shape (3,) lacks 'exp_avg_sq' / fix: ",
    "stranger": "OptimizerStateError: Adam.load_state_dict: 'state' has the memory of parameter 7, which is in no group / fix: ",
    "groups": "OptimizerStateError: loaded state dict has a different number of parameter groups: 0, Adam has 1 / fix: ",
    "works": "no error",
}


def test_wrong_use_is_named_on_every_rank():
    done = launch(2, PROGRAMS / "zero_wrong.py")
    assert done.code == 0, done.err
    said = {}
    for line in done.out.splitlines():
        name, number, text = line.split(" | ", 2)
        said[name, number] = text
    assert {name for name, _ in said} == {"before", *SAID}
    assert said["before", "?"].startswith("StateError: Default process group has not been initialized")
    for name, text in SAID.items():
        for rank in "01":
            assert said[name, rank].startswith(text), (name, said[name, rank])
