"""Molecules as Graphormer takes them: degrees, a bias for each distance and bond, a virtual node, atoms of id 0 for padding."""

import badak as torch
from badak import nn


class GraphNodeFeature(nn.Module):
    def __init__(self, num_atoms, num_degree, hidden):
        super().__init__()
        self.atom_encoder = nn.Embedding(num_atoms, hidden, padding_idx=0)
        self.degree_encoder = nn.Embedding(num_degree, hidden, padding_idx=0)
        self.graph_token = nn.Parameter(torch.randn(1, 1, hidden) * 0.5)

    def forward(self, atoms, degree):
        node_feature = self.atom_encoder(atoms) + self.degree_encoder(degree)
        return torch.cat([self.graph_token.repeat(atoms.size(0), 1, 1), node_feature], dim=1)


class GraphAttnBias(nn.Module):
    def __init__(self, heads, far, bonds):
        super().__init__()
        self.spatial_pos_encoder = nn.Embedding(far, heads)
        self.edge_encoder = nn.Embedding(bonds, heads)
        self.virtual_distance = nn.Parameter(torch.randn(1, heads, 1))

    def forward(self, spatial_pos, bond):
        n, size = spatial_pos.size(0), spatial_pos.size(1)
        inner = (self.spatial_pos_encoder(spatial_pos) + self.edge_encoder(bond)).permute(0, 3, 1, 2)
        bias = torch.zeros(n, inner.size(1), size + 1, size + 1)
        bias[:, :, 1:, 1:] = inner
        bias[:, :, 1:, 0] = bias[:, :, 1:, 0] + self.virtual_distance
        bias[:, :, 0, :] = bias[:, :, 0, :] + self.virtual_distance
        return bias


class MultiheadAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.num_heads, self.head_dim = heads, dim // heads
        self.k_proj, self.v_proj, self.q_proj = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x, attn_bias, padding):
        length, bsz, dim = x.size()
        shape = length, bsz * self.num_heads, self.head_dim
        q = (self.q_proj(x) * self.head_dim**-0.5).contiguous().view(*shape).transpose(0, 1)
        k = self.k_proj(x).contiguous().view(*shape).transpose(0, 1)
        v = self.v_proj(x).contiguous().view(*shape).transpose(0, 1)
        attn = torch.bmm(q, k.transpose(1, 2))
        attn = attn + attn_bias.reshape(bsz * self.num_heads, length, length)
        attn = attn.view(bsz, self.num_heads, length, length)
        attn = attn.masked_fill(padding[:, None, None, :], float("-inf"))
        attn = attn.view(bsz * self.num_heads, length, length).softmax(dim=-1)
        y = torch.bmm(attn, v).transpose(0, 1).contiguous().view(length, bsz, dim)
        return self.out_proj(y)


class GraphormerLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.self_attn = MultiheadAttention(dim, heads)
        self.self_attn_layer_norm, self.final_layer_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.act = nn.GELU()

    def forward(self, x, attn_bias, padding):
        residual = x
        x = self.self_attn_layer_norm(residual + self.self_attn(x, attn_bias, padding))
        residual = x
        x = self.fc2(self.act(self.fc1(x)))
        return self.final_layer_norm(residual + x)


class Graphormer(nn.Module):
    def __init__(self, num_atoms=24, dim=32, heads=4, depth=2):
        super().__init__()
        self.node_feature = GraphNodeFeature(num_atoms, 6, dim)
        self.attn_bias = GraphAttnBias(heads, 9, 4)
        self.layers = nn.ModuleList([GraphormerLayer(dim, heads) for _ in range(depth)])
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim), nn.Linear(dim, 1))

    def forward(self, atoms, degree, spatial_pos, bond):
        padding = atoms.eq(0)
        padding = torch.cat([torch.zeros(len(padding), 1, dtype=torch.bool), padding], dim=1)
        bias = self.attn_bias(spatial_pos, bond)
        x = self.node_feature(atoms, degree).transpose(0, 1)
        for layer in self.layers:
            x = layer(x, bias, padding)
        return self.head(x[0])


def build():
    atoms, degree = torch.randint(1, 24, (4, 11)), torch.randint(1, 6, (4, 11))
    spatial, bond = torch.randint(0, 9, (4, 11, 11)), torch.randint(0, 4, (4, 11, 11))
    for row, size in enumerate((11, 8, 7, 9)):
        atoms[row, size:] = 0
        degree[row, size:] = 0
        spatial[row, size:], spatial[row, :, size:] = 0, 0
        bond[row, size:], bond[row, :, size:] = 0, 0
    return {"model": Graphormer(), "batch": {"atoms": atoms, "degree": degree, "spatial_pos": spatial, "bond": bond}}
