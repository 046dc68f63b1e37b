"""A conditional least-squares GAN: generator and discriminator get the class, too; two optimizers, losses of two terms."""

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(11)
np.random.seed(11)

n_classes, latent_dim, signal_len, batch_size, n_steps = 3, 8, 24, 32, 30


def real_signals(labels):
    t = np.linspace(0, 2 * np.pi, signal_len)
    freq = labels + 1
    phase = np.random.uniform(0, 2 * np.pi, len(labels))
    signal = np.sin(freq[:, None] * t[None] + phase[:, None])
    return torch.FloatTensor(signal + 0.05 * np.random.randn(len(labels), signal_len))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_emb = nn.Embedding(n_classes, n_classes)

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(latent_dim + n_classes, 32, normalize=False), *block(32, 64), nn.Linear(64, signal_len), nn.Tanh()
        )

    def forward(self, noise, labels):
        gen_input = torch.cat((self.label_emb(labels), noise), -1)
        return self.model(gen_input)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.label_embedding = nn.Embedding(n_classes, n_classes)
        self.model = nn.Sequential(
            nn.Linear(n_classes + signal_len, 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 64),
            nn.Dropout(0.2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1),
        )

    def forward(self, signal, labels):
        d_in = torch.cat((signal, self.label_embedding(labels)), -1)
        return self.model(d_in)


adversarial_loss = torch.nn.MSELoss()
generator = Generator()
discriminator = Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.001, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.001, betas=(0.5, 0.999))

for i in range(n_steps):
    labels_np = np.random.randint(0, n_classes, batch_size)
    real = real_signals(labels_np)
    labels = torch.LongTensor(labels_np)
    valid = torch.ones(batch_size, 1)
    fake = torch.zeros(batch_size, 1)

    # -----------------
    #  Train Generator
    # -----------------
    optimizer_G.zero_grad()
    z = torch.FloatTensor(np.random.normal(0, 1, (batch_size, latent_dim)))
    gen_labels = torch.LongTensor(np.random.randint(0, n_classes, batch_size))
    gen_signals = generator(z, gen_labels)
    validity = discriminator(gen_signals, gen_labels)
    g_loss = adversarial_loss(validity, valid)
    g_loss.backward()
    optimizer_G.step()

    # ---------------------
    #  Train Discriminator
    # ---------------------
    optimizer_D.zero_grad()
    validity_real = discriminator(real, labels)
    d_real_loss = adversarial_loss(validity_real, valid)
    validity_fake = discriminator(gen_signals.detach(), gen_labels)
    d_fake_loss = adversarial_loss(validity_fake, fake)
    d_loss = (d_real_loss + d_fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()

    print(f"[Step {i}/{n_steps}] [D loss: {d_loss.item():.4f}] [G loss: {g_loss.item():.4f}]")
