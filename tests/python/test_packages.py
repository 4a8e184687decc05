"""Our own Python packages as registries get them: what is in them, and the plugin's library in its wheel."""

import email
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import zipfile

import pytest

import oxcall

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "python"
VERSION = oxcall.__version__
PLUGIN = """
#![no_std]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
#[unsafe(no_mangle)]
pub extern "C" fn NAME() -> *const u8 { "VERSION\\0".as_ptr() }
"""


def build(package, target, folder, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OXCALL_")}
    environment["PATH"] = "/nowhere"  # no Rust is needed
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder]
    return subprocess.run(
        command, cwd=PACKAGES / package, env={**environment, **variables}, capture_output=True, text=True, check=False
    )


def built(package, target, folder, **variables):
    done = build(package, target, folder, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Libraries that are the plugin of a version, or not, as far as a build can tell."""
    folder = tmp_path_factory.mktemp("libraries")

    def compiled(name, version):
        (folder / "lib.rs").write_text(PLUGIN.replace("NAME", name).replace("VERSION", version))
        path = folder / f"{name}-{version}.so"
        command = ["rustc", "--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", folder / "lib.rs", "-o", path]
        subprocess.run(command, check=True)
        return path

    plugin = compiled("oxcall_plugin_version", VERSION)
    content = bytearray(plugin.read_bytes())
    content[18:20] = (243).to_bytes(2, "little")  # RISC-V
    (folder / "other_machine.so").write_bytes(content)
    (folder / "text.so").write_text("hello")
    return {
        "plugin": plugin,
        "another version": compiled("oxcall_plugin_version", "0.0.9"),
        "not a plugin": compiled("other_version", VERSION),
        "another machine": folder / "other_machine.so",
        "text": folder / "text.so",
        "missing": folder / "missing.so",
    }


@pytest.mark.parametrize("package", ["oxcall", "oxcall-plugin"])
def test_source_distributions_have_files_and_no_links(package, tmp_path):
    with tarfile.open(built(package, "sdist", tmp_path)) as archive:
        members = {member.name.split("/", 1)[1]: member for member in archive}
    assert all(member.isfile() for member in members.values())
    assert {"LICENSE-MIT", "LICENSE-APACHE", "README.md", "pyproject.toml"} <= set(members)
    assert members["LICENSE-MIT"].size == (ROOT / "LICENSE-MIT").stat().st_size


@pytest.mark.parametrize("package", ["oxcall", "oxcall-plugin"])
def test_wheels_have_metadata_and_licences(package, libraries, tmp_path):
    wheel = built(package, "wheel", tmp_path, OXCALL_PLUGIN_LIBRARY=str(libraries["plugin"]))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (path,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(path))
    assert {name.split("/licenses/")[1] for name in names if "/licenses/" in name} == {"LICENSE-MIT", "LICENSE-APACHE"}
    assert metadata["License-Expression"] == "MIT OR Apache-2.0" and metadata["Author"] and metadata["Keywords"]
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL"))
    assert set(urls) == {"Repository", "Documentation", "Changelog", "Issues"}
    assert metadata["Version"] == VERSION


def test_a_wheel_of_a_library_that_is_built_needs_no_rust(libraries, tmp_path):
    wheel = built("oxcall-plugin", "wheel", tmp_path, OXCALL_PLUGIN_LIBRARY=str(libraries["plugin"]))
    assert wheel.name.startswith(f"oxcall_plugin-{VERSION}-py3-none-manylinux_2_"), wheel.name
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("oxcall_plugin/liboxcall_plugin.so") == libraries["plugin"].read_bytes()


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ("missing", "it cannot be read (No such file or directory)"),
        ("text", "it is not a shared library for Linux (ELF, 64 bits)"),
        ("another machine", f"it is for the ELF machine 243, not for {platform.machine()}"),
        ("not a plugin", "it is not a plugin of oxcall"),
        ("another version", f"it is version 0.0.9, and the package is {VERSION}"),
    ],
)
def test_other_libraries_are_refused(library, reason, libraries, tmp_path):
    done = build("oxcall-plugin", "wheel", tmp_path, OXCALL_PLUGIN_LIBRARY=str(libraries[library]))
    assert done.returncode != 0
    message = done.stderr.strip().splitlines()[-1]
    assert f"OXCALL_PLUGIN_LIBRARY names {libraries[library]}" in message and reason in message, message
    assert "unset the variable to build it with cargo" in message


def test_without_rust_and_library_the_error_names_both(tmp_path):
    done = build("oxcall-plugin", "wheel", tmp_path)
    assert done.returncode != 0
    assert "https://rustup.rs" in done.stderr and "OXCALL_PLUGIN_LIBRARY=/path/to/liboxcall_plugin.so" in done.stderr
