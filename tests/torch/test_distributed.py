"""DTensor, DDP and FSDP2 with an operator in the module: two processes over gloo give what one gives."""

import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn

import norm_ops
from norm_ops import norm
from python_ops import load_glue

PROCESSES = 2
ROWS, COLUMNS = 4, 6


def randn(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


class Model(nn.Module):
    """A linear layer and a normalised sum."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.linear = nn.Linear(COLUMNS, COLUMNS, dtype=torch.float64)
        self.weight = nn.Parameter(randn(COLUMNS))
        with torch.no_grad():
            self.linear.weight.copy_(randn(COLUMNS, COLUMNS))
            self.linear.bias.copy_(randn(COLUMNS))

    def forward(self, x):
        return self.function(self.linear(x), self.weight).square().mean()


def expected_gradients():
    model = Model(norm)
    model(randn(PROCESSES * ROWS, COLUMNS)).backward()
    return {name: parameter.grad for name, parameter in model.named_parameters()}


def part(rank):
    return randn(PROCESSES * ROWS, COLUMNS)[rank * ROWS : (rank + 1) * ROWS]


def check_training(ops, rank, prepare, whole=lambda gradient: gradient):
    """One step gives the gradients of one process, with as many collectives as the same module of torch's functions."""
    from torch.distributed.tensor.debug import CommDebugMode

    counts = []
    for function in (ops.norm, norm):
        model = prepare(Model(function))
        with CommDebugMode() as collectives:
            model(part(rank)).backward()
        counts.append(collectives.get_comm_counts())
        gradients = {name.removeprefix("module."): whole(one.grad) for name, one in model.named_parameters()}
        torch.testing.assert_close(gradients, expected_gradients())
    assert counts[0] == counts[1]
    return sum(counts[0].values())


def ddp(ops, _mesh, rank):
    check_training(ops, rank, nn.parallel.DistributedDataParallel)


def fsdp(ops, mesh, rank):
    from torch.distributed.fsdp import fully_shard

    def prepare(model):
        fully_shard(model.linear, mesh=mesh)
        return fully_shard(model, mesh=mesh)

    # Each part is gathered and its gradient scattered: what is gathered for the forward pass is kept or gathered again.
    assert check_training(ops, rank, prepare, lambda gradient: gradient.full_tensor()) >= 4


def dtensor(ops, mesh, _rank):
    from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode

    x, w = randn(4, 2, COLUMNS), randn(COLUMNS)
    reference = x.clone().requires_grad_(), w.clone().requires_grad_()
    expected = norm(*reference)
    expected.square().sum().backward()
    for dim in (0, 1):
        args = (distribute_tensor(x, mesh, [Shard(dim)]), distribute_tensor(w, mesh, [Replicate()]))
        args = [arg.detach().requires_grad_() for arg in args]
        with CommDebugMode() as collectives:
            y = ops.norm(*args)
            gradients = torch.autograd.grad(y.square().sum(), args)
        assert collectives.get_total_counts() == 0, collectives.get_comm_counts()
        assert y.placements == (Shard(dim),)
        assert [gradient.placements for gradient in gradients] == [(Shard(dim),), (Partial(),)]
        torch.testing.assert_close(y.full_tensor(), expected)
        with CommDebugMode() as collectives:
            weight = gradients[1].redistribute(mesh, [Replicate()]).to_local()
        assert collectives.get_total_counts() == 1
        torch.testing.assert_close(weight, reference[1].grad)
        torch.testing.assert_close(gradients[0].full_tensor(), reference[0].grad)
        # In this result, other dimensions stand before those of the batch.
        y = ops.outer(distribute_tensor(randn(3, 5), mesh, [Replicate()]), args[0].detach())
        assert y.placements == (Shard(2 + dim),)
        torch.testing.assert_close(y.full_tensor(), randn(3, 5)[..., None, None, None] * x)
    # The last dimension is none of the batch's.
    whole = ops.norm(distribute_tensor(x, mesh, [Shard(2)]), distribute_tensor(w, mesh, [Shard(0)]))
    torch.testing.assert_close(whole.full_tensor(), expected)
    compiled = torch.compile(ops.norm, backend="aot_eager", fullgraph=True)
    result = compiled(distribute_tensor(x, mesh, [Shard(0)]), distribute_tensor(w, mesh, [Replicate()]))
    assert result.placements == (Shard(0),)
    torch.testing.assert_close(result.full_tensor(), expected)


CASES = {"ddp": ddp, "fsdp": fsdp, "dtensor": dtensor}


def run_processes(case, store):
    """The exit statuses and outputs of the processes of a job."""
    command = [sys.executable, "-X", "faulthandler", __file__, case, str(store)]
    # gloo would look up the name of the machine.
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        for rank in range(PROCESSES)
    ]
    outputs = [process.communicate(timeout=300)[0].decode() for process in processes]
    return [process.returncode for process in processes], outputs


def is_of_torch(status, output):
    """Whether a process succeeded, was ended by a signal, or lost its connection: what no code of ours does here."""
    return status <= 0 or "gloo/transport" in output.rpartition("Traceback")[2]


@pytest.mark.parametrize("case", CASES)
def test_two_processes(case, tmp_path):
    # A run of CI lost a process once, for a reason that its log did not show; the other one lost its connection.
    for attempt in range(3):
        statuses, outputs = run_processes(case, tmp_path / f"store{attempt}")
        if not any(statuses) or not all(map(is_of_torch, statuses, outputs)):
            break
        warnings.warn(f"{case} lost a process: exit statuses {statuses}\n" + "\n".join(outputs), stacklevel=1)
    parts = (f"rank {rank}, exit status {statuses[rank]}:\n{outputs[rank]}" for rank in range(PROCESSES))
    assert not any(statuses), "\n".join(parts)


def test_the_glue_imports_no_dtensor():
    program = (
        "import sys; from python_ops import load_glue; import norm_ops; norm_ops.register(load_glue()); "
        "assert 'torch.distributed.tensor' not in sys.modules; import torch.distributed.tensor; "
        "assert not [finder for finder in sys.meta_path if type(finder).__name__ == 'Import']"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=os.path.dirname(__file__))


def main(case, store, rank):
    """One of the processes."""
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh

    ops = norm_ops.register(load_glue())
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=PROCESSES)
    CASES[case](ops, init_device_mesh("cpu", (PROCESSES,)), rank)
    distributed.barrier()
    distributed.destroy_process_group()
    # Without this, a process aborts now and then when Python ends: "terminate called without an active exception". It
    # did in 1 of 30 jobs of `ddp` that keep their process group, and in none of 31 of `fsdp` that end as this one; with
    # torch's functions in place of the operators, in none of 35 and 16. No library of ours is loaded here, only Python
    # code: a thread that C++ finds running is one of torch's.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
