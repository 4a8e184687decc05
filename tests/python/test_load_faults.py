"""Files that `oxcall.load` refuses, each in a process of its own: it lives, and says what is wrong and what to do."""

import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import sysconfig
import threading

import pytest

import fake
import oxcall
from processes import run

LOAD = """
    import os, sys, oxcall
    try:
        print("loaded", len(oxcall.load(os.fsencode(sys.argv[1]) if sys.argv[2:] else sys.argv[1])))
    except oxcall.LoadError as error:
        print(error)
"""
COMPLETE = f"loaded {len({entry['name'] for entry in fake.OPS})}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return pathlib.Path(fake.build(tmp_path_factory.mktemp("whole"), "libwhole.so"))


def refused(path, *parts: str) -> None:
    """A process that loads the file lives, and gets an error that names it and has these parts, in this order."""
    message = run(LOAD, path)
    assert message.startswith(f"{path} "), message
    has_parts(message, parts)


def has_parts(message, parts) -> None:
    assert re.search("(?s)" + ".*".join(map(re.escape, parts)), message), message


@pytest.mark.parametrize("cut", [10, 40, 64, 200, 0.1, 0.5, 0.9, -64, -1])
def test_cut(whole, tmp_path, cut):
    """Within the header, the program headers, a segment, and the section headers, which are the file's end."""
    content = whole.read_bytes()
    end = int(len(content) * cut) if isinstance(cut, float) else cut
    path = tmp_path / "libcut.so"
    path.write_bytes(content[:end])
    refused(path, "it is not complete: ", "should end at byte ", f"but the file has {len(content[:end])}", "copy it")


def test_a_package_without_its_library(tmp_path):
    """As a wheel has it, whose user has no crate."""
    (tmp_path / "_ops.py").touch()
    refused(tmp_path / "libgone.so", "does not exist. Install the package that has it again")


def test_names_of_errors():
    """Tracebacks have those that users catch."""
    for error in (oxcall.LoadError, oxcall.CallError, oxcall.OxcallError):
        assert f"{error.__module__}.{error.__name__}" == f"oxcall.{error.__name__}"
        assert pickle.loads(pickle.dumps(error("x"))).args == ("x",)


def compiled(folder: pathlib.Path, name: str, source: str, *flags: object) -> pathlib.Path:
    (folder / f"{name}.c").write_text(source)
    compiler = [shutil.which("g++")] if shutil.which("g++") else [sys.executable, "-m", "ziglang", "c++"]
    language = ["-x", "c++", folder / f"{name}.c", "-x", "none"]
    output = folder / f"lib{name}.so"
    subprocess.run([*compiler, "-shared", "-fPIC", *language, *flags, "-o", output], check=True)
    return output


ENTRY = 'extern "C" void* oxcall_library() { %s }'
# The table: its size, versions, count, handlers, and manifest.
TABLE = """
    static const char manifest[] = R"(%s)";
    static struct {{ unsigned long size; unsigned abi, none; unsigned long count; void* handlers; const void* text;
        unsigned long length; }} table = {{56, {abi}, 0, {count}, 0, manifest, sizeof(manifest) - 1}};
"""


def with_table(manifest: str, abi: int = 1, count: int = 0) -> str:
    return TABLE.format(abi=abi, count=count) % manifest + ENTRY % "return &table;"


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("int nothing;", ["does not export `oxcall_library`", 'crate-type = ["cdylib"]']),
        ('const char* text = "oxcall_library";', ["does not export `oxcall_library`"]),
        ('extern "C" { int oxcall_library = 5; }', ["does not export `oxcall_library`"]),
        (
            '__attribute__((constructor)) void first() { __builtin_trap(); } const char* text = "oxcall_library";',
            ["does not export `oxcall_library`"],
        ),
        (ENTRY % "return 0;", ["returned a null pointer; the library is broken"]),
        (with_table("{", 1), ["the manifest is not valid JSON", "the library is broken"]),
        (with_table("[1]", 1), ["the manifest has no list of `ops`"]),
        (with_table('{"ops": [1]}', 1), ["the manifest lists 1 ops, but the handler table has 0"]),
        (with_table('{"ops": []}', 1, count=2), ["its table of 2 handlers has a null pointer"]),
        (with_table("", 0), ["older oxcall", "version 0 of the library boundary; it reads version 1", "cargo update"]),
        (with_table("", 7), ["newer oxcall", "version 7", "this package reads version 1", "pip install --upgrade"]),
        (
            'extern "C" int nonesuch(); ' + ENTRY % "nonesuch(); return 0;",
            ["it uses the symbol `nonesuch`", "Link the one that does"],
        ),
    ],
)  # fmt: skip
def test_other_libraries(tmp_path, source, parts):
    """One of those without the function would end the process, were it loaded."""
    path = compiled(tmp_path, "other", source)
    message = run(LOAD, path)
    assert message.startswith(str(path)), message
    has_parts(message, parts)


