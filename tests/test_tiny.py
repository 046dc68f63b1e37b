"""A small self-portrait of badak, run before every commit: if this reads right and passes, the house stands."""

import badak
from badak import nn, optim
from badak.nn import functional as F


def test_a_gradient_is_the_derivative():
    x = badak.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_a_seed_gives_the_numbers_of_pytorch():
    badak.manual_seed(0)
    assert [round(v, 4) for v in badak.rand(3).tolist()] == [0.4963, 0.7682, 0.0885]


def test_a_wrong_shape_is_answered_with_cause_and_fix():
    try:
        nn.MultiheadAttention(10, 4)
    except ValueError as error:
        assert str(error).startswith("embed_dim=10 is not divisible by num_heads=4\nfix: ")


def test_attention_looks_back_only_where_it_is_causal():
    badak.manual_seed(0)
    x = badak.randn(1, 6, 8)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    y = layer(x, src_mask=mask, is_causal=True)
    x[0, 4] += 1.0
    changed = layer(x, src_mask=mask, is_causal=True)
    assert badak.equal(y[:, :4], changed[:, :4]) and not badak.equal(y[:, 4:], changed[:, 4:])


def test_a_small_transformer_learns_to_copy():
    badak.manual_seed(0)
    embed, head = nn.Embedding(5, 16), nn.Linear(16, 5)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    model = nn.Sequential(embed, layer, head)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    ids = badak.randint(0, 5, (8, 6))
    losses = []
    for _ in range(30):
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 1.0 and losses[-1] < 0.05
