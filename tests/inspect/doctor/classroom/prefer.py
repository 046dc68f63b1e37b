"""Answers that are preferred: a small causal model and a frozen copy of it, the DPO loss over prompts and answers."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

V, D, PROMPT, ANSWER = 32, 32, 6, 8


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(PROMPT + ANSWER, D)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(D, 2, 64, dropout=0.0, batch_first=True, norm_first=True) for _ in range(2)]
        )
        self.norm = nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, V)

    def forward(self, ids):
        T = ids.shape[1]
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
        x = self.wte(ids) + self.wpe(torch.arange(T))
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.lm_head(self.norm(x))


def answer_logp(model, ids):
    """Sum of the log-probabilities of the answer's tokens."""
    logits = model(ids[:, :-1])
    logp = F.log_softmax(logits, dim=-1)
    token_logp = torch.gather(logp, 2, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return token_logp[:, PROMPT - 1 :].sum(-1)


def pairs(n):
    prompt = torch.randint(0, V, (n, PROMPT))
    good = (prompt[:, :1] + torch.arange(1, ANSWER + 1)) % V
    bad = torch.randint(0, V, (n, ANSWER))
    return torch.cat([prompt, good], 1), torch.cat([prompt, bad], 1)


def dpo_loss(policy, reference, chosen, rejected, beta=0.1):
    pc, pr = answer_logp(policy, chosen), answer_logp(policy, rejected)
    with torch.no_grad():
        rc, rr = answer_logp(reference, chosen), answer_logp(reference, rejected)
    margin = beta * ((pc - rc) - (pr - rr))
    return -F.logsigmoid(margin).mean(), (margin > 0).float().mean()


class PreferenceTrainer:
    def __init__(self, model, lr=1e-3):
        self.policy = model
        self.reference = copy.deepcopy(model).eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=lr)

    def step(self, chosen, rejected):
        loss, acc = dpo_loss(self.policy, self.reference, chosen, rejected)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        return loss.item(), acc.item()

    @torch.no_grad()
    def evaluate(self, chosen, rejected):
        self.policy.eval()
        _, acc = dpo_loss(self.policy, self.reference, chosen, rejected)
        self.policy.train()
        return acc.item()


def main():
    torch.manual_seed(14)
    chosen, rejected = pairs(400)
    val_chosen, val_rejected = pairs(80)
    trainer = PreferenceTrainer(TinyLM())
    for epoch in range(2):
        order = torch.randperm(400)
        for rows in order.split(32):
            loss, acc = trainer.step(chosen[rows], rejected[rows])
        print(epoch, loss, acc, trainer.evaluate(val_chosen, val_rejected))


main()
