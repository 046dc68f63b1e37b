"""(T, B), numbers next to texts, experts, two encoders: what is sound stays so, and faults are found in their place."""

import pytest

import badak
from badak import nn
from badak.inspect.audit.compare import kept
from badak.inspect.audit.probes.axis import sums_to_one, wrong
from tests.inspect.audit import layouts
from tests.inspect.audit.layouts import Sparse

SOUND = "time_first recurrent series twin twin_vectors abreast experts remembering deciding".split()
FAULTS = {
    "time_first": {
        "no mask": ("BADAK-301", "blocks.1.attention"), "softmax over rows": ("BADAK-320", "blocks.1.attention"),
        "softmax over heads": ("BADAK-320", "blocks.1.attention"), "softmax over queries": ("BADAK-320", "blocks.1.attention"),
        "no residual": ("BADAK-317", "blocks.1.attention"), "mean of rows": ("BADAK-303", "blocks.1"),
        "positions of rows": ("BADAK-311", ""), "no positions": ("BADAK-311", ""), "frozen": ("BADAK-308", "blocks.1"),
    },
    "recurrent": {"rows rolled": ("BADAK-303", "")},
    "series": {
        "no mask": ("BADAK-301", "blocks.1.attention"), "over the rows": ("BADAK-303", "blocks.1.attention"),
        "positions of rows": ("BADAK-311", ""),
    },
    "twin": {"pictures by rows": ("BADAK-303", "image.2")},
    "twin_vectors": {"pictures by rows": ("BADAK-303", "image.2")},
    "abreast": {"no residual": ("BADAK-317", "blocks.0"), "no positions": ("BADAK-311", "")},
    "experts": {"no residual": ("BADAK-317", "blocks.0.mlp")},
    "remembering": {
        "cache off by one": ("BADAK-306", "layers.1"), "turned by heads": ("BADAK-318", "layers.1"),
        "keys not turned": ("BADAK-318", "layers.1"),
    },
    "deciding": {"no mask": ("BADAK-301", "layers.1"), "no residual": ("BADAK-317", "layers.1")},
}  # fmt: skip


def asked(name, fault=""):
    badak.manual_seed(3)
    model, batch = getattr(layouts, name)(fault)
    return badak.audit(model, batch)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_in_what_is_sound(name):
    report = asked(name)
    assert not report.findings and "batch" in report.sound, report


@pytest.mark.thin(12)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name in FAULTS for fault in FAULTS[name]])
def test_a_fault_is_found_where_it_is(name, fault):
    report = asked(name, fault)
    code, module = FAULTS[name][fault]
    found = [(each.code, each.module) for each in report.findings]
    assert any(each == code and (place == module or place.startswith(f"{module}.")) for each, place in found), report


@pytest.mark.slow
def test_one_cause_is_said_once():
    """A leak of the future changes what a cache gives, and one of rows what padding does: neither is a second fault."""
    found = [each.code for each in asked("time_first", "mean of rows").findings]
    assert found == ["BADAK-303"]


def test_experts_that_are_asked_for_other_rows_may_round_otherwise():
    badak.manual_seed(0)
    expert = Sparse()
    x, y = badak.randn(4, 9, 32), badak.randn(4, 9, 32)
    y[2] = x[2]
    a, b = (expert(each).detach().numpy() for each in (x, y))
    assert kept(a, b, 2, 4, 1e-4)
    b[2] += 1e-2
    assert not kept(a, b, 2, 4, 1e-4)


def test_what_compares_each_row_with_each_is_no_leak_of_rows():
    a, b = badak.randn(4, 4).numpy(), badak.randn(4, 4).numpy()
    b[2, 2] = a[2, 2]
    assert kept(a, b, 2, 4)
    b[2, 2] += 1
    assert kept(a, b, 2, 4) is False


def test_weights_are_added_up_along_each_axis():
    weights = badak.randn(2, 3, 5, 5).softmax(1).numpy()
    assert wrong(weights, 3) == (1, 3) and wrong(weights, 1) is None
    blind = badak.tensor([[0.5, 0.5], [0.0, 0.0]]).numpy()
    assert sums_to_one(blind, 1) and not sums_to_one(blind, 0)


