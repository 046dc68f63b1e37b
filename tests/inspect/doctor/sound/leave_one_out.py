"""REINFORCE with each sample's baseline from the others (RLOO): a policy writes codes of four letters, a judge counts."""

import torch
from torch import nn

torch.manual_seed(31)
LETTERS, LENGTH, K = 5, 4, 6
SECRET = torch.randint(LETTERS, (8, LENGTH))  # one for each prompt


class Writer(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.prompt, self.letter = nn.Embedding(8, d), nn.Embedding(LETTERS + 1, d)
        self.cell, self.out = nn.GRUCell(d, d), nn.Linear(d, LETTERS)

    def write(self, prompt):
        h, last, ids, logps = self.prompt(prompt), torch.full_like(prompt, LETTERS), [], []
        for _ in range(LENGTH):
            h = self.cell(self.letter(last), h)
            dist = torch.distributions.Categorical(logits=self.out(h))
            last = dist.sample()
            ids.append(last)
            logps.append(dist.log_prob(last))
        return torch.stack(ids, 1), torch.stack(logps, 1).sum(1)


writer = Writer()
optimizer = torch.optim.Adam(writer.parameters(), lr=1e-2)
for step in range(120):
    prompts = torch.randint(8, (12,))
    ids, logp = writer.write(prompts.repeat_interleave(K))
    reward = (ids == SECRET[prompts].repeat_interleave(K, dim=0)).float().mean(1).view(12, K)
    others = (reward.sum(1, keepdim=True) - reward) / (K - 1)
    loss = -((reward - others) * logp.view(12, K)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, reward.mean().item())
