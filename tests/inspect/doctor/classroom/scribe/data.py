import random

import torch
from torch.utils.data import Dataset

VERBS = ["mix", "chop", "boil", "fry", "bake", "whisk"]
THINGS = ["the eggs", "two onions", "some flour", "a carrot", "the rice", "cold butter"]
ENDS = ["until golden", "for ten minutes", "in a bowl", "with salt"]


def corpus(n):
    rng = random.Random(11)
    return "".join(f"{rng.choice(VERBS)} {rng.choice(THINGS)} {rng.choice(ENDS)}.\n" for _ in range(n))


class CharDataset(Dataset):
    def __init__(self, text, block_size, chars):
        self.stoi = {c: i for i, c in enumerate(chars)}
        self.itos = dict(enumerate(chars))
        self.vocab_size, self.block_size = len(chars), block_size
        self.data = self.encode(text)

    def encode(self, text):
        return torch.tensor([self.stoi[c] for c in text], dtype=torch.long)

    def decode(self, ids):
        return "".join(self.itos[i] for i in ids)

    def __len__(self):
        return len(self.data) - self.block_size

    def __getitem__(self, idx):
        chunk = self.data[idx : idx + self.block_size + 1]
        return chunk[:-1], chunk[1:]
