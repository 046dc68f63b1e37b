"""GRPO: the loss and its slopes as trl has them, and a model that learns what is rewarded."""

import numpy as np
import pytest

import badak
from badak.autograd import gradcheck
from badak.core.errors import ArgumentError, ShapeError
from badak.data import DataLoader, TensorDataset
from badak.generation import GenerationConfig
from badak.models import GPT, GPTConfig
from badak.training import fit
from badak.training.grpo import GroupSampler, GRPOLoss, group_advantages, grpo_loss, mean_reward, token_logprobs
from tests.tiers import few

# (kl, ratio, average, clip_high, nothing is old): the loss of trl 1.16.0 on torch 2.13.0, and its slopes times `weights`.
# trl calls the averages "grpo", "bnpo" and "dr_grpo". `drawn` makes the same numbers for both.
TRL = {
    (0.0, "token", "sequence", 0.2, False): (0.18729840225961725, -0.052074198994601445),
    (0.0, "token", "sequence", 0.2, True): (0.20333063289979955, -0.08386544862021819),
    (0.0, "token", "sequence", 0.28, False): (0.17354569446135762, -0.052074198994601445),
    (0.0, "token", "sequence", 0.28, True): (0.20333063289979955, -0.08386544862021819),
    (0.0, "token", "token", 0.2, False): (0.5202238642453874, -0.06547038041421205),
    (0.0, "token", "token", 0.2, True): (0.49348652867851084, -0.10954317758666077),
    (0.0, "token", "token", 0.28, False): (0.5156396283126342, -0.06547038041421205),
    (0.0, "token", "token", 0.28, True): (0.49348652867851084, -0.10954317758666077),
    (0.0, "token", "constant", 0.2, False): (0.31213431854723245, -0.03928222824852725),
    (0.0, "token", "constant", 0.2, True): (0.2960919172071065, -0.06572590655199645),
    (0.0, "token", "constant", 0.28, False): (0.3093837769875805, -0.03928222824852725),
    (0.0, "token", "constant", 0.28, True): (0.2960919172071065, -0.06572590655199645),
    (0.0, "sequence", "sequence", 0.2, False): (0.18066086319895858, -0.07912139367232006),
    (0.0, "sequence", "sequence", 0.2, True): (0.20333063289979955, -0.08386544862021819),
    (0.0, "sequence", "sequence", 0.28, False): (0.16690815540069895, -0.07912139367232006),
    (0.0, "sequence", "sequence", 0.28, True): (0.20333063289979955, -0.08386544862021819),
    (0.04, "token", "sequence", 0.2, False): (0.19099666143188135, -0.04987752899650803),
    (0.04, "token", "sequence", 0.2, True): (0.20702889207206354, -0.08166877862212482),
    (0.04, "token", "sequence", 0.28, False): (0.17724395363362175, -0.04987752899650803),
    (0.04, "token", "sequence", 0.28, True): (0.20702889207206354, -0.08166877862212482),
    (0.04, "token", "token", 0.2, False): (0.5262726486713691, -0.06227665346561877),
    (0.04, "token", "token", 0.2, True): (0.4995353131044927, -0.10634945063806749),
    (0.04, "token", "token", 0.28, False): (0.521688412738616, -0.06227665346561877),
    (0.04, "token", "token", 0.28, True): (0.4995353131044927, -0.10634945063806749),
    (0.04, "token", "constant", 0.2, False): (0.3157635892028215, -0.03736599207937129),
    (0.04, "token", "constant", 0.2, True): (0.29972118786269564, -0.06380967038284051),
    (0.04, "token", "constant", 0.28, False): (0.31301304764316956, -0.03736599207937129),
    (0.04, "token", "constant", 0.28, True): (0.29972118786269564, -0.06380967038284051),
    (0.04, "sequence", "sequence", 0.2, False): (0.18435912237122268, -0.07692472367422665),
    (0.04, "sequence", "sequence", 0.2, True): (0.20702889207206354, -0.08166877862212482),
    (0.04, "sequence", "sequence", 0.28, False): (0.17060641457296308, -0.07692472367422665),
    (0.04, "sequence", "sequence", 0.28, True): (0.20702889207206354, -0.08166877862212482),
}
TRL_ADVANTAGES = (  # of the rewards (1 0 0 1) (0 0 0 0) (1 1 1 0) (.5 .25 1 0)
    [0.8658754229545593, -0.8658754229545593, -0.8658754229545593, 0.8658754229545593, 0.0, 0.0, 0.0, 0.0]
    + [0.4999000132083893, 0.4999000132083893, 0.4999000132083893, -1.4997000694274902]
    + [0.14635072648525238, -0.43905219435691833, 1.3171565532684326, -1.024455189704895]
)
REWARDS = [1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0.5, 0.25, 1, 0]


