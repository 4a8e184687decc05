"""What the other tests take for granted."""

import importlib.util

import torch


def test_torch_runs_on_the_cpu_alone():
    assert torch.arange(6.0).reshape(2, 3).mm(torch.ones(3, 1)).tolist() == [[3], [12]]
    assert not torch.cuda.is_available()


def test_there_is_no_jax():
    assert importlib.util.find_spec("jax") is None
