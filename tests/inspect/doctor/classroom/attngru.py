import random

import torch
import torch.nn as nn
import torch.optim as optim

random.seed(2)
torch.manual_seed(2)
SOS_token, EOS_token, PAD_token = 0, 1, 2
WORDS = {
    "i": "나는",
    "you": "너는",
    "we": "우리는",
    "like": "좋아한다",
    "see": "본다",
    "eat": "먹는다",
    "apples": "사과를",
    "birds": "새를",
    "bread": "빵을",
}


class Lang:
    def __init__(self, name):
        self.name = name
        self.word2index = {}
        self.index2word = {0: "SOS", 1: "EOS", 2: "PAD"}
        self.n_words = 3

    def add_sentence(self, sentence):
        for word in sentence.split(" "):
            if word not in self.word2index:
                self.word2index[word] = self.n_words
                self.index2word[self.n_words] = word
                self.n_words += 1


def make_pairs(n):
    pairs = []
    for _ in range(n):
        s, v, o = (
            random.choice(["i", "you", "we"]),
            random.choice(["like", "see", "eat"]),
            random.choice(["apples", "birds", "bread"]),
        )
        extra = random.random() < 0.5
        en = f"{s} {v} {o}" + (" you" if extra else "")
        ko = f"{WORDS[s]} {WORDS[o]} {WORDS[v]}" + (" 너는" if extra else "")
        pairs.append((en, ko))
    return pairs


eng, kor = Lang("eng"), Lang("kor")
pairs = make_pairs(700)
for e, k in pairs:
    eng.add_sentence(e)
    kor.add_sentence(k)
random.shuffle(pairs)
train_pairs, test_pairs = pairs[:600], pairs[600:]
MAX_LENGTH = 6


def indexes(lang, sentence):
    ids = [lang.word2index[w] for w in sentence.split(" ")] + [EOS_token]
    return ids + [PAD_token] * (MAX_LENGTH - len(ids))


def to_tensors(pairs):
    return torch.tensor([indexes(eng, e) for e, _ in pairs]), torch.tensor([indexes(kor, k) for _, k in pairs])


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        output, hidden = self.gru(embedded)
        return output, hidden


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys, mask):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        scores = scores.masked_fill(mask.unsqueeze(1), float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, mask, target=None):
        decoder_input = torch.full((encoder_outputs.size(0), 1), SOS_token)
        hidden = encoder_hidden
        outputs = []
        for i in range(MAX_LENGTH):
            embedded = self.dropout(self.embedding(decoder_input))
            context, _ = self.attention(hidden.permute(1, 0, 2), encoder_outputs, mask)
            output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
            output = self.out(output)
            outputs.append(output)
            if target is not None:
                decoder_input = target[:, i].unsqueeze(1)
            else:
                decoder_input = output.argmax(-1).detach()
        return torch.cat(outputs, dim=1)


hidden_size = 48
encoder = EncoderRNN(eng.n_words, hidden_size)
decoder = AttnDecoderRNN(hidden_size, kor.n_words)
encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.003)
decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.003)
criterion = nn.CrossEntropyLoss(ignore_index=PAD_token)


def train_epoch(data):
    encoder.train()
    decoder.train()
    random.shuffle(data)
    total = 0
    for start in range(0, len(data), 30):
        src, tgt = to_tensors(data[start : start + 30])
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        enc_out, enc_hidden = encoder(src)
        dec_out = decoder(enc_out, enc_hidden, src == PAD_token, tgt)
        loss = criterion(dec_out.view(-1, dec_out.size(-1)), tgt.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        total += loss.item()
    return total / (len(data) / 30)


@torch.no_grad()
def accuracy(data):
    encoder.eval()
    decoder.eval()
    src, tgt = to_tensors(data)
    enc_out, enc_hidden = encoder(src)
    pred = decoder(enc_out, enc_hidden, src == PAD_token).argmax(-1)
    keep = tgt != PAD_token
    return ((pred == tgt) & keep).sum().item() / keep.sum().item()


for epoch in range(4):
    print(epoch, train_epoch(train_pairs), accuracy(test_pairs))