def drawn(B=6, T=5):
    r = np.random.default_rng(0)
    logprobs = -r.random((B, T)) * 3
    old, reference = logprobs + r.normal(0, 0.3, (B, T)), logprobs + r.normal(0, 0.5, (B, T))
    mask = (np.arange(T) < r.integers(1, T + 1, (B, 1))).astype(float)
    return [badak.tensor(x, dtype=badak.float64) for x in (logprobs, old, reference, mask, r.normal(0, 1, B))]


@pytest.mark.parametrize("case", few(TRL, 12), ids=str)
def test_loss_and_slopes_are_those_of_trl(case):
    kl, ratio, average, high, fresh = case
    logprobs, old, reference, mask, advantages = drawn()
    logprobs.requires_grad_()
    loss = grpo_loss(
        logprobs, advantages, mask, None if fresh else old, reference, clip_high=high, kl=kl, ratio=ratio, average=average
    )
    loss.backward()
    weights = np.random.default_rng(1).normal(size=tuple(logprobs.shape))
    np.testing.assert_allclose((loss.item(), (logprobs.grad.numpy() * weights).sum()), TRL[case], rtol=1e-12)


@pytest.mark.parametrize("average", ("sequence", "token", "constant"))
@pytest.mark.parametrize("ratio", ("token", "sequence"))
def test_slopes_are_those_of_finite_differences(ratio, average):
    logprobs, old, reference, mask, advantages = drawn()

    def loss(x):
        return grpo_loss(x, advantages, mask, old, reference, kl=0.3, clip_high=0.28, ratio=ratio, average=average)

    assert gradcheck(loss, logprobs.requires_grad_())


def test_slopes_through_the_logits():
    logits = badak.randn(2, 3, 5, dtype=badak.float64, requires_grad=True)
    targets = badak.tensor([[1, 2, -100], [-100, 4, 0]])
    advantages, reference = badak.tensor([1.0, -0.5], dtype=badak.float64), badak.randn(2, 3, dtype=badak.float64)
    old = token_logprobs(logits, targets.clamp(min=0)).detach()  # what wrote the answers does not move with the model

    def loss(x):
        return grpo_loss(token_logprobs(x, targets.clamp(min=0)), advantages, targets >= 0, old, reference, kl=0.1)

    assert gradcheck(loss, logits)
    loss(logits).backward()
    given, logits.grad = logits.grad, None
    GRPOLoss(kl=0.1)(logits, (targets, advantages, reference)).backward()
    np.testing.assert_allclose(logits.grad.numpy(), given.numpy(), rtol=1e-12)


def test_a_token_outside_the_answer_has_no_slope_and_no_weight():
    logprobs, old, reference, mask, advantages = drawn()
    loss = grpo_loss(logprobs.requires_grad_(), advantages, mask, old, reference, kl=1.0)
    loss.backward()
    assert not (logprobs.grad.numpy()[mask.numpy() == 0] != 0).any()
    other = badak.where(mask > 0, logprobs.detach(), badak.full_like(logprobs, -50.0))
    assert grpo_loss(other, advantages, mask, old, reference, kl=1.0).item() == loss.item()


def test_advantages_are_those_of_trl():
    given = group_advantages(badak.tensor(REWARDS, dtype=badak.float32), 4)
    np.testing.assert_allclose(given.numpy(), TRL_ADVANTAGES, rtol=1e-5, atol=1e-7)


