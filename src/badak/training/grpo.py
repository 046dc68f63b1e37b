"""GRPO: reward tuning without a value model. Several answers to one question are drawn, and each is compared with their mean.

    sampler = GroupSampler(model, reference, reward, tokenizer.eos, group_size=8)
    fit(model, prompts, GRPOLoss(kl=0.02), prepare=sampler, steps=300, lr=1e-4)

Source: Shao et al., "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", 2024, section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ShapeError, tr
from badak.generation.logit_filters import GenerationConfig
from badak.generation.reader import answering
from badak.generation.sampling import generate
from badak.nn import Module
from badak.nn import functional as F
from badak.tensor import Tensor, from_numpy, minimum, tensor
from badak.tensor.random import randint
from badak.training.experiment import IGNORED

LEAST = 1e-4  # added to a standard deviation, as trl does
DRAWN = GenerationConfig(max_new_tokens=6, temperature=1.0, top_k=0)  # from the probabilities as they are
AVERAGES = ("sequence", "token", "constant")


def group_advantages(rewards: Tensor, group_size: int, scale: bool = True) -> Tensor:
    """How much better each answer is than the others to the same question.

        A[i] = (r[i] - mean(r)) / (std(r) + 1e-4)      over the G answers of its group; std divides by G - 1

    A group whose answers all have the same reward teaches nothing: its advantages are 0.

    Args:
        rewards: (N G,) of floats, the G answers to one question next to each other
        group_size: G, 2 or more
        scale: divide by the standard deviation; without it questions that are nearly solved count less (Dr. GRPO)

    Returns: (N G,)

    Raises:
        ShapeError: where the rewards are not whole groups
        ArgumentError: for a group of one

    Example:
        >>> from badak.training.grpo import group_advantages
        >>> group_advantages(badak.tensor([1.0, 0.0, 0.0, 1.0]), 2, scale=False).tolist()
        [0.5, -0.5, -0.5, 0.5]

    Source: Shao et al. 2024, section 4.1.2; Liu et al., "Understanding R1-Zero-Like Training", 2025 (scale=False).
    """
    if type(group_size) is not int or group_size < 2:
        raise ArgumentError(tr("group_advantages: a group has 2 answers or more; got {!r:.40}", group_size), "group_size=8")
    if rewards.dim() != 1 or len(rewards) % group_size or not rewards.is_floating_point():
        got = f"{rewards.dtype} {tuple(rewards.shape)}"
        raise ShapeError(tr("group_advantages: expected floats (N * {},); got {}", group_size, got), "a reward for each answer")
    groups = rewards.reshape(-1, group_size)
    better = groups - groups.mean(dim=1, keepdim=True)
    if scale:
        better = better / (groups.std(dim=1, keepdim=True) + LEAST)
    return better.reshape(-1)


def token_logprobs(logits: Tensor, ids: Tensor) -> Tensor:
    """The logarithm of the probability that each token had.

        y[b, t] = logits[b, t, ids[b, t]] - log sum_v exp(logits[b, t, v])

    Args:
        logits: (B, T, V)
        ids: int64 (B, T), the token that stands behind each place

    Returns: (B, T), nats

    Example:
        >>> from badak.training.grpo import token_logprobs
        >>> round(token_logprobs(badak.zeros(1, 1, 4), badak.tensor([[2]])).item(), 4)
        -1.3863
    """
    if logits.dim() != 3 or ids.shape != logits.shape[:2]:
        cause = tr("token_logprobs: expected logits (B, T, V) and ids (B, T); got {} and {}", tuple(logits.shape), tuple(ids.shape))
        raise ShapeError(cause, "logits[:, :-1], ids[:, 1:]")
    return -F.cross_entropy(logits.flatten(0, 1), ids.flatten(), reduction="none").reshape(ids.shape)


def grpo_loss(
    logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    old: Tensor | None = None,
    reference: Tensor | None = None,
    *,
    clip: float = 0.2,
    clip_high: float | None = None,
    kl: float = 0.0,
    ratio: Literal["token", "sequence"] = "token",
    average: Literal["sequence", "token", "constant"] = "sequence",
) -> Tensor:
    """The loss of GRPO: make the answers that were better than their group likelier, not too far at once.

        rho  = exp(logprobs - old)                       of each token, or with ratio="sequence" the geometric mean of its answer
        kl_t = exp(reference - logprobs) - (reference - logprobs) - 1          an estimate of KL that is never below 0 ("k3")
        L_t  = -min(rho A, clamp(rho, 1 - clip, 1 + clip_high) A) + kl kl_t
        loss = mean over answers of the mean of L_t over their tokens          average="sequence"
               sum of all L_t / tokens of all answers                          "token"
               sum of all L_t / (B T)                                          "constant": long answers count as much a token

    Args:
        logprobs: (B, T), of the tokens of B answers under the model that is trained; see `token_logprobs`
        advantages: (B,), of each answer; see `group_advantages`
        mask: (B, T), 1 where a token belongs to the answer, 0 where it is prompt or padding
        old: (B, T), under the model that wrote the answers; None where that is this model, before any update
        reference: (B, T), under the model that it is to stay near to; needed where kl is above 0
        clip: how far a ratio may fall below 1 before it counts no more
        clip_high: how far it may rise above 1; `clip` unless told
        kl: weight of the KL divergence
        ratio: of each token, or of the whole answer (GSPO)
        average: how the tokens are averaged

    Returns: (), the loss

    Raises:
        ShapeError: where the shapes do not belong together
        ArgumentError: for a setting outside its range, and for kl without a reference

    Example:
        >>> from badak.training.grpo import grpo_loss
        >>> logprobs = badak.tensor([[-1.0, -2.0], [-1.0, -1.0]], requires_grad=True)
        >>> grpo_loss(logprobs, badak.tensor([1.0, -1.0]), badak.ones(2, 2)).backward()
        >>> logprobs.grad.tolist()
        [[-0.25, -0.25], [0.25, 0.25]]

    Source: Shao et al. 2024, equations 3 and 4; Schulman, "Approximating KL Divergence", 2020 (k3); Yu et al., "DAPO", 2025
    (clip_high, average="token"); Liu et al. 2025 (average="constant"); Zheng et al., "Group Sequence Policy Optimization", 2025.
    """
    _expect_loss(logprobs, advantages, mask, old, reference, kl)
    _expect_settings(clip, clip_high, ratio, average)
    mask = mask.to(logprobs.dtype)
    change = logprobs - (logprobs.detach() if old is None else old)
    if ratio == "sequence":
        change = ((change * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1))[:, None]
    better, rho = advantages[:, None], change.exp()
    clipped = rho.clamp(1 - clip, 1 + (clip if clip_high is None else clip_high))
    loss = -minimum(rho * better, clipped * better)
    if kl:
        away: Any = reference - logprobs
        loss = loss + kl * (away.exp() - away - 1)
    loss = loss * mask
    if average == "sequence":
        return (loss.sum(dim=1) / mask.sum(dim=1).clamp(min=1)).mean()
    return loss.sum() / (mask.sum().clamp(min=1) if average == "token" else mask.numel())


def _expect_loss(logprobs: Tensor, advantages: Tensor, mask: Tensor, old: Any, reference: Any, kl: float) -> None:
    if logprobs.dim() != 2 or advantages.shape != logprobs.shape[:1]:
        cause = tr(
            "grpo_loss: expected logprobs (B, T) and advantages (B,); got {} and {}", tuple(logprobs.shape), tuple(advantages.shape)
        )
        raise ShapeError(cause, "an advantage for each answer")
    for name, each in {"mask": mask, "old": old, "reference": reference}.items():
        if each is not None and each.shape != logprobs.shape:
            cause = tr("grpo_loss: expected {} {}, as logprobs; got {}", name, tuple(logprobs.shape), tuple(each.shape))
            raise ShapeError(cause, "a number for each token")
    if kl and reference is None:
        cause = tr("grpo_loss: kl={:g} needs a reference", kl)
        raise ArgumentError(cause, "reference=token_logprobs(...) of the first model, or kl=0")


def _expect_settings(clip: float, clip_high: float | None, ratio: str, average: str) -> None:
    if not 0 < clip < 1 or (clip_high is not None and not clip_high > 0):
        cause = tr("grpo_loss: clip lies between 0 and 1; got {!r:.40} and clip_high={!r:.40}", clip, clip_high)
        raise ArgumentError(cause, "clip=0.2")
    if ratio not in ("token", "sequence") or average not in AVERAGES:
        raise ArgumentError(
            tr("grpo_loss: ratio is token or sequence, average {}; got {!r:.40} and {!r:.40}", ", ".join(AVERAGES), ratio, average),
            'ratio="token", average="sequence"',
        )


@dataclass(frozen=True)
class GRPOLoss:
    """`grpo_loss` for `badak.training.fit`: of logits (B, T, V) and what a GroupSampler gives.

    Args:
        kl: weight of the KL divergence
        clip: see `grpo_loss`
        average: see `grpo_loss`

    Example:
        >>> from badak.training.grpo import GRPOLoss
        >>> GRPOLoss(kl=0.02).clip
        0.2
    """

    kl: float = 0.0
    clip: float = 0.2
    average: Literal["sequence", "token", "constant"] = "sequence"

    def __call__(self, logits: Tensor, labels: tuple[Tensor, ...]) -> Tensor:
        targets, advantages, reference = labels[:3]
        mask = targets != IGNORED
        logprobs = token_logprobs(logits, targets.clamp(min=0))
        return grpo_loss(logprobs, advantages, mask, reference=reference, kl=self.kl, clip=self.clip, average=self.average)


class GroupSampler:
    """Draws G answers to each question of a batch from the model as it is now, and rewards them; a `prepare` for `fit`.

    The answers are used for one update. So the model that wrote them is the one that is updated, and every ratio is 1 before it.
    The draws come from badak's generator: a run that was interrupted goes on with the same answers.

    Args:
        model: writes, and is trained
        reference: the model that it is to stay near to, or None
        reward: function of the number of a question in its data set and the tokens of an answer, up to and without `eos`
        eos: ends an answer
        group_size: G, answers to each question
        config: how the answers are drawn; no filter but the temperature leaves the probabilities as they are
        suppress_tokens: never written

    Example:
        >>> from badak.models import GPT, GPTConfig
        >>> from badak.training.grpo import GroupSampler
        >>> model = GPT(GPTConfig(vocab_size=8, context=8, d_model=8, layers=1, heads=2))
        >>> sampler = GroupSampler(model, None, lambda question, answer: float(5 in answer), eos=0, group_size=2)
        >>> (ids,), (targets, advantages, _, rewards) = sampler((badak.tensor([[3, 4]]), badak.tensor([2]), badak.tensor([0])))
        >>> tuple(ids.shape), tuple(advantages.shape)
        ((2, 7), (2,))
    """

    def __init__(
        self,
        model: Module,
        reference: Module | None,
        reward: Callable[[int, list[int]], float],
        eos: int,
        group_size: int = 8,
        config: GenerationConfig = DRAWN,
        suppress_tokens: tuple[int, ...] = (),
    ) -> None:
        if type(group_size) is not int or group_size < 2:
            raise ArgumentError(tr("GroupSampler: a group has 2 answers or more; got {!r:.40}", group_size), "group_size=8")
        self.model, self.reference, self.reward, self.eos = model, reference, reward, eos
        self.group_size, self.config, self.suppress_tokens = group_size, config, suppress_tokens

    def __call__(self, batch: tuple[Tensor, Tensor, Tensor]) -> tuple[tuple[Tensor], tuple[Tensor, ...]]:
        """A batch for GRPOLoss.

        Args:
            batch: prompts (B, P), filled up behind; their lengths (B,); the number of each question (B,)

        Returns: ((ids (B G, T),), (targets (B G, T), advantages (B G,), reference logprobs (B G, T), rewards (B G,)))
        """
        prompts, lengths, questions = (np.repeat(x.numpy(), self.group_size, axis=0) for x in batch)
        T = prompts.shape[1] + self.config.max_new_tokens
        ids = np.full((len(prompts), T), self.eos, np.int64)
        targets = np.full((len(prompts), T - 1), IGNORED, np.int64)
        rewards = np.zeros(len(prompts), np.float32)
        config = replace(self.config, seed=int(randint(0, 1 << 31, (1,))))
        rows = [prompt[:length].tolist() for prompt, length in zip(prompts, lengths)]
        for i, text in enumerate(generate(self.model, rows, config, self.eos, self.suppress_tokens)):
            text = text.numpy()[: lengths[i] + self.config.max_new_tokens]
            ids[i, : len(text)] = text
            targets[i, lengths[i] - 1 : len(text) - 1] = text[lengths[i] :]
            answer = [token for token in text[lengths[i] :].tolist() if token != self.eos]
            rewards[i] = self.reward(int(questions[i]), answer)
        inputs, wanted, given = from_numpy(ids[:, :-1].copy()), from_numpy(targets), tensor(rewards)
        return (inputs,), (wanted, group_advantages(given, self.group_size), self._reference(inputs, wanted), given)

    def _reference(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """What the reference says of each token; 0 where there is none."""
        if self.reference is None:
            return from_numpy(np.zeros(targets.shape, np.float32))
        with answering(self.reference), no_grad():
            return token_logprobs(self.reference(inputs), targets.clamp(min=0))


def mean_reward(outputs: Any, labels: tuple[Tensor, ...]) -> float:
    """A metric for `fit`: the mean reward of the answers of a batch."""
    return float(labels[3].mean())
