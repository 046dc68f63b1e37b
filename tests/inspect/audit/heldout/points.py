"""A set transformer over clouds of points: order means nothing by design; induced points, a seed that pools."""

import badak as torch
import badak.nn.functional as F
from badak import nn


class MAB(nn.Module):
    def __init__(self, dim_q, dim_k, dim_v, num_heads):
        super().__init__()
        self.dim_v, self.num_heads = dim_v, num_heads
        self.fc_q, self.fc_k, self.fc_v = nn.Linear(dim_q, dim_v), nn.Linear(dim_k, dim_v), nn.Linear(dim_k, dim_v)
        self.ln0, self.ln1, self.fc_o = nn.LayerNorm(dim_v), nn.LayerNorm(dim_v), nn.Linear(dim_v, dim_v)

    def forward(self, q, k):
        q, k, v = self.fc_q(q), self.fc_k(k), self.fc_v(k)
        split = self.dim_v // self.num_heads
        q_, k_, v_ = (torch.cat(z.split(split, 2), 0) for z in (q, k, v))
        a = torch.softmax(q_.bmm(k_.transpose(1, 2)) / split**0.5, 2)
        o = torch.cat((q_ + a.bmm(v_)).split(q.size(0), 0), 2)
        o = self.ln0(o)
        o = o + F.relu(self.fc_o(o))
        return self.ln1(o)


class ISAB(nn.Module):
    def __init__(self, dim_in, dim_out, num_heads, num_inds):
        super().__init__()
        self.inducing = nn.Parameter(0.4 * torch.randn(1, num_inds, dim_out))
        self.mab0, self.mab1 = MAB(dim_out, dim_in, dim_out, num_heads), MAB(dim_in, dim_out, dim_out, num_heads)

    def forward(self, x):
        h = self.mab0(self.inducing.repeat(x.size(0), 1, 1), x)
        return self.mab1(x, h)


class PMA(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.seed, self.mab = nn.Parameter(0.4 * torch.randn(1, 1, dim)), MAB(dim, dim, dim, num_heads)

    def forward(self, x):
        return self.mab(self.seed.repeat(x.size(0), 1, 1), x)


class SetTransformer(nn.Module):
    """Points in any order."""

    def __init__(self, dim_input=3, hidden=32, num_heads=4, num_inds=7, classes=6):
        super().__init__()
        self.enc1, self.enc2 = ISAB(dim_input, hidden, num_heads, num_inds), ISAB(hidden, hidden, num_heads, num_inds)
        self.pool, self.classifier = PMA(hidden, num_heads), nn.Linear(hidden, classes)

    def forward(self, points):
        x = self.enc1(points)
        x = self.enc2(x)
        return self.classifier(self.pool(x).squeeze(1))


def build():
    labels = torch.randint(6, (5,))
    return {"model": SetTransformer(), "batch": torch.randn(5, 18, 3), "loss": lambda out: F.cross_entropy(out, labels)}