def test_a_missing_dependency(tmp_path):
    needed = compiled(tmp_path, "doesnotexist", 'extern "C" int nonesuch() { return 1; }')
    path = compiled(tmp_path, "needs", 'extern "C" int nonesuch(); ' + ENTRY % "nonesuch(); return 0;", needed)
    needed.unlink()
    refused(
        path, "could not be loaded: it needs ", "libdoesnotexist.so", "does not find. Install it", "LD_LIBRARY_PATH"
    )


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("libempty.so", b"", ["it is empty"]),
        ("libtext.so", b"hello\n", ['a text that begins with "hello"', "target/release"]),
        ("libx.d", b"/a/libx.so: /a/src/lib.rs\n", ["cargo's list of the files it was built from; load /a/libx.so"]),
        ("libx.a", b"!<arch>\n" + bytes(90), ["a static archive", 'crate-type = ["cdylib"]', "load the .so file"]),
        ("x.dll", b"MZ" + bytes(90), ["it is a Windows (PE) library, and this is linux on ", "matching --target"]),
        ("libx.dylib", b"\xcf\xfa\xed\xfe" + bytes(90), ["it is a macOS (Mach-O) library", "matching --target"]),
        ("x.wasm", b"\0asm" + bytes(90), ["a WebAssembly module"]),
        ("x.whl", b"PK\x03\x04" + bytes(90), ["a zip archive; install a wheel with `pip install`"]),
        ("x.so.gz", b"\x1f\x8b" + bytes(90), ["compressed (gzip); unpack it"]),
        ("liblfs.so", b"version https://git-lfs.github.com/spec/v1\n", ["pointer of Git LFS", "`git lfs pull`"]),
        ("run.sh", b"#!/bin/sh\n", ["a script"]),
        ("libzero.so", bytes(4096), ["it begins with the bytes 00 00 00 00"]),
    ],
)  # fmt: skip
def test_other_formats(tmp_path, name, content, parts):
    path = tmp_path / name
    path.write_bytes(content)
    refused(path, "cannot be loaded here: ", *parts)


@pytest.mark.parametrize(
    ("patches", "parts"),
    [
        ({18: b"\xb7\x00"}, ["it was built for aarch64, and this process runs on ", "--target"]),
        ({4: b"\x01"}, ["in 32 bits, and this process"]),
        ({5: b"\x02", 18: b"\x00\x16"}, ["it was built for s390x, big-endian, and this"]),
        ({16: b"\x01\x00"}, ["an object file and not a shared library"]),
        ({7: b"\x09"}, ["OS ABI invalid"]),
    ],
)
def test_other_machines(whole, tmp_path, patches, parts):
    content = bytearray(whole.read_bytes())
    for place, patch in patches.items():
        content[place : place + len(patch)] = patch
    path = tmp_path / "libforeign.so"
    path.write_bytes(content)
    refused(path, *parts)


def test_a_table_of_symbols_that_was_not_copied(whole, tmp_path):
    """The dynamic linker divides by its number of buckets, which is zero then."""
    content = bytearray(whole.read_bytes())
    headers = int.from_bytes(content[40:48], "little")
    for header in range(headers, len(content), 64):
        if int.from_bytes(content[header + 4 : header + 8], "little") == 0x6FFFFFF6:  # SHT_GNU_HASH
            start, size = (int.from_bytes(content[header + at : header + at + 8], "little") for at in (24, 32))
            content[start : start + size] = bytes(size)
    path = tmp_path / "libhole.so"
    path.write_bytes(content)
    refused(path, "its table of symbols is not there", "copy or build it again")


def test_what_is_not_a_file(whole, tmp_path):
    os.mkfifo(tmp_path / "libfifo.so")
    refused(tmp_path / "libfifo.so", "is not a file of its own, but a device, a pipe or a socket")
    refused(tmp_path, "is a directory; give the path")
    refused("/dev/zero", "is not a file of its own")
    (tmp_path / "libloop.so").symlink_to(tmp_path / "libloop.so")
    refused(tmp_path / "libloop.so", "cannot be read: Too many levels of symbolic links")
    (tmp_path / "libnothing.so").symlink_to(tmp_path / "nothing")
    refused(tmp_path / "libnothing.so", "does not exist. Build it first")
    refused(tmp_path / ("lib" + "x" * 300 + ".so"), "cannot be read: File name too long")
    shutil.copy(whole, tmp_path / "libmy_ops.so")
    refused(tmp_path / "libmy-ops.so", "does not exist (did you mean `libmy_ops.so`?). Build it first")
    assert run(LOAD, "") == "'' is not a path; give the path of the library."


