"""Kinds of short news by the mean of their words: an embedding bag with offsets, as in a well-known lesson."""

import random
import time
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.dataset import random_split

random.seed(11)
torch.manual_seed(11)
TOPICS = {
    0: "minister vote law election border treaty parliament court".split(),
    1: "goal match coach league season striker cup referee".split(),
    2: "shares bank profit market oil price trade growth".split(),
    3: "chip orbit robot software network probe vaccine gene".split(),
}
COMMON = "the a of new says after in on to for year first two over week with as report".split()


def news(n):
    rows = []
    for _ in range(n):
        kind = random.randrange(4)
        words = [
            random.choice(TOPICS[kind]) if random.random() < 0.3 else random.choice(COMMON) for _ in range(random.randint(6, 18))
        ]
        rows.append((kind + 1, " ".join(words)))
    return rows


train_rows, test_rows = news(1200), news(300)
counter = Counter(word for _, text in train_rows for word in text.split())
vocab = {"<unk>": 0} | {word: i + 1 for i, (word, _) in enumerate(counter.most_common())}


def text_pipeline(text):
    return [vocab.get(word, vocab["<unk>"]) for word in text.split()]


def label_pipeline(label):
    return int(label) - 1


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for label, text in batch:
        label_list.append(label_pipeline(label))
        processed = torch.tensor(text_pipeline(text), dtype=torch.int64)
        text_list.append(processed)
        offsets.append(processed.size(0))
    label_list = torch.tensor(label_list, dtype=torch.int64)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return label_list, torch.cat(text_list), offsets


class TextClassificationModel(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_class):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, sparse=False)
        self.dropout = nn.Dropout(0.2)
        self.hidden = nn.Linear(embed_dim, embed_dim)
        self.fc = nn.Linear(embed_dim, num_class)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        embedded = self.embedding(text, offsets)
        return self.fc(self.dropout(torch.relu(self.hidden(embedded))))


model = TextClassificationModel(len(vocab), 32, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
num_train = int(len(train_rows) * 0.9)
split_train, split_valid = random_split(train_rows, [num_train, len(train_rows) - num_train])
train_dataloader = DataLoader(split_train, batch_size=64, shuffle=True, collate_fn=collate_batch)
valid_dataloader = DataLoader(split_valid, batch_size=64, shuffle=False, collate_fn=collate_batch)
test_dataloader = DataLoader(test_rows, batch_size=64, shuffle=False, collate_fn=collate_batch)


def train(dataloader):
    model.train()
    total_acc, total_count = 0, 0
    for label, text, offsets in dataloader:
        optimizer.zero_grad()
        predicted = model(text, offsets)
        loss = criterion(predicted, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_acc += (predicted.argmax(1) == label).sum().item()
        total_count += label.size(0)
    return total_acc / total_count


def evaluate(dataloader):
    model.eval()
    total_acc, total_count = 0, 0
    with torch.no_grad():
        for label, text, offsets in dataloader:
            predicted = model(text, offsets)
            total_acc += (predicted.argmax(1) == label).sum().item()
            total_count += label.size(0)
    return total_acc / total_count


total_accu = None
for epoch in range(1, 5):
    start = time.time()
    accu_train = train(train_dataloader)
    accu_val = evaluate(valid_dataloader)
    if total_accu is not None and total_accu > accu_val:
        scheduler.step()
    else:
        total_accu = accu_val
    print(f"| epoch {epoch} | train {accu_train:.3f} | valid {accu_val:.3f} | {time.time() - start:.2f}s")
print("test accuracy", evaluate(test_dataloader))
