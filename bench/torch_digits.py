"""The MNIST experiment once more, in PyTorch: the same model from the same seed over the same batches."""

import math

import numpy as np
import torch
from torch import nn

from badak.training.image_classification import Pictures
from badak.training.presets import ClassifySetup


class TorchClassifier(nn.Module):
    """badak.models.Classifier, module by module in the same order, so that one seed gives the same weights."""

    def __init__(self, config):
        super().__init__()
        C, T = config.d_model, config.rows
        self.rows = nn.Linear(config.row_width, C)
        angle = torch.arange(T)[:, None] * torch.exp(torch.arange(0, C, 2) * (-math.log(10000.0) / C))
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", table, persistent=False)
        self.transformer = nn.Transformer(
            C, config.heads, config.encoder_layers, config.decoder_layers, config.feedforward_ratio * C, config.dropout,
            batch_first=True, norm_first=config.norm_first,
        )  # fmt: skip
        self.head = nn.Linear(T * C, config.classes)

    def forward(self, pictures):
        h = self.rows(pictures) + self.pe
        return self.head(self.transformer(h, h).flatten(1))


def accuracy_after_training(setup: ClassifySetup, experiment: Pictures) -> float:
    """Train the twin as `setup` says, with the batches of a fresh `experiment`; the accuracy on its tests."""
    config = setup.train
    torch.manual_seed(config.seed)
    model = TorchClassifier(setup.model)
    last_step = config.last_step(len(experiment.loader))
    optimizer = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[config.optimizer](
        model.parameters(), lr=config.lr, betas=(0.9, config.beta2), weight_decay=config.weight_decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: config.rate(step, last_step))
    for _ in range(config.epochs):
        for pictures, labels in experiment.loader:
            loss = nn.functional.cross_entropy(model(torch.from_numpy(pictures.numpy())), torch.from_numpy(labels.numpy()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        right = [model(torch.from_numpy(x.numpy())).argmax(1).numpy() == y.numpy() for x, y in experiment.validation]
    return float(np.concatenate(right).mean())
