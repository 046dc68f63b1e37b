"""accelerate, in one process"""

import tempfile

import torch
from accelerate import (
    Accelerator,
    cpu_offload,
    dispatch_model,
    infer_auto_device_map,
    init_empty_weights,
    load_checkpoint_and_dispatch,
)
from accelerate.state import AcceleratorState
from accelerate.utils import find_executable_batch_size, set_seed
from tiny import batch, model, numbers, same

NEEDS = ["accelerate"]


def _data(rows=12):
    draw = torch.Generator().manual_seed(1)
    return torch.utils.data.TensorDataset(torch.randn(rows, 6, generator=draw), torch.randint(0, 3, (rows,), generator=draw))


def _parts():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Dropout(0.2), torch.nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    loader = torch.utils.data.DataLoader(_data(), batch_size=3, shuffle=True)
    return net, optimizer, loader, torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)


def _epoch(helper, net, optimizer, loader, plan):
    losses = []
    for x, y in loader:
        with helper.accumulate(net):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            helper.backward(loss)
            if helper.sync_gradients:
                helper.clip_grad_norm_(net.parameters(), 0.7)
            optimizer.step()
            plan.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


def prepared():
    """Accelerator: prepare, backward, clip, accumulate, gather, reduce, unwrap, trackers, seeds"""
    set_seed(3)
    helper = Accelerator(cpu=True, gradient_accumulation_steps=2)
    parts = helper.prepare(*_parts())
    losses = _epoch(helper, *parts) + _epoch(helper, *parts)
    gathered = helper.gather_for_metrics(torch.arange(4.0))
    whole = helper.unwrap_model(parts[0])
    return [
        losses,
        gathered.tolist(),
        helper.reduce(torch.ones(2)).tolist(),
        type(whole).__name__,
        parts[3].get_last_lr(),
        helper.num_processes,
        helper.is_main_process,
        str(helper.device),
    ]


def states():
    """save_state and load_state: training goes on with the same losses; save_model"""
    set_seed(3)
    helper = Accelerator(cpu=True)
    parts = helper.prepare(*_parts())
    helper.register_for_checkpointing(parts[3])
    with tempfile.TemporaryDirectory() as folder:
        _epoch(helper, *parts)
        helper.save_state(folder)
        went_on = _epoch(helper, *parts)
        helper.load_state(folder)
        again = _epoch(helper, *parts)
        helper.save_model(parts[0], folder + "/model")
    return [went_on, again == went_on]


def mixed():
    """mixed precision in bfloat16: losses"""
    AcceleratorState._reset_state(reset_partial_state=True)
    set_seed(3)
    helper = Accelerator(cpu=True, mixed_precision="bf16")
    parts = helper.prepare(*_parts())
    losses = [round(loss, 2) for loss in _epoch(helper, *parts)]
    AcceleratorState._reset_state(reset_partial_state=True)
    return losses


def empty_and_dispatched():
    """init_empty_weights on the meta device, infer_auto_device_map, load_checkpoint_and_dispatch, dispatch_model"""
    import transformers
    from tiny import MODELS

    made = model("GPT2LMHeadModel")
    config = transformers.GPT2Config(**MODELS["GPT2"])
    with init_empty_weights():
        empty = transformers.GPT2LMHeadModel(config)
    where = sorted({str(p.device) for p in empty.parameters()})
    plan = infer_auto_device_map(empty, max_memory={"cpu": "1GB"})
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder, max_shard_size="20KB")
        empty.tie_weights()
        full = load_checkpoint_and_dispatch(empty, folder, device_map={"": "cpu"}).eval()
    sent = dispatch_model(model("GPT2LMHeadModel"), device_map={"": "cpu"})
    return [where, {k: str(v) for k, v in plan.items()}, numbers(full(**batch()).logits), same(sent, made)]


def device_maps():
    """from_pretrained with device_map="cpu", "auto", a table, low_cpu_mem_usage, within torch.device"""
    made = model("GPT2LMHeadModel")
    with tempfile.TemporaryDirectory() as folder:
        made.save_pretrained(folder)
        ways = (
            dict(device_map="cpu"),
            dict(device_map="auto"),
            dict(device_map={"": "cpu"}),
            dict(low_cpu_mem_usage=True),
            dict(use_safetensors=True),
        )
        gives = [same(type(made).from_pretrained(folder, **way), made) for way in ways]
        with torch.device("cpu"):
            gives.append(same(type(made).from_pretrained(folder), made))
    return gives


def offloaded():
    """cpu_offload and disk_offload: weights that wait elsewhere"""
    from accelerate import disk_offload

    made = model("BertModel")
    alone = made(**batch()).last_hidden_state
    waiting = cpu_offload(model("BertModel"), execution_device=torch.device("cpu"))
    with tempfile.TemporaryDirectory() as folder:
        disk = disk_offload(model("BertModel"), folder, execution_device=torch.device("cpu"))
        from_disk = disk(**batch()).last_hidden_state
    return [
        torch.equal(waiting(**batch()).last_hidden_state, alone),
        torch.equal(from_disk, alone),
        str(next(waiting.parameters()).device),
    ]


def batch_sizes():
    """find_executable_batch_size: smaller until it fits"""
    tried = []

    @find_executable_batch_size(starting_batch_size=8)
    def run(batch_size):
        tried.append(batch_size)
        if batch_size > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return batch_size

    return [run(), tried]
