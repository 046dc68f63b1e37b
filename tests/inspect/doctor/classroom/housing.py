"""House price prediction with a neural network - homework 2."""

import numpy as np
import torch
from torch import nn

# set seeds so results are the same every run
np.random.seed(42)
torch.manual_seed(42)

# ---- 1. make the data ----
n = 1200
area = np.random.uniform(40, 250, n)  # square meters
rooms = np.round(area / 30 + np.random.randn(n)).clip(1, 9)
age = np.random.uniform(0, 80, n)
distance = np.random.exponential(8, n)  # km to the center
garden = np.random.randint(0, 2, n)
price = 1500 * area + 8000 * rooms - 900 * age - 6000 * distance + 25000 * garden + 6 * area * (20 - distance).clip(0)
price = price + 10000 * np.random.randn(n)

X = np.column_stack([area, rooms, age, distance, garden])
y = price.reshape(-1, 1)

# ---- 2. split into train / val / test ----
idx = np.random.permutation(n)
train_idx, val_idx, test_idx = idx[:800], idx[800:1000], idx[1000:]
X_train, y_train = X[train_idx], y[train_idx]
X_val, y_val = X[val_idx], y[val_idx]
X_test, y_test = X[test_idx], y[test_idx]

# ---- 3. standardize (only with train statistics!) ----
x_mean, x_std = X_train.mean(axis=0), X_train.std(axis=0)
y_mean, y_std = y_train.mean(), y_train.std()
X_train = (X_train - x_mean) / x_std
X_val = (X_val - x_mean) / x_std
X_test = (X_test - x_mean) / x_std
y_train = (y_train - y_mean) / y_std
y_val = (y_val - y_mean) / y_std

X_train = torch.tensor(X_train, dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.float32)
X_val = torch.tensor(X_val, dtype=torch.float32)
y_val = torch.tensor(y_val, dtype=torch.float32)
X_test = torch.tensor(X_test, dtype=torch.float32)

# ---- 4. the model ----
model = nn.Sequential(
    nn.Linear(5, 64),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
)
print(model)
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

# ---- 5. training with early stopping ----
batch_size = 50
best_val, patience, bad_epochs = float("inf"), 10, 0
history = {"train": [], "val": []}
for epoch in range(60):
    model.train()
    perm = torch.randperm(len(X_train))
    train_loss = 0.0
    for i in range(0, len(X_train), batch_size):
        batch = perm[i : i + batch_size]
        xb, yb = X_train[batch], y_train[batch]
        y_pred = model(xb)
        loss = loss_fn(y_pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * len(xb)
    train_loss /= len(X_train)

    model.eval()
    with torch.no_grad():
        val_loss = loss_fn(model(X_val), y_val).item()
    history["train"].append(train_loss)
    history["val"].append(val_loss)
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d}  train {train_loss:.4f}  val {val_loss:.4f}")
    if val_loss < best_val:
        best_val, bad_epochs = val_loss, 0
        torch.save(model.state_dict(), "best.pt")
    else:
        bad_epochs += 1
        if bad_epochs >= patience:
            print("early stopping at epoch", epoch)
            break

# ---- 6. evaluation on the test set ----
model.load_state_dict(torch.load("best.pt"))
model.eval()
with torch.no_grad():
    pred = model(X_test).numpy() * y_std + y_mean
mae = np.abs(pred - y_test).mean()
rmse = np.sqrt(((pred - y_test) ** 2).mean())
r2 = 1 - ((pred - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
print(f"test MAE {mae:.0f}  RMSE {rmse:.0f}  R2 {r2:.3f}")
