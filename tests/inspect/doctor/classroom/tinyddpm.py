"""A minimal denoising diffusion model (DDPM) that learns a two-dimensional spiral."""

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class SwissRoll(torch.utils.data.Dataset):
    def __init__(self, n=2000):
        t = 1.5 * math.pi * (1 + 2 * torch.rand(n))
        points = torch.stack([t * torch.cos(t), t * torch.sin(t)], dim=1) + 0.2 * torch.randn(n, 2)
        self.points = (points - points.mean(0)) / points.std(0)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i]


class SinusoidalEmbedding(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, t):
        half = self.size // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half) / (half - 1))
        args = t.float().unsqueeze(-1) * freqs.unsqueeze(0)
        return torch.cat([args.sin(), args.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, hidden=96, emb=32):
        super().__init__()
        self.time_mlp = nn.Sequential(SinusoidalEmbedding(emb), nn.Linear(emb, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.inp = nn.Linear(2, hidden)
        self.blocks = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(3)])
        self.norm = nn.LayerNorm(hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, t):
        h = self.inp(x)
        temb = self.time_mlp(t)
        for block in self.blocks:
            h = h + F.silu(block(self.norm(h + temb)))
        return self.out(h)


class NoiseScheduler:
    def __init__(self, num_timesteps=50, beta_start=1e-4, beta_end=0.2):
        self.num_timesteps = num_timesteps
        self.betas = torch.linspace(beta_start, beta_end, num_timesteps)
        self.alphas = 1.0 - self.betas
        self.alphas_cumprod = torch.cumprod(self.alphas, dim=0)
        self.sqrt_alphas_cumprod = self.alphas_cumprod.sqrt()
        self.sqrt_one_minus_alphas_cumprod = (1.0 - self.alphas_cumprod).sqrt()

    def add_noise(self, x_start, noise, timesteps):
        s1 = self.sqrt_alphas_cumprod[timesteps].reshape(-1, 1)
        s2 = self.sqrt_one_minus_alphas_cumprod[timesteps].reshape(-1, 1)
        return s1 * x_start + s2 * noise

    def step(self, eps, t, sample):
        beta = self.betas[t]
        mean = (sample - beta / self.sqrt_one_minus_alphas_cumprod[t] * eps) / self.alphas[t].sqrt()
        if t > 0:
            mean = mean + beta.sqrt() * torch.randn_like(sample)
        return mean


@torch.no_grad()
def generate(model, scheduler, n):
    model.eval()
    sample = torch.randn(n, 2)
    for t in reversed(range(scheduler.num_timesteps)):
        eps = model(sample, torch.full((n,), t))
        sample = scheduler.step(eps, t, sample)
    model.train()
    return sample


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p.detach()

    def copy_to(self, model):
        with torch.no_grad():
            for name, p in model.named_parameters():
                p.copy_(self.shadow[name])


def main(config):
    torch.manual_seed(0)
    dataset = SwissRoll()
    dataloader = torch.utils.data.DataLoader(dataset, batch_size=config.train_batch_size, shuffle=True, drop_last=True)
    model = Denoiser(config.hidden)
    noise_scheduler = NoiseScheduler(config.num_timesteps)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    total_steps = config.num_epochs * len(dataloader)
    lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 30) * max(0.05, 1 - s / total_steps))
    ema = EMA(model, 0.95)
    losses = []
    for epoch in range(config.num_epochs):
        model.train()
        for batch in dataloader:
            noise = torch.randn(batch.shape)
            timesteps = torch.randint(0, noise_scheduler.num_timesteps, (batch.shape[0],)).long()
            noisy = noise_scheduler.add_noise(batch, noise, timesteps)
            noise_pred = model(noisy, timesteps)
            loss = F.mse_loss(noise_pred, noise)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
            ema.update(model)
            losses.append(loss.detach().item())
        print(f"epoch {epoch}: loss {sum(losses[-len(dataloader) :]) / len(dataloader):.4f}")
    ema.copy_to(model)
    samples = generate(model, noise_scheduler, 400)
    gap = torch.cdist(samples, dataset.points).min(dim=1).values.mean()
    print(f"mean distance of a sample to the data: {gap:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_batch_size", type=int, default=80)
    parser.add_argument("--num_epochs", type=int, default=12)
    parser.add_argument("--learning_rate", type=float, default=2e-3)
    parser.add_argument("--num_timesteps", type=int, default=50)
    parser.add_argument("--hidden", type=int, default=96)
    main(parser.parse_args())
