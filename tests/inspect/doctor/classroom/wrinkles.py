"""Age groups from portrait measurements: an ordinal model (CORAL style, one threshold for each border)."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HP = dict(hidden=40, dropout=0.15, epochs=14, batch=48, lr=5e-3, min_lr=1e-4, seed=8)
GROUPS = ["child", "teen", "20s", "30s", "40s", "50s", "60+"]
K = len(GROUPS)


def portraits(n, rs):
    age = rs.uniform(5, 75, n)
    sex = rs.randint(0, 2, n)
    lines = 0.02 * np.clip(age - 25, 0, None) ** 1.2 + rs.normal(0, 0.25, n)
    grey = 1 / (1 + np.exp(-(age - 52 + 4 * sex) / 6)) + rs.normal(0, 0.08, n)
    height = 178 - 12 * sex - 60 * np.exp(-age / 7) + rs.normal(0, 6, n)
    ears = 52 + 0.22 * age + rs.normal(0, 2.5, n)
    tone = 3000 + 25 * age + rs.normal(0, 400, n)
    X = np.column_stack([lines, grey, height, ears, tone, sex])
    group = np.digitize(age, [12, 20, 30, 40, 50, 60])
    return X, group


class Scaler:
    def fit(self, X):
        self.mu, self.sd = X.mean(axis=0), X.std(axis=0) + 1e-8
        return self

    def __call__(self, X):
        return torch.tensor((X - self.mu) / self.sd, dtype=torch.float32)


class OrdinalNet(nn.Module):
    """Gives for each row K - 1 logits: of being older than the border k."""

    def __init__(self, n_in, hidden, dropout):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
        )
        self.score = nn.Linear(hidden, 1, bias=False)
        self.borders = nn.Parameter(torch.linspace(2.0, -2.0, K - 1))

    def forward(self, x):
        return self.score(self.backbone(x)) + self.borders


def levels(group):
    """2 -> [1, 1, 0, 0, 0, 0]"""
    return (group.unsqueeze(1) > torch.arange(K - 1)).float()


def ordinal_loss(logits, group):
    return F.binary_cross_entropy_with_logits(logits, levels(group))


def decode(logits):
    return (torch.sigmoid(logits) > 0.5).sum(dim=1)


class AgeModel:
    def __init__(self, hp):
        self.hp = hp
        self.net = OrdinalNet(6, hp["hidden"], hp["dropout"])
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=hp["lr"])
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=hp["epochs"], eta_min=hp["min_lr"])
        self.log = []

    def fit(self, x, g, x_val, g_val):
        best_mae, best_weights = np.inf, None
        for epoch in range(self.hp["epochs"]):
            self.net.train()
            losses = []
            for rows in np.array_split(np.random.permutation(len(x)), len(x) // self.hp["batch"]):
                rows = torch.from_numpy(rows)
                loss = ordinal_loss(self.net(x[rows]), g[rows])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            self.sched.step()
            mae, acc = self.evaluate(x_val, g_val)
            self.log.append((np.mean(losses), mae, acc))
            if epoch % 4 == 1:
                print(f"{epoch:3d} loss {np.mean(losses):.4f} val MAE {mae:.3f} val acc {acc:.3f}")
            if mae < best_mae:
                best_mae = mae
                best_weights = {name: t.clone() for name, t in self.net.state_dict().items()}
        self.net.load_state_dict(best_weights)
        return best_mae

    @torch.no_grad()
    def evaluate(self, x, g):
        self.net.eval()
        guess = decode(self.net(x))
        mae = (guess - g).abs().float().mean().item()
        acc = (guess == g).float().mean().item()
        return mae, acc


if __name__ == "__main__":
    torch.manual_seed(HP["seed"])
    np.random.seed(HP["seed"])
    rs = np.random.RandomState(HP["seed"])
    X, group = portraits(2000, rs)
    cut1, cut2 = 1300, 1600
    scaler = Scaler().fit(X[:cut1])
    x_tr, x_va, x_te = scaler(X[:cut1]), scaler(X[cut1:cut2]), scaler(X[cut2:])
    group = torch.from_numpy(group)
    g_tr, g_va, g_te = group[:cut1], group[cut1:cut2], group[cut2:]
    model = AgeModel(HP)
    best = model.fit(x_tr, g_tr, x_va, g_va)
    print(f"best val MAE {best:.3f}")
    mae, acc = model.evaluate(x_te, g_te)
    print(f"test MAE {mae:.3f} groups, accuracy {acc:.3f}")
