"""Spam or ham: bags of embeddings with offsets."""

import random
import re
import time

import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.dataset import random_split

random.seed(99)
torch.manual_seed(99)

SPAM = "free win prize cash claim now urgent call txt offer click guaranteed winner".split()
HAM = "home later love dinner work meeting ok tomorrow sorry mum going night see".split()
BOTH = "you the to your i is a for me we at and on have it will".split()


def make_message():
    spam = random.random() < 0.35
    own, other = (SPAM, HAM) if spam else (HAM, SPAM)
    words = []
    for _ in range(random.randint(4, 18)):
        r = random.random()
        words.append(random.choice(own if r < 0.2 else other if r < 0.27 else BOTH))
    if random.random() < (0.5 if spam else 0.1):
        words.append(str(random.randint(100, 99999)))
    return ("spam" if spam else "ham"), " ".join(words).capitalize()


def tokenizer(text):
    return re.findall(r"[a-z]+|\d+", re.sub(r"\d+", "0", text.lower()))


messages = [make_message() for _ in range(2000)]
cut = 1700
train_data, test_data = messages[:cut], messages[cut:]

vocab = {"<unk>": 0}
for _, text in train_data:
    for token in tokenizer(text):
        if token not in vocab:
            vocab[token] = len(vocab)


def text_pipeline(text):
    return [vocab.get(token, 0) for token in tokenizer(text)]


def label_pipeline(label):
    return 1.0 if label == "spam" else 0.0


def collate_batch(batch):
    label_list, text_list, offsets = [], [], [0]
    for label, text in batch:
        label_list.append(label_pipeline(label))
        ids = torch.tensor(text_pipeline(text), dtype=torch.int64)
        text_list.append(ids)
        offsets.append(ids.size(0))
    labels = torch.tensor(label_list)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return labels, torch.cat(text_list), offsets


class SpamModel(nn.Module):
    def __init__(self, vocab_size, embed_dim):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab_size, embed_dim, mode="mean")
        self.hidden = nn.Linear(embed_dim, 16)
        self.dropout = nn.Dropout(p=0.2)
        self.fc = nn.Linear(16, 1)
        self.init_weights()

    def init_weights(self):
        initrange = 0.5
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.fc.weight.data.uniform_(-initrange, initrange)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        bag = self.embedding(text, offsets)
        return self.fc(self.dropout(torch.relu(self.hidden(bag)))).squeeze(1)


EPOCHS, LR, BATCH_SIZE = 8, 0.5, 32
num_train = int(len(train_data) * 0.9)
split_train_, split_valid_ = random_split(train_data, [num_train, len(train_data) - num_train])
train_dataloader = DataLoader(split_train_, batch_size=BATCH_SIZE, shuffle=True, collate_fn=collate_batch)
valid_dataloader = DataLoader(split_valid_, batch_size=BATCH_SIZE, shuffle=False, collate_fn=collate_batch)
test_dataloader = DataLoader(test_data, batch_size=BATCH_SIZE, shuffle=False, collate_fn=collate_batch)

model = SpamModel(len(vocab), 24)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=LR)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.8)


def train(dataloader, epoch):
    model.train()
    total_acc, total_count = 0, 0
    for idx, (label, text, offsets) in enumerate(dataloader):
        optimizer.zero_grad()
        score = model(text, offsets)
        loss = criterion(score, label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_acc += ((score > 0) == (label > 0.5)).sum().item()
        total_count += label.size(0)
        if idx % 20 == 0 and idx > 0:
            print(f"| epoch {epoch:3d} | {idx:5d}/{len(dataloader):5d} batches | accuracy {total_acc / total_count:8.3f}")
            total_acc, total_count = 0, 0


def evaluate(dataloader):
    model.eval()
    tp = fp = fn = right = count = 0
    with torch.no_grad():
        for label, text, offsets in dataloader:
            guess = torch.sigmoid(model(text, offsets)) > 0.5
            truth = label > 0.5
            tp += (guess & truth).sum().item()
            fp += (guess & ~truth).sum().item()
            fn += (~guess & truth).sum().item()
            right += (guess == truth).sum().item()
            count += label.size(0)
    return right / count, 2 * tp / max(2 * tp + fp + fn, 1)


for epoch in range(1, EPOCHS + 1):
    start = time.time()
    train(train_dataloader, epoch)
    accu_val, f1 = evaluate(valid_dataloader)
    scheduler.step()
    print(f"| end of epoch {epoch:3d} | time: {time.time() - start:5.2f}s | valid accuracy {accu_val:8.3f} | f1 {f1:.3f}")

accu_test, f1_test = evaluate(test_dataloader)
print(f"test accuracy {accu_test:8.3f}, f1 {f1_test:.3f}")


def predict(text):
    model.eval()
    with torch.no_grad():
        ids = torch.tensor(text_pipeline(text))
        return "spam" if model(ids, torch.tensor([0])).item() > 0 else "ham"


print(predict("Win a free prize, call 0800 now"), predict("Sorry mum, I will see you at home"))
