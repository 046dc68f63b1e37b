from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, RandomSampler


@dataclass
class TrainerConfig:
    max_iters: int = 100
    batch_size: int = 32
    learning_rate: float = 3e-4
    grad_norm_clip: float = 1.0


class Trainer:
    def __init__(self, config, model, train_set, val_set):
        self.config, self.model = config, model
        self.train_set, self.val_set = train_set, val_set
        self.callback = lambda trainer: None
        self.iter_num = 0

    @torch.no_grad()
    def evaluate(self, batches=4):
        self.model.eval()
        loader = DataLoader(self.val_set, batch_size=self.config.batch_size)
        losses = []
        for i, (x, y) in enumerate(loader):
            if i == batches:
                break
            losses.append(self.model(x, y)[1].item())
        self.model.train()
        return sum(losses) / len(losses)

    def run(self):
        config, model = self.config, self.model
        optimizer = model.configure_optimizers(config.learning_rate)
        sampler = RandomSampler(self.train_set, replacement=True, num_samples=int(1e6))
        loader = DataLoader(self.train_set, sampler=sampler, batch_size=config.batch_size)
        model.train()
        data_iter = iter(loader)
        while self.iter_num < config.max_iters:
            x, y = next(data_iter)
            logits, self.loss = model(x, y)
            model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), config.grad_norm_clip)
            optimizer.step()
            self.callback(self)
            self.iter_num += 1
