"""datasets"""

import datasets
import numpy as np
import torch
import transformers
from tiny import LABELS, SENTENCES, model, tokenizer

NEEDS = ["datasets"]
datasets.disable_progress_bars()


def _table():
    return datasets.Dataset.from_dict(
        {
            "text": SENTENCES,
            "label": LABELS,
            "weight": [n / 2 for n in range(8)],
            "grid": [[[n, 1], [2, n]] for n in range(8)],
        }
    )


def _shown(row):
    return {k: [str(v.dtype), v.tolist()] if hasattr(v, "tolist") else v for k, v in row.items()}


def torch_format():
    """with_format("torch"): rows, slices, columns, dtypes, iteration, nested lists"""
    table = _table().with_format("torch")
    typed = _table().with_format("torch", columns=["weight"], dtype=torch.float64)
    device = _table().with_format("torch", device="cpu")
    seen = [_shown(row) for row in table.iter(batch_size=3)]
    return [
        _shown(table[0]),
        _shown(table[2:4]),
        _shown({"x": table["weight"][:]}),
        _shown(typed[1]),
        _shown(device[3]),
        seen[-1],
    ]


def mapped_and_loaded():
    """map with a tokenizer, set_format, DataLoader with a collator, shuffles and splits"""
    maker = tokenizer(pairs=True)
    table = _table().map(lambda rows: maker(rows["text"]), batched=True, remove_columns=["text", "weight", "grid"])
    halves = table.train_test_split(test_size=0.25, seed=3)
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(
        halves["train"].with_format("torch"),
        batch_size=3,
        shuffle=True,
        collate_fn=transformers.DataCollatorWithPadding(maker),
    )
    fixed = table.map(lambda row: {"n": torch.tensor(row["input_ids"]).sum()})
    return [[_shown(dict(each)) for each in loader], [int(n) for n in fixed["n"]], table.shuffle(seed=5)["label"][:]]


def arrays_and_pictures():
    """features of fixed shape, images and NumPy arrays as tensors"""
    from PIL import Image

    draw = np.random.default_rng(0)
    known = datasets.Features({"x": datasets.Array2D((2, 3), "float32"), "image": datasets.Image()})
    rows = {
        "x": [draw.standard_normal((2, 3)).astype("float32").tolist() for _ in range(2)],
        "image": [Image.fromarray(draw.integers(0, 255, (4, 5, 3), dtype=np.uint8)) for _ in range(2)],
    }
    table = datasets.Dataset.from_dict(rows, features=known).with_format("torch")
    return [
        _shown(table[1]),
        list(table[:2]["image"].shape) if hasattr(table[:2]["image"], "shape") else len(table[:2]["image"]),
    ]


def streamed():
    """an iterable dataset in torch format, through a DataLoader"""
    table = _table().select_columns(["label", "weight"]).to_iterable_dataset(num_shards=2).with_format("torch")
    loader = torch.utils.data.DataLoader(table.shuffle(seed=1, buffer_size=4), batch_size=3)
    return [_shown(each) for each in loader]


def trained_on():
    """Trainer with a Dataset"""
    import tempfile

    maker = tokenizer(pairs=True)
    table = _table().map(lambda rows: maker(rows["text"]), batched=True).with_format("torch")
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder,
            max_steps=4,
            per_device_train_batch_size=3,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            logging_steps=1,
            save_strategy="no",
        )
        run = transformers.Trainer(
            model=model("BertForSequenceClassification", num_labels=3),
            args=arguments,
            train_dataset=table,
            data_collator=transformers.DataCollatorWithPadding(maker),
        )
        run.train()
    return [line["loss"] for line in run.state.log_history if "loss" in line]


trained_on.needs = ["accelerate"]
