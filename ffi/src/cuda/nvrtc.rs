//! CUDA C, compiled by NVRTC: the library that the wheels of JAX and torch bring.

use std::ffi::{CString, c_int};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::nvrtc::{result, sys};

use super::CudaDevice;
use crate::loaded::Library;
use crate::{Error, Result};

/// What comes before each source.
const PRELUDE: &str = concat!(include_str!("prelude.cuh"), include_str!("rows.cuh"), include_str!("functions.cuh"));

/// Names a library of NVRTC to use.
const ENVIRONMENT: &str = "OXCALL_NVRTC";

/// The folders of wheels that have NVRTC, below a folder of Python packages.
const IN_WHEELS: [&str; 4] = ["nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib", "nvidia/cu12/lib", "torch/lib"];

/// Compiles a module for a device: a cubin, or PTX if NVRTC is older than the device.
///
/// # Errors
/// Without NVRTC, or with its log.
pub(super) fn compile(module: &str, source: &str, device: CudaDevice) -> Result<Vec<u8>> {
    require()?;
    let (major, minor) = device.compute_capability();
    let wanted = 10 * major + minor;
    let known = architectures()?;
    let (is_binary, architecture) = if known.contains(&wanted) {
        (true, format!("sm_{wanted}"))
    } else {
        // A cubin of another architecture would not load; PTX of an older one does.
        let below = known.into_iter().filter(|known| *known < wanted).max();
        let below = below.ok_or_else(|| {
            Error::failed_precondition(format!(
                "NVRTC has dropped compute capability {major}.{minor}, that of {device}: install an older NVRTC"
            ))
        })?;
        (false, format!("compute_{below}"))
    };
    let text = CString::new(format!("{PRELUDE}\n#line 1 \"{module}.cu\"\n{source}"))
        .map_err(|_| Error::invalid_argument("the CUDA C has a NUL byte"))?;
    let name = CString::new(format!("{module}.cu")).unwrap_or_default();
    let program = Program(result::create_program(&text, Some(&name)).map_err(failed)?);
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
    // SAFETY: a live program.
    unsafe { result::compile_program(program.0, &options) }.map_err(|error| {
        // SAFETY: as above.
        let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect();
        let log = String::from_utf8_lossy(&log).trim().to_owned();
        Error::invalid_argument(format!("the CUDA C does not compile ({error}): {log}"))
    })?;
    if is_binary {
        let mut size = 0;
        // SAFETY: a compiled program; as many bytes as it says.
        unsafe {
            sys::nvrtcGetCUBINSize(program.0, &raw mut size).result().map_err(failed)?;
            let mut cubin = vec![0u8; size];
            sys::nvrtcGetCUBIN(program.0, cubin.as_mut_ptr().cast()).result().map_err(failed)?;
            Ok(cubin)
        }
    } else {
        // SAFETY: a compiled program.
        let ptx = unsafe { result::get_ptx(program.0) }.map_err(failed)?;
        Ok(ptx.into_iter().map(|byte| byte as u8).collect())
    }
}

/// A program of NVRTC.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: a live program, which is not used again.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn failed(error: result::NvrtcError) -> Error {
    Error::internal(format!("NVRTC failed: {error}"))
}

/// The compute capabilities that NVRTC compiles for.
fn architectures() -> Result<Vec<i32>> {
    let mut count: c_int = 0;
    // SAFETY: room for the count, and then for as many numbers.
    unsafe {
        sys::nvrtcGetNumSupportedArchs(&raw mut count).result().map_err(failed)?;
        let mut known = vec![0; usize::try_from(count).unwrap_or_default()];
        sys::nvrtcGetSupportedArchs(known.as_mut_ptr()).result().map_err(failed)?;
        Ok(known)
    }
}

/// Loads NVRTC.
fn require() -> Result<()> {
    static PRESENT: OnceLock<Result<()>> = OnceLock::new();
    PRESENT.get_or_init(load).clone()
}

fn load() -> Result<()> {
    if let Some(path) = std::env::var_os(ENVIRONMENT).map(PathBuf::from) {
        let refused = |why: &str| {
            Error::failed_precondition(format!(
                "{ENVIRONMENT}={}: {why}; set it to the path of libnvrtc.so, or unset it to search the loader's path \
                 and the Python packages",
                path.display()
            ))
        };
        let library = Library::open(&path).ok_or_else(|| refused("the library cannot be loaded"))?;
        library.symbol(c"nvrtcVersion").ok_or_else(|| refused("the library is not NVRTC"))?;
    }
    // SAFETY: it loads the library, whose constructors are safe to run. A library that is loaded is found by its name.
    let is_present = || unsafe { sys::is_culib_present() };
    if is_present() {
        return Ok(());
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let found = package_folders(&maps).into_iter().flat_map(|folder| IN_WHEELS.map(|wheel| folder.join(wheel)));
    for library in found.filter_map(|folder| library_in(&folder)) {
        if Library::open(&library).is_some() && is_present() {
            return Ok(());
        }
    }
    Err(Error::failed_precondition(format!(
        "libnvrtc.so, which compiles CUDA C, was found neither on the loader's path nor among the Python packages: \
         install the wheel `nvidia-cuda-nvrtc-cu12` (CUDA 12) or `nvidia-cuda-nvrtc` (CUDA 13), or set {ENVIRONMENT} \
         to the library's path"
    )))
}

/// The folders of Python packages from which libraries are mapped.
fn package_folders(maps: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..]))) {
        let is_packages = |folder: &&Path| folder.ends_with("site-packages") || folder.ends_with("dist-packages");
        if let Some(folder) = path.ancestors().find(is_packages)
            && !folders.iter().any(|known| known == folder)
        {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// The library of NVRTC in a folder: `libnvrtc.so.12`, not `libnvrtc-builtins.so.12.8` or `libnvrtc.alt.so.12`.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc.so"))).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_packages_come_from_mapped_libraries() {
        let maps = "7f00-7f10 r-xp 0 08:01 5 /venv/lib/python3.11/site-packages/numpy/core/a.so\n\
                    7f10-7f20 r-xp 0 08:01 6 /venv/lib/python3.11/site-packages/jaxlib/b.so\n\
                    7f20-7f30 rw-p 0 00:00 0 \n\
                    7f30-7f40 r-xp 0 08:01 7 /usr/lib/libc.so.6\n";
        assert_eq!(package_folders(maps), [Path::new("/venv/lib/python3.11/site-packages")]);
    }

    #[test]
    fn the_library_is_told_from_its_neighbours() {
        let folder = std::env::temp_dir().join(format!("oxcall-nvrtc-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["libnvrtc-builtins.so.12.8", "libnvrtc.alt.so.12", "libnvrtc.so.12"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = library_in(&folder);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), folder.join("libnvrtc.so.12"));
        assert_eq!(library_in(Path::new("/no/such/folder")), None);
    }
}