def test_logprobs_are_the_log_of_softmax():
    logits, ids = badak.randn(2, 3, 5), badak.tensor([[0, 4, 2], [1, 1, 3]])
    wanted = logits.log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]
    np.testing.assert_allclose(token_logprobs(logits, ids).numpy(), wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "wrong, error, said",
    (
        (lambda x, a, m: grpo_loss(x, a[:1], m), ShapeError, r"advantages \(B,\); got \(6, 5\) and \(1,\)"),
        (lambda x, a, m: grpo_loss(x, a, m[:, :2]), ShapeError, r"expected mask \(6, 5\), as logprobs; got \(6, 2\)"),
        (lambda x, a, m: grpo_loss(x, a, m, kl=0.1), ArgumentError, "kl=0.1 needs a reference"),
        (lambda x, a, m: grpo_loss(x, a, m, clip=1.5), ArgumentError, "clip lies between 0 and 1; got 1.5"),
        (lambda x, a, m: grpo_loss(x, a, m, average="mean"), ArgumentError, "got 'token' and 'mean'"),
        (lambda x, a, m: group_advantages(a, 1), ArgumentError, "a group has 2 answers or more; got 1"),
        (lambda x, a, m: group_advantages(a, 4), ShapeError, r"expected floats \(N \* 4,\)"),
        (lambda x, a, m: token_logprobs(x, m), ShapeError, "expected logits"),
    ),
)
def test_what_does_not_belong_together_is_refused(wrong, error, said):
    logprobs, _, _, mask, advantages = drawn()
    with pytest.raises(error, match=said):
        wrong(logprobs, advantages, mask)


END, WANTED = 0, 5


def sampler_of(model, reference=None, group_size=8):
    return GroupSampler(
        model, reference, lambda question, answer: float(WANTED in answer), END, group_size,
        GenerationConfig(max_new_tokens=3, temperature=1.0, top_k=0),
    )  # fmt: skip


def prompts():
    return TensorDataset(badak.tensor([[3, 4, 1], [2, 1, 1], [4, 4, 2]]), badak.tensor([3, 1, 2]), badak.arange(3))


def test_a_sampler_marks_the_tokens_of_the_answers_alone():
    badak.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=8, context=8, d_model=16, layers=1, heads=2)).eval()
    batch = next(iter(DataLoader(prompts(), batch_size=3)))
    (ids,), (targets, advantages, reference, rewards) = sampler_of(model, model)(batch)
    assert ids.shape == targets.shape == reference.shape == (24, 5) and advantages.shape == rewards.shape == (24,)
    whole, labels, lengths = ids.numpy(), targets.numpy(), np.repeat([3, 1, 2], 8)
    for row, label, length, reward in zip(whole, labels, lengths, rewards.tolist()):
        assert (label[: length - 1] == -100).all() and label[length - 1] >= 0
        answer = label[label >= 0]
        assert (row[length : length + len(answer) - 1] == answer[:-1]).all()
        assert len(answer) == 3 or answer[-1] == END  # it ended, and its end is learned
        assert END not in answer[:-1] and reward == (WANTED in answer)
    logits = model(ids).detach()
    np.testing.assert_allclose(  # the reference's own row, alone
        reference.numpy()[labels >= 0], token_logprobs(logits, targets.clamp(min=0)).numpy()[labels >= 0], rtol=1e-4, atol=1e-5
    )


def rewarded(folder=None, steps=40, callbacks=()):
    badak.manual_seed(1)
    model = GPT(GPTConfig(vocab_size=8, context=8, d_model=16, layers=1, heads=2))
    reference = GPT(model.config)
    reference.load_state_dict(model.state_dict())
    loader = DataLoader(prompts(), batch_size=3)
    outcome = fit(
        model, loader, GRPOLoss(kl=0.01), prepare=sampler_of(model, reference), val=list(loader), metrics={"reward": mean_reward},
        steps=steps, eval_every=20, lr=1e-2, warmup_steps=0, log=None, folder=folder, resume=folder is not None,
        callbacks=callbacks,
    )  # fmt: skip
    return model, outcome


@pytest.mark.slow
def test_what_is_rewarded_becomes_likely():
    _, outcome = rewarded()
    first, last = (row.figures["reward"] for row in (outcome.rows[0], outcome.rows[-1]))
    assert last > 0.9 and last >= first


@pytest.mark.slow
def test_a_run_that_was_interrupted_draws_the_same_answers(tmp_path):
    whole = rewarded()[0]

    def stop(progress):
        if progress.step == 13:
            progress.end("enough")

    assert rewarded(tmp_path / "run", callbacks=[stop])[1].step == 13
    again, outcome = rewarded(tmp_path / "run")
    assert outcome.step == 40
    for name, p in whole.state_dict().items():
        assert (p.numpy() == again.state_dict()[name].numpy()).all(), name
