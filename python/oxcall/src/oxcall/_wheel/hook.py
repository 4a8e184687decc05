"""The build hook of hatchling: builds the crate, and puts its library and a module of its ops into the wheel."""

from __future__ import annotations

import functools
import os
import shutil
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.plugin import hookimpl

from oxcall._errors import BuildError, OxcallError, listing
from oxcall._wheel import cargo, module, tag, zig
from oxcall._wheel.settings import TABLE, Settings, settings_of


@hookimpl
def hatch_register_build_hook() -> type[OxcallBuildHook]:
    """The entry point of the group `hatch`."""
    return OxcallBuildHook


class OxcallBuildHook(BuildHookInterface[Any]):
    """`[tool.hatch.build.hooks.oxcall]`."""

    PLUGIN_NAME = "oxcall"

    def dependencies(self) -> list[str]:
        """What a build needs besides: Zig, for portable libraries."""
        return [zig.REQUIREMENT] if self._in_words(lambda: self._settings).portable else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the library for a wheel or an editable installation, or completes a source distribution."""
        if self.target_name == "wheel":
            self._in_words(lambda: self._wheel(build_data, is_editable=version == "editable"))
        elif self.target_name == "sdist":
            self._in_words(lambda: self._sdist(build_data))

    def _in_words(self, step: Any) -> Any:
        """Does a step. An error of ours ends the build with its text, without a traceback."""
        try:
            return step()
        except OxcallError as error:
            self.app.abort(f"oxcall: {error}")

    @functools.cached_property
    def _settings(self) -> Settings:
        return settings_of(self.config, self.metadata.core.raw_name)

    def _crate(self) -> cargo.Crate:
        return cargo.crate_in(os.path.normpath(os.path.join(self.root, self._settings.crate)))

    def _sdist(self, build_data: dict[str, Any]) -> None:
        crate = self._crate()
        cargo.lock(crate)
        outside = [path for path in (crate.workspace, *crate.paths) if self._inside(path) is None]
        if outside:
            self.app.display_warning(
                "oxcall: the source distribution does not build elsewhere: its crate needs "
                f"{listing(outside)}, outside of the project."
            )
        # Whether or not version control ignores them.
        if lock_file := self._inside(crate.lock_file):
            build_data["artifacts"].append(lock_file)
        if target := self._inside(crate.target):
            self.build_config.target_config["exclude"] = [*self._selection("exclude"), target]

    def _inside(self, path: str) -> str | None:
        """A path as a pattern of hatchling's; `None` if it is outside of the project."""
        relative = os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))
        return None if relative.split(os.sep)[0] == os.pardir else f"/{relative}"

    def _selection(self, name: str) -> list[str]:
        """What the project selects of its files, without hatchling's guess where it selects nothing."""
        target, common = self.build_config.target_config, self.build_config.build_config
        return list(target.get(name, common.get(name, ())))

    def _wheel(self, build_data: dict[str, Any], *, is_editable: bool) -> None:
        self._check_dependencies()
        settings, own = self._settings, self._own_package()
        crate = self._crate()
        folder = os.path.join(crate.target, "oxcall", settings.module)
        triple = cargo.host() if settings.portable else None
        library = cargo.build(
            crate,
            features=settings.features,
            # Who works on a crate changes Cargo.toml as well.
            is_locked=not is_editable and os.path.exists(crate.lock_file),
            triple=triple,
            variables=zig.variables(triple, os.path.join(crate.target, "oxcall-portable")) if triple else {},
        )
        about = None if own else self.metadata.core.description or f"Ops of {self.metadata.core.raw_name}."
        files = self._write(folder, library, module.files_of(library, settings.module, about))
        platform = tag.platform_of(library)
        self._report(platform)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform.tag}"
        build_data["force_include"].update({path: f"{settings.module}/{name}" for name, path in files.items()})
        if not is_editable:
            return
        if own is None:
            build_data["force_include_editable"].update(build_data["force_include"])
        else:
            self._copy_beside(own, files)

    def _report(self, platform: tag.Platform) -> None:
        if platform.fault is not None:
            self.app.display_warning(
                f"oxcall: the wheel is tagged `{platform.tag}`, so PyPI refuses it: {platform.fault}."
            )
        elif self._settings.portable and platform.glibc != zig.GLIBC:
            self.app.display_warning(
                f"oxcall: the library was linked for glibc 2.{zig.GLIBC}, but needs 2.{platform.glibc}, perhaps for C "
                "code that a build script compiles; the wheel's tag says so."
            )

    def _check_dependencies(self) -> None:
        """The module imports `oxcall`: a wheel that does not name it could not be imported."""
        if all(each.name != "oxcall" for each in self.metadata.core.dependencies_complex.values()):
            raise BuildError(
                'the ops need the package oxcall when they run: add "oxcall" to `dependencies` in the [project] table '
                "of pyproject.toml"
            )

    def _own_package(self) -> str | None:
        """The folder of the package that the project has itself; `None` where the hook makes all of it."""
        name = self._settings.module
        for path in self._selection("packages"):
            if os.path.basename(os.path.normpath(path)) == name:
                return os.path.join(self.root, path)
        for parent in ("", "src"):  # where hatchling finds it by itself
            if os.path.isfile(os.path.join(self.root, parent, name, "__init__.py")):
                return os.path.join(self.root, parent, name)
        if os.path.isfile(os.path.join(self.root, "python", name, "__init__.py")):
            raise BuildError(
                f'python/{name} is not in the wheel: add `packages = ["python/{name}"]` to the table '
                "[tool.hatch.build.targets.wheel] of pyproject.toml"
            )
        return None

    def _write(self, folder: str, library: str, texts: dict[str, str]) -> dict[str, str]:
        """Writes the files of the package, and gives their paths by name."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        files = {name: os.path.join(folder, name) for name in (*texts, os.path.basename(library))}
        for name, text in texts.items():
            with open(files[name], "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy2(library, files[os.path.basename(library)])
        return files

    def _copy_beside(self, own: str, files: dict[str, str]) -> None:
        """Copies files into the project's own package, which an editable installation imports in its place."""
        for name, path in files.items():
            target = os.path.join(own, name)
            if name.startswith(module.OPS) and not module.is_written(target):
                raise BuildError(
                    f"{target} is in the place of the module of the ops: rename it, or set `module` in {TABLE} of "
                    "pyproject.toml"
                )
            # Processes that have the old library loaded keep it.
            shutil.copy2(path, target + ".new")
            os.replace(target + ".new", target)
