//! The C and C++ headers of a jaxlib, out of its wheel and without installing it.

use std::path::PathBuf;

use super::{Venv, explain_offline, pins};
use crate::shell::{self, Context, Failure, Result};
use crate::{progress, workspace};

const UNPACK: &str = "
import pathlib, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob('*.whl')
with zipfile.ZipFile(wheel) as files:
    files.extractall(sys.argv[1], [name for name in files.namelist() if '/xla/ffi/api/' in name])
wheel.unlink()
";

/// The include folder of jaxlib `version`, which is fetched once, with the environment's pip. The interpreter need not
/// be one that this jaxlib supports, nor this machine Linux: the headers are the same in every wheel.
pub(crate) fn headers(venv: &Venv, version: &str) -> Result<PathBuf> {
    let folder = workspace::scratch("headers")?.join(version);
    let include = folder.join("jaxlib/include");
    if include.join("xla/ffi/api/c_api.h").is_file() {
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
    command.arg("--dest").arg(&folder).arg(format!("jaxlib=={version}"));
    progress::command(&format!("downloading the headers of jaxlib {version}"), &mut command)
        .map_err(explain_offline)?;
    shell::output(venv.python().args(["-c", UNPACK]).arg(&folder))?;
    if include.join("xla/ffi/api/c_api.h").is_file() {
        return Ok(include);
    }
    Err(Failure::new(format!("the wheel of jaxlib {version} has no xla/ffi/api/c_api.h")))
}
