# Titanic-like survival: binary classification of a table
# (first neural network project)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)

##############################
# Load and clean the data
##############################
N = 1400
pclass = np.random.choice([1, 2, 3], N, p=[0.25, 0.2, 0.55])
sex = np.random.choice(["male", "female"], N, p=[0.65, 0.35])
age = np.clip(np.random.normal(30, 14, N), 1, 80)
age[np.random.rand(N) < 0.2] = np.nan
sibsp = np.random.poisson(0.5, N)
fare = np.random.gamma(2.0, 12.0, N) * (4 - pclass)
embarked = np.random.choice(["S", "C", "Q"], N, p=[0.7, 0.2, 0.1])
logit = 2.6 * (sex == "female") - 1.1 * (pclass - 2) - 0.03 * (np.nan_to_num(age, nan=30) - 30) - 0.3 * sibsp - 0.9
survived = (np.random.rand(N) < 1 / (1 + np.exp(-2 * logit))).astype(np.int64)

age = np.where(np.isnan(age), np.nanmedian(age[:1000]), age)
numeric = np.stack([age, sibsp, fare], axis=1)
onehot = np.stack(
    [sex == "female", pclass == 1, pclass == 2, pclass == 3, embarked == "S", embarked == "C", embarked == "Q"], axis=1
).astype(float)

n_train, n_val = 1000, 200
mean, std = numeric[:n_train].mean(0), numeric[:n_train].std(0)
numeric = (numeric - mean) / std
features = torch.tensor(np.concatenate([numeric, onehot], axis=1), dtype=torch.float32)
labels = torch.tensor(survived)

train_ds = TensorDataset(features[:n_train], labels[:n_train])
val_ds = TensorDataset(features[n_train : n_train + n_val], labels[n_train : n_train + n_val])
test_x, test_y = features[n_train + n_val :], labels[n_train + n_val :]
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=100)


##############################
# Model
##############################
class TitanicNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, 2)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = self.dropout(x)
        x = F.relu(self.fc2(x))
        return self.fc3(x)


net = TitanicNet()
class_counts = torch.bincount(labels[:n_train])
criterion = nn.CrossEntropyLoss(weight=class_counts.sum() / (2.0 * class_counts))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)

##############################
# Training
##############################
for epoch in range(12):
    net.train()
    running_loss = 0.0
    for _i, batch in enumerate(train_dl, 0):
        inputs, targets = batch
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    scheduler.step()

    net.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in val_dl:
            outputs = net(inputs)
            _, predicted = torch.max(outputs.data, 1)
            correct += (predicted == targets).sum().item()
    if epoch % 3 == 2:
        print(f"[{epoch + 1}] loss: {running_loss / len(train_dl):.3f}, val acc: {correct / n_val:.3f}")

print("Finished Training")

##############################
# Test
##############################
net.eval()
with torch.no_grad():
    test_pred = net(test_x).argmax(dim=1)
accuracy = (test_pred == test_y).float().mean().item()
tp = ((test_pred == 1) & (test_y == 1)).sum().item()
precision = tp / max(1, (test_pred == 1).sum().item())
recall = tp / (test_y == 1).sum().item()
print(f"test accuracy {accuracy:.3f}, precision {precision:.3f}, recall {recall:.3f}")
