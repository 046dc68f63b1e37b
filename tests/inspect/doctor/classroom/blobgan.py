"""GAN lab: generate 8x8 pictures of a bright blob. Generator and Discriminator as MLPs."""

import argparse

import numpy as np
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=6, help="number of epochs of training")
parser.add_argument("--batch_size", type=int, default=64, help="size of the batches")
parser.add_argument("--lr", type=float, default=0.0005, help="adam: learning rate")
parser.add_argument("--b1", type=float, default=0.5, help="adam: decay of first order momentum of gradient")
parser.add_argument("--b2", type=float, default=0.999, help="adam: decay of second order momentum of gradient")
parser.add_argument("--latent_dim", type=int, default=16, help="dimensionality of the latent space")
opt = parser.parse_args()
print(opt)
torch.manual_seed(0)
np.random.seed(0)

img_shape = (1, 8, 8)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 64, normalize=False), *block(64, 128), nn.Linear(128, int(np.prod(img_shape))), nn.Tanh()
        )

    def forward(self, z):
        img = self.model(z)
        return img.view(img.size(0), *img_shape)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(int(np.prod(img_shape)), 128), nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(128, 64), nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, img):
        img_flat = img.view(img.size(0), -1)
        return self.model(img_flat)


def make_blobs(n):
    yy, xx = np.mgrid[0:8, 0:8]
    cy, cx = np.random.uniform(2, 5, (2, n, 1, 1))
    img = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 3.0)
    return torch.tensor(2 * img - 1, dtype=torch.float32).unsqueeze(1)


dataloader = torch.utils.data.DataLoader(make_blobs(1920), batch_size=opt.batch_size, shuffle=True)

adversarial_loss = torch.nn.BCELoss()
generator = Generator()
discriminator = Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))

for epoch in range(opt.n_epochs):
    for _i, imgs in enumerate(dataloader):
        # Adversarial ground truths
        valid = torch.ones(imgs.size(0), 1)
        fake = torch.zeros(imgs.size(0), 1)

        # -----------------
        #  Train Generator
        # -----------------
        optimizer_G.zero_grad()
        z = torch.randn(imgs.size(0), opt.latent_dim)
        gen_imgs = generator(z)
        g_loss = adversarial_loss(discriminator(gen_imgs), valid)
        g_loss.backward()
        optimizer_G.step()

        # ---------------------
        #  Train Discriminator
        # ---------------------
        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(imgs), valid)
        fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

    print(f"[Epoch {epoch}/{opt.n_epochs}] [D loss: {d_loss.item():.4f}] [G loss: {g_loss.item():.4f}]")

generator.eval()
with torch.no_grad():
    samples = generator(torch.randn(500, opt.latent_dim))
real = make_blobs(500)
print("mean of samples", samples.mean().item(), "of the data", real.mean().item())
print("spread of samples", samples.std(0).mean().item(), "of the data", real.std(0).mean().item())
