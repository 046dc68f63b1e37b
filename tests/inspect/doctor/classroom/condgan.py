# Conditional GAN: draws bars, crosses and rings on demand (labels go into both networks)
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
latent_dim, n_classes, img_size = 16, 3, 12
batch_size, lr, n_epochs = 64, 0.0006, 6
os.makedirs("samples", exist_ok=True)


def make_shapes(n):
    labels = torch.randint(0, n_classes, (n,))
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    cy, cx = 4 + 4 * torch.rand(n, 1, 1), 4 + 4 * torch.rand(n, 1, 1)
    bar = ((yy - cy).abs() < 1.5).float()
    cross = (((yy - cy).abs() < 1) | ((xx - cx).abs() < 1)).float()
    r = ((yy - cy) ** 2 + (xx - cx) ** 2).sqrt()
    ring = ((r > 2) & (r < 3.7)).float()
    pictures = torch.stack([bar, cross, ring], 1)[torch.arange(n), labels]
    pictures = (pictures + 0.05 * torch.randn(n, 12, 12)).clamp(0, 1)
    return pictures.unsqueeze(1) * 2 - 1, labels


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(n_classes, 8)
        self.model = nn.Sequential(
            nn.Linear(latent_dim + 8, 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 128),
            nn.BatchNorm1d(128, 0.8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(128, img_size * img_size),
            nn.Tanh(),
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        img = self.model(gen_input)
        return img.view(img.size(0), 1, img_size, img_size)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_embedding = nn.Embedding(n_classes, 8)
        self.model = nn.Sequential(
            nn.Linear(8 + img_size * img_size, 128),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(128, 64),
            nn.Dropout(0.3),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1),
        )

    def forward(self, img, labels):
        d_in = torch.cat((img.view(img.size(0), -1), self.label_embedding(labels)), -1)
        return self.model(d_in)


adversarial_loss = nn.BCEWithLogitsLoss()
generator, discriminator = Generator(), Discriminator()
images, classes = make_shapes(1280)
dataloader = DataLoader(TensorDataset(images, classes), batch_size=batch_size, shuffle=True)
optimizer_G = torch.optim.Adam(generator.parameters(), lr=lr, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=lr, betas=(0.5, 0.999))


def sample_image(epoch):
    """Saves two of each class."""
    z = torch.randn(2 * n_classes, latent_dim)
    wanted = torch.arange(n_classes).repeat(2)
    generator.eval()
    with torch.no_grad():
        pics = generator(z, wanted)
    generator.train()
    torch.save(pics, f"samples/{epoch}.pt")


for epoch in range(n_epochs):
    for imgs, labels in dataloader:
        n = imgs.shape[0]
        valid = torch.ones(n, 1)
        fake = torch.zeros(n, 1)

        # -----------------
        #  Train Generator
        # -----------------
        optimizer_G.zero_grad()
        z = torch.randn(n, latent_dim)
        gen_labels = torch.randint(0, n_classes, (n,))
        gen_imgs = generator(z, gen_labels)
        validity = discriminator(gen_imgs, gen_labels)
        g_loss = adversarial_loss(validity, valid)
        g_loss.backward()
        optimizer_G.step()

        # ---------------------
        #  Train Discriminator
        # ---------------------
        optimizer_D.zero_grad()
        validity_real = discriminator(imgs, labels)
        d_real_loss = adversarial_loss(validity_real, valid)
        validity_fake = discriminator(gen_imgs.detach(), gen_labels)
        d_fake_loss = adversarial_loss(validity_fake, fake)
        d_loss = (d_real_loss + d_fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

    print(f"[Epoch {epoch}/{n_epochs}] [D loss: {d_loss.item():.4f}] [G loss: {g_loss.item():.4f}]")
    sample_image(epoch)
