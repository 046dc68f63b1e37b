"""A table with a sparse gradient is looked at as any other."""

import badak
from badak import nn


def test_doctor_and_audit_take_a_sparse_table():
    model = nn.Sequential(nn.Embedding(12, 4, sparse=True), nn.Flatten(), nn.Linear(12, 3))
    optimizer = badak.optim.SGD(model.parameters(), lr=0.1)
    ids, labels = badak.tensor([[1, 2, 3], [4, 5, 1]]), badak.tensor([0, 2])
    with badak.doctor():
        for _ in range(4):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(ids), labels).backward()
            optimizer.step()
    assert model[0].weight.grad.is_sparse
