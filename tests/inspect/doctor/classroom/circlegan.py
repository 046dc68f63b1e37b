import torch
from torch import nn, optim

torch.manual_seed(0)
nz, batch_size, num_epochs = 16, 64, 3
g0 = torch.Generator().manual_seed(3)
angles = torch.rand(2000, generator=g0) * 6.28318
real_data = torch.stack([angles.cos(), angles.sin()], 1) * 0.7 + 0.03 * torch.randn(2000, 2, generator=g0)
dataloader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(real_data), batch_size=batch_size, shuffle=True, drop_last=True
)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz, 64), nn.BatchNorm1d(64), nn.ReLU(True), nn.Linear(64, 64), nn.ReLU(True), nn.Linear(64, 2), nn.Tanh()
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 64),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(64, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1)


netG, netD = Generator(), Discriminator()
criterion = nn.BCELoss()
real_label, fake_label = 1.0, 0.0
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
fixed_noise = torch.randn(64, nz)

for epoch in range(num_epochs):
    for _i, (real,) in enumerate(dataloader):
        # (1) D: log(D(x)) + log(1 - D(G(z)))를 최대로
        netD.zero_grad()
        label = torch.full((real.size(0),), real_label)
        output = netD(real)
        errD_real = criterion(output, label)
        errD_real.backward()
        D_x = output.mean().item()
        noise = torch.randn(real.size(0), nz)
        fake = netG(noise)
        label.fill_(fake_label)
        output = netD(fake.detach())
        errD_fake = criterion(output, label)
        errD_fake.backward()
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()
        # (2) G: log(D(G(z)))를 최대로
        netG.zero_grad()
        label.fill_(real_label)
        output = netD(fake)
        errG = criterion(output, label)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimizerG.step()
    print(
        f"[{epoch}/{num_epochs}] Loss_D {errD.item():.4f} Loss_G {errG.item():.4f} D(x) {D_x:.3f} D(G(z)) {D_G_z1:.3f}/{D_G_z2:.3f}"
    )
netG.eval()
with torch.no_grad():
    made = netG(fixed_noise)
print("반지름", made.norm(dim=1).mean().item())
