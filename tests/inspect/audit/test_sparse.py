"""Models of graphs whose neighbours are a sparse table, in COO and CSR."""

import pytest

import badak
from badak import nn

EDGES = [[0, 1, 2, 3, 1, 4, 5, 4], [1, 0, 3, 2, 2, 5, 4, 1]]


class Graph(nn.Module):
    def __init__(self, detached=False):
        super().__init__()
        self.first, self.second, self.detached = nn.Linear(5, 8), nn.Linear(8, 3), detached

    def forward(self, x, near):
        x = badak.relu(badak.sparse.mm(near, self.first(x)))
        return badak.sparse.mm(near, self.second(x.detach() if self.detached else x))


def near(layout):
    table = badak.sparse_coo_tensor(badak.tensor(EDGES), badak.ones(len(EDGES[0])), (6, 6)).coalesce()  # not all lead both ways
    return table.to_sparse_csr() if layout == "csr" else table


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_a_sparse_table_of_neighbours_makes_the_rows_one_graph(layout):
    badak.manual_seed(0)
    report = badak.audit(Graph(), (badak.randn(6, 5), near(layout)))
    assert not report.findings
    assert "one graph" in str(report)


def test_a_cut_is_found_next_to_a_sparse_table():
    badak.manual_seed(0)
    report = badak.audit(Graph(detached=True), (badak.randn(6, 5), near("coo")))
    assert [finding.code for finding in report.findings] == ["BADAK-308"]
