"""Models whose parameters or batches are sharded: training, compiled functions, loops, checkpoints."""

import copy
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.spmd as xs
from common import DEVICE, LINE, SQUARE, main, sharded


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


def trained(shard, optimizer=torch.optim.SGD, model=Mlp, batch=None, steps=3, **options):
    """The parameters of a model after some steps on the devices, where `shard` splits it, and on torch's CPU."""
    here = model()
    there = copy.deepcopy(here).to(DEVICE)
    moved = shard(there) or there
    x, y = batch or (torch.randn(32, 16), torch.randn(32, 8))
    sides = [(moved, sharded(x, LINE, ("d", None)), y.to(DEVICE)), (here, x, y)]
    for side, inputs, targets in sides:
        step = optimizer(side.parameters(), 0.01, **options)
        for _ in range(steps):
            step.zero_grad()
            F.mse_loss(side(inputs), targets).backward()
            step.step()
            torch_xla.sync()
    return [
        (ours.detach(), theirs.detach()) for ours, theirs in zip(there.parameters(), here.parameters(), strict=True)
    ]


def data_parallel():
    return trained(lambda model: None)


def tensor_parallel():
    def shard(model):
        xs.mark_sharding(model.up.weight, LINE, ("d", None))
        xs.mark_sharding(model.up.bias, LINE, ("d",))
        xs.mark_sharding(model.down.weight, LINE, (None, "d"))

    return trained(shard, torch.optim.AdamW)


def both():
    def shard(model):
        xs.mark_sharding(model.up.weight, SQUARE, ("x", "y"))
        xs.mark_sharding(model.down.weight, SQUARE, ("y", "x"))

    return trained(shard, torch.optim.SGD, momentum=0.9)


def parameters_that_do_not_divide():
    def shard(model):
        xs.mark_sharding(model[0].weight, LINE, ("d", None))
        xs.mark_sharding(model[2].weight, LINE, (None, "d"))

    def model():
        return nn.Sequential(nn.Linear(16, 13), nn.ReLU(), nn.Linear(13, 8))

    return trained(shard, torch.optim.Adam, model)


def fully_sharded():
    from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel

    mesh = xs.Mesh(list(range(4)), (4, 1), ("fsdp", "tensor"))

    def shard(model):
        model.up = SpmdFullyShardedDataParallel(model.up, mesh=mesh)
        model.down = SpmdFullyShardedDataParallel(model.down, mesh=mesh)
        return SpmdFullyShardedDataParallel(model, mesh=mesh)

    return trained(shard)


def attention():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
            self.last = nn.Linear(16, 8)

        def forward(self, x):
            return self.last(self.layer(x.reshape(4, 8, 16))).reshape(32, 8)

    def shard(model):
        xs.mark_sharding(model.layer.self_attn.in_proj_weight, LINE, ("d", None))
        xs.mark_sharding(model.layer.linear1.weight, LINE, ("d", None))

    return trained(shard, torch.optim.SGD, Attention)


def convolutions_and_norms():
    def model():
        layers = [nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 8))

    def shard(model):
        xs.mark_sharding(model[1].weight, LINE, ("d", None, None, None))

    return trained(shard, torch.optim.SGD, model)


def recomputed_activations():
    from torch_xla.utils.checkpoint import checkpoint

    class Recomputed(Mlp):
        def forward(self, x):
            inside = F.gelu(self.up(x))
            return checkpoint(self.down, inside) if x.device.type == "xla" else self.down(inside)

    def shard(model):
        xs.mark_sharding(model.up.weight, LINE, ("d", None))

    return trained(shard, model=Recomputed)


def barriers_in_the_backward_pass():
    def shard(model):
        xs.xla_sharding.apply_backward_optimization_barrier(model.down)

    return trained(shard)


def linear_layers_as_einsums():
    from torch_xla.distributed.spmd.xla_sharding import apply_xla_patch_to_nn_linear

    def shard(model):
        apply_xla_patch_to_nn_linear(model)
        xs.mark_sharding(model.up.weight, LINE, ("d", None))

    return trained(shard)


