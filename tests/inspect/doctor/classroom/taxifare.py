"""Taxi fares from a table: columns standardized, categories embedded, SmoothL1, early stopping, a plateau for the rate."""

import copy

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

np.random.seed(3)
torch.manual_seed(3)

# ---- a made-up table -------------------------------------------------------
N = 1200
distance = np.random.gamma(2.0, 2.5, N)
minutes = distance * np.random.uniform(2, 5, N) + np.random.uniform(1, 6, N)
passengers = np.random.randint(1, 6, N).astype(float)
weekday = np.random.randint(0, 7, N)
hour = np.random.randint(0, 24, N)
fare = 2.5 + 1.6 * distance + 0.35 * minutes + 1.5 * (hour >= 20) + 0.8 * (weekday >= 5) + np.random.randn(N) * 0.7

num_features = np.stack([distance, minutes, passengers], axis=1)
cat_features = np.stack([weekday, hour], axis=1)

idx = np.random.permutation(N)
train_idx, val_idx, test_idx = idx[:840], idx[840:1020], idx[1020:]

mean, std = num_features[train_idx].mean(0), num_features[train_idx].std(0)
num_features = (num_features - mean) / std
y_mean, y_std = fare[train_idx].mean(), fare[train_idx].std()
target = (fare - y_mean) / y_std


class TaxiDataset(Dataset):
    def __init__(self, index):
        self.num = torch.tensor(num_features[index], dtype=torch.float32)
        self.cat = torch.tensor(cat_features[index], dtype=torch.long)
        self.y = torch.tensor(target[index], dtype=torch.float32).unsqueeze(1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.num[i], self.cat[i], self.y[i]


class TabularModel(nn.Module):
    def __init__(self, emb_szs, n_cont, out_sz, layers, p=0.1):
        super().__init__()
        self.embeds = nn.ModuleList([nn.Embedding(ni, nf) for ni, nf in emb_szs])
        self.emb_drop = nn.Dropout(p)
        self.bn_cont = nn.BatchNorm1d(n_cont)
        n_in = sum(nf for _, nf in emb_szs) + n_cont
        layerlist = []
        for width in layers:
            layerlist.append(nn.Linear(n_in, width))
            layerlist.append(nn.ReLU(inplace=True))
            layerlist.append(nn.BatchNorm1d(width))
            layerlist.append(nn.Dropout(p))
            n_in = width
        layerlist.append(nn.Linear(n_in, out_sz))
        self.layers = nn.Sequential(*layerlist)

    def forward(self, x_cont, x_cat):
        embeddings = []
        for i, e in enumerate(self.embeds):
            embeddings.append(e(x_cat[:, i]))
        x = torch.cat(embeddings, 1)
        x = self.emb_drop(x)
        x_cont = self.bn_cont(x_cont)
        x = torch.cat([x, x_cont], 1)
        return self.layers(x)


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience, self.counter, self.best_loss, self.best_state = patience, 0, None, None

    def __call__(self, val_loss, model):
        if self.best_loss is None or val_loss < self.best_loss:
            self.best_loss = val_loss
            self.best_state = copy.deepcopy(model.state_dict())
            self.counter = 0
            return False
        self.counter += 1
        return self.counter >= self.patience


def train_one_epoch(model, loader, criterion, optimizer):
    model.train()
    running_loss = 0.0
    for x_num, x_cat, y in loader:
        optimizer.zero_grad()
        pred = model(x_num, x_cat)
        loss = criterion(pred, y)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * y.size(0)
    return running_loss / len(loader.dataset)


def validate(model, loader, criterion):
    model.eval()
    running_loss, abs_error = 0.0, 0.0
    with torch.no_grad():
        for x_num, x_cat, y in loader:
            pred = model(x_num, x_cat)
            running_loss += criterion(pred, y).item() * y.size(0)
            abs_error += (pred - y).abs().sum().item() * y_std
    return running_loss / len(loader.dataset), abs_error / len(loader.dataset)


def main():
    train_loader = DataLoader(TaxiDataset(train_idx), batch_size=64, shuffle=True)
    val_loader = DataLoader(TaxiDataset(val_idx), batch_size=64)
    test_loader = DataLoader(TaxiDataset(test_idx), batch_size=64)
    model = TabularModel([(7, 4), (24, 8)], 3, 1, [48, 24])
    criterion = nn.SmoothL1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
    stopper = EarlyStopping()
    for epoch in range(4):
        train_loss = train_one_epoch(model, train_loader, criterion, optimizer)
        val_loss, mae = validate(model, val_loader, criterion)
        scheduler.step(val_loss)
        print(f"epoch {epoch} train {train_loss:.4f} val {val_loss:.4f} mae ${mae:.2f}")
        if stopper(val_loss, model):
            break
    model.load_state_dict(stopper.best_state)
    print("test", validate(model, test_loader, criterion))


if __name__ == "__main__":
    main()
