"""`jax.export`: programs that other releases of JAX have stored, which are in JAX's own package, and new ones."""

import dataclasses
import importlib
import pkgutil

import jax
import numpy as np
import pytest

data = pytest.importorskip("jax._src.internal_test_util.export_back_compat_test_data")
util = importlib.import_module("jax._src.internal_test_util.export_back_compat_test_util")

# Of these, other results may be right, too: eigenvectors are so but for a factor. What is the same is the result at
# this place, in any order.
SPECTRA = {"cpu_eig_lapack_geev": 0, "cpu_eigh_lapack_syev": 1, "cpu_svd_lapack_gesdd": 1}
NOT_UNIQUE = {"cpu_schur_lapack_gees"}


def stored():
    """Each program for the CPU: its name and what is known of it."""

    def programs(name, value):
        if isinstance(value, dict) and "testdata_version" in value:
            if value["platform"] == "cpu":
                yield pytest.param(util.CompatTestData(**value), id=name)
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from programs(f"{name}-{key}", inner)

    for module in pkgutil.iter_modules(data.__path__):
        if module.name.startswith("cpu_"):
            contents = vars(importlib.import_module(f"{data.__name__}.{module.name}"))
            for name, value in contents.items():
                if name.startswith("data"):
                    yield from programs(module.name, value)


class Runner(util.CompatTestBase):
    def runTest(self):
        """Nothing: it is a collection of functions."""


@pytest.mark.parametrize("program", list(stored()))
def test_programs_that_older_releases_stored(x64, request, program):
    results = Runner().run_serialized(dataclasses.replace(program, platform=jax.default_backend()))
    results = [np.asarray(result) for result in (results if isinstance(results, (list, tuple)) else [results])]
    family = request.node.callspec.id.split("-")[0]
    single = results[0].dtype in (np.float32, np.complex64)
    # Some inputs are singular: what is left of cancelled terms is some 100 ULP of the largest ones.
    rtol, atol = (1e-3, 1e-3) if single else (1e-8, 1e-8)
    assert [result.dtype for result in results] == [expected.dtype for expected in program.expected_outputs]
    for place, (result, expected) in enumerate(zip(results, program.expected_outputs, strict=True)):
        assert result.shape == expected.shape and np.isfinite(result).all()
        if family in SPECTRA:
            if SPECTRA[family] == place:
                np.testing.assert_allclose(np.sort(np.abs(result)), np.sort(np.abs(expected)), rtol, atol)
        elif family not in NOT_UNIQUE:
            np.testing.assert_allclose(result, expected, rtol, atol)
