"""Moves and a judgement of a board: 64 squares as tokens with a kind of piece each, a bias made from the whole board."""

import badak as torch
from badak import nn


class BoardAttention(nn.Module):
    def __init__(self, dim, heads, squares):
        super().__init__()
        self.heads, self.dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.squeeze = nn.Linear(dim, 4)
        self.to_bias = nn.Sequential(nn.Linear(4 * squares, 16), nn.SiLU(), nn.Linear(16, heads * squares * 4))
        self.spread = nn.Linear(4, squares, bias=False)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, self.dim).permute(2, 0, 3, 1, 4)
        whole = self.squeeze(x).reshape(b, -1)
        bias = self.spread(self.to_bias(whole).reshape(b, self.heads, n, 4))
        weights = (q @ k.transpose(-2, -1) * self.dim**-0.5 + bias).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, -1))


class BoardBlock(nn.Module):
    def __init__(self, dim, heads, squares):
        super().__init__()
        self.attention = BoardAttention(dim, heads, squares)
        self.norm_a, self.norm_f = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.first, self.second = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        x = self.norm_a(x + self.attention(x))
        return self.norm_f(x + self.second(torch.relu(self.first(x)).square()))


class BoardNet(nn.Module):
    def __init__(self, pieces=13, dim=32, heads=4, depth=2, side=4):
        super().__init__()
        squares = side * side
        self.piece = nn.Embedding(pieces, dim)
        self.square = nn.Parameter(torch.randn(squares, dim) * 0.3)
        self.turn = nn.Linear(3, dim)
        self.blocks = nn.ModuleList(BoardBlock(dim, heads, squares) for _ in range(depth))
        self.source, self.target = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value = nn.Sequential(nn.Linear(dim, 8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * squares, 3))

    def forward(self, board, state):
        x = self.piece(board) + self.square + self.turn(state).unsqueeze(1)
        for block in self.blocks:
            x = block(x)
        moves = torch.einsum("bid,bjd->bij", self.source(x), self.target(x)) / x.shape[-1] ** 0.5
        return {"policy": moves.flatten(1), "value": self.value(x)}


def build():
    return {"model": BoardNet(), "batch": (torch.randint(0, 13, (5, 16)), torch.randn(5, 3)), "kind": "bidirectional"}
