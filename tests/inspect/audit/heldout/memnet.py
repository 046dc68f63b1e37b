"""Questions about stories: a memory network (Sukhbaatar), three hops over sentences, a gate, padding in words and sentences."""

import badak as torch
from badak import nn

PAD = 0


class Hop(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key, self.value = nn.Linear(d, d), nn.Linear(d, d)
        self.gate = nn.Linear(d, d)

    def forward(self, u, memory, empty):
        scores = (self.key(memory) @ u.unsqueeze(-1)).squeeze(-1) / memory.shape[-1] ** 0.5
        p = scores.masked_fill(empty, float("-inf")).softmax(dim=-1)
        o = (p.unsqueeze(1) @ self.value(memory)).squeeze(1)
        g = torch.sigmoid(self.gate(u))
        return g * o + (1 - g) * u


class MemoryNetwork(nn.Module):
    def __init__(self, vocab=40, d=24, hops=3, sentences=8):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d, padding_idx=PAD)
        self.when = nn.Embedding(sentences, d)
        self.position = nn.Parameter(torch.randn(12, d) * 0.3 + 1)
        self.hops = nn.ModuleList([Hop(d) for _ in range(hops)])
        self.norm, self.answer = nn.LayerNorm(d), nn.Linear(d, vocab)

    def sentence(self, ids):
        return (self.embedding(ids) * self.position[: ids.shape[-1]]).sum(dim=-2)

    def forward(self, story, question):
        memory = self.sentence(story)  # (B, S, d)
        empty = (story == PAD).all(dim=-1)
        memory = memory + self.when(torch.arange(story.shape[1]))
        u = self.sentence(question)
        for hop in self.hops:
            u = hop(u, memory, empty)
        return self.answer(self.norm(u))


def build():
    story, question = torch.randint(1, 40, (5, 6, 7)), torch.randint(1, 40, (5, 5))
    story[:, :, 6], story[1, 4:], story[3, 5:], question[2, 4:] = PAD, PAD, PAD, PAD
    return {"model": MemoryNetwork(), "batch": {"story": story, "question": question}}