@pytest.mark.slow
def test_layers_frozen_at_the_bottom_are_meant():
    model, batch = layouts.time_first()
    for block in model.blocks[:2]:
        block.requires_grad_(False)
    assert not badak.audit(model, batch).findings


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [-1e4, -1e9, float("-inf")])
def test_padding_is_found_in_masks_that_are_added(hidden):
    class Reads(nn.Module):
        def __init__(self, leak):
            super().__init__()
            self.leak, self.table, self.place = leak, nn.Embedding(20, 16), nn.Embedding(9, 16)
            self.maps, self.head = nn.ModuleList(nn.Linear(16, 48) for _ in range(2)), nn.Linear(16, 4)

        def forward(self, ids):
            x = self.table(ids) * 4 + self.place(badak.arange(9))
            for i, each in enumerate(self.maps):
                q, k, v = each(x).chunk(3, -1)
                hide = badak.where((ids == 0)[:, None], hidden if i == 0 or not self.leak else 0.0, 0.0)
                x = x + (q @ k.mT / 4 + hide).softmax(-1) @ v
            return self.head(x)

    ids = badak.randint(1, 20, (4, 9))
    ids[1, 5:] = ids[3, 7:] = 0
    badak.manual_seed(1)
    assert not badak.audit(Reads(False), ids).findings
    assert [each.code for each in badak.audit(Reads(True), ids).findings] == ["BADAK-302"]


class Target(nn.Module):
    """A state space of numbers written down, and a frozen copy next to what learns, as of a target network."""

    def __init__(self, frozen):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 16), nn.Linear(16, 20)
        self.rates = nn.ParameterList(badak.arange(1.0, 9.0).repeat(16, 1).log() for _ in range(2))
        self.learns, self.follows = nn.Linear(16, 16), nn.Linear(16, 16)
        self.follows.load_state_dict(self.learns.state_dict())
        self.follows.requires_grad_(not frozen)

    def forward(self, ids):
        x = self.table(ids)
        x = x + self.learns(x).tanh() + self.follows(x)
        for rate in self.rates:
            x = x * (-rate.exp()).exp().sum(-1)
        return self.head(x)


@pytest.mark.parametrize("frozen", [True, False])
def test_what_is_the_same_by_design_is_no_copy(frozen):
    report = badak.audit(Target(frozen), badak.randint(20, (4, 9)), kind="bidirectional")
    assert ["BADAK-314"] * (not frozen) == [each.code for each in report.findings if each.code == "BADAK-314"], report


class Parts(nn.Module):
    """Attentions, maps and norms each in a list of their own: the sums stand in the model."""

    def __init__(self, fault, norms):
        super().__init__()
        self.fault, self.table, self.place = fault, nn.Embedding(20, 16), nn.Embedding(9, 16)
        self.norms = nn.ModuleList(norms(16) for _ in range(4))
        self.attentions = nn.ModuleList(nn.MultiheadAttention(16, 2, batch_first=True) for _ in range(2))
        self.maps = nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2))
        self.head = nn.Linear(16, 20)

    def forward(self, ids):
        x = self.table(ids) + self.place(badak.arange(9))
        hide = badak.ones(9, 9, dtype=badak.bool).triu(1)
        for i, (attention, maps) in enumerate(zip(self.attentions, self.maps)):
            y = self.norms[2 * i](x)
            x = x + attention(y, y, y, attn_mask=hide)[0]
            y = maps(self.norms[2 * i + 1](x))
            x = y if self.fault and i == 0 else x + y
        return self.head(x)


class ByHand(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(badak.ones(width))

    def forward(self, x):
        return self.scale * x * badak.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("norms", [nn.LayerNorm, ByHand])
def test_a_sum_may_stand_outside_of_what_a_list_holds(norms):
    badak.manual_seed(1)
    ids = badak.randint(20, (4, 9))
    assert not badak.audit(Parts("", norms), ids).findings
    found = [(each.code, each.module) for each in badak.audit(Parts("no sum", norms), ids).findings]
    assert found == [("BADAK-317", "maps.0.2")]


class Packed(nn.Module):
    """A recurrent layer that is told how long each text is."""

    def __init__(self, packs=True):
        super().__init__()
        self.packs = packs
        self.table, self.rnn, self.head = nn.Embedding(30, 16, padding_idx=0), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 5)

    def forward(self, ids, lengths):
        given = self.table(ids)
        if self.packs:
            given = nn.utils.rnn.pack_padded_sequence(given, lengths, batch_first=True)
        return self.head(self.rnn(given)[1][-1])


def test_texts_that_are_said_to_be_as_long_as_the_batch_are_said_to_be_shorter_where_padding_is_made():
    badak.manual_seed(0)
    ids = badak.randint(1, 30, (6, 7))
    report = badak.audit(Packed(), (ids, badak.full((6,), 7)))
    assert not report.findings and "padding" in report.sound, report
    unread = badak.audit(Packed(packs=False), (ids, badak.full((6,), 7)))
    assert [each.probe for each in unread.findings] == ["padding"], unread
