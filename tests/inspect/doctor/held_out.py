"""Faults written into the texts of programs that the doctor was not tuned on: `python -m tests.inspect.doctor.held_out [--json FILE] [PROGRAM ...]`.

The programs are those of tests/inspect/doctor/heldout. Each fault is an edit of the text, made where the text has a place for it; each spoiled
program runs in a process of its own. Found means: its diagnosis stands in the report. Anything else that stands there is counted, too.
"""

# ruff: noqa: E501  (what is sought stands in one line)
import io
import json
import os
import re
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

PLACE = Path(__file__).parent / "heldout"


def swap(text: str, *pairs: tuple[str, str]) -> str | None:
    """The text with the first `old` of each pair replaced; None where one is missing."""
    for old, new in pairs:
        if old not in text:
            return None
        text = text.replace(old, new, 1)
    return text


PART = re.compile(r"^# file: (.+)\n", re.MULTILINE)


def text_of(place: Path, name: str) -> str:
    """A program; one in several files, in a folder with its name, as one text: train.py first, a line before each of the others."""
    folder = place / name
    if not folder.is_dir():
        return (place / f"{name}.py").read_text(encoding="utf-8")
    others = [
        f"# file: {path.name}\n{path.read_text(encoding='utf-8')}" for path in sorted(folder.glob("*.py")) if path.stem != "train"
    ]
    return "".join([(folder / "train.py").read_text(encoding="utf-8"), *others])


def names_of(place: Path) -> list[str]:
    return sorted({path.stem for path in place.glob("*.py")} | {path.parent.name for path in place.glob("*/train.py")})


NAMES = names_of(PLACE)


def sub(pattern: str, new: str, text: str, count: int = 0) -> str | None:
    made, n = re.subn(pattern, new, text, count=count, flags=re.MULTILINE)
    return made if n else None


def step_first(text: str) -> str | None:
    """step() moved before the backward() of the same block."""
    return sub(r"^( *)(\w+\.backward\(\))\n((?:.*clip_grad_norm_.*\n)?) *((?:opt\w*)\.step\(\))$", r"\1\4\n\1\2\n\3", text, 1)


# what any program may have: fault, code, edit of the text
EVERYWHERE = [
    ("zero_grad forgotten", "BADAK-201", lambda t: sub(r"^( *)[\w.]+\.zero_grad\(.*\)$", r"\1pass", t)),
    ("cleared before the step", "BADAK-208", lambda t: sub(r"^( *)(opt\w*)\.step\(\)$", r"\1\2.zero_grad()\n\1\2.step()", t)),
    ("step before backward", "BADAK-208", step_first),
    ("rate far too high", "BADAK-213", lambda t: sub(r"lr=[\d.e-]+", "lr=3.0", t)),
    ("rate far too low", "BADAK-214", lambda t: sub(r"lr=[\d.e-]+", "lr=1e-11", t)),
    ("eval forgotten", "BADAK-206", lambda t: sub(r"^( *)\w+\.eval\(\)$", r"\1pass", t)),
    ("train forgotten", "BADAK-207", lambda t: sub(r"^( {4,})\w+\.train\(\)$", r"\1pass", t) if ".eval()" in t else None),
    ("list of layers", "BADAK-211", lambda t: sub(r"nn\.ModuleList\(", "list(", t)),
    ("seed in the loop", "BADAK-222", lambda t: sub(r"^(for (?:step|i|it|_) in range\(\d+\):)$", r"\1\n    torch.manual_seed(0)", t)),
    ("loss under no_grad", "BADAK-226", lambda t: sub(r"^( *)((?:scores|output, hidden|logits|prediction|rebuilt, mean, log_var|za, zb|loss) = (?!.*F\.).*model.*|.* = net\(x\)|logits = \w+\(\w+\))$", r"\1with torch.no_grad(): \2", t, 1)),
]  # fmt: skip