def accumulated_gradients():
    from torch_xla.experimental.gradient_accumulation import gradient_accumulation

    here = Mlp()
    there = copy.deepcopy(here).to(DEVICE)
    xs.mark_sharding(there.up.weight, LINE, ("d", None))
    x, y = torch.randn(4, 8, 16), torch.randn(4, 8, 8)

    def step(inputs, targets):
        return F.mse_loss(there(inputs), targets)

    result = gradient_accumulation(step, (x.to(DEVICE), y.to(DEVICE)), there)
    loss = result[0] if isinstance(result, tuple) else result
    expected = sum(F.mse_loss(here(inputs), targets) / 4 for inputs, targets in zip(x, y, strict=True))
    expected.backward()
    torch_xla.sync()
    return [(loss, expected.detach()), (there.up.weight.grad, here.up.weight.grad)]


def scans_of_layers():
    from torch_xla.experimental.scan import scan

    w, x = torch.randn(3, 8, 8) / 3, torch.randn(8, 8)
    carried, _ = scan(
        lambda h, layer: (torch.tanh(h @ layer), h.sum()), x.to(DEVICE), sharded(w, LINE, (None, None, "d"))
    )
    for layer in w:
        x = torch.tanh(x @ layer)
    return carried, x


def compiled_functions():
    here = Mlp().eval()
    there = copy.deepcopy(here).to(DEVICE)
    xs.mark_sharding(there.up.weight, LINE, ("d", None))
    compiled = torch.compile(there, backend="openxla")
    pairs = []
    for _ in range(3):
        x = torch.randn(8, 16)
        pairs.append((compiled(sharded(x, LINE, ("d", None))), here(x)))
        y = torch.randn(8, 16)
        pairs.append((compiled(y.to(DEVICE)), here(y)))
    return [(ours.detach(), theirs.detach()) for ours, theirs in pairs]


def loaders():
    batches = [torch.randn(8, 3) for _ in range(3)] + [torch.randn(3, 3)]
    loader = pl.MpDeviceLoader(batches, DEVICE, input_sharding=xs.ShardingSpec(LINE, ("d", None)))
    return [(moved * 2, batch * 2) for moved, batch in zip(loader, batches, strict=True)]


def checkpoints():
    import torch.distributed.checkpoint as checkpoint
    from torch_xla.experimental.distributed_checkpoint import SPMDLoadPlanner, SPMDSavePlanner

    def model(spec):
        made = Mlp().to(DEVICE)
        xs.mark_sharding(made.up.weight, LINE, spec)
        torch_xla.sync()
        return made

    saved, loaded = model(("d", None)), model((None, "d"))
    expected = [parameter.detach().cpu() for parameter in saved.parameters()]
    with tempfile.TemporaryDirectory() as directory:
        state = {"model": saved.state_dict()}
        checkpoint.save(state, checkpoint_id=directory, planner=SPMDSavePlanner(), no_dist=True)
        state = {"model": loaded.state_dict()}
        checkpoint.load(state, checkpoint_id=directory, planner=SPMDLoadPlanner(), no_dist=True)
        loaded.load_state_dict(state["model"])
    return [(ours.detach(), right) for ours, right in zip(loaded.parameters(), expected, strict=True)]


def random_numbers():
    x = torch.rand(1000, 8, device=DEVICE)
    xs.mark_sharding(x, LINE, ("d", None))
    dropped = F.dropout(sharded(torch.ones(1000, 8), LINE, ("d", None)), 0.25)
    return [
        (((x.mean() - 0.5).abs() < 0.02).float(), torch.tensor(1.0)),
        ((((dropped == 0).float().mean() - 0.25).abs() < 0.03).float(), torch.tensor(1.0)),
    ]


CASES = [
    data_parallel,
    tensor_parallel,
    both,
    parameters_that_do_not_divide,
    fully_sharded,
    attention,
    convolutions_and_norms,
    recomputed_activations,
    barriers_in_the_backward_pass,
    linear_layers_as_einsums,
    accumulated_gradients,
    scans_of_layers,
    compiled_functions,
    loaders,
    checkpoints,
    random_numbers,
]

if __name__ == "__main__":
    main(CASES)
