"""Transfer learning: a body trained on many patterns is fine-tuned to tell two (after the transfer learning tutorial)."""

import copy
import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)


def pattern(kind):
    """One picture of stripes, 3 x 16 x 16, whose direction and width depend on the kind."""
    angle = torch.tensor(kind % 6 * 3.14159 / 6)
    width = 0.7 + 0.5 * (kind // 6)
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    wave = torch.sin((x * torch.cos(angle) + y * torch.sin(angle)) * width + 6.28 * torch.rand(1))
    return (0.5 + 0.3 * wave * torch.rand(3, 1, 1) + 0.15 * torch.randn(3, 16, 16)).clamp(0, 1)


def pictures(n, kinds):
    labels = torch.randint(len(kinds), (n,))
    return torch.stack([pattern(kinds[i]) for i in labels.tolist()]), labels


class SmallResNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 24, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(24)
        self.conv2 = nn.Conv2d(24, 24, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(24)
        self.conv3 = nn.Conv2d(24, 48, 3, stride=2, padding=1)
        self.bn3 = nn.BatchNorm2d(48)
        self.relu = nn.ReLU()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(48, num_classes)

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(x + self.bn2(self.conv2(x)))
        x = self.relu(self.bn3(self.conv3(x)))
        return self.fc(self.avgpool(x).flatten(1))


mean, std = torch.tensor([0.5, 0.5, 0.5]).view(3, 1, 1), torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
all_kinds = list(range(12))

# ---------------------------------------------------------------- "pretrained" weights
x, y = pictures(1280, all_kinds)
source_loader = DataLoader(TensorDataset((x - mean) / std, y), batch_size=64, shuffle=True)
source = SmallResNet(12)
source_opt = optim.Adam(source.parameters(), lr=2e-3)
for epoch in range(3):
    for inputs, labels in source_loader:
        source_opt.zero_grad()
        source_loss = nn.functional.cross_entropy(source(inputs), labels)
        source_loss.backward()
        source_opt.step()
    print(f"pretraining epoch {epoch} loss {source_loss.item():.3f}")
torch.save(source.state_dict(), "small_resnet.pth")

# ---------------------------------------------------------------- bees and ants
image_datasets = {}
for phase, n in (("train", 240), ("val", 160)):
    x, y = pictures(n, [2, 9])
    image_datasets[phase] = TensorDataset((x - mean) / std, y)
dataloaders = {p: DataLoader(image_datasets[p], batch_size=12, shuffle=p == "train") for p in ("train", "val")}
dataset_sizes = {p: len(image_datasets[p]) for p in ("train", "val")}


def train_model(model, criterion, optimizer, scheduler, num_epochs=3):
    since = time.time()
    best_model_wts = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        print(f"Epoch {epoch}/{num_epochs - 1}")
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss = 0.0
            running_corrects = 0
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == "train":
                scheduler.step()
            epoch_loss = running_loss / dataset_sizes[phase]
            epoch_acc = running_corrects.double() / dataset_sizes[phase]
            print(f"{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}")
            if phase == "val" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())
    print(f"Training complete in {time.time() - since:.0f}s, best val acc {best_acc:.4f}")
    model.load_state_dict(best_model_wts)
    return model


model_ft = SmallResNet(12)
model_ft.load_state_dict(torch.load("small_resnet.pth"))
for param in model_ft.parameters():
    param.requires_grad = False
model_ft.fc = nn.Linear(model_ft.fc.in_features, 2)
criterion = nn.CrossEntropyLoss()
optimizer_ft = optim.SGD(model_ft.fc.parameters(), lr=0.05, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=2, gamma=0.1)
model_ft = train_model(model_ft, criterion, optimizer_ft, exp_lr_scheduler)
