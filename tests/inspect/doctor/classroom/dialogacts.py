"""Which act is each utterance of a dialogue? A word GRU below, a dialogue GRU above."""

import random

import torch
import torch.nn as nn
import torch.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ACTS = ["greeting", "question", "answer", "thanks", "bye"]
SENTENCES = {
    "greeting": ["hello there", "good morning", "hi how are you"],
    "question": ["when does the shop open", "where is the station", "what does it cost", "is it far"],
    "answer": ["it opens at nine", "it is near the bridge", "it costs ten euros", "no it is near", "at nine"],
    "thanks": ["thank you very much", "thanks a lot", "great thank you"],
    "bye": ["good bye", "see you", "have a good day"],
}
AMBIGUOUS = ["okay", "yes", "well then"]


def make_dialogue():
    acts = ["greeting"] * random.randint(1, 2)
    for _ in range(random.randint(1, 3)):
        acts += ["question", "answer"]
    acts += ["thanks"] * random.randint(0, 1) + ["bye"]
    turns = []
    for act in acts:
        text = random.choice(AMBIGUOUS) if random.random() < 0.12 else random.choice(SENTENCES[act])
        turns.append((text, ACTS.index(act)))
    return turns


random.seed(31)
torch.manual_seed(31)
dialogues = [make_dialogue() for _ in range(360)]
train_dialogues = dialogues[:280]
valid_dialogues = dialogues[280:320]
test_dialogues = dialogues[320:]

word_to_id = {"<pad>": 0, "<unk>": 1}
for dialogue in train_dialogues:
    for text, _ in dialogue:
        for word in text.lower().split():
            if word not in word_to_id:
                word_to_id[word] = len(word_to_id)


def to_tensors(batch):
    """words (dialogues, turns, words), acts (dialogues, turns) with -1 where there is no turn"""
    turns = max(len(d) for d in batch)
    longest = max(len(text.split()) for d in batch for text, _ in d)
    words = torch.zeros(len(batch), turns, longest, dtype=torch.long)
    acts = torch.full((len(batch), turns), -1)
    for i, dialogue in enumerate(batch):
        for j, (text, act) in enumerate(dialogue):
            for k, word in enumerate(text.lower().split()):
                words[i, j, k] = word_to_id.get(word, 1)
            acts[i, j] = act
    return words.to(device), acts.to(device)


def iterate_minibatches(data, batch_size, shuffle=False):
    order = list(range(len(data)))
    if shuffle:
        random.shuffle(order)
    for begin in range(0, len(order), batch_size):
        yield to_tensors([data[i] for i in order[begin : begin + batch_size]])


class DialogueModel(nn.Module):
    def __init__(self, vocab_size, emb_size=24, word_hidden=24, turn_hidden=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, emb_size, padding_idx=0)
        self.word_rnn = nn.GRU(emb_size, word_hidden, batch_first=True)
        self.query = nn.Parameter(torch.randn(word_hidden) * 0.1)
        self.turn_rnn = nn.GRU(word_hidden, turn_hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.2)
        self.hidden_to_act = nn.Linear(2 * turn_hidden, len(ACTS))

    def encode_turns(self, words):
        B, T, W = words.shape
        flat = words.reshape(B * T, W)
        states, _ = self.word_rnn(self.emb(flat))
        scores = torch.tanh(states) @ self.query
        scores = scores.masked_fill(flat == 0, -1e4)
        weights = torch.softmax(scores, dim=1)
        return (weights.unsqueeze(-1) * states).sum(dim=1).reshape(B, T, -1)

    def forward(self, words):
        turns = self.dropout(self.encode_turns(words))
        context, _ = self.turn_rnn(turns)
        return self.hidden_to_act(self.dropout(context))


model = DialogueModel(len(word_to_id)).to(device)
loss_function = nn.CrossEntropyLoss(ignore_index=-1)
optimizer = optim.Adam(model.parameters(), lr=3e-3)
lr_scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)


def accuracy(data):
    model.eval()
    n_correct, n_total = 0, 0
    with torch.no_grad():
        for words, acts in iterate_minibatches(data, 40):
            predicted = model(words).argmax(dim=2)
            real = acts >= 0
            n_correct += (predicted[real] == acts[real]).sum().item()
            n_total += real.sum().item()
    return n_correct / n_total


best_valid, bad_epochs = 0, 0
for epoch in range(8):
    model.train()
    epoch_losses = []
    for words, acts in iterate_minibatches(train_dialogues, 10, shuffle=True):
        optimizer.zero_grad()
        scores = model(words)
        loss = loss_function(scores.reshape(-1, len(ACTS)), acts.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        epoch_losses.append(loss.item())
    lr_scheduler.step()
    valid_acc = accuracy(valid_dialogues)
    print("epoch", epoch, "loss", round(sum(epoch_losses) / len(epoch_losses), 4), "valid", round(valid_acc, 4))
    if valid_acc > best_valid:
        best_valid, bad_epochs = valid_acc, 0
        torch.save(model.state_dict(), "dialogue.pt")
    else:
        bad_epochs += 1
    if bad_epochs >= 3:
        break

model.load_state_dict(torch.load("dialogue.pt"))
print("test accuracy", round(accuracy(test_dialogues), 4))
