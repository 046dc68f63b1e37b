# Customer churn with entity embeddings, 3-fold cross-validation and early stopping
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, N_FOLDS, EPOCHS, BATCH = 2024, 3, 12, 64
np.random.seed(SEED)
torch.manual_seed(SEED)

# ---------------------------------------------------------------- data
n = 1800
df = pd.DataFrame(
    {
        "contract": np.random.choice(["month", "one_year", "two_year"], n, p=[0.55, 0.25, 0.2]),
        "internet": np.random.choice(["dsl", "fiber", "none"], n, p=[0.35, 0.45, 0.2]),
        "payment": np.random.choice(["check", "card", "transfer", "mail"], n),
        "tenure": np.random.gamma(2.0, 14.0, n).clip(1, 72),
        "monthly": np.random.normal(65, 28, n).clip(18, 120),
        "tickets": np.random.poisson(1.2, n),
    }
)
risk = (
    1.6 * (df.contract == "month")
    - 1.2 * (df.contract == "two_year")
    + 0.9 * (df.internet == "fiber")
    + 0.7 * (df.payment == "check")
    - 0.05 * (df.tenure - 28)
    + 0.02 * (df.monthly - 65)
    + 0.5 * (df.tickets - 1.2)
    - 1.5
)
df["churn"] = (np.random.rand(n) < 1 / (1 + np.exp(-1.5 * risk))).astype(int)

CAT_COLS = ["contract", "internet", "payment"]
NUM_COLS = ["tenure", "monthly", "tickets"]
TARGET = "churn"

cardinalities = []
for col in CAT_COLS:
    codes, uniques = pd.factorize(df[col], sort=True)
    df[col] = codes
    cardinalities.append(len(uniques))

test_df = df.iloc[1500:].reset_index(drop=True)
train_df = df.iloc[:1500].reset_index(drop=True)


# ---------------------------------------------------------------- model
class ChurnNet(nn.Module):
    def __init__(self, cardinalities, n_num, emb_dim=4, hidden=32, p=0.2):
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(c, emb_dim) for c in cardinalities])
        self.bn = nn.BatchNorm1d(n_num)
        self.lin1 = nn.Linear(len(cardinalities) * emb_dim + n_num, hidden)
        self.lin2 = nn.Linear(hidden, hidden // 2)
        self.out = nn.Linear(hidden // 2, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x_cat, x_num):
        embedded = [emb(x_cat[:, i]) for i, emb in enumerate(self.embeddings)]
        x = torch.cat(embedded + [self.bn(x_num)], dim=1)
        x = self.drop(F.relu(self.lin1(x)))
        x = self.drop(F.relu(self.lin2(x)))
        return self.out(x).squeeze(-1)


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.counter, self.best, self.state = patience, 0, None, None

    def __call__(self, score, model):
        if self.best is None or score > self.best:
            self.best = score
            self.counter = 0
            self.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.counter += 1
        return self.counter >= self.patience


def to_tensors(frame, mu, sigma):
    x_cat = torch.tensor(frame[CAT_COLS].values, dtype=torch.long)
    x_num = torch.tensor(((frame[NUM_COLS] - mu) / sigma).values, dtype=torch.float32)
    y = torch.tensor(frame[TARGET].values, dtype=torch.float32)
    return x_cat, x_num, y


def auc_score(y, p):
    ranks = np.argsort(np.argsort(p)) + 1
    pos = y == 1
    return (ranks[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())


def predict(model, x_cat, x_num):
    model.eval()
    with torch.no_grad():
        return torch.sigmoid(model(x_cat, x_num)).numpy()


# ---------------------------------------------------------------- cross-validation
fold_of = np.random.permutation(len(train_df)) % N_FOLDS
oof = np.zeros(len(train_df))
test_pred = np.zeros(len(test_df))
for fold in range(N_FOLDS):
    tr, va = train_df[fold_of != fold], train_df[fold_of == fold]
    mu, sigma = tr[NUM_COLS].mean(), tr[NUM_COLS].std()
    xc, xn, y = to_tensors(tr, mu, sigma)
    vc, vn, vy = to_tensors(va, mu, sigma)
    tc, tn, ty = to_tensors(test_df, mu, sigma)

    model = ChurnNet(cardinalities, len(NUM_COLS))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
    stopper = EarlyStopping(patience=3)
    for epoch in range(EPOCHS):
        model.train()
        perm = torch.randperm(len(y))
        epoch_loss = 0.0
        for i in range(0, len(y), BATCH):
            idx = perm[i : i + BATCH]
            optimizer.zero_grad()
            logits = model(xc[idx], xn[idx])
            loss = F.binary_cross_entropy_with_logits(logits, y[idx])
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(idx)
        val_auc = auc_score(vy.numpy(), predict(model, vc, vn))
        print(f"fold {fold} epoch {epoch}: loss {epoch_loss / len(y):.4f} val AUC {val_auc:.4f}")
        if stopper(val_auc, model):
            break
    model.load_state_dict(stopper.state)
    oof[fold_of == fold] = predict(model, vc, vn)
    test_pred += predict(model, tc, tn) / N_FOLDS

print(f"OOF AUC {auc_score(train_df[TARGET].values, oof):.4f}")
accuracy = ((test_pred > 0.5) == test_df[TARGET].values).mean()
print(f"test AUC {auc_score(test_df[TARGET].values, test_pred):.4f}, accuracy {accuracy:.4f}")
