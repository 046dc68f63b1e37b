"""What is measured of losses, batches and texts of programs: what is right stays without a word."""

import numpy as np

import badak
import badak.nn.functional as F
from badak import nn
from badak.inspect.doctor.collated import in_order
from badak.inspect.doctor.losses import blanks


def found(train, steps=6):
    with badak.doctor(steps, quiet=True) as checkup:
        train(steps)
    return [finding.code for finding in checkup.findings]


def autoencoder(divergence):
    badak.manual_seed(0)
    model = nn.Linear(6, 4)
    out = nn.Linear(2, 6)
    optimizer = badak.optim.Adam([*model.parameters(), *out.parameters()], lr=1e-3)

    def train(steps):
        for _ in range(steps):
            x = badak.randn(16, 6)
            mean, log_var = model(x).chunk(2, dim=1)
            kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(1).mean()
            rebuilt = out(mean + badak.randn_like(mean) * (0.5 * log_var).exp())
            loss = F.mse_loss(rebuilt, x) + divergence(kl)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return train


def test_a_divergence_is_added_with_a_plus():
    assert found(autoencoder(lambda kl: 0.1 * kl)) == []
    assert found(autoencoder(lambda kl: -0.1 * kl)) == ["BADAK-254"]
    assert found(autoencoder(lambda kl: 0.0)) == ["BADAK-217"]


def contrast(dim, over):
    badak.manual_seed(0)
    model = nn.Linear(8, 5)
    optimizer = badak.optim.SGD(model.parameters(), lr=0.01)

    def train(steps):
        for _ in range(steps):
            x = badak.randn(12, 8)
            a, b = F.normalize(model(x), dim=dim), F.normalize(model(x + 0.1 * badak.randn(12, 8)), dim=dim)
            loss = F.cross_entropy(a @ b.T, badak.arange(12)) if over == "features" else (a.T @ b - badak.eye(5)).pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return train


def test_what_is_normalised_is_what_the_product_sums_over():
    assert found(contrast(1, "features")) == []
    assert found(contrast(0, "rows")) == []  # a correlation over the batch, as Barlow Twins has it
    assert found(contrast(0, "features")) == ["BADAK-230"]
    assert found(contrast(1, "rows")) == ["BADAK-230"]


def test_blanks_are_counted_within_the_lengths():
    assert blanks(np.array([[1, 2, 0], [3, 0, 0]]), np.array([2, 1]), 0) == 0
    assert blanks(np.array([[1, 2, 0], [3, 0, 0]]), np.array([3, 2]), 0) == 2


def test_a_batch_keeps_the_order_of_its_examples_or_does_not():
    texts = [badak.tensor([i + 1] * (i % 3 + 1)) for i in range(6)]
    examples = [(text, float(i % 2)) for i, text in enumerate(texts)]
    labels = badak.tensor([label for _, label in examples])

    def padded(order):
        return nn.utils.rnn.pad_sequence([texts[i] for i in order], batch_first=True)

    order = [2, 5, 1, 4, 0, 3]
    assert in_order(examples, (padded(range(6)), labels)) is True
    assert in_order(examples, (padded(order), labels[badak.tensor(order)])) is True
    assert in_order(examples, (padded(order), labels)) is False
    assert in_order([(str(i), i) for i in range(6)], (badak.rand(6, 3), badak.arange(6))) is None


def test_labels_may_lie_in_the_memory_of_bytes():
    """As those that a process of a loader sends: they are no view of an array."""
    labels = badak.from_numpy(np.frombuffer(np.arange(16, dtype=np.int64).tobytes(), dtype=np.int64))
    model = nn.Linear(6, 16)
    optimizer = badak.optim.Adam(model.parameters(), lr=1e-3)

    def train(steps):
        for _ in range(steps):
            loss = F.cross_entropy(model(badak.randn(16, 6)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert found(train) == []