# what one program has a place for: program: (fault, code, old, new) ...
EDITS = {
    "pictures": [
        ("over the batch", "BADAK-230", "criterion(scores, y)", "nn.functional.nll_loss(torch.log_softmax(scores, 0), y)"),
        ("sum of graphs", "BADAK-232", "        loss.backward()", "        net.total = getattr(net, 'total', 0) + loss\n        loss.backward()"),
        ("softmax", "BADAK-202", "criterion(scores, y)", "criterion(scores.softmax(1), y)"),
        ("log_softmax", "BADAK-203", "criterion(scores, y)", "criterion(torch.log_softmax(scores, 1), y)"),
        ("detached", "BADAK-209", "norm(conv(x))", "norm(conv(x)).detach()"),
        ("large head", "BADAK-210", "criterion = ", "nn.init.normal_(net.out.weight, std=20.0)\ncriterion = "),
        ("stale", "BADAK-212", "for epoch in", "net.out = nn.Linear(48, 6)\nfor epoch in"),
        ("dead", "BADAK-215", "criterion = ", "for n in net.norms: nn.init.constant_(n.bias, -100.0)\ncriterion = "),
        ("times 0", "BADAK-217", "self.out(x.flatten(1))", "self.out(x.flatten(1) * 0)"),
        ("nan", "BADAK-220", "self.out(x.flatten(1))", "self.out((x.flatten(1) - x.max()).sqrt())"),
        ("bytes", "BADAK-223", "scores = net(x)", "scores = net(x * 64 + 128)"),
        ("one batch", "BADAK-222", "for x, y in train:", "for _ in train:\n        x, y = next(iter(DataLoader(train.dataset, 16)))"),
    ],
    "lstm": [
        ("over the batch", "BADAK-230", "dim=1), hidden", "dim=0), hidden"),
        ("sum of graphs", "BADAK-232", "    loss.backward()", "    total = total + loss if number else loss\n    loss.backward()"),
        ("log of logits", "BADAK-203", "return F.log_softmax(logits.view(-1, VOCAB), dim=1), hidden", "return logits.view(-1, VOCAB), hidden"),
        ("twice", "BADAK-203", "F.nll_loss(output, target)", "F.cross_entropy(output, target)"),
        ("not shifted", "BADAK-204", "stream[i + 1 : i + 1 + STRETCH]", "stream[i : i + STRETCH]"),
        ("two ahead", "BADAK-205", "stream[i + 1 : i + 1 + STRETCH]", "stream[i + 2 : i + 2 + STRETCH]"),
        ("detached", "BADAK-209", "self.decoder(self.drop(out))", "self.decoder(self.drop(out.detach()))"),
        (".data", "BADAK-209", "self.drop(self.embed(x))", "self.drop(self.embed(x).data)"),
        ("large head", "BADAK-210", "hidden = model.start(6)\n", "hidden = model.start(6)\nnn.init.normal_(model.decoder.weight, std=20.0)\n"),
        ("stale", "BADAK-212", "hidden = model.start(6)\n", "hidden = model.start(6)\nmodel.decoder = nn.Linear(40, VOCAB)\n"),
        ("same ids", "BADAK-221", "model(data, hidden)", "model(torch.zeros_like(data), hidden)"),
        ("times 0", "BADAK-217", "self.rnn(self.drop(self.embed(x)), hidden)", "self.rnn(self.drop(self.embed(x)) * 0, hidden)"),
    ],
    "translate": [
        ("padding counted", "BADAK-231", "ignore_index=PAD, ", ""),
        ("softmax", "BADAK-202", "return self.generator(h)", "return self.generator(h).softmax(-1)"),
        ("log_softmax", "BADAK-203", "return self.generator(h)", "return self.generator(h).log_softmax(-1)"),
        ("not shifted", "BADAK-204", "model(src, tgt[:, :-1])", "model(src, tgt[:, 1:])"),
        ("two ahead", "BADAK-205", "model(src, tgt[:, :-1])\n", "model(src, tgt[:, :-2])\n    tgt = tgt[:, 1:]\n"),
        ("detached", "BADAK-209", "return self.dropout(x + self.table[: x.size(1)])", "return self.dropout(x.detach() + self.table[: x.size(1)])"),
        ("large head", "BADAK-210", "warmup = ", "nn.init.normal_(model.generator.weight, std=5.0)\nwarmup = "),
        ("stale", "BADAK-212", "warmup = ", "model.generator = nn.Linear(32, V)\nwarmup = "),
        ("same ids", "BADAK-221", "    logits = model(src", "    src, tgt = src * 0 + 5, tgt * 0 + 5\n    logits = model(src"),
        ("padding mask inverted", "BADAK-227", "src == PAD, (tgt == PAD)", "src != PAD, (tgt == PAD)"),
        ("causal mask inverted", "BADAK-227", "tgt_mask=causal", "tgt_mask=torch.ones_like(causal).tril(-1).bool()"),
        ("padding mask of floats", "BADAK-228", "src_key_padding_mask=src_pad", "src_key_padding_mask=src_pad.float()"),
        ("nan", "BADAK-220", "return self.generator(h)", "return self.generator((h - h.amax(-1, keepdim=True)).log())"),
    ],
    "masked": [
        ("softmax", "BADAK-202", "self.words.weight.t() + self.bias", "self.words.weight.t() + self.bias).softmax(-1)"),
        ("detached", "BADAK-209", "self.transform(h) @", "self.transform(h.detach()) @"),
        ("large head", "BADAK-210", "std=0.02", "std=2.0"),
        ("same ids", "BADAK-221", "    prediction = bert(ids)", "    ids = torch.full_like(ids, 7)\n    prediction = bert(ids)"),
        ("one text", "BADAK-221", "    prediction = bert(ids)", "    ids = ids[:1].expand(8, -1)\n    prediction = bert(ids)"),
        ("mask inverted", "BADAK-227", "ids.eq(PAD)", "ids.ne(PAD)"),
        ("mask of floats", "BADAK-228", "ids.eq(PAD))", "ids.eq(PAD).float())"),
        ("stale", "BADAK-212", "for it in", "bert.transform = nn.Sequential(nn.Linear(32, 32), nn.GELU(), nn.LayerNorm(32))\nfor it in"),
        ("times 0", "BADAK-217", "self.transform(h) @", "self.transform(h * 0) @"),
    ],
    "gan": [
        ("sigmoid", "BADAK-202", "bce(D(real),", "bce(D(real).sigmoid(),"),
        ("generator cut", "BADAK-209", "loss_g = bce(D(fake)", "loss_g = bce(D(fake.detach())"),
        ("dead", "BADAK-215", "bce = ", "nn.init.constant_(G[1].bias, -100.0)\nbce = "),
        ("stale", "BADAK-212", "for _ in", "D[3] = nn.Linear(32, 1)\nfor _ in"),
        ("nan", "BADAK-220", "D(fake), torch", "D((fake - fake.max()).log()), torch"),
        ("bytes", "BADAK-223", "real = ", "real = 128 + 100 * "),
    ],
    "vae": [
        ("detached", "BADAK-209", "self.mean(h), self.log_var(h)", "self.mean(h.detach()), self.log_var(h.detach())"),
        ("stale", "BADAK-212", "for step in", "model.outer = nn.Linear(24, 36)\nfor step in"),
        ("dead", "BADAK-215", "for step in", "nn.init.constant_(model.inner.bias, -100.0)\nfor step in"),
        ("nan", "BADAK-220", "F.relu(self.wider(z))", "F.relu(self.wider(z).log())"),
        ("bytes", "BADAK-223", "model(data)", "model(data * 255)"),
    ],
    "houses": [
        ("detached", "BADAK-209", "huber(prediction,", "huber(model[5](model[:5](columns[rows]).detach()),"),
        ("stale", "BADAK-212", "schedule = ", "model[5] = nn.Linear(32, 1)\nschedule = "),
        ("raw columns", "BADAK-223", "(raw - raw.mean(0)) / raw.std(0)", "raw"),
        ("nan", "BADAK-220", "prediction = model(columns[rows])", "prediction = model(columns[rows].log())"),
        ("times 0", "BADAK-217", "model(columns[rows])", "model[5](model[:5](columns[rows]) * 0)"),
    ],
    "contrast": [
        ("softmax", "BADAK-202", "/ 0.2", "/ 0.2\n    similar = similar.softmax(1)"),
        ("detached", "BADAK-209", "head(body(a)), dim=1), F.normalize(head(body(b))", "head(body(a).detach()), dim=1), F.normalize(head(body(b).detach())"),
        ("body forgotten", "BADAK-212", "[*body.parameters(), *head.parameters()]", "[*head.parameters()]"),
        ("dead", "BADAK-215", "optim = ", "nn.init.constant_(head[0].bias, -100.0)\noptim = "),
        ("nan", "BADAK-220", "F.normalize(head(body(a)), dim=1)", "head(body(a)).sqrt()"),
        ("bytes", "BADAK-223", "views(torch.randn(32, 20))", "views(torch.rand(32, 20) * 255)"),
    ],
    "vit": [
        ("over the queries", "BADAK-230", ".softmax(dim=-1)", ".softmax(dim=-2)"),
        ("hides all", "BADAK-233", " ** -0.5).softmax(dim=-1)", " ** -0.5).masked_fill(torch.arange(n).view(n, 1) == 3, float('-inf')).softmax(dim=-1)"),
        ("softmax", "BADAK-202", "loss_of(logits, y)", "loss_of(torch.softmax(logits, -1), y)"),
        ("log_softmax", "BADAK-203", "loss_of(logits, y)", "loss_of(nn.functional.log_softmax(logits, -1), y)"),
        ("detached", "BADAK-209", "x = block(x)", "x = block(x.detach())"),
        ("no_grad", "BADAK-209", "        x = self.patch(x).flatten(2).transpose(1, 2)", "        with torch.no_grad(): x = self.patch(x).flatten(2).transpose(1, 2)"),
        ("large head", "BADAK-210", "for step in", "nn.init.normal_(vit.head.weight, std=20.0)\nfor step in"),
        ("stale", "BADAK-212", "cycle = ", "vit.head = nn.Linear(32, 7)\ncycle = "),
        ("sharp", "BADAK-216", "for step in", "for b in vit.blocks: b.attention.qkv.weight.data.mul_(40)\nfor step in"),
        ("times 0", "BADAK-217", "x + self.attention(self.norm1(x))", "x + 0 * self.attention(self.norm1(x))"),
        ("nan", "BADAK-220", ".softmax(dim=-1)", ".log().softmax(dim=-1)"),
        ("bytes", "BADAK-223", "logits = vit(x)", "logits = vit(x * 64 + 128)"),
        ("nested list", "BADAK-211", "nn.ModuleList([Block(d, 4) for _ in range(2)])", "[[Block(d, 4)], [Block(d, 4)]]"),
    ],
    "tuning": [
        ("softmax", "BADAK-202", "criterion(logits, label)", "criterion(logits.softmax(-1), label)"),
        ("detached", "BADAK-209", "criterion(logits, label)\n    opt", "criterion(logits.detach() * model.head.bias, label)\n    opt"),
        ("stale", "BADAK-212", "for i in", "model.head = nn.Linear(32, 2)\nfor i in"),
        ("large head", "BADAK-210", "for i in", "nn.init.normal_(model.head.weight, std=20.0)\nfor i in"),
        ("mask inverted", "BADAK-227", "src_key_padding_mask=ids == 0", "src_key_padding_mask=ids != 0"),
        ("mask of floats", "BADAK-228", "src_key_padding_mask=ids == 0", "src_key_padding_mask=(ids == 0).float()"),
        ("same ids", "BADAK-221", "logits = model(ids)", "logits = model(ids * 0 + 3)"),
    ],
    "policy": [
        ("detached", "BADAK-209", "self.action(F.relu(self.drop(self.first(x))))", "self.action(F.relu(self.drop(self.first(x))).detach())"),
        ("dead", "BADAK-215", "for _ in", "nn.init.constant_(policy.first.bias, -100.0)\nfor _ in"),
        ("stale", "BADAK-212", "for _ in", "policy.action = nn.Linear(24, 3)\nfor _ in"),
        ("nan", "BADAK-220", "self.drop(self.first(x))", "self.drop(self.first(x).log())"),
    ],
    "mixed": [
        ("softmax", "BADAK-202", "loss_fn(logits, y) / PARTS", "loss_fn(logits.softmax(-1), y) / PARTS"),
        ("log_softmax", "BADAK-203", "loss_fn(logits, y) / PARTS", "loss_fn(logits.log_softmax(-1), y) / PARTS"),
        ("not divided", "BADAK-224", "loss_fn(logits, y) / PARTS", "loss_fn(logits, y)"),
        ("divided twice", "BADAK-224", "loss_fn(logits, y) / PARTS", "loss_fn(logits, y) / PARTS / PARTS"),
        ("parts cleared", "BADAK-225", "        y = torch.randint", "        optimizer.zero_grad()\n        y = torch.randint"),
        ("large head", "BADAK-210", "scaler = ", "nn.init.normal_(model[5].weight, std=20.0)\nscaler = "),
        ("stale", "BADAK-212", "scaler = ", "model[5] = nn.Linear(64, 9)\nscaler = "),
        ("bytes", "BADAK-223", "logits = model(x)", "logits = model(x * 64 + 128)"),
        ("detached", "BADAK-209", "logits = model(x)", "logits = model[5](model[:5](x).detach())"),
    ],
    "huggingface": [
        ("shifted twice", "BADAK-205", "model(input_ids=ids, labels=ids)", "model(input_ids=ids[:, :-1], labels=ids[:, 1:])"),
        ("same ids", "BADAK-221", "    ids = batch()\n    loss", "    ids = batch() * 0 + 4\n    loss"),
        ("stale", "BADAK-212", "schedule = ", "model.transformer.h[1].mlp.c_fc.weight = torch.nn.Parameter(torch.randn(32, 128) * 0.02)\nschedule = "),
        ("softmax", "BADAK-202", "loss = model(input_ids=ids, labels=ids).loss", "p = model(input_ids=ids).logits.softmax(-1)\n    loss = torch.nn.functional.cross_entropy(p[:, :-1].flatten(0, 1), ids[:, 1:].flatten())"),
        ("large head", "BADAK-210", "schedule = ", "torch.nn.init.normal_(model.lm_head.weight, std=3.0)\nschedule = "),
    ],
}  # fmt: skip


