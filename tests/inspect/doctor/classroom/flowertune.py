# Transfer learning: fine-tune the head of a pretrained network on a small flower set.
# Follows the structure of the tutorial (phases, running_corrects, best_model_wts).
import copy
import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
mean = torch.tensor([0.48, 0.45, 0.41])
std = torch.tensor([0.23, 0.22, 0.22])


def draw_petals(n, petals, g):
    """n pictures 3 x 24 x 24, values 0..1, of something with that many petals."""
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 24), torch.linspace(-1, 1, 24), indexing="ij")
    radius, angle = (xx**2 + yy**2).sqrt(), torch.atan2(yy, xx)
    turn = torch.rand(n, 1, 1, generator=g) * 6.28
    shape = torch.sigmoid(12 * (0.5 + 0.3 * torch.cos(petals * angle + turn) - radius))
    tint = 0.3 + 0.5 * torch.rand(n, 3, 1, 1, generator=g)
    noise = 0.08 * torch.randn(n, 3, 24, 24, generator=g)
    return (0.15 + tint * shape.unsqueeze(1) + noise).clamp(0, 1)


class Flowers(Dataset):
    def __init__(self, per_class, kinds, seed, transform=None):
        g = torch.Generator().manual_seed(seed)
        self.images = torch.cat([draw_petals(per_class, k, g) for k in kinds])
        self.labels = torch.arange(len(kinds)).repeat_interleave(per_class)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        if self.transform:
            image = self.transform(image)
        return image, self.labels[i]


def normalize(image):
    return (image - mean[:, None, None]) / std[:, None, None]


def train_transform(image):
    if torch.rand(()) < 0.5:
        image = torch.flip(image, dims=[2])
    return normalize(image)


data_transforms = {"train": train_transform, "val": normalize}


class Backbone(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(128, num_classes)

    def forward(self, x):
        x = self.pool(self.features(x))
        x = torch.flatten(x, 1)
        return self.fc(self.dropout(x))


# --- step 0: the "pretrained" network (other flowers, all layers) ---------------------
pretrained = Backbone(3)
opt0 = optim.Adam(pretrained.parameters(), lr=2e-3)
source = DataLoader(Flowers(120, [2, 4, 9], seed=1, transform=train_transform), batch_size=24, shuffle=True)
for _ in range(2):
    for images, labels in source:
        opt0.zero_grad()
        nn.functional.cross_entropy(pretrained(images), labels).backward()
        opt0.step()
torch.save(pretrained.state_dict(), "pretrained.pt")

# --- step 1: our own data ------------------------------------------------------------
image_datasets = {
    "train": Flowers(60, [3, 5, 6, 8], seed=2, transform=data_transforms["train"]),
    "val": Flowers(25, [3, 5, 6, 8], seed=3, transform=data_transforms["val"]),
}
dataloaders = {
    "train": DataLoader(image_datasets["train"], batch_size=16, shuffle=True),
    "val": DataLoader(image_datasets["val"], batch_size=25),
}
dataset_sizes = {x: len(image_datasets[x]) for x in ["train", "val"]}

model_ft = Backbone(3)
model_ft.load_state_dict(torch.load("pretrained.pt"))
for param in model_ft.features[:4].parameters():
    param.requires_grad = False
model_ft.fc = nn.Linear(model_ft.fc.in_features, 4)

criterion = nn.CrossEntropyLoss()
optimizer_ft = optim.SGD([p for p in model_ft.parameters() if p.requires_grad], lr=0.02, momentum=0.9)
exp_lr_scheduler = lr_scheduler.StepLR(optimizer_ft, step_size=4, gamma=0.3)


def train_model(model, criterion, optimizer, scheduler, num_epochs=6):
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
                running_corrects += torch.sum(preds == labels.data).item()
            if phase == "train":
                scheduler.step()

            epoch_loss = running_loss / dataset_sizes[phase]
            epoch_acc = running_corrects / dataset_sizes[phase]
            print(f"{phase} Loss: {epoch_loss:.4f} Acc: {epoch_acc:.4f}")
            if phase == "val" and epoch_acc > best_acc:
                best_acc = epoch_acc
                best_model_wts = copy.deepcopy(model.state_dict())

    print(f"done in {time.time() - since:.1f}s, best val Acc: {best_acc:.4f}")
    model.load_state_dict(best_model_wts)
    return model


model_ft = train_model(model_ft, criterion, optimizer_ft, exp_lr_scheduler)
