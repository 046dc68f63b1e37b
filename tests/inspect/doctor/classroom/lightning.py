"""Shapes in pictures: a module with training_step and validation_step, and a trainer that checks its validation first."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split


class ShapesDataset(Dataset):
    """16x16 pictures with a bar, a square or a cross in noise."""

    def __init__(self, n=640, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        self.images = 0.3 * torch.randn(n, 1, 16, 16, generator=g)
        where = torch.randint(2, 9, (n, 2), generator=g)
        for i, (label, (r, c)) in enumerate(zip(self.labels.tolist(), where.tolist())):
            img = self.images[i, 0]
            if label == 0:
                img[r : r + 2, c : c + 6] += 1.5
            elif label == 1:
                img[r : r + 6, c : c + 2] += 1.5
            elif label == 2:
                img[r : r + 5, c : c + 5] += 1.0
            else:
                img[r + 2, c : c + 5] += 1.5
                img[r : r + 5, c + 2] += 1.5

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"image": self.images[i], "label": self.labels[i]}


class ConvBlock(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(c_out)

    def forward(self, x):
        return F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)


class LitClassifier(nn.Module):
    def __init__(self, lr=3e-3, num_classes=4):
        super().__init__()
        self.lr = lr
        self.features = nn.Sequential(ConvBlock(1, 8), ConvBlock(8, 16), ConvBlock(16, 32))
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(32 * 2 * 2, num_classes)
        self.log = {}

    def forward(self, x):
        h = self.features(x)
        return self.classifier(self.dropout(h.flatten(1)))

    def training_step(self, batch, batch_idx):
        logits = self(batch["image"])
        loss = F.cross_entropy(logits, batch["label"])
        self.log["train_loss"] = loss.item()
        return loss

    def validation_step(self, batch, batch_idx):
        logits = self(batch["image"])
        loss = F.cross_entropy(logits, batch["label"])
        acc = (logits.argmax(dim=1) == batch["label"]).float().mean()
        return {"val_loss": loss, "val_acc": acc}

    def configure_optimizers(self, total_steps):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr, weight_decay=0.01)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=self.lr, total_steps=total_steps)
        return optimizer, scheduler


class MiniTrainer:
    def __init__(self, max_epochs=2, gradient_clip_val=1.0, num_sanity_val_steps=2):
        self.max_epochs = max_epochs
        self.clip = gradient_clip_val
        self.sanity = num_sanity_val_steps
        self.history = []

    def validate(self, model, loader, limit=None):
        model.eval()
        outputs = []
        with torch.no_grad():
            for i, batch in enumerate(loader):
                if limit is not None and i >= limit:
                    break
                outputs.append(model.validation_step(batch, i))
        model.train()
        return {k: torch.stack([o[k] for o in outputs]).mean().item() for k in outputs[0]}

    def fit(self, model, train_loader, val_loader):
        optimizer, scheduler = model.configure_optimizers(self.max_epochs * len(train_loader))
        self.validate(model, val_loader, limit=self.sanity)  # sanity check
        for epoch in range(self.max_epochs):
            epoch_loss = 0.0
            for i, batch in enumerate(train_loader):
                loss = model.training_step(batch, i)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), self.clip)
                optimizer.step()
                scheduler.step()
                epoch_loss += loss.item()
            metrics = self.validate(model, val_loader)
            self.history.append(metrics)
            print(f"epoch {epoch}: train {epoch_loss / len(train_loader):.4f} {metrics}")


if __name__ == "__main__":
    torch.manual_seed(42)
    dataset = ShapesDataset()
    train_set, val_set = random_split(dataset, [512, 128], generator=torch.Generator().manual_seed(1))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=64)
    model = LitClassifier()
    trainer = MiniTrainer()
    trainer.fit(model, train_loader, val_loader)