def spoiled(name: str) -> list[tuple[str, str, str]]:
    """(fault, code, text) of a program, the program as it is first."""
    text = (PLACE / f"{name}.py").read_text(encoding="utf-8")
    rows = [("", "", text)]
    calm = ("BADAK-206", "BADAK-207") if name == "vae" else ()  # it has nothing that is random in training alone
    rows += [(fault, code, made) for fault, code, edit in EVERYWHERE if code not in calm and (made := edit(text)) is not None]
    for fault, code, old, new in EDITS.get(name, ()):
        made = swap(text, (old, new))
        if made is None:
            raise ValueError(f"{name}: no place for {fault!r}")
        if fault == "softmax" and name == "masked":
            made = made.replace("return self.transform(h) @", "return (self.transform(h) @")
        if fault == "nested list":
            made = made.replace(
                "in self.blocks:\n            x = block(x)", "in [b for row in self.blocks for b in row]:\n            x = block(x)"
            )
        rows.append((fault, code, made))
    return rows


def examined(text: str, name: str, steps: int = 20) -> dict:
    """What the doctor says of a program's text: run in a child of this process."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        answer: dict = {}
        try:
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first, *others = PART.split(text)
                path = Path(folder) / (f"{name}.py" if not others else "train.py")
                path.write_text(first, encoding="utf-8")
                for other, part in zip(others[::2], others[1::2], strict=True):
                    (Path(folder) / other).write_text(part, encoding="utf-8")
                os.chdir(folder)
                from badak.inspect.doctor.program import examined as ask

                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    report = ask(str(path), [], steps=steps)
                answer = {"codes": [f.code for f in report.findings], "text": str(report)}
        except BaseException as error:  # noqa: BLE001
            answer = {"codes": [], "text": f"{type(error).__name__}: {error}", "failed": True}
        os.write(into, json.dumps(answer).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


def warm() -> None:
    """Load what every program needs, once, before the processes part."""
    import badak.compat.torch.run  # noqa: F401
    import badak.inspect.doctor.program
    from badak import nn, optim

    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = optim.AdamW(model.parameters())
    nn.functional.cross_entropy(model(badak.randn(5, 4)), badak.randint(3, (5,))).backward()
    optimizer.step()


def main(asked: list[str]) -> int:
    """1 where more than 2 in 100 faults are missed or anything else is said; docs/how-to/doctor.md names the three that are."""
    warm()
    file = Path(asked.pop(asked.index("--json") + 1)) if "--json" in asked else None
    asked = [name for name in asked if name != "--json"]
    rows, planted, found, others = [], 0, 0, 0
    for name in asked or NAMES:
        for fault, code, text in spoiled(name):
            said = examined(text, name)
            rows.append({"program": name, "fault": fault, "code": code, **said})
            planted, found = planted + bool(code), found + (bool(code) and code in said["codes"])
            others += any(each != code for each in said["codes"])
            if said["codes"] != [code] * bool(code) or said.get("failed") and not code:
                line = said["text"].splitlines()[0][:110] if said.get("failed") else ""
                print(f"{name}: {fault or 'as it is'}: planted {code or 'nothing'}, found {said['codes']} {line}", flush=True)
    if file:
        file.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(f"{planted} planted, {found} found, {others} with another finding")
    return int(found < 0.98 * planted or others > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
