"""Word-level language model: an LSTM over packed sentences of several lengths."""

import badak as torch
import badak.nn as nn
import badak.nn.functional as F
from badak.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

PAD = 0


class LSTMLanguageModel(nn.Module):
    """
    Args:
        vocab_size: number of words, the padding word included
        embed_dim: size of word vectors
        hidden_dim: size of the LSTM's state
    """

    def __init__(self, vocab_size, embed_dim=32, hidden_dim=48, num_layers=2, dropout=0.3):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=PAD)
        self.lstm = nn.LSTM(embed_dim, hidden_dim, num_layers=num_layers, batch_first=True, dropout=dropout)
        self.dropout = nn.Dropout(dropout)
        self.proj = nn.Linear(hidden_dim, embed_dim)
        self.fc = nn.Linear(embed_dim, vocab_size)
        # share the weights of embedding and output layer
        self.fc.weight = self.embedding.weight

    def init_hidden(self, batch_size):
        h0 = torch.zeros(self.num_layers, batch_size, self.hidden_dim)
        c0 = torch.zeros(self.num_layers, batch_size, self.hidden_dim)
        return h0, c0

    def forward(self, x, lengths, hidden=None):
        if hidden is None:
            hidden = self.init_hidden(x.size(0))

        emb = self.dropout(self.embedding(x))
        packed = pack_padded_sequence(emb, lengths, batch_first=True, enforce_sorted=False)
        packed_out, hidden = self.lstm(packed, hidden)
        out, _ = pad_packed_sequence(packed_out, batch_first=True, total_length=x.size(1))

        out = self.dropout(out)
        out = torch.tanh(self.proj(out))
        logits = self.fc(out)
        return logits, hidden


def collate_fn(sentences):
    inputs = [s[:-1] for s in sentences]
    targets = [s[1:] for s in sentences]
    lengths = torch.tensor([len(s) for s in inputs])
    inputs = pad_sequence(inputs, batch_first=True, padding_value=PAD)
    targets = pad_sequence(targets, batch_first=True, padding_value=PAD)
    return inputs, targets, lengths


def build():
    vocab_size = 83
    sentences = [torch.randint(1, vocab_size, (n,)) for n in (10, 13, 7, 11)]
    inputs, targets, lengths = collate_fn(sentences)
    model = LSTMLanguageModel(vocab_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def loss_fn(output):
        logits, _ = output
        return F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1), ignore_index=PAD)

    return {"model": model, "batch": (inputs, lengths), "loss": loss_fn, "optimizer": optimizer}
