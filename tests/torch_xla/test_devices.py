"""How torch_xla finds the plugin, and what it says of devices."""

import os

import pytest
import tomllib

from conftest import PLUGIN, ROOT

SOURCES = [ROOT / "python" / package / "src" for package in ("oxcall", "oxcall-plugin")]

DOUBLE = """
import torch, torch_xla
print((torch.arange(3, device=torch_xla.device()) * 2).cpu().tolist())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A `PYTHONPATH` on which the package is found as an installed one, with its entry points."""
    project = tomllib.loads((ROOT / "python/oxcall-plugin/pyproject.toml").read_text())["project"]
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    folder = tmp_path_factory.mktemp("site")
    info = folder / f"oxcall_plugin-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return os.pathsep.join(map(str, [folder, *SOURCES]))


def test_a_library_by_its_path(fresh):
    assert fresh(DOUBLE, PJRT_DEVICE="LIBRARY", PJRT_LIBRARY_PATH=PLUGIN) == "[0, 2, 4]"


def test_the_installed_package(fresh, installed):
    assert fresh(DOUBLE, PJRT_DEVICE="OXCALL", PYTHONPATH=installed) == "[0, 2, 4]"


def test_programs_as_stablehlo(fresh):
    assert fresh(DOUBLE, PJRT_DEVICE="LIBRARY", PJRT_LIBRARY_PATH=PLUGIN, XLA_STABLEHLO_COMPILE="1") == "[0, 2, 4]"


FOUR = """
import torch, torch_xla
import torch_xla.runtime as xr
devices = torch_xla.devices()
print(len(devices), xr.addressable_device_count(), xr.global_device_count())
tensors = [torch.full((3,), float(index), device=device) * 2 + 1 for index, device in enumerate(devices)]
torch_xla.sync()
print([tensor.cpu().tolist()[0] for tensor in tensors])
moved = (tensors[3].to(devices[1]) + tensors[1]).cpu().tolist()
print(moved)
"""


def test_four_devices_by_the_environment(fresh, installed):
    for way in ({"PJRT_DEVICE": "OXCALL"}, {"PJRT_DEVICE": "LIBRARY", "PJRT_LIBRARY_PATH": PLUGIN}):
        printed = fresh(FOUR, PYTHONPATH=installed, OXCALL_NUM_DEVICES="4", **way).splitlines()
        assert printed == ["4 4 4", "[1.0, 3.0, 5.0, 7.0]", "[10.0, 10.0, 10.0]"]


def test_four_devices_by_options(fresh, installed):
    code = f"import oxcall_plugin; oxcall_plugin.configure(num_devices=4, num_threads=2)\n{FOUR}"
    assert fresh(code, PJRT_DEVICE="OXCALL", PYTHONPATH=installed).splitlines()[0] == "4 4 4"


def test_options_come_before_the_client(fresh, installed):
    code = """
    import torch, torch_xla, oxcall_plugin
    torch_xla.device()
    try:
        oxcall_plugin.configure(num_devices=2)
    except oxcall_plugin.PluginError as error:
        print("torch_xla has made its client already" in str(error))
    """
    assert fresh(code, PJRT_DEVICE="OXCALL", PYTHONPATH=installed) == "True"


def test_a_thread_for_each_device(fresh, installed, tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        "import sys, torch, torch_xla\n"
        "import torch_xla.runtime as xr\n"
        "def work(index):\n"
        "    x = torch.full((2,), float(xr.global_ordinal()), device=torch_xla.device())\n"
        "    sys.stdout.write(f'{(x + 1).cpu()[0]}\\n')\n"
        "if __name__ == '__main__':\n"
        "    torch_xla.launch(work)\n"
    )
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    printed = fresh(code, PJRT_DEVICE="OXCALL", OXCALL_NUM_DEVICES="4", PYTHONPATH=installed)
    assert sorted(printed.split()) == ["1.0", "2.0", "3.0", "4.0"]


COLLECTIVES = """
import os, sys, torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr

def work(index):
    device, rank = torch_xla.device(), xr.global_ordinal()
    for step in range(3):
        # From the host: numbers that differ from device to device would make programs that differ.
        x = torch.full((2,), float(rank + step)).to(device)
        four, tens = (torch.arange(4.0) + rank).to(device), (torch.arange(4.0) * 10 + rank).to(device)
        total = xm.all_reduce("sum", x)
        highest = xm.all_reduce("max", x, groups=[[0, 1], [2, 3]])
        # With pinned layouts it is a sum of programs that differ from device to device.
        gathered = xm.all_gather(x[:1], pin_layout=False)
        scattered = xm.reduce_scatter("sum", four, 1.0, 0, 4)
        # torch_xla has no StableHLO of it.
        exchanged = tens if "XLA_STABLEHLO_COMPILE" in os.environ else xm.all_to_all(tens, 0, 0, 4)
        moved = xm.collective_permute(x, [[0, 1], [1, 2], [2, 3], [3, 0]])
        torch_xla.sync()
        results = [total, highest, gathered, scattered, exchanged, moved]
        sys.stdout.write(f"{step} {rank} {[result.cpu().tolist() for result in results]}\\n")

if __name__ == "__main__":
    torch_xla.launch(work)
"""


@pytest.mark.parametrize("stablehlo", [None, "1"])
def test_collectives_of_a_thread_for_each_device(fresh, installed, tmp_path, stablehlo):
    """Each device is run by a call of its own."""
    script = tmp_path / "spawned.py"
    script.write_text(COLLECTIVES)
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    own = {"PJRT_DEVICE": "OXCALL", "OXCALL_NUM_DEVICES": "4", "XLA_STABLEHLO_COMPILE": stablehlo}
    printed = fresh(code, PYTHONPATH=installed, **own)

    def expected(step, rank):
        each = [float(other + step) for other in range(4)]
        highest = max(each[rank // 2 * 2 :][:2])
        scattered = 4.0 * rank + 6
        exchanged = [other * 10.0 + rank if stablehlo else rank * 10.0 + other for other in range(4)]
        moved = each[(rank - 1) % 4]
        return f"{step} {rank} {[[sum(each)] * 2, [highest] * 2, each, [scattered], exchanged, [moved] * 2]}"

    assert sorted(printed.splitlines()) == [expected(step, rank) for step in range(3) for rank in range(4)]


def test_processes_have_a_device_each(fresh, installed):
    code = """
    import torch_xla, oxcall_plugin._torch_xla as own
    device = own.OxcallDevice()
    print(device.physical_chip_count(), device.host_index(), device.requires_xla_coordinator())
    device.configure_multiprocess(0, 1)
    print(device.client_create_options())
    device.configure_multiprocess(1, 2)
    options = device.client_create_options()
    print(options["num_devices"], options["num_threads"] >= 1)
    device.configure_single_process()
    print(device.client_create_options()["num_devices"])
    """
    printed = fresh(code, PJRT_DEVICE="OXCALL", PYTHONPATH=installed, OXCALL_LIBRARIES="").splitlines()
    assert printed == ["1 0 False", "{}", "1 True", "1"]
