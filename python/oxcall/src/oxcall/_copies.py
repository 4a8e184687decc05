"""Private copies of libraries, in a folder of this process; folders of processes that were killed are removed."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile

from oxcall._errors import LoadError

_PREFIX = "oxcall-libraries-"
# A file that a folder's process keeps locked as long as it lives.
_OWNER = "owner"
_CHUNK = 1 << 20


class Copies:
    """The copies that this process has made."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._process = 0
        self._count = 0

    def add(self, descriptor: int, name: str) -> str:
        """The path of a copy of an open file, under the same name; in memory where there is no place for it."""
        try:
            folder = tempfile.mkdtemp(dir=self._own_folder())
        except OSError:
            return self._memory(descriptor, name)
        path = os.path.join(folder, name)
        try:
            with open(path, "xb") as copy:
                _copy(descriptor, copy.fileno())
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            return self._memory(descriptor, name)
        return path

    def in_memory(self, path: str) -> str:
        """The path of a copy in memory, of which the process keeps a descriptor."""
        with open(path, "rb") as file:
            return self._memory(file.fileno(), os.path.basename(path))

    def remove(self, path: str) -> None:
        """Removes a copy that is not needed."""
        if self._folder is not None and path.startswith(self._folder):
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)

    def _memory(self, descriptor: int, name: str) -> str:
        # Longer names are refused.
        memory = os.memfd_create(os.fsencode(name)[:200].decode(errors="replace")[:80], os.MFD_CLOEXEC)
        try:
            _copy(descriptor, memory)
        except OSError as error:
            os.close(memory)
            raise LoadError(
                f"{name} cannot be copied for this process, neither to a folder for temporary files nor to memory "
                f"({error.strerror}). Make room, or set TMPDIR to a folder that has some."
            ) from error
        # The dynamic linker takes equal paths for one file, and a program may close all descriptors.
        self._count += 1
        return f"/proc/self/{'./' * self._count}fd/{memory}"

    def _own_folder(self) -> str:
        """The folder of this process: a child that was forked has one of its own."""
        if self._folder is None or self._process != os.getpid():
            self._folder, self._process = _make_folder(), os.getpid()
        return self._folder


def _make_folder() -> str:
    import fcntl

    root = tempfile.gettempdir()
    _remove_abandoned(root)
    # It has its name when its owner is known, not before.
    made = tempfile.mkdtemp(prefix="oxcall-new-")
    owner = os.open(os.path.join(made, _OWNER), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(owner, fcntl.LOCK_EX)
    folder = os.path.join(root, _PREFIX + os.path.basename(made).removeprefix("oxcall-new-"))
    os.rename(made, folder)
    process = os.getpid()
    atexit.register(lambda: process == os.getpid() and shutil.rmtree(folder, ignore_errors=True))
    return folder


def _remove_abandoned(root: str) -> None:
    """Removes folders whose processes, and the children of these, have ended without doing so."""
    import fcntl

    with contextlib.suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX) or entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                continue
            with contextlib.suppress(OSError):
                owner = os.open(os.path.join(entry.path, _OWNER), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                try:
                    fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(owner)


def _copy(source: int, target: int) -> None:
    offset = 0
    while chunk := os.pread(source, _CHUNK, offset):
        offset += len(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]
