"""What one likes: neural collaborative filtering with sampled negatives, hit rate at 5 before and after each epoch."""

import random

import torch
import torch.nn as nn

random.seed(8)
torch.manual_seed(8)
NUM_USERS, NUM_ITEMS, NUM_NG = 40, 60, 3

taste = torch.randn(NUM_USERS, 4) @ torch.randn(4, NUM_ITEMS)
liked = {u: taste[u].topk(12).indices.tolist() for u in range(NUM_USERS)}
train_pos, test_pos = [], []
for u, items in liked.items():
    random.shuffle(items)
    test_pos.append((u, items[0]))
    train_pos += [(u, i) for i in items[1:]]
known = {(u, i) for u, i in train_pos} | set(test_pos)


class NCFData(torch.utils.data.Dataset):
    def __init__(self, positives, num_ng):
        self.positives, self.num_ng = positives, num_ng
        self.rows = []

    def ng_sample(self):
        self.rows = [(u, i, 1.0) for u, i in self.positives]
        for u, _ in self.positives:
            for _ in range(self.num_ng):
                j = random.randrange(NUM_ITEMS)
                while (u, j) in known:
                    j = random.randrange(NUM_ITEMS)
                self.rows.append((u, j, 0.0))

    def __len__(self):
        return len(self.positives) * (self.num_ng + 1)

    def __getitem__(self, k):
        return self.rows[k]


class NCF(nn.Module):
    def __init__(self, factor_num, num_layers, dropout):
        super().__init__()
        self.embed_user_GMF = nn.Embedding(NUM_USERS, factor_num)
        self.embed_item_GMF = nn.Embedding(NUM_ITEMS, factor_num)
        self.embed_user_MLP = nn.Embedding(NUM_USERS, factor_num * (2 ** (num_layers - 1)))
        self.embed_item_MLP = nn.Embedding(NUM_ITEMS, factor_num * (2 ** (num_layers - 1)))
        modules = []
        for i in range(num_layers):
            size = factor_num * (2 ** (num_layers - i))
            modules.append(nn.Dropout(p=dropout))
            modules.append(nn.Linear(size, size // 2))
            modules.append(nn.ReLU())
        self.MLP_layers = nn.Sequential(*modules)
        self.predict_layer = nn.Linear(factor_num * 2, 1)
        for table in (self.embed_user_GMF, self.embed_item_GMF, self.embed_user_MLP, self.embed_item_MLP):
            nn.init.normal_(table.weight, std=0.1)
        nn.init.kaiming_uniform_(self.predict_layer.weight, a=1, nonlinearity="sigmoid")

    def forward(self, user, item):
        output_GMF = self.embed_user_GMF(user) * self.embed_item_GMF(item)
        interaction = torch.cat((self.embed_user_MLP(user), self.embed_item_MLP(item)), -1)
        output_MLP = self.MLP_layers(interaction)
        prediction = self.predict_layer(torch.cat((output_GMF, output_MLP), -1))
        return prediction.view(-1)


def hit_rate(model, top_k=5):
    model.eval()
    hits = 0
    with torch.no_grad():
        for user, item in test_pos:
            candidates = [i for i in range(NUM_ITEMS) if (user, i) not in known] + [item]
            users = torch.full((len(candidates),), user)
            scores = model(users, torch.tensor(candidates))
            best = scores.topk(top_k).indices.tolist()
            hits += (len(candidates) - 1) in best
    return hits / len(test_pos)


train_dataset = NCFData(train_pos, NUM_NG)
train_loader = torch.utils.data.DataLoader(train_dataset, batch_size=64, shuffle=True)
model = NCF(8, 3, 0.1)
loss_function = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.004)

print("HR@5 untrained:", hit_rate(model))
for epoch in range(2):
    model.train()
    train_loader.dataset.ng_sample()
    for user, item, label in train_loader:
        label = label.float()
        optimizer.zero_grad()
        prediction = model(user, item)
        loss = loss_function(prediction, label)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch:02d} loss {loss.item():.4f} HR@5 {hit_rate(model):.3f}")
