"""transformers: from_pretrained and save_pretrained"""

import json
import os
import tempfile

import torch
import transformers
from tiny import MODELS, all_numbers, batch, model, numbers, same


def _files(folder):
    return sorted(os.listdir(folder))


def sharded():
    """safetensors in several shards, with their index, written and read"""
    made = model("LlamaForCausalLM")
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder, max_shard_size="20KB")
        read, told = type(made).from_pretrained(folder, output_loading_info=True)
        with open(os.path.join(folder, "model.safetensors.index.json")) as file:
            index = json.load(file)
        return [
            _files(folder),
            same(read, made),
            {k: sorted(v) for k, v in told.items() if isinstance(v, (list, set))},
            index,
        ]


def pickled():
    """pytorch_model.bin, whole and in shards with an index"""
    made = model("BertForMaskedLM")
    with tempfile.TemporaryDirectory() as folder:
        made.config.save_pretrained(folder)
        torch.save(made.state_dict(), os.path.join(folder, "pytorch_model.bin"))
        whole = same(type(made).from_pretrained(folder), made)
        os.remove(os.path.join(folder, "pytorch_model.bin"))
        places = {}
        for n, part in enumerate((list(made.state_dict().items())[:12], list(made.state_dict().items())[12:]), 1):
            torch.save(dict(part), os.path.join(folder, f"pytorch_model-0000{n}-of-00002.bin"))
            places |= {name: f"pytorch_model-0000{n}-of-00002.bin" for name, _ in part}
        with open(os.path.join(folder, "pytorch_model.bin.index.json"), "w") as file:
            json.dump({"metadata": {}, "weight_map": places}, file)
        return [whole, same(type(made).from_pretrained(folder), made)]


def dtypes():
    """dtype: "auto", by name, float16 and bfloat16 saved and read; the bits after a round trip"""
    gives = []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        made = model("LlamaForCausalLM").to(dtype)
        with tempfile.TemporaryDirectory() as folder:
            made.save_pretrained(folder)
            with open(os.path.join(folder, "config.json")) as file:
                named = json.load(file).get("dtype")
            auto = type(made).from_pretrained(folder, dtype="auto")
            plain = type(made).from_pretrained(folder)
            other = type(made).from_pretrained(folder, dtype=torch.bfloat16)
            word = type(made).from_pretrained(folder, dtype="float32")
            gives.append([named, same(auto, made), *(str(x.dtype) for x in (auto, plain, other, word)), all_numbers(other)])
    return gives


def on_meta():
    """the meta device: a model without memory, its shapes, then weights from a file"""
    config = transformers.LlamaConfig(**MODELS["Llama"])
    with torch.device("meta"):
        empty = transformers.LlamaForCausalLM(config)
    found = empty(input_ids=torch.ones(2, 5, dtype=torch.long, device="meta"))
    made = model("LlamaForCausalLM")
    state = {name: x.clone() for name, x in made.state_dict().items()}
    empty.load_state_dict(state, assign=True)
    empty.model.rotary_emb = made.model.rotary_emb
    blank = transformers.LlamaForCausalLM(config).to("meta").to_empty(device="cpu")
    return [
        list(found.logits.shape),
        str(found.logits.device),
        same(empty, made),
        torch.equal(empty(**batch()).logits, made(**batch()).logits),
        str(blank.device),
    ]


def other_heads():
    """a head that is new, layers that are left over, sizes that differ on request: what is told and what is drawn"""
    made = model("BertForMaskedLM")
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        torch.manual_seed(6)
        head, told = transformers.BertForSequenceClassification.from_pretrained(folder, num_labels=3, output_loading_info=True)
        torch.manual_seed(6)
        other = transformers.BertForMaskedLM.from_pretrained(folder, vocab_size=100, ignore_mismatched_sizes=True)
        body = transformers.AutoModel.from_pretrained(folder)
    return [
        sorted(told["missing_keys"]),
        sorted(told["unexpected_keys"]),
        all_numbers(head),
        all_numbers(other),
        same(body.encoder, made.bert.encoder),
    ]


OWN_CONFIGURATION = """
from transformers import PretrainedConfig

class OwnConfig(PretrainedConfig):
    model_type = "own"
    size: int = 6
"""
OWN_MODEL = """
import torch
from torch import nn
from transformers import PreTrainedModel
from .configuration_own import OwnConfig

class OwnModel(PreTrainedModel):
    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config)
        self.inner = nn.Linear(config.size, 2)
        self.post_init()

    def _init_weights(self, module):
        torch.nn.init.normal_(module.weight, std=0.3) if isinstance(module, nn.Linear) else None

    def forward(self, x):
        return torch.nn.functional.silu(self.inner(x))
"""


def own_code():
    """trust_remote_code: a model whose code lies next to its weights"""
    named = {"AutoConfig": "configuration_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("configuration_own.py", OWN_CONFIGURATION), ("modeling_own.py", OWN_MODEL)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        with open(os.path.join(folder, "config.json"), "w") as file:
            json.dump({"model_type": "own", "size": 5, "auto_map": named}, file)
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True)
        torch.manual_seed(1)
        made = transformers.AutoModel.from_config(config, trust_remote_code=True)
        made.save_pretrained(folder)
        read = transformers.AutoModel.from_pretrained(folder, trust_remote_code=True)
    return [type(read).__name__, same(read, made), numbers(read(torch.ones(2, 5)))]


def by_auto_classes():
    """AutoModel..., AutoConfig, AutoTokenizer from a folder, variant names, an own state_dict"""
    from tiny import tokenizer

    made = model("T5ForConditionalGeneration")
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder, variant="small")
        tokenizer().save_pretrained(folder)
        read = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, variant="small")
        config = transformers.AutoConfig.from_pretrained(folder)
        maker = transformers.AutoTokenizer.from_pretrained(folder)
        own = type(made).from_pretrained(None, config=config, state_dict=made.state_dict())
        drawn = transformers.AutoModelForSeq2SeqLM.from_config(config)
    ids = maker("the cat", return_tensors="pt")["input_ids"].tolist()
    return [type(read).__name__, same(read, made), same(own, made), type(drawn).__name__, ids, config.to_diff_dict()]


def by_safetensors():
    """safetensors.torch: save_file, load_file, load_model, safe_open, shared memory refused"""
    from safetensors import safe_open
    from safetensors.torch import load_file, load_model, save_file, save_model

    made = model("GPT2LMHeadModel")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.safetensors")
        try:
            save_file(made.state_dict(), path)
            refused = ""
        except RuntimeError as error:
            refused = str(error).strip()[:30]
        save_model(made, path)
        other = model("GPT2LMHeadModel", seed=3)
        told = load_model(other, path)
        with safe_open(path, framework="pt") as file:
            part = file.get_slice("transformer.wpe.weight")[3:5, ::1]
            names = sorted(file.keys())
        read = load_file(path, device="cpu")
    return [refused, [sorted(x) for x in told], same(made, other), part.tolist()[0][:4], names, sorted(read) == names]
