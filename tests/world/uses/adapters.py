"""peft"""

import tempfile

import peft
import torch
from tiny import all_numbers, batch, model, numbers, same

NEEDS = ["peft", "accelerate"]


def _taught(made, steps=3):
    """The losses of a few steps, and the trainable weights after them."""
    made.train()
    torch.manual_seed(2)
    optimizer = torch.optim.AdamW([p for p in made.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = made(**batch(), labels=batch()["input_ids"]).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    made.eval()
    return [losses, {n: numbers(p) for n, p in made.named_parameters() if p.requires_grad}]


def _adapted(name, config, seed=1):
    torch.manual_seed(seed)
    base = model(name)
    torch.manual_seed(seed)
    return peft.get_peft_model(base, config)


def _saved_and_merged(made, name):
    """The adapter alone is saved and read; then it is merged into the model."""
    alone = made(**batch()).logits
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        read = peft.PeftModel.from_pretrained(model(name), folder)
        kept = torch.equal(read(**batch()).logits, alone)
    with made.disable_adapter():
        without = made(**batch()).logits
    merged = made.merge_and_unload()
    found = merged(**batch()).logits
    return [
        kept,
        numbers(without),
        bool((found - alone).abs().max() < 1e-4),
        type(merged).__name__,
        all_numbers(merged),
    ]


def lora_on_gpt2():
    """LoRA on GPT-2: trained, saved, read, disabled, merged"""
    made = _adapted(
        "GPT2LMHeadModel",
        peft.LoraConfig(
            task_type="CAUSAL_LM",
            r=4,
            lora_alpha=8,
            lora_dropout=0.1,
            target_modules=["c_attn", "c_proj"],
            fan_in_fan_out=True,
        ),
    )
    return [made.get_nb_trainable_parameters(), _taught(made), *_saved_and_merged(made, "GPT2LMHeadModel")]


def lora_on_llama():
    """LoRA on Llama, all linear layers; generation with the adapter"""
    made = _adapted("LlamaForCausalLM", peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules="all-linear", use_rslora=True))
    taught = _taught(made)
    wrote = made.generate(**batch(["the cat"]), max_new_tokens=6, do_sample=False).tolist()
    return [taught, wrote, *_saved_and_merged(made, "LlamaForCausalLM")]


def dora_and_biases():
    """DoRA, trained biases, modules that are saved whole"""
    made = _adapted(
        "BertForSequenceClassification",
        peft.LoraConfig(task_type="SEQ_CLS", r=2, use_dora=True, target_modules=["query", "value"], modules_to_save=["classifier"]),
    )
    made.train()
    torch.manual_seed(2)
    made(**batch(), labels=torch.tensor([0, 1, 1])).loss.backward()
    return {n: numbers(p.grad) for n, p in made.named_parameters() if p.grad is not None}


def ia3():
    """IA3 on GPT-2"""
    made = _adapted(
        "GPT2LMHeadModel",
        peft.IA3Config(
            task_type="CAUSAL_LM",
            target_modules=["c_attn", "mlp.c_proj"],
            feedforward_modules=["mlp.c_proj"],
            fan_in_fan_out=True,
        ),
    )
    return [_taught(made), *_saved_and_merged(made, "GPT2LMHeadModel")]


def prompts():
    """prompt tuning, prefix tuning, p-tuning: trained; written with"""
    gives = []
    for config in (
        peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4),
        peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4),
        peft.PromptEncoderConfig(task_type="CAUSAL_LM", num_virtual_tokens=4, encoder_hidden_size=16),
    ):
        made = _adapted("LlamaForCausalLM", config)
        gives.append(_taught(made))
        gives.append(made.generate(**batch(["the cat"]), max_new_tokens=5, do_sample=False).tolist())
    return gives


def several_adapters():
    """two adapters: added, chosen, weighed, deleted"""
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    made = _adapted("LlamaForCausalLM", config)
    made.add_adapter("second", config)
    gives = []
    for name in ("default", "second"):
        made.set_adapter(name)
        gives.append(numbers(made(**batch()).logits))
    made.add_weighted_adapter(["default", "second"], [0.3, 0.7], "both", combination_type="linear")
    made.set_adapter("both")
    gives.append(numbers(made(**batch()).logits))
    made.delete_adapter("second")
    return [*gives, sorted(made.peft_config)]


def other_ways():
    """other adapters: LoHa, LoKr, AdaLoRA, OFT, VeRA, LN tuning"""
    gives = {}
    both = dict(task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj"])
    for name, config in {
        "LoHa": lambda: peft.LoHaConfig(r=2, **both),
        "LoKr": lambda: peft.LoKrConfig(r=2, **both),
        "AdaLoRA": lambda: peft.AdaLoraConfig(init_r=3, target_r=2, total_step=10, **both),
        "VeRA": lambda: peft.VeraConfig(r=4, task_type="CAUSAL_LM", target_modules=["q_proj"]),
        "OFT": lambda: peft.OFTConfig(oft_block_size=4, **both),
        "LN": lambda: peft.LNTuningConfig(task_type="CAUSAL_LM", target_modules=["input_layernorm"]),
    }.items():
        gives[name] = _taught(_adapted("LlamaForCausalLM", config()), steps=2)
    return gives


def inside_transformers():
    """add_adapter of transformers itself, saved and loaded by load_adapter"""
    made = model("GPT2LMHeadModel")
    torch.manual_seed(4)
    made.add_adapter(
        peft.LoraConfig(r=2, target_modules=["c_attn"], init_lora_weights=False, fan_in_fan_out=True),
        adapter_name="one",
    )
    found = made(**batch()).logits
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        other = model("GPT2LMHeadModel")
        other.load_adapter(folder)
        return [
            numbers(found),
            torch.equal(other.eval()(**batch()).logits, found),
            same(made.get_adapter_state_dict(), other.get_adapter_state_dict()),
        ]
