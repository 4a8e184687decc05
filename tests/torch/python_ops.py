"""Operators written in Python with the manifest of an op, for the glue of torch."""

import itertools
import pathlib
import types

import torch
from torch.library import Library

GLUE = pathlib.Path(__file__).parents[2] / "ffi" / "src" / "torch" / "glue"
NAMES = itertools.count()


def load_glue():
    """The glue as one module, as a library runs it."""
    module = types.ModuleType("glue")
    for part in GLUE.glob("*.py"):
        exec(compile(part.read_text(), part, "exec"), module.__dict__)
    return module


def param(role, name, dims=None, dtype="f32", arity="one"):
    return {"role": role, "name": name, "dims": dims, "dtype": dtype, "rank": None, "arity": arity}


def attr(name, kind, presence="required"):
    return {"name": name, "type": kind, "presence": presence}


class Ops:
    """Operators of a new namespace, their manifest, and what became of them."""

    def __init__(self):
        self.namespace = f"glue_test_{next(NAMES)}"
        self.library = Library(self.namespace, "DEF")
        self.manifest, self.report = {"ops": []}, {"ops": []}

    def add(self, name, arguments, returns, function, params, attrs=(), **options):
        schema = f"{name}({arguments}) -> {returns}"
        self.library.define(schema)
        self.library.impl(name, function, "CPU")
        self.manifest["ops"].append({
            "name": name,
            "target": f"{self.namespace}::{name}",
            "platform": "Host",
            "vjp": None,
            "vmap": None,
            "params": list(params),
            "attrs": list(attrs),
            "type_params": [{"name": "T", "dtypes": ["f32", "f64", "c64", "c128"]}],
            "shape": "dims",
            "traits": {"side_effect": False},
            **options,
        })  # fmt: skip
        self.report["ops"].append({
            "key": "CPU",
            "name": f"{self.namespace}::{name}",
            "overloads": [{"overload": "", "schema": schema, "arguments": self.paths(name)}],
            "left_out": None,
        })  # fmt: skip
        return self

    def paths(self, name):
        return [[argument.name] for argument in getattr(self, name).default._schema.arguments]

    def __getattr__(self, name):
        return getattr(getattr(torch.ops, self.namespace), name)
