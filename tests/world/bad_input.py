"""What a user gives transformers by mistake: `badak run bad_input.py` prints what is said of each, as JSON.

With the name of one as its argument it lets the error end the program.
"""

import json
import os
import sys
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from tiny import model

from badak.compat.torch.advice import advised

Llama = transformers.LlamaForCausalLM


def changed(folder, **values):
    """Change the config.json of a folder."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        kept = json.load(file)
    with open(path, "w") as file:
        json.dump(kept | values, file)


def missing_shard(folder):
    model("LlamaForCausalLM").save_pretrained(folder, max_shard_size="20KB")
    os.remove(os.path.join(folder, "model-00002-of-00006.safetensors"))
    Llama.from_pretrained(folder)


def missing_pickled_shard(folder):
    made = model("LlamaForCausalLM")
    made.config.save_pretrained(folder)
    places = dict.fromkeys(made.state_dict(), "pytorch_model-00001-of-00002.bin")
    with open(os.path.join(folder, "pytorch_model.bin.index.json"), "w") as file:
        json.dump({"metadata": {}, "weight_map": places}, file)
    Llama.from_pretrained(folder)


def other_shape(folder):
    model("LlamaForCausalLM").save_pretrained(folder)
    changed(folder, vocab_size=100)
    Llama.from_pretrained(folder)


def cut_file(folder):
    model("LlamaForCausalLM").save_pretrained(folder)
    os.truncate(os.path.join(folder, "model.safetensors"), 5000)
    Llama.from_pretrained(folder)


def no_weights(folder):
    model("LlamaForCausalLM").config.save_pretrained(folder)
    Llama.from_pretrained(folder)


def bitsandbytes(folder):
    model("LlamaForCausalLM").save_pretrained(folder)
    Llama.from_pretrained(folder, quantization_config=transformers.BitsAndBytesConfig(load_in_4bit=True))


def gptq(folder):
    model("LlamaForCausalLM").save_pretrained(folder)
    changed(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    transformers.pipeline("text-generation", model=folder)


def own_code(folder):
    model("LlamaForCausalLM").config.save_pretrained(folder)
    changed(folder, model_type="own", auto_map={"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"})
    transformers.AutoModelForCausalLM.from_pretrained(folder)


def other_device(folder):
    model("LlamaForCausalLM").to("cuda")


def own_mistake(folder):
    def favour(input_ids, scores):
        return scores + torch.ones(7)

    ids = torch.ones(1, 3, dtype=torch.long)
    model("LlamaForCausalLM").generate(ids, logits_processor=[favour], max_new_tokens=2)


INPUTS = (missing_shard, missing_pickled_shard, other_shape, cut_file, no_weights, bitsandbytes, gptq, own_code, other_device)

if __name__ == "__main__":
    for give in (*INPUTS, own_mistake):
        if sys.argv[1:] not in ([], [give.__name__]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                give(folder)
            except Exception as error:
                if sys.argv[1:]:
                    raise
                told = advised(error)
                print("\n" + json.dumps({"input": give.__name__, "told": told and str(told).replace(folder, "FOLDER")}))
