//! The C and C++ headers of a published wheel, without installing it.

use std::path::PathBuf;

use super::{Venv, explain_offline, pins};
use crate::shell::{self, Context, Failure, Result};
use crate::{progress, workspace};

const UNPACK: &str = "
import pathlib, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob('*.whl')
with zipfile.ZipFile(wheel) as files:
    files.extractall(sys.argv[1], [name for name in files.namelist() if sys.argv[2] in name])
wheel.unlink()
";

/// A package that has headers.
pub(crate) struct Package {
    name: &'static str,
    /// Its include folder.
    include: &'static str,
    /// The folder of the headers therein.
    folder: &'static str,
    /// The folder of these and all that they include.
    unpacked: &'static str,
    /// One of the headers.
    header: &'static str,
}

/// The XLA FFI.
const JAXLIB: Package = Package {
    name: "jaxlib",
    include: "jaxlib/include",
    folder: "xla/ffi/api",
    unpacked: "xla/ffi/api",
    header: "c_api.h",
};

/// PJRT, which no other package has that new.
pub(crate) const TENSORFLOW: Package = Package {
    name: "tensorflow-cpu",
    include: "tensorflow/include",
    folder: "xla/pjrt/c",
    unpacked: "xla/pjrt/c",
    header: "pjrt_c_api.h",
};

/// The stable C interface of libtorch, with all that it includes.
pub(crate) const TORCH: Package = Package {
    name: "torch",
    include: "torch/include",
    folder: "torch/csrc/stable/c",
    unpacked: "torch/include/torch",
    header: "shim.h",
};

/// The include folder of jaxlib `version`.
pub(crate) fn headers(venv: &Venv, version: &str) -> Result<PathBuf> {
    package_headers(venv, &JAXLIB, version)
}

/// The include folder of a package, which is fetched once, with the environment's pip. The interpreter need not be one
/// that this version supports, nor this machine Linux: the headers are the same in every wheel.
pub(crate) fn package_headers(venv: &Venv, package: &Package, version: &str) -> Result<PathBuf> {
    let name = if package.name == JAXLIB.name { version.to_owned() } else { format!("{}-{version}", package.name) };
    let folder = workspace::scratch("headers")?.join(name);
    let include = folder.join(package.include);
    let header = include.join(package.folder).join(package.header);
    if header.is_file() {
        return Ok(include);
    }
    let minor = pins::JAX.iter().find(|jax| jax.version == version).map_or(pins::PYTHON.0, |jax| jax.python.0);
    std::fs::create_dir_all(&folder).context(folder.display())?;
    let mut command = venv.python();
    command.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]);
    command.args(["--implementation", "cp", "--python-version", &format!("3.{minor}")]);
    for platform in ["manylinux_2_27_x86_64", "manylinux2014_x86_64"] {
        command.args(["--platform", platform]);
    }
    command.arg("--dest").arg(&folder).arg(format!("{}=={version}", package.name));
    progress::command(&format!("downloading the headers of {} {version}", package.name), &mut command)
        .map_err(explain_offline)?;
    shell::output(venv.python().args(["-c", UNPACK]).arg(&folder).arg(format!("{}/", package.unpacked)))?;
    if header.is_file() {
        return Ok(include);
    }
    Err(Failure::new(format!("the wheel of {} {version} has no {}/{}", package.name, package.folder, package.header)))
}
