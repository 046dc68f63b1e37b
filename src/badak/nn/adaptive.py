"""The softmax over many classes in parts: frequent ones at once, rare ones in clusters that few examples look into."""

from collections.abc import Sequence
from typing import NamedTuple

from badak.core.errors import ArgumentError, IndexOutOfRangeError, ShapeError, tr
from badak.nn import functional as F
from badak.nn.containers import ModuleList, Sequential
from badak.nn.linear import Linear
from badak.nn.module import Module
from badak.tensor import Tensor, cat
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log p(class), where classes 0 .. n_classes - 1 come from the most frequent to the rarest.

    The head has a score for each of the first cutoffs[0] classes and one for each cluster: log p(class) = log p(cluster) +
    log p(class | cluster). Cluster i holds classes cutoffs[i] .. cutoffs[i + 1] - 1, seen through in_features / div_value^(i + 1)
    numbers.

    Args:
        in_features: size of an example
        n_classes: number of classes
        cutoffs: first class of each cluster, rising, from 1 to n_classes - 1
        div_value: how much narrower each cluster is than the one before
        head_bias: whether the head has a bias
        device, dtype: of the parameters

    Returns: module; `forward(x, target)` gives (output, loss) for x (N, in_features) and target (N,): output (N,), the
        log-probability of each target, and loss, the mean of -output; of x (in_features,) and a target (), output ()

    Raises:
        ArgumentError: where cutoffs do not rise from 1 to n_classes - 1
        IndexOutOfRangeError: from `forward`, for a target outside 0 .. n_classes - 1

    Source: Grave et al. 2017, Efficient softmax approximation for GPUs, https://arxiv.org/abs/1609.04309

    Example:
        >>> m = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5], div_value=2.0)
        >>> tuple(m.log_prob(badak.zeros(3, 8)).shape), [tuple(part[0].weight.shape) for part in m.tail]
        ((3, 10), [(4, 8), (2, 8)])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ArgumentError("cutoffs should be a sequence of length larger than 0", "cutoffs=[10, 100]")
        rising = all(int(c) == c for c in cutoffs) and cutoffs == sorted(set(cutoffs))
        if not rising or cutoffs[0] < 1 or cutoffs[-1] > n_classes - 1:
            raise ArgumentError(
                tr("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                   "between 1 and n_classes-1; got {}, n_classes={}", cutoffs, n_classes),
                "cutoffs=[10, 100] with n_classes > 100",
            )  # fmt: skip
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            inner = Linear(in_features, width, False, device, dtype)
            self.tail.append(Sequential(inner, Linear(width, self.cutoffs[i + 1] - self.cutoffs[i], False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw all weights again."""
        for part in self.modules():
            if isinstance(part, Linear):
                part.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> "_ASMoutput":
        if target_.dim() > 1:
            raise ShapeError("0D or 1D target tensor expected, multi-target not supported", "target of shape (N,)")
        if target_.dim() and input_.size(0) != target_.size(0):
            raise ShapeError("Input and target should have the same size in the batch dimension.", "one target for each row")
        if input_.dim() != target_.dim() + 1:
            cause = tr("{}D target tensor expects {}D input tensors, but found inputs with size {}", target_.dim(),
                       target_.dim() + 1, list(input_.shape))  # fmt: skip
            raise ShapeError(cause, "x (N, in_features) with target (N,)")
        x, target = (input_, target_) if target_.dim() else (input_.unsqueeze(0), target_.unsqueeze(0))
        if target.numel() and not 0 <= target.min().item() <= target.max().item() < self.n_classes:
            cause = tr("Target values should be in [0, {}], but values in range [{}, {}] were found.", self.n_classes - 1,
                       target.min().item(), target.max().item())  # fmt: skip
            raise IndexOutOfRangeError(cause, "targets of 0 .. n_classes - 1")
        place, parts, rows = target.clone(), [], []  # of each target in the head
        for i, cluster in enumerate(self.tail):
            inside = (target >= self.cutoffs[i]) & (target < self.cutoffs[i + 1])
            row = inside.nonzero().flatten()
            if row.numel():
                place[inside] = self.shortlist_size + i
                log_p = F.log_softmax(cluster(x[row]), dim=1)
                parts.append(log_p.gather(1, (target[row] - self.cutoffs[i]).unsqueeze(1)).squeeze(1))
                rows.append(row)
        output = F.log_softmax(self.head(x), dim=1).gather(1, place.unsqueeze(1)).squeeze(1)
        if rows:
            output = output.index_add(0, cat(rows), cat(parts))
        return _ASMoutput(output if target_.dim() else output.squeeze(0), (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """log p of every class: (N, in_features) -> (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        tails = [
            F.log_softmax(cluster(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1)
            for i, cluster in enumerate(self.tail)
        ]
        return cat([head[:, : self.shortlist_size], *tails], dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The class of the highest log p: (N, in_features) -> (N,). Clusters are looked into for the rows that need one."""
        best = self.head(input).argmax(dim=1)
        row = (best >= self.shortlist_size).nonzero().flatten()
        if row.numel():
            best[row] = self.log_prob(input[row]).argmax(dim=1)
        return best
