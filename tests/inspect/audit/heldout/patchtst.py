"""PatchTST: each series for itself, RevIN, overlapping patches by unfold, BatchNorm as the norm, a head on all that was flattened."""

import badak as torch
from badak import nn


class RevIN(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(num_features))
        self.affine_bias = nn.Parameter(torch.zeros(num_features))

    def forward(self, x, mode):
        if mode == "norm":
            self.mean = x.mean(dim=1, keepdim=True).detach()
            self.stdev = torch.sqrt(x.var(dim=1, keepdim=True, unbiased=False) + self.eps).detach()
            return (x - self.mean) / self.stdev * self.affine_weight + self.affine_bias
        x = (x - self.affine_bias) / (self.affine_weight + self.eps * self.eps)
        return x * self.stdev + self.mean


class Transpose(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


class MultiheadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_Q, self.W_K, self.W_V = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.to_out = nn.Sequential(nn.Linear(d_model, d_model), nn.Dropout(dropout))
        self.scale = self.d_k**-0.5

    def forward(self, Q, K, V):
        bs = Q.size(0)
        q_s = self.W_Q(Q).view(bs, -1, self.n_heads, self.d_k).transpose(1, 2)
        k_s = self.W_K(K).view(bs, -1, self.n_heads, self.d_k).permute(0, 2, 3, 1)
        v_s = self.W_V(V).view(bs, -1, self.n_heads, self.d_k).transpose(1, 2)
        attn_scores = torch.matmul(q_s, k_s) * self.scale
        attn_weights = attn_scores.softmax(dim=-1)
        output = torch.matmul(attn_weights, v_s)
        output = output.transpose(1, 2).contiguous().view(bs, -1, self.n_heads * self.d_k)
        return self.to_out(output)


class TSTEncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, n_heads, dropout)
        self.dropout_attn = nn.Dropout(dropout)
        self.norm_attn = nn.Sequential(Transpose(), nn.BatchNorm1d(d_model), Transpose())
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))
        self.dropout_ffn = nn.Dropout(dropout)
        self.norm_ffn = nn.Sequential(Transpose(), nn.BatchNorm1d(d_model), Transpose())

    def forward(self, src):
        src2 = self.self_attn(src, src, src)
        src = src + self.dropout_attn(src2)
        src = self.norm_attn(src)
        src2 = self.ff(src)
        src = src + self.dropout_ffn(src2)
        src = self.norm_ffn(src)
        return src


class PatchTST(nn.Module):
    def __init__(self, c_in=5, context=36, target=8, patch_len=8, stride=4, d_model=32, n_heads=4, d_ff=64, layers=2, dropout=0.1):
        super().__init__()
        self.patch_len, self.stride = patch_len, stride
        patch_num = (context - patch_len) // stride + 2
        self.revin = RevIN(c_in)
        self.padding = nn.ReplicationPad1d((0, stride))
        self.W_P = nn.Linear(patch_len, d_model)
        self.W_pos = nn.Parameter(torch.empty(patch_num, d_model).uniform_(-0.2, 0.2))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList([TSTEncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(layers)])
        self.head = nn.Linear(d_model * patch_num, target)

    def forward(self, z):
        # z: [bs x seq_len x nvars]
        z = self.revin(z, "norm")
        z = z.permute(0, 2, 1)  # [bs x nvars x seq_len]
        z = self.padding(z)
        z = z.unfold(dimension=-1, size=self.patch_len, step=self.stride)  # [bs x nvars x patch_num x patch_len]
        bs, nvars, patch_num, _ = z.shape
        u = self.W_P(z).reshape(bs * nvars, patch_num, -1)
        u = self.dropout(u + self.W_pos)
        for layer in self.layers:
            u = layer(u)
        u = u.reshape(bs, nvars, -1)
        y = self.head(u).permute(0, 2, 1)  # [bs x target x nvars]
        return self.revin(y, "denorm")


def build():
    t = torch.arange(36).float()
    past = torch.randn(4, 36, 5) + torch.sin(t / 3)[None, :, None] * 2
    future = torch.randn(4, 8, 5)
    model = PatchTST()
    mae = nn.L1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return {"model": model, "batch": past, "loss": lambda y: mae(y, future), "optimizer": optimizer}
