"""Programs as students write them, and mistakes written into their texts: `python -m tests.inspect.doctor.classroom_faults [PROGRAM ...]`.

A fault whose code is "" is in no list of the doctor's. What is said of it is printed, to be read.
"""

# ruff: noqa: E501  (what is sought stands in one line)
import sys
from pathlib import Path

from tests.inspect.doctor.held_out import EVERYWHERE, examined, names_of, swap, text_of, warm
from tests.inspect.edits import edits_of

PLACE = Path(__file__).parent / "classroom"
NAMES = names_of(PLACE)
LEFT_OUT = {  # edits of any program that are no fault in this one
    "chordlm": ("loss under no_grad",),  # of what writes at the end
    "pararank": ("loss under no_grad", "seed in the loop"),  # of its test; of the loop that makes the texts
    "datefmt": ("eval forgotten", "train forgotten"),  # nothing in it is random
    "intenttrainer": ("train forgotten",),  # the edit takes the training away
    "flowertune": ("seed in the loop",),  # of two epochs of what it begins with
    "screwsae": (
        "eval forgotten",
        "train forgotten",
        "loss under no_grad",
    ),  # nothing in it is random in training alone; of its test
    "minidistil": ("train forgotten",),  # its test puts the mode back
    "playlist": ("loss under no_grad",),  # of its test
    "mixstars": (
        "eval forgotten",
        "train forgotten",
        "loss under no_grad",
    ),  # what is tested is a model of its own, in eval mode from the first
    "condgan": ("eval forgotten",),  # of samples: many draw them in train mode
    "tinyddpm": ("eval forgotten", "train forgotten"),  # nothing in it is random in training alone
    "glyphvae": ("eval forgotten", "train forgotten"),  # nothing in it is random in training alone
    "blobgan": ("eval forgotten",),  # of samples: many draw them in train mode
    "airline": ("eval forgotten",),  # nothing in it is random
    "movielens": ("eval forgotten", "train forgotten"),  # the same
    "teapots": ("eval forgotten", "train forgotten"),  # nothing in it is random in training alone
    "solar": ("eval forgotten",),  # of what is printed at the end, behind a test
    "kiln": ("train forgotten",),  # each fold has a new model
    "tutor": ("train forgotten",),  # its test puts the mode back
    "scribe": ("eval forgotten", "train forgotten"),  # of what writes at the end, and of a model that is in train mode
    "polyps": ("rate far too high",),  # normalised: it learns
    "galaxies": ("rate far too high", "train forgotten"),  # what it gives is normalised, and it is never in eval mode
    "sentiment": ("loss under no_grad",),
    "sessions": ("loss under no_grad",),  # of its test
    "survive": ("loss under no_grad",),
    "faces": ("rate far too high",),  # normalised: it learns
    "newsbag": ("rate far too high",),  # clipped, as it is with 1
    "fashion": ("eval forgotten", "train forgotten"),  # of a generator that draws nothing
    "leaves": ("rate far too high",),  # OneCycleLR has a rate of its own
    "signatures": ("rate far too high",),  # normalised: it learns
    "phrases": ("eval forgotten", "train forgotten"),
    "glyphs": ("eval forgotten", "cleared before the step"),  # of the probe after the training
    "dinner": ("loss under no_grad",),  # fails, in PyTorch too
    "siamese": ("rate far too high",),
    "ner": ("loss under no_grad",),
    "unet": ("rate far too high",),  # normalised: it learns
    "clip": ("rate far too high",),
    "vqvae": ("eval forgotten", "train forgotten"),
    "lrfinder": ("rate far too high", "rate far too low", "seed in the loop"),
    "denoise": ("eval forgotten",),
    "forecast": ("eval forgotten", "train forgotten"),  # it has nothing that is random
    "line": ("eval forgotten", "train forgotten"),
    "vitema": ("train forgotten",),
    "distill": ("train forgotten",),
    "kfold": ("train forgotten",),  # each fold has a new model
    "copytask": ("rate far too high",),  # the schedule of Noam makes it 3 times the usual
    "accumulate": ("step before backward",),  # fails, in PyTorch too
    "dcgan": ("step before backward",),
    "wordlm": ("rate far too high",),  # six times: clipped, it learns
    "triplet": ("rate far too high",),  # what it gives is normalised
    "simclr": ("rate far too high",),
    "statecarry": ("loss under no_grad",),  # the first model that is called is the test's
    "babygpt": ("seed in the loop",),  # the first loop makes the text
    "masksight": ("eval forgotten", "train forgotten"),  # what is random in it is so in eval mode, too
    "meanteacher": ("train forgotten", "rate far too high"),  # the student is never in eval mode; and it learns
    "unfreeze": ("rate far too low",),  # the body has a rate of its own
    "smoothnet": ("eval forgotten",),  # the copy is tested, which stays in eval mode
    "pinn": ("rate far too high",),
    "dqn": ("eval forgotten", "train forgotten"),
    "convvae": ("eval forgotten", "train forgotten"),  # nothing in it is random in training alone
    "tinyllama": ("eval forgotten", "train forgotten", "step before backward"),  # the last fails, in PyTorch too
    "ncf": ("loss under no_grad",),  # the first model that is called is the test's
    "byol": ("rate far too high", "seed in the loop"),  # what it gives is normalised; the loop of the probe comes later
    "recipes": ("loss under no_grad",),  # the first model that is called is the test's
    "roads": ("rate far too high",),  # normalised: it learns
    "cutvit": ("rate far too high", "rate far too low"),  # the schedule writes it
    "molecules": ("eval forgotten", "train forgotten"),  # nothing in it is random
    "moco": ("train forgotten",),  # nothing is tested before it
    "recipe": ("rate far too high", "rate far too low", "train forgotten"),  # a schedule writes the rate; the mode is put back
    "teachernet": ("train forgotten",),  # each model is trained before it is tested
    "answers": ("train forgotten",),  # the edit takes the training away
    "moons": ("eval forgotten", "train forgotten", "list of layers"),  # nothing in it is random; and the last fails, in PyTorch too
    "wave": ("eval forgotten", "train forgotten"),  # nothing in it is random
    "ordinal": ("list of layers",),  # fails, in PyTorch too
    "rotnet": ("eval forgotten",),  # of the probe, whose features are tested before
    "demand": ("eval forgotten", "train forgotten", "rate far too high"),  # nothing in it is random; a schedule writes the rate
    "weaves": ("rate far too high",),  # a schedule writes it
    "baskets": ("train forgotten",),  # the mode is put back
    "romanize": ("loss under no_grad",),  # of its test
    "twotower": ("loss under no_grad", "rate far too high"),  # the same; what it compares is normalised
}
EDITS = {
    "spirals": [
        ("softmax at the end", "BADAK-202", "nn.Linear(64, 3)\n", "nn.Linear(64, 3), nn.Softmax(dim=1)\n"),
        ("sigmoid at the end", "BADAK-202", "nn.Linear(64, 3)\n", "nn.Linear(64, 3), nn.Sigmoid()\n"),
        ("relu at the end", "", "nn.Linear(64, 3)\n", "nn.Linear(64, 3), nn.ReLU()\n"),
        ("dropout at the end", "", "nn.Linear(64, 3)\n", "nn.Linear(64, 3), nn.Dropout(0.5)\n"),
        ("tested on train", "", "test(test_loader))", "test(train_loader))"),
        ("schedule by batch", "", "        running += loss.item()\n    scheduler.step()", "        running += loss.item()\n        scheduler.step()"),
        ("running sum of graphs", "BADAK-232", "running += loss.item()", "running += loss"),
        ("weight decay", "", "lr=0.005", "lr=0.005, weight_decay=10.0"),
        ("clipped away", "", "        optimizer.step()", "        nn.utils.clip_grad_norm_(model.parameters(), 1e-6)\n        optimizer.step()"),
        ("rate 100 times", "BADAK-213", "lr=0.005", "lr=0.5"),
        ("labels apart", "BADAK-256", "    for xb, yb in train_loader:", "    for xb, yb in train_loader:\n        yb = yb[torch.randperm(len(yb))]"),
        ("label as input", "", "nn.Linear(2, 64)", "nn.Linear(5, 64)"),
        ("classes in order", "", "train_loader = DataLoader(train_set, batch_size=32, shuffle=True)", "o = c[:384].argsort()\ntrain_loader = DataLoader(TensorDataset(X[:384][o], c[:384][o]), batch_size=32)"),
        ("optimizer of another", "BADAK-212", "optimizer = torch", "import copy\nold, model = model, copy.deepcopy(model)\nmodel.requires_grad_()\nmodel_params = old.parameters\noptimizer = torch"),
        ("item", "", "loss.backward()", "loss = torch.tensor(loss.item(), requires_grad=True)\n        loss.backward()"),
        ("new optimizer each step", "", "        optimizer.zero_grad()", "        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)\n        optimizer.zero_grad()"),
        ("overlapping split", "", "random_split(TensorDataset(X, c), [384, 96])", "TensorDataset(X[:400], c[:400]), TensorDataset(X[304:400], c[304:400])"),
    ],
    "trainer": [
        ("tested on train", "", 'self.data["val"]', 'self.data["train"]'),
        ("schedule by batch", "", "        self.opt.step()\n        return", "        self.opt.step()\n        self.sched.step()\n        return"),
        ("log_softmax", "BADAK-203", "return self.fc(x.view(x.size(0), -1))", "return self.fc(x.view(x.size(0), -1)).log_softmax(1)"),
        ("softmax over rows", "BADAK-230", "nn.CrossEntropyLoss()", "lambda z, y: nn.functional.nll_loss(torch.log_softmax(z, 0), y)"),
        ("dead", "BADAK-215", "self.opt = ", "nn.init.constant_(model.features[1].bias, -50.0)\n        self.opt = "),
        ("view for transpose", "", "        x = self.features(x)\n", "        x = self.features(x).view(x.size(0), 9, 16).flatten(1)\n"),
        ("batch of one", "", "order.split(24)", "order.split(1)"),
        ("bytes", "BADAK-223", "torch.randn(n, 1, 12, 12) * 0.5", "torch.randn(n, 1, 12, 12).abs() * 80"),
        ("train once", "BADAK-207", "            self.model.train()\n            order", "            order"),
        ("classes in order", "", "order = torch.randperm(len(x))", "order = y.argsort()"),
        ("one-hot labels", "", "return x, y\n\n\nif", "return x, nn.functional.one_hot(y, 4)\n\n\nif"),
        ("frozen by mistake", "", "self.opt = ", "for p in model.parameters(): p.requires_grad = p.dim() < 4\n        self.opt = "),
    ],
    "chargpt": [
        ("not shifted", "BADAK-204", "source[i + 1 : i + block_size + 1]", "source[i : i + block_size]"),
        ("two ahead", "BADAK-205", "source[i + 1 : i + block_size + 1]", "source[i + 2 : i + block_size + 2]"),
        ("estimate leaves eval", "BADAK-207", "    model.train()\n    return out", "    return out"),
        ("estimate in train mode", "BADAK-206", "    model.eval()\n", ""),
        ("mask inverted", "BADAK-227", "== 0, float", "== 1, float"),
        ("no mask", "", "        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float(\"-inf\"))\n", ""),
        ("over the batch", "BADAK-230", "F.softmax(att, dim=-1)", "F.softmax(att.masked_fill(att < -1e9, -30), dim=0)"),
        ("heads by view", "", "z.view(B, T, n_head, C // n_head).transpose(1, 2) for", "z.view(B, n_head, T, C // n_head) for"),
        ("merged by view", "", "(att @ v).transpose(1, 2).contiguous().view(B, T, C)", "(att @ v).contiguous().view(B, T, C)"),
        ("rate to nothing", "", "learning_rate * (0.1 + 0.45 * (1 + math.cos(math.pi * (it - warmup) / (max_iters - warmup))))", "max(0.0, learning_rate * (1 - it / 10))"),
        ("clipped away", "", "model.parameters(), 1.0)", "model.parameters(), 1e-8)"),
        ("clip before backward", "", "    loss.backward()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    loss.backward()"),
        ("same batch", "BADAK-222", '    xb, yb = get_batch("train")', '    torch.manual_seed(1)\n    xb, yb = get_batch("train")'),
        ("validation is trained on", "", 'xb, yb = get_batch("train")', 'xb, yb = get_batch("val")'),
        ("no positions", "", "+ self.wpe(pos)", "+ 0 * self.wpe(pos)"),
        ("head detached", "BADAK-209", "self.ln_f(x)", "self.ln_f(x.detach())"),
        ("in a list", "BADAK-211", "nn.ModuleList([Block() for _ in range(n_layer)])", "[Block() for _ in range(n_layer)]"),
        ("one block twice", "", "nn.ModuleList([Block() for _ in range(n_layer)])", "nn.ModuleList([Block()] * n_layer)"),
        ("large head", "BADAK-210", "decay = ", "nn.init.normal_(model.lm_head.weight, std=3.0)\ndecay = "),
        ("total of graphs", "BADAK-232", "    loss.backward()", "    total = loss if it % 10 == 0 else total + loss\n    loss.backward()"),
        ("weight decay", "", '"weight_decay": 0.1', '"weight_decay": 30.0'),
    ],
    "dcgan": [
        ("fake not detached, D cleared", "", "netG.zero_grad()", "pass"),
        ("D not cleared", "BADAK-201", "    netD.zero_grad()", "    pass"),
        ("generator cut", "BADAK-209", "errG = criterion(netD(fake), label)", "errG = criterion(netD(fake.detach()), label)"),
        ("optimizer of D twice", "", "optimizerG = torch.optim.Adam(netG", "optimizerG = torch.optim.Adam(netD"),
        ("false labels", "", "    label.fill_(1.0)", "    label.fill_(0.0)"),
        ("sigmoid twice", "BADAK-202", "nn.BCELoss()", "nn.BCEWithLogitsLoss()"),
    ],
    "simclr": [
        ("projector forgotten", "BADAK-212", "list(encoder.parameters()) + list(projector.parameters())", "list(encoder.parameters())"),
        ("self not hidden", "", "    sim = sim.masked_fill(torch.eye(n, dtype=torch.bool), -1e9)\n", ""),
        ("normalised over rows", "", "F.normalize(z, dim=1)", "F.normalize(z, dim=0)"),
        ("softmax", "BADAK-202", "F.cross_entropy(sim, target)", "F.cross_entropy(sim.softmax(1), target)"),
        ("detached", "BADAK-209", "projector(encoder(torch.cat([a, b])))", "projector(encoder(torch.cat([a, b])).detach())"),
        ("target is itself", "", "target = (torch.arange(n) + n // 2) % n", "target = torch.arange(n)"),
        ("no temperature", "", "/ tau", "* 1000"),
    ],
    "reverse": [
        ("over the batch", "BADAK-230", "F.softmax(scores, dim=-1)", "F.softmax(scores, dim=0)"),
        ("over the one query", "BADAK-230", "F.softmax(scores, dim=-1)", "F.softmax(scores, dim=1)"),
        ("padding counted", "BADAK-231", "nn.CrossEntropyLoss(ignore_index=PAD)", "nn.CrossEntropyLoss()"),
        ("encoder's optimizer not stepped", "", "    enc_opt.step()\n", ""),
        ("decoder not cleared", "BADAK-201", "    dec_opt.zero_grad()\n", ""),
        ("both optimizers of one", "BADAK-212", "dec_opt = torch.optim.Adam(decoder", "dec_opt = torch.optim.Adam(encoder"),
        ("decoder tested in train mode", "BADAK-206", "    decoder.eval()\n", ""),
        ("tested in train mode", "BADAK-206", "    encoder.eval()\n    decoder.eval()\n", ""),
        ("total of graphs", "BADAK-232", "return loss.item() / tgt.size(1)", "return loss / tgt.size(1)"),
        ("mask inverted", "BADAK-227", "token, loss, hide = torch.full((16, 1), SOS), 0, src == PAD", "token, loss, hide = torch.full((16, 1), SOS), 0, src != PAD"),
        ("batch_first forgotten", "", "self.gru = nn.GRU(H, H, batch_first=True)", "self.gru = nn.GRU(H, H)"),
        ("only the last word", "", "loss += criterion(logits, tgt[:, t]) if", "loss = criterion(logits, tgt[:, t]) if"),
        ("encoder cut", "BADAK-209", "encoded, hidden = encoder(src)\n    token, loss", "encoded, hidden = (z.detach() for z in encoder(src))\n    token, loss"),
    ],
    "forecast": [
        ("broadcast", "", "torch.tensor(y, dtype=torch.float32).unsqueeze(-1)", "torch.tensor(y, dtype=torch.float32)"),
        ("not scaled", "BADAK-223", "    series = (series - mean) / std\n", ""),
        ("scaled by the test as well", "", "series[:cut].mean(), series[:cut].std()", "series.mean(), series.std()"),
        ("tested on train", "", "loss_fn(model(x_test), y_test)", "loss_fn(model(x_train), y_train)"),
        ("window holds the label", "", "y = series[length:]", "y = series[length - 1 : -1]"),
        ("batch_first forgotten", "", "nn.LSTM(1, hidden, batch_first=True)", "nn.LSTM(1, hidden)"),
        ("rate 100 times", "BADAK-213", "default=0.01", "default=1.0"),
        ("never steps", "", "            optimizer.step()\n", ""),
        ("test rows trained", "", "windows(series[:cut], 12)", "windows(series, 12)"),
    ],
    "vitema": [
        ("over queries", "BADAK-230", "dots.softmax(dim=-1)", "dots.softmax(dim=-2)"),
        ("over the batch", "BADAK-230", "dots.softmax(dim=-1)", "dots.softmax(dim=0)"),
        ("heads by view", "", "t.reshape(b, n, self.heads, -1).transpose(1, 2) for", "t.reshape(b, self.heads, n, -1) for"),
        ("merged by view", "", "out.transpose(1, 2).reshape(b, n, d)", "out.reshape(b, n, d)"),
        ("softmax", "BADAK-202", "return self.head(self.layers(x)[:, 0])", "return self.head(self.layers(x)[:, 0]).softmax(-1)"),
        ("rate 0", "", "lambda s: min(1.0, (s + 1) / 10)", "lambda s: s // 100"),
        ("falls to 0", "", "lambda s: min(1.0, (s + 1) / 10)", "lambda s: max(0.0, 1 - s / 8)"),
        ("scheduler first", "", "    optimizer.step()\n    schedule.step()", "    schedule.step()\n    optimizer.step()"),
        ("ema learns by no step", "", "lambda s: min(1.0, (s + 1) / 10)", "lambda s: 1e-9"),
        ("residual of 0", "BADAK-217", "x + self.attn(self.norm1(x))", "x + 0 * self.attn(self.norm1(x))"),
        ("optimizer of the copy", "BADAK-212", "AdamW(model.parameters()", "AdamW(ema.requires_grad_().parameters()"),
        ("same batch", "BADAK-222", "    x, y = draw()\n", "    torch.manual_seed(3)\n    x, y = draw()\n"),
        ("loss of smoothing twice", "BADAK-203", "criterion(model(x), y)", "criterion(model(x).log_softmax(-1), y)"),
    ],
    "berttune": [
        ("mask inverted", "BADAK-227", "\"attention_mask\": mask,", "\"attention_mask\": 1 - mask,"),
        ("eval forgotten by hand", "BADAK-206", "    model.eval()\n", ""),
        ("schedule by epochs", "", "num_training_steps=epochs * per_epoch", "num_training_steps=epochs + 4"),
        ("padding seen", "", "\"attention_mask\": mask, ", ""),
        ("stale head", "BADAK-212", "epochs, per_epoch", "model.classifier = torch.nn.Linear(32, 3)\nepochs, per_epoch"),
        ("rate of a CNN", "BADAK-213", "lr=5e-4", "lr=1.0"),
        ("never cleared", "BADAK-201", "        optimizer.zero_grad()\n", ""),
        ("ids of nothing", "BADAK-221", '"input_ids": ids * mask', '"input_ids": (ids * mask) * 0 + 5'),
        ("softmax", "BADAK-202", "        outputs.loss.backward()", "        torch.nn.functional.cross_entropy(outputs.logits.softmax(-1), inputs['labels']).backward()"),
    ],
    "kfold": [
        ("model of all folds", "", "for k in range(5):\n", "model = nn.Sequential(nn.Linear(D, 32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, 1))\nfor k in range(5):\n"),
        ("scaled by all", "", "X[train_idx].mean(0), X[train_idx].std(0)", "X.mean(0), X.std(0)"),
        ("not scaled", "BADAK-223", "(X[train_idx] - mu) / sigma, (X[test_idx] - mu) / sigma", "X[train_idx], X[test_idx]"),
        ("broadcast", "", "+ 0.1 * torch.randn(N)).unsqueeze(1)", "+ 0.1 * torch.randn(N))"),
        ("tested on train", "", "mse_loss(model(Xte), y[test_idx])", "mse_loss(model(Xtr), y[train_idx])"),
        ("optimizer of the first fold", "BADAK-212", "    opt = torch.optim.Adam(model.parameters(), lr=1e-2)", "    opt = torch.optim.Adam(model.parameters(), lr=1e-2)\n    model = nn.Sequential(nn.Linear(D, 32), nn.ReLU(), nn.Dropout(0.05), nn.Linear(32, 1))"),
        ("rows apart", "", "y[train_idx][i]", "y[i]"),
    ],
    "denoise": [
        ("clean goes in", "", "return self.clean[i] + 0.2 * torch.randn(1, 12, 12), self.clean[i]", "return self.clean[i], self.clean[i]"),
        ("loss of wrong pair", "", "loss = mse(net(noisy), clean)", "loss = mse(net(noisy), net(noisy))"),
        ("held is train", "", "DataLoader(Stripes(40, 2), 40)", "DataLoader(Stripes(160, 1), 40)"),
        ("dead", "BADAK-215", "    net = AutoEncoder()", "    net = AutoEncoder()\n    nn.init.constant_(net.encoder[0].bias, -50.0)"),
        ("index", "", "return self.clean[i] + 0.2 * torch.randn(1, 12, 12), self.clean[i]", "return self.clean[0] + 0.2 * torch.randn(1, 12, 12), self.clean[0]"),
        ("by no_grad", "BADAK-226", "            loss = mse(net(noisy), clean)", "            with torch.no_grad(): out = net(noisy)\n            loss = mse(out, clean)"),
        ("encoder cut", "BADAK-209", "self.decoder(self.encoder(x))", "self.decoder(self.encoder(x).detach())"),
        ("bytes", "BADAK-223", "0.5 + 0.5 * torch.sin", "128 + 127 * torch.sin"),
        ("nan", "BADAK-220", "self.decoder(self.encoder(x))", "self.decoder(self.encoder(x).sub(0.3).log())"),
    ],
    "lrfinder": [
        ("never cleared", "BADAK-201", "        opt.zero_grad()\n", ""),
        ("softmax", "BADAK-202", "nn.Linear(48, 4))", "nn.Linear(48, 4), nn.Softmax(-1))"),
    ],
    "accumulate": [
        ("not divided", "BADAK-224", "        loss = loss / ACC\n", ""),
        ("one of two divided", "", "        loss = loss_kind + 0.5 * loss_size\n        loss = loss / ACC", "        loss = loss_kind / ACC + 0.5 * loss_size"),
        ("parts cleared", "BADAK-225", "        x, kind, size = part()\n        with", "        optimizer.zero_grad()\n        x, kind, size = part()\n        with"),
        ("second loss not used", "BADAK-217", "loss_kind + 0.5 * loss_size", "loss_kind"),
        ("second loss by item", "BADAK-217", "loss_kind + 0.5 * loss_size", "loss_kind + 0.5 * loss_size.item()"),
        ("second loss detached", "BADAK-209", "loss_kind + 0.5 * loss_size", "loss_kind + 0.5 * loss_size.detach()"),
        ("eval stays", "BADAK-207", "    model.train()\n    return acc", "    return acc"),
        ("broadcast", "", "self.size(h).squeeze(-1)", "self.size(h)"),
        ("clip within", "", "        loss.backward()\n", "        loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-7)\n"),
        ("second loss of the first head", "", "F.mse_loss(b.float(), size)", "F.mse_loss(a.float()[:, 0], size)"),
        ("steps in each part", "", "        loss.backward()\n", "        loss.backward()\n        optimizer.step()\n"),
    ],
    "dqn": [
        ("target not under no_grad", "", "            with torch.no_grad():\n                best", "            if True:\n                best"),
        ("target learns", "", "torch.optim.Adam(policy.parameters(), lr=5e-3)", "torch.optim.Adam(target.parameters(), lr=5e-3)"),
        ("broadcast", "", ".gather(1, a.unsqueeze(1)).squeeze(1)", ".gather(1, a.unsqueeze(1))"),
        ("wrong axis", "", "target(n).max(1).values", "target(n).max(0).values[a % 2]"),
        ("never cleared", "BADAK-201", "            optimizer.zero_grad()\n", ""),
    ],
    "distill": [
        ("student gives probabilities", "BADAK-203", "F.log_softmax(z / T, dim=1)", "F.softmax(z / T, dim=1)"),
        ("teacher gives logarithms", "", "F.softmax(soft / T, dim=1)", "F.log_softmax(soft / T, dim=1)"),
        ("teacher in train mode", "", "teacher.eval()\nfor p", "teacher.train()\nfor p"),
        ("softmax over rows", "BADAK-230", "F.log_softmax(z / T, dim=1)", "F.log_softmax(z / T, dim=0)"),
        ("optimizer of the teacher", "", "opt = torch.optim.Adam(student.parameters(), lr=3e-3)", "#"),
        ("only hard loss", "", "alpha * kd + (1 - alpha) * F.cross_entropy(z, Ytr[i])", "(1 - alpha) * F.cross_entropy(z, Ytr[i])"),
        ("tested on train", "", "(model(Xva).argmax(1) == Yva)", "(model(Xtr).argmax(1) == Ytr)"),
        ("student probabilities in the loss", "BADAK-202", "F.cross_entropy(z, Ytr[i])\n        opt", "F.cross_entropy(z.softmax(1), Ytr[i])\n        opt"),
        ("argmax over rows", "", ".argmax(1) ==", ".argmax(0)[:1] =="),
    ],
    "tagger": [
        ("padding counted", "", "padding_value=-1)", "padding_value=0)"),
        ("tested on train", "", "in dev_loader", "in loader"),
        ("view for transpose", "", "logits.reshape(-1, TAGS), tags.reshape(-1)", "logits.reshape(logits.size(0), TAGS, -1), tags"),
        ("argmax over words", "", ".argmax(-1)\n", ".argmax(1).repeat(1, 12)[:, : tags.size(1)]\n"),
        ("softmax", "BADAK-202", "return self.fc(self.drop(out))", "return self.fc(self.drop(out)).softmax(-1)"),
        ("train forgotten once", "BADAK-207", "    model.train()\n", ""),
        ("texts in order", "", "shuffle=True, collate_fn", "shuffle=False, collate_fn"),
        ("clipped to nothing", "", "        opt.step()", "        nn.utils.clip_grad_value_(model.parameters(), 1e-10)\n        opt.step()"),
    ],
    "wordlm": [
        ("positions along the batch", "", "self.pe[: x.size(0)]", "self.pe[: x.size(1)].transpose(0, 1)"),
        ("not shifted", "BADAK-204", "source[i + 1 : i + 1 + seq_len]", "source[i : i + seq_len]"),
        ("mask inverted", "BADAK-227", "nn.Transformer.generate_square_subsequent_mask(data.size(0))\n        output", "nn.Transformer.generate_square_subsequent_mask(data.size(0)).T\n        output"),
        ("mask of ones", "BADAK-228", "nn.Transformer.generate_square_subsequent_mask(data.size(0))\n        output", "torch.tril(torch.ones(data.size(0), data.size(0)))\n        output"),
        ("validated on train", "", "evaluate(val_data)", "evaluate(train_data)"),
        ("schedule by batch", "", "        optimizer.step()\n", "        optimizer.step()\n        scheduler.gamma = 0.5\n        scheduler.step()\n"),
        ("total of graphs", "BADAK-232", "total_loss += loss.item()", "total_loss += loss"),
        ("clipped away", "", "model.parameters(), 0.5)", "model.parameters(), 0.5e-5)"),
        ("eval first, train forgotten", "BADAK-207", "def train():\n    model.train()\n", "evaluate0 = 1\n\n\ndef train():\n    if evaluate0: evaluate(val_data)\n"),
        ("no mask", "", "output = model(data, mask)\n        loss", "output = model(data, None)\n        loss"),
    ],
    "karate": [
        ("loss of all nodes", "", "F.cross_entropy(out[train_mask], labels[train_mask])", "F.cross_entropy(out, labels)"),
        ("tested on train", "", "(guess[test_mask] == labels[test_mask])", "(guess[train_mask] == labels[train_mask])"),
        ("dropout in tests", "", ", training=self.training", ""),
        ("softmax", "BADAK-202", "return adj @ self.two(x)", "return (adj @ self.two(x)).softmax(1)"),
        ("log_softmax over nodes", "BADAK-230", "F.cross_entropy(out[train_mask], labels[train_mask])", "F.nll_loss(F.log_softmax(out, 0)[train_mask], labels[train_mask])"),
    ],
    "pinn": [
        ("physics by item", "BADAK-217", "loss = physics + begin", "loss = physics.item() + begin"),
        ("graph not made", "", "torch.ones_like(y), create_graph=True)[0]", "torch.ones_like(y), create_graph=False, retain_graph=True)[0].requires_grad_()"),
    ],
    "tabular": [
        ("numbers not scaled", "BADAK-223", "numbers = (numbers - mean) / std\n", ""),
        ("sigmoid", "BADAK-202", "return self.layers(torch.cat([*parts, numbers], dim=1)).squeeze(1)", "return torch.sigmoid(self.layers(torch.cat([*parts, numbers], dim=1)).squeeze(1))"),
        ("scaled by all", "", "numbers[:cut].mean(0), numbers[:cut].std(0)", "numbers.mean(0), numbers.std(0)"),
        ("tested on train", "", "auc(model(kinds[cut:], numbers[cut:]), target[cut:])", "auc(model(kinds[:cut], numbers[:cut]), target[:cut])"),
        ("label among numbers", "", "train = DataLoader", "numbers = torch.stack([numbers[:, 0], target * 2 - 1], 1)\ntrain = DataLoader"),
        ("tables in a list", "BADAK-211", "nn.ModuleList([nn.Embedding(7, 4), nn.Embedding(12, 6)])", "[nn.Embedding(7, 4), nn.Embedding(12, 6)]"),
        ("weight decay", "", "weight_decay=1e-2", "weight_decay=20.0"),
        ("clipped", "", "        optimizer.step()", "        nn.utils.clip_grad_norm_(model.parameters(), 1e-5)\n        optimizer.step()"),
    ],
    "ddpm": [
        ("noise drawn again", "", "(model(xt, t) - noise)", "(model(xt, t) - torch.randn_like(x0))"),
        ("broadcast of time", "", "alphas_bar[t].unsqueeze(1)", "alphas_bar[t[:1]].unsqueeze(1)"),
        ("nan", "BADAK-220", "(1 - ab).sqrt() * noise", "(0.9 - ab).sqrt() * noise"),
        ("never cleared", "BADAK-201", "    opt.zero_grad()\n", ""),
        ("detached", "BADAK-209", "self.time(t)], 1)", "self.time(t).detach()], 1)"),
    ],
    "triplet": [
        ("schedule of epochs", "", "milestones=[30, 45]", "milestones=[2, 4, 6]"),
        ("schedule to 0", "", "sched = torch.optim.lr_scheduler.MultiStepLR(optim, milestones=[30, 45], gamma=0.1)", "sched = torch.optim.lr_scheduler.LinearLR(optim, 1.0, 0.0, total_iters=5)"),
        ("exponential", "", "sched = torch.optim.lr_scheduler.MultiStepLR(optim, milestones=[30, 45], gamma=0.1)", "sched = torch.optim.lr_scheduler.ExponentialLR(optim, gamma=0.5)"),
        ("positive detached", "", "net(draw(a)), net(draw(n))", "net(draw(a)).detach(), net(draw(n)).detach()"),
        ("anchor is the positive", "", "loss_fn(anchor, positive, negative)", "loss_fn(anchor, anchor, negative)"),
        ("normalised over rows", "", "normalize(self.body(x), dim=-1)", "normalize(self.body(x), dim=0)"),
    ],
    "line": [
        ("tested on train", "", "loss_fn(model_0(X_test), y_test)", "loss_fn(model_0(X_train), y_train)"),
        ("broadcast", "", "y = 0.7 * X + 0.3", "y = (0.7 * X + 0.3).squeeze()"),
        ("graphs kept", "", "loss.detach().numpy()", "loss"),
        ("no step", "", "    optimizer.step()\n", ""),
        ("weights are no parameters", "", "self.weights = nn.Parameter(torch.randn(1))", "self.weights = torch.randn(1, requires_grad=True)"),
    ],
    "xor": [
        ("never cleared", "BADAK-201", "    optimizer.zero_grad()\n", ""),
        ("sigmoid twice", "BADAK-202", "nn.BCELoss()", "nn.BCEWithLogitsLoss()"),
        ("rate", "BADAK-214", "lr=0.1", "lr=1e-10"),
    ],
    "ensemble": [
        ("one optimizer", "BADAK-208", "opts = [torch.optim.Adam(net.parameters(), lr=5e-3) for net in nets]", "opts = [torch.optim.Adam(nets[0].parameters(), lr=5e-3) for net in nets]"),
        ("same net thrice", "", "nets = [make() for _ in range(3)]", "nets = [make()] * 3"),
        ("only the first cleared", "BADAK-201", "        opt.zero_grad()", "        opts[0].zero_grad()"),
        ("broadcast", "", "((net(x) - y) ** 2)", "((net(x) - y.squeeze()) ** 2)"),
    ],
    "sgns": [
        ("same words", "BADAK-221", "words = torch.cumsum(torch.randint(0, 3, (2000,)), 0) % 50", "words = torch.full((2000,), 7)"),
        ("both zero", "BADAK-217", "self.inside.weight.data.uniform_(-0.5 / dim, 0.5 / dim)", "self.inside.weight.data.zero_()"),
        ("rate", "BADAK-213", "lr=0.01", "lr=10.0"),
    ],
    "copytask": [
        ("no causal mask", "", "tgt_mask=mask,\n", "\n"),
        ("padding inverted", "BADAK-227", "src_key_padding_mask=src == PAD", "src_key_padding_mask=src != PAD"),
        ("batch_first forgotten", "", "1, 1, 64, batch_first=True", "1, 1, 64"),
        ("target whole", "BADAK-204", "logits = model(src, tgt[:, :-1])\n    loss", "logits = model(src, tgt[:, 1:])\n    loss"),
        ("padding counted", "BADAK-231", "nn.CrossEntropyLoss(ignore_index=PAD)", "nn.CrossEntropyLoss()"),
        ("positions along the batch", "", "x + self.pe[:, : x.size(1)]", "x + self.pe[0, : x.size(0)].unsqueeze(1)"),
        ("rate without schedule", "BADAK-213", "    noam.step()\n", "    for g in optimizer.param_groups: g['lr'] = 1.0\n"),
        ("schedule never stepped", "", "    noam.step()\n", ""),
    ],
    "addition": [
        ("not shifted", "BADAK-204", "x, y = dix[:, :-1], dix[:, 1:].clone()", "x, y = dix[:, :-1], dix[:, :-1].clone()"),
        ("no mask", "BADAK-247", "        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float(\"-inf\"))\n", ""),
        ("mask inverted", "BADAK-227", "== 0, float(\"-inf\")", "== 1, float(\"-inf\")"),
        ("softmax over queries", "BADAK-230", "F.softmax(att, dim=-1)", "F.softmax(att, dim=-2)"),
        ("merged by view", "BADAK-240", "(att @ v).transpose(1, 2).contiguous().view(B, T, C)", "(att @ v).contiguous().view(B, T, C)"),
        ("cleared between", "BADAK-208", "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "    model.zero_grad()"),
        ("clip of nothing", "BADAK-234", "model.parameters(), 1.0)", "model.parameters(), 1e-7)"),
        ("train mode is not set again", "BADAK-207", "    model.train()\n    return right", "    return right"),
        ("large start", "BADAK-210", "std=0.02", "std=2.0"),
        ("residual left out", "", "x = x + self.attn(self.ln_1(x))", "x = self.attn(self.ln_1(x))"),
        ("blocks in a list", "BADAK-211", "nn.ModuleList([Block() for _ in range(2)])", "[Block() for _ in range(2)]"),
        ("weights of zero", "", "nn.init.normal_(module.weight, mean=0.0, std=0.02)", "nn.init.zeros_(module.weight)"),
        ("answers mixed", "BADAK-256", "    logits, loss = model(x, y)\n", "    y = y[torch.randperm(len(y))]\n    logits, loss = model(x, y)\n"),
        ("positions left out", "", "self.wte(idx) + self.wpe(pos)", "self.wte(idx)"),
        ("same problems", "BADAK-222", "    x, y = problem(64)\n    logits, loss", "    torch.manual_seed(it % 1)\n    x, y = problem(64)\n    logits, loss"),
    ],
    "sentiment": [
        ("sigmoid twice", "BADAK-202", "return self.fc(self.dropout(hidden))", "return torch.sigmoid(self.fc(self.dropout(hidden)))"),
        ("squeezed wrongly", "BADAK-241", "output = model(text, lengths).squeeze(1)\n        loss = criterion(output, label)", "output = model(text, lengths)\n        loss = nn.functional.mse_loss(output, label)"),
        ("loss of the labels", "", "criterion(output, label)", "criterion(label, label) + 0 * output.sum()"),
        ("not shuffled and sorted", "BADAK-249", "train_loader = DataLoader(Reviews(480), batch_size=32, shuffle=True)", "data = Reviews(480)\norder = data.label.argsort()\ndata.text, data.length, data.label = data.text[order], data.length[order], data.label[order]\ntrain_loader = DataLoader(data, batch_size=32)"),
        ("hidden of one direction", "", "torch.cat((hidden[-2], hidden[-1]), dim=1)", "torch.cat((hidden[-2], hidden[-2]), dim=1)"),
        ("batch first forgotten", "BADAK-243", "packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)\n        _, (hidden, _) = self.lstm(packed)", "out, _ = self.lstm(embedded)\n        hidden = [out[:, -1, :32], out[:, 0, 32:]]", "batch_first=True, bidirectional", "bidirectional"),
        ("dropout of nearly all", "BADAK-255", "nn.Dropout(0.3)", "nn.Dropout(0.98)"),
        ("embedding frozen", "", "optimizer = torch", "model.embedding.weight.requires_grad_(False)\nmodel.lstm.requires_grad_(False)\noptimizer = torch"),
        ("sum of graphs", "BADAK-232", "epoch_loss += loss.item()", "epoch_loss += loss"),
        ("optimizer in the loop", "BADAK-245", "        optimizer.zero_grad()\n", "        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)\n        optimizer.zero_grad()\n"),
        ("maximised", "BADAK-254", "loss.backward()", "(-loss).backward()"),
        ("same text", "BADAK-221", "output = model(text, lengths)", "output = model(torch.full_like(text, 3), lengths)"),
    ],
    "unet": [
        ("softmax", "BADAK-202", "ce(out, masks) +", "ce(out.softmax(1), masks) +"),
        ("over the batch", "", "torch.softmax(logits, dim=1)", "torch.softmax(logits, dim=0)"),
        ("dice maximised", "", "return 1 - ((2", "return ((2"),
        ("dice not differentiated", "BADAK-217", "+ dice_loss(out, masks.float())", "+ dice_loss(out.detach(), masks.float())"),
        ("relu at the end", "BADAK-248", "return self.last(self.join(torch.cat([self.up(b), a], dim=1)))", "return F.relu(self.last(self.join(torch.cat([self.up(b), a], dim=1))))"),
        ("skip left out", "", "torch.cat([self.up(b), a], dim=1)", "torch.cat([self.up(b), self.up(b)], dim=1)"),
        ("plateau of the best", "", "sched.step(val_loss)", "sched.step(-val_loss)"),
        ("validated on train", "BADAK-238", "out = net(val_x)", "out, val_y = net(train_x[:32]), train_y[:32]"),
        ("validated in train mode", "BADAK-206", "    net.eval()\n", ""),
        ("stays in eval mode", "BADAK-207", "for epoch in range(4):\n    net.train()\n", "validate()\nfor epoch in range(4):\n"),
        ("decoder detached", "BADAK-209", "torch.cat([self.up(b), a]", "torch.cat([self.up(b.detach()), a]"),
        ("bytes", "BADAK-223", "mask.float()[:, None] + 0.3", "200 * mask.float()[:, None] + 30"),
        ("one picture each", "BADAK-252", ".split(24)", ".split(1)"),
        ("masks of others", "BADAK-256", "train_x[idx], train_y[idx]", "train_x[idx], train_y[idx.flip(0)]"),
        ("log of a negative", "BADAK-220", "ce(out, masks) +", "ce(out.log(), masks) +"),
    ],
    "ner": [
        ("padding counted", "BADAK-231", "    tags[tokens == PAD] = -100\n", "    tags[tokens == PAD] = 0\n"),
        ("padding mask inverted", "BADAK-227", "mask = tokens == PAD", "mask = tokens != PAD"),
        ("padding mask of floats", "BADAK-228", "mask = tokens == PAD", "mask = (tokens == PAD).float()"),
        ("padding mask left out", "", "src_key_padding_mask=mask", "src_key_padding_mask=None"),
        ("cleared at the wrong place", "BADAK-208", "        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
        ("never cleared", "BADAK-201", "        optimizer.zero_grad()\n", ""),
        ("clip before backward", "BADAK-235", "        loss.backward()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        loss.backward()\n"),
        ("schedule first", "BADAK-237", "        optimizer.step()\n        scheduler.step()\n", "        scheduler.step()\n        optimizer.step()\n"),
        ("warmup that falls", "BADAK-236", "min(1.0, (s + 1) / 10)", "max(0.0, 1 - s / 6)"),
        ("warmup divides by all", "", "min(1.0, (s + 1) / 10)", "(s + 1) / 1e9"),
        ("viewed the wrong way", "BADAK-253", "loss_fn(logits.view(-1, TAGS), train_tags[rows].view(-1))", "loss_fn(logits.transpose(0, 1).reshape(-1, TAGS), train_tags[rows].view(-1))"),
        ("classes viewed", "", "loss_fn(logits.view(-1, TAGS), train_tags[rows].view(-1))", "loss_fn(logits.view(32, TAGS, -1), train_tags[rows])"),
        ("train once", "BADAK-207", "for epoch in range(2):\n    model.train()\n", "evaluate()\nfor epoch in range(2):\n"),
        ("weight decay", "BADAK-244", "weight_decay=0.01", "weight_decay=20.0"),
        ("log_softmax", "BADAK-203", "return self.out(self.encoder(x, src_key_padding_mask=mask))", "return torch.log_softmax(self.out(self.encoder(x, src_key_padding_mask=mask)), -1)"),
        ("over the positions", "BADAK-203", "return self.out(self.encoder(x, src_key_padding_mask=mask))", "return torch.log_softmax(self.out(self.encoder(x, src_key_padding_mask=mask)), 1)"),
        ("positions by rows", "", "self.pos(torch.arange(tokens.size(1)))", "self.pos(torch.arange(tokens.size(0))).unsqueeze(1)", "nn.Embedding(20, d)", "nn.Embedding(64, d)"),
    ],
    "multitask": [
        ("one loss forgotten", "BADAK-217", "0.5 * l_age + l_kind + l_smile", "0.5 * l_age + l_kind"),
        ("one loss as a number", "BADAK-217", "0.5 * l_age + l_kind + l_smile", "0.5 * l_age.item() + l_kind + l_smile"),
        ("wrong head", "", "\"smile\": self.smile_head(h).squeeze(-1)", "\"smile\": self.age_head(h).squeeze(-1)"),
        ("stretched", "BADAK-241", "\"age\": self.age_head(h).squeeze(-1)", "\"age\": self.age_head(h)"),
        ("sigmoid", "BADAK-202", "\"smile\": self.smile_head(h).squeeze(-1)", "\"smile\": torch.sigmoid(self.smile_head(h).squeeze(-1))"),
        ("head cut", "BADAK-209", "\"kind\": self.kind_head(h)", "\"kind\": self.kind_head(h).detach().requires_grad_()"),
        ("backbone forgotten", "BADAK-212", "torch.optim.Adam(model.parameters()", "torch.optim.Adam([*model.age_head.parameters(), *model.kind_head.parameters(), *model.smile_head.parameters()]"),
        ("backward thrice without clearing", "BADAK-225", "        optimizer.zero_grad()\n        loss.backward()", "        for one in (l_age, l_kind, l_smile):\n            optimizer.zero_grad()\n            one.backward(retain_graph=True)"),
        ("loss weight of a million", "", "0.5 * l_age +", "5e6 * l_age +"),
        ("sign", "", "0.5 * l_age +", "-0.5 * l_age +"),
        ("age in days", "", "* 0.2 + 0.1 * torch", "* 2000 + 30000 + 0.1 * torch"),
        ("validation in train mode", "BADAK-206", "    model.eval()\n", ""),
        ("trains on validation", "", "    for xb, a, k, s in train_loader:\n", "    for xb, a, k, s in val_loader:\n"),
        ("total of graphs", "BADAK-232", "total += loss.item()", "total += loss"),
        ("the whole set overlaps", "BADAK-238", "DataLoader(val_set, 50)", "DataLoader(train_set, 50)"),
    ],
    "clip": [
        ("not normalised over the right axis", "", "t = F.normalize(self.text(texts), dim=-1)", "t = F.normalize(self.text(texts), dim=0)"),
        ("softmax", "BADAK-202", "return self.logit_scale.exp() * i @ t.t()", "return (self.logit_scale.exp() * i @ t.t()).softmax(-1)"),
        ("text cut", "BADAK-209", "t = F.normalize(self.text(texts), dim=-1)", "t = F.normalize(self.text(texts), dim=-1).detach()"),
        ("scale as a number", "", "self.logit_scale.exp() * i @", "self.logit_scale.exp().item() * i @"),
        ("scale not in exp", "", "self.logit_scale.exp() * i @", "1000 * self.logit_scale * i @"),
        ("captions mixed", "", "    logits = model(images, texts)\n", "    texts = texts[torch.randperm(32)]\n    logits = model(images, texts)\n"),
        ("scale forgotten in the optimizer", "BADAK-212", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW([*model.image.parameters(), *model.text.parameters()]"),
        ("eval stays", "BADAK-207", "        model.train()\n", ""),
        ("one direction", "", "(F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2", "(F.cross_entropy(logits, labels) + F.cross_entropy(logits, labels)) / 2"),
        ("pixels", "BADAK-223", "images = 0.5 * torch", "images = 120 + 60 * torch"),
        ("dead", "BADAK-215", "optimizer = torch", "nn.init.constant_(model.image.conv[2].bias, -60.0)\noptimizer = torch"),
        ("tokens first", "BADAK-243", "64, 0.1, batch_first=True)", "64, 0.1)"),
    ],
    "weather": [
        ("no mask", "", "self.enc(self.inp(x) + self.pos, mask=mask, is_causal=True)", "self.enc(self.inp(x) + self.pos)"),
        ("not shifted", "", "data[i + 1 : i + WINDOW + 1, :1]", "data[i : i + WINDOW, :1]"),
        ("normalised with the future", "", "mean, std = train.mean(0), train.std(0)", "mean, std = series.mean(0), series.std(0)"),
        ("not normalised", "BADAK-223", "train, test = (train - mean) / std, (test - mean) / std", "train, test = train * 30 + 300, test * 30 + 300"),
        ("stretched", "", "loss = criterion(prediction, train_y[batch])", "loss = criterion(prediction, train_y[batch].squeeze(-1)[:, None])"),
        ("batch second", "", "64, 0.1, batch_first=True)", "64, 0.1)", "mask=mask, is_causal=True", "mask=None"),
        ("prediction detached", "BADAK-226", "prediction = model(train_x[batch])", "with torch.no_grad(): prediction = model(train_x[batch])\n        prediction.requires_grad_()"),
        ("one window", "BADAK-222", "prediction = model(train_x[batch])", "batch = torch.arange(40)\n        prediction = model(train_x[batch])"),
        ("mask inverted", "BADAK-227", "mask=mask, is_causal=True", "mask=mask.T"),
        ("copied layers", "", "opt = torch", "model.enc.layers[1] = model.enc.layers[0]\nopt = torch"),
        ("rate 1", "BADAK-213", "lr=1e-3", "lr=1.0"),
    ],
    "transfer": [
        ("head before the optimizer", "BADAK-212", "base = [", "model.fc = nn.Sequential(nn.Dropout(0.2), nn.Linear(32, 5))\nbase = ["),
        ("head frozen", "", "optimizer = torch", "model.fc.requires_grad_(False)\noptimizer = torch"),
        ("warmup never ends", "BADAK-214", "min(1.0, (it + 1) / 8)", "1e-9"),
        ("warmup grows", "BADAK-213", "min(1.0, (it + 1) / 8)", "(it + 1) * 20"),
        ("targets shifted by one", "", "F.cross_entropy(outputs, targets, label", "F.cross_entropy(outputs, (targets + torch.randint(5, targets.shape)) % 5, label"),
        ("smoothing of all", "", "label_smoothing=0.05", "label_smoothing=1.0"),
        ("softmax in the head", "BADAK-202", "nn.Linear(32, 5))\nopt", "nn.Linear(32, 5), nn.Softmax(1))\nopt"),
        ("relu in the head", "BADAK-248", "nn.Linear(32, 5))\nopt", "nn.Linear(32, 5), nn.ReLU())\nopt"),
        ("tested in train mode", "BADAK-206", "    model.eval()\n", ""),
        ("tested on train", "BADAK-238", "for inputs, targets in test_loader", "for inputs, targets in train_loader"),
        ("features under no_grad", "BADAK-209", "self.fc(self.layer2(self.layer1(x)).flatten(1))", "self.fc(self.layer2(self.layer1(x)).flatten(1).detach())"),
        ("momentum above one", "", "momentum=0.9", "momentum=1.2"),
        ("labels of one class", "BADAK-249", "y = torch.randint(5, (n,))", "y = torch.arange(n) // (n // 5) % 5", "batch_size=16, shuffle=True", "batch_size=16"),
    ],
    "scaled": [
        ("not divided", "BADAK-224", " / accumulation_steps\n", "\n"),
        ("thrown away", "BADAK-225", "    scaler.scale(loss).backward()", "    optimizer.zero_grad()\n    scaler.scale(loss).backward()"),
        ("clip before unscale", "", "        scaler.unscale_(optimizer)\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)"),
        ("not cleared", "BADAK-201", "        optimizer.zero_grad()\n", ""),
        ("loss not scaled", "", "scaler.scale(loss).backward()", "loss.backward()"),
        ("average learns back", "", "a.mul_(0.9).add_(b, alpha=0.1)", "b.mul_(0.1).add_(a, alpha=0.9)"),
        ("average shares", "", "copy.deepcopy(model).eval().requires_grad_(False)", "model"),
        ("optimizer of the average", "BADAK-212", "torch.optim.AdamW(model.parameters()", "torch.optim.AdamW(ema.requires_grad_().parameters()"),
        ("softmax", "BADAK-202", "F.cross_entropy(model(x), y)", "F.cross_entropy(model(x).softmax(-1), y)"),
        ("never stepped", "BADAK-246", "(step + 1) % accumulation_steps == 0", "(step + 1) % accumulation_steps == 2"),
    ],
    "vqvae": [
        ("straight through forgotten", "", "return z + (q - z).detach(), loss", "return q, loss"),
        ("decoder cut", "", "return z + (q - z).detach(), loss", "return (z + (q - z)).detach(), loss"),
        ("table never learns", "", "F.mse_loss(q, z.detach()) + self.beta", "F.mse_loss(q.detach(), z.detach()) + self.beta"),
        ("loss of codes forgotten", "BADAK-209", "loss = recon + vq_loss", "loss = recon"),
        ("table not registered", "BADAK-211", "self.table, self.beta = nn.Embedding(codes, d), beta", "self.__dict__['table'], self.beta = nn.Embedding(codes, d), beta"),
        ("sigmoid of numbers below 0", "", "return self.decoder(q), loss", "return self.decoder(q).sigmoid(), loss"),
        ("axes by view", "BADAK-240", "z.permute(0, 2, 3, 1).reshape(-1, z.shape[1])", "z.reshape(-1, z.shape[1])"),
        ("root of nothing", "BADAK-220", "recon = F.mse_loss(rebuilt, x)", "recon = F.mse_loss(rebuilt, x).log().sqrt()"),
        ("commitment of a thousand", "", "beta=0.25", "beta=1e4"),
        ("targets are what was rebuilt", "", "recon = F.mse_loss(rebuilt, x)", "recon = F.mse_loss(rebuilt, rebuilt)"),
    ],
    "quickstart": [
        ("softmax", "BADAK-202", "return self.linear_relu_stack(x)", "return self.linear_relu_stack(x).softmax(1)"),
        ("relu last", "BADAK-248", "nn.Linear(64, 10)\n", "nn.Linear(64, 10), nn.ReLU()\n"),
        ("tested on train", "BADAK-238", "test(test_dataloader", "test(train_dataloader"),
        ("not shuffled and sorted", "BADAK-249", "y = torch.randint(10, (n,))", "y = torch.arange(n) * 10 // n", "shuffle=True", "shuffle=False"),
        ("labels mixed", "BADAK-256", "        pred = model(X)\n        loss = loss_fn(pred, y)\n        loss.backward()", "        pred = model(X)\n        y = y[torch.randperm(len(y))]\n        loss = loss_fn(pred, y)\n        loss.backward()"),
        ("maximised", "BADAK-254", "        loss.backward()\n", "        (-loss).backward()\n"),
        ("dropout of the rest", "BADAK-255", "nn.Dropout(0.2)", "nn.Dropout(0.95)"),
        ("model made again", "BADAK-212", "def train(", "model = NeuralNetwork()\n\n\ndef train("),
        ("weights of zero", "", "loss_fn = nn", "for p in model.parameters():\n    nn.init.zeros_(p)\nloss_fn = nn"),
        ("sum of graphs", "BADAK-232", "        loss.backward()\n", "        model.total = getattr(model, 'total', 0) + loss\n        loss.backward()\n"),
        ("bytes", "BADAK-223", "x = 0.4 * torch", "x = 128 + 60 * torch"),
        ("same data", "BADAK-222", "    for batch, (X, y) in enumerate(dataloader):\n        pred = model(X)\n", "    for batch, _ in enumerate(dataloader):\n        torch.manual_seed(5)\n        X, y = next(iter(dataloader))\n        pred = model(X)\n"),
        ("decay", "BADAK-244", "lr=1e-1", "lr=1e-1, weight_decay=5.0"),
        ("last layer not trained", "", "optimizer = torch", "model.linear_relu_stack[6].requires_grad_(False)\noptimizer = torch"),
        ("layer forgotten", "BADAK-212", "model.parameters(), lr", "model.linear_relu_stack[:6].parameters(), lr"),
    ],
    "maskedlm": [
        ("nothing masked", "BADAK-204", "    logits = model(ids)\n", "    ids = torch.where(labels != -100, labels, ids)\n    logits = model(ids)\n"),
        ("all labels", "", "    labels[~chosen] = -100\n", ""),
        ("padding mask inverted", "BADAK-227", "pad = ids == PAD", "pad = ids != PAD"),
        ("softmax over queries", "BADAK-230", "scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
        ("softmax over heads", "BADAK-230", "scores.softmax(dim=-1)", "scores.softmax(dim=1)"),
        ("heads by view", "BADAK-240", "self.query(x).view(B, T, HEADS, D // HEADS).transpose(1, 2)", "self.query(x).view(B, HEADS, T, D // HEADS)"),
        ("merged by view", "BADAK-240", "(weights @ v).transpose(1, 2).reshape(B, T, D)", "(weights @ v).reshape(B, T, D)"),
        ("log_softmax", "BADAK-203", "return self.head(x)", "return self.head(x).log_softmax(-1)"),
        ("clipped away", "BADAK-234", "model.parameters(), 1.0", "model.parameters(), 1e-9"),
        ("schedule first", "BADAK-237", "    opt.step()\n    warm.step()\n", "    warm.step()\n    opt.step()\n"),
        ("warmup down", "BADAK-236", "min(1.0, (s + 1) / 5)", "0.1 ** s"),
        ("layers in a list", "BADAK-211", "nn.ModuleList(Layer() for _ in range(2))", "[Layer() for _ in range(2)]"),
        ("one layer", "BADAK-251", "nn.ModuleList(Layer() for _ in range(2))", "nn.ModuleList([Layer()] * 2)"),
        ("large words", "BADAK-210", "opt = torch", "nn.init.normal_(model.head.weight, std=10.0)\nopt = torch"),
        ("words cut", "BADAK-209", "x = self.word(ids) +", "x = self.word(ids).detach() +"),
        ("turned labels", "BADAK-253", "logits.view(-1, V), labels.view(-1), ignore_index=-100)\n    opt", "logits.transpose(0, 1).reshape(-1, V), labels.view(-1), ignore_index=-100)\n    opt"),
        ("no residual", "", "self.norm1(x + self.dropout(self.attention(x, pad)))", "self.norm1(self.dropout(self.attention(x, pad)))"),
        ("no positions", "", "x = self.word(ids) + self.position(torch.arange(ids.shape[1]))", "x = self.word(ids)"),
        ("all hidden", "BADAK-233", "scores.masked_fill(pad[:, None, None, :], -1e9)", "scores.masked_fill(pad[:, None, :, None], float('-inf'))"),
    ],
    "siamese": [
        ("labels turned round", "", "same * d.pow(2) + (1 - same)", "(1 - same) * d.pow(2) + same"),
        ("root of zero", "", ".add(1e-6).sqrt()", ".sqrt()"),
        ("one side cut", "", "x, y = net(a), net(b)", "x, y = net(a), net(b).detach()"),
        ("both cut", "BADAK-209", "return self.fc(self.drop(x.flatten(1)))", "return self.fc(self.drop(x.flatten(1).detach()))"),
        ("same signal twice", "", "x, y = net(a), net(b)", "x, y = net(a), net(a)"),
        ("stretched", "BADAK-241", "    return (same * d.pow(2) + (1 - same) * F.relu(margin - d).pow(2)).mean()", "    return ((d[:, None] - same) ** 2).mean()"),
        ("dead", "BADAK-215", "opt = torch", "nn.init.constant_(net.conv2.bias, -90.0)\nopt = torch"),
        ("mixed", "", "    loss = contrastive(x, y, same)\n", "    same = same[torch.randperm(32)]\n    loss = contrastive(x, y, same)\n"),
        ("loss as a number", "BADAK-208", "    loss.backward()\n", "    loss = torch.tensor(loss.item(), requires_grad=True)\n    loss.backward()\n"),
        ("negative margin", "", "margin=1.0", "margin=-1.0"),
    ],
}  # fmt: skip
EDITS |= edits_of("doctor", "classroom_faults_*.py")


def spoiled(name: str) -> list[tuple[str, str, str]]:
    """(fault, code, text) of a program, the program as it is first."""
    text = text_of(PLACE, name)
    rows = [("", "", text)]
    for fault, code, edit in EVERYWHERE:
        made = edit(text)
        if made is not None and made != text and fault not in LEFT_OUT.get(name, ()):
            rows.append((fault, code, made))
    for fault, code, *pairs in EDITS.get(name, ()):
        made = swap(text, *zip(pairs[::2], pairs[1::2], strict=True))
        if made is None:
            raise ValueError(f"{name}: no place for {fault!r}")
        if fault == "label as input":
            made = swap(
                made,
                (
                    "0.02 * torch.randn(480, 2)",
                    "0.02 * torch.randn(480, 2)\nX = torch.cat([X, c[:, None].float(), torch.rand(480, 2)], 1)",
                ),
            )
        if fault == "optimizer of another":
            made = made.replace("Adam(model.parameters()", "Adam(model_params()")
        rows.append((fault, code, made))
    return rows


def main(asked: list[str]) -> int:
    """1 where a fault of the list is missed, or a sound program has one."""
    warm()
    told = {"sound": [0, 0], "documented": [0, 0], "others": [0, 0]}
    for name in asked or NAMES:
        for fault, code, text in spoiled(name):
            said = examined(text, name)
            kind = "sound" if not fault else "documented" if code else "others"
            good = (
                not said["codes"] and not said.get("failed")
                if not fault
                else code in said["codes"]
                if code
                else bool(said["codes"])
            )
            told[kind][0] += 1
            told[kind][1] += good
            if not good or kind == "others" or set(said["codes"]) != {code} - {""}:
                line = said["text"].splitlines()[0][:110] if said.get("failed") else ""
                mark = "    " if good else "--- "
                print(f"{mark}{name}: {fault or 'as it is'}: {code or '?'}, found {said['codes']} {line}", flush=True)
    print("; ".join(f"{kind}: {good} of {n}" for kind, (n, good) in told.items()))
    return int(any(n > good for n, good in (told["sound"], told["documented"])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