def test_an_extension_module():
    modules = pathlib.Path(sysconfig.get_path("platlib")).glob("numpy/**/*.cpython-*.so")
    refused(next(modules), "does not export `oxcall_library`. It is an extension module of Python.")


@pytest.mark.parametrize("name", ["libplain.so", "lib with spaces.so", "lib\N{SNOWMAN}.so", os.fsdecode(b"lib\xff.so")])
def test_paths(whole, tmp_path, name):
    path = tmp_path / name
    shutil.copy(whole, path)
    assert run(LOAD, path) == COMPLETE
    assert run(LOAD, path, "as bytes") == COMPLETE


def test_a_symlink_and_a_folder_that_is_read_only(whole, tmp_path):
    folder = tmp_path / "read_only"
    folder.mkdir()
    shutil.copy(whole, folder / "libwhole.so").chmod(0o444)
    (tmp_path / "liblink.so").symlink_to(folder / "libwhole.so")
    folder.chmod(0o555)
    assert run(LOAD, folder / "libwhole.so") == run(LOAD, tmp_path / "liblink.so") == COMPLETE
    folder.chmod(0o755)


def test_a_file_system_that_is_read_only(whole, tmp_path):
    unshare = shutil.which("unshare")
    inside = f"mount -t tmpfs none {tmp_path} && cp {whole} {tmp_path}/libx.so && mount -o remount,ro {tmp_path}"
    command = f'{inside} && exec "$@"'
    enter = [unshare or "false", "--mount", "--map-root-user", "sh", "-c", command, "sh"]
    if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no namespace can be made here")
    code = f"import oxcall; print('loaded', len(oxcall.load({str(tmp_path / 'libx.so')!r})))"
    done = subprocess.run([*enter, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, COMPLETE), done.stderr


def test_without_room_for_a_copy(whole):
    code = """
        import resource, sys, oxcall
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            oxcall.load(sys.argv[1])
        except oxcall.LoadError as error:
            print(error)
    """
    has_parts(run(code, whole), ["libwhole.so cannot be copied", "File too large", "set TMPDIR"])


def test_a_file_that_grows_while_it_is_read(whole, tmp_path):
    """Loaded again and again while a copying program writes it: an error each time until it is there."""
    content = whole.read_bytes()
    path = tmp_path / "libgrows.so"
    path.write_bytes(b"")
    finished = threading.Event()

    def write() -> None:
        with open(path, "ab", buffering=0) as file:
            for start in range(0, len(content), 1 + len(content) // 200):
                file.write(content[start : start + 1 + len(content) // 200])
                finished.wait(0.01)

    code = """
        import sys, time, oxcall
        errors = 0
        while True:
            try:
                print("loaded", len(oxcall.load(sys.argv[1])), errors > 0)
                break
            except oxcall.LoadError as error:
                assert any(part in str(error) for part in ("is empty", "not complete", "was written while")), error
                errors += 1
    """
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert run(code, path) == COMPLETE + " True"
    finally:
        writer.join()


CHANGED = """
    import os, shutil, sys, warnings, oxcall
    import jax.numpy as jnp
    warnings.simplefilter("ignore")
    path, first, second, change = sys.argv[1:]
    shutil.copy(first, path)
    old = oxcall.load(path)
    x = jnp.ones(1, "f")
    print(old.scale(x)[0], end=" ")
    if change == "replaced":
        os.replace(shutil.copy(second, path + ".new"), path)
    elif change == "overwritten":
        shutil.copy(second, path)
    elif change == "truncated":
        os.truncate(path, 5000)
    else:
        os.unlink(path)
    print(old.scale(jnp.ones(2, "f"))[0], end=" ")
    try:
        print(oxcall.load(path).scale(x)[0], end=" ")
    except oxcall.LoadError as error:
        print(str(error).split(": ")[1].split(":")[0], end=" ")
    print(old.scale(jnp.ones(3, "f"))[0])
"""


@pytest.mark.parametrize(
    ("change", "then"),
    [("replaced", "22.0"), ("overwritten", "22.0"), ("truncated", "it is not complete"), ("deleted", "12.0")],
)
def test_changed_between_two_loads(tmp_path, change, then):
    builds = [fake.build(tmp_path, f"lib{bias}.so", BIAS=bias) for bias in (10, 20)]
    path = tmp_path / "libchanged.so"
    assert run(CHANGED, path, *builds, change) == f"12.0 12.0 {then} 12.0"
