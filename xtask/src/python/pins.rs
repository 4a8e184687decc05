//! Every version that the task runner installs, in one place.

/// A range of Python's minor versions, both ends included: `(11, 13)` is 3.11 to 3.13.
pub(crate) type Minors = (u32, u32);

/// One supported jaxlib, with the jax of the same version.
pub(crate) struct Jax {
    pub(crate) version: &'static str,
    /// The Pythons that it is tried on, oldest first choice.
    pub(crate) python: Minors,
}

const fn jax(version: &'static str, python: Minors) -> Jax {
    Jax { version, python }
}

/// The supported versions, oldest first: `cargo xtask matrix` runs on all of them, and everything else on the newest
/// that fits the interpreter. Each one changed the ABI or is the last before a change.
pub(crate) const JAX: &[Jax] = &[
    jax("0.4.34", (11, 12)),
    jax("0.4.38", (11, 13)),
    jax("0.5.3", (11, 13)),
    jax("0.6.2", (11, 13)),
    jax("0.7.2", (11, 13)),
    jax("0.8.0", (11, 13)),
    jax("0.8.1", (11, 13)),
    jax("0.8.3", (11, 13)),
    jax("0.9.0", (11, 13)),
    jax("0.9.2", (11, 13)),
    jax("0.10.0", (11, 13)),
    jax("0.10.2", (11, 13)),
    jax("0.11.0", (12, 14)),
    jax("0.11.2", (12, 14)),
    jax("0.12.0.1", (12, 14)),
];

/// The Pythons that some row of [`JAX`] runs on.
pub(crate) const PYTHON: Minors = (11, 14);

/// What jax itself imports. The newest versions that still support Python 3.11, which every jax in the table accepts.
pub(crate) const JAX_NEEDS: &[&str] = &["numpy==2.4.6", "scipy==1.17.1", "ml_dtypes==0.6.0", "opt_einsum==3.4.0"];

/// What the tests that JAX has in its wheel import besides, and `jax.export`.
pub(crate) const JAX_TESTS_NEED: &[&str] = &["absl-py==2.5.1", "flatbuffers==25.12.19"];

/// Libraries written in JAX whose tests `cargo xtask downstream` runs, and what they import.
pub(crate) const DOWNSTREAM: &[&str] = &[
    "aiofiles==25.1.0",
    "attrs==26.1.0",
    "chex==0.1.92",
    "cloudpickle==3.1.2",
    "dm-haiku==0.0.16",
    "dm-tree==0.1.10",
    "etils==1.15.0",
    "flax==0.12.8",
    "fsspec==2026.9.0",
    "humanize==4.17.0",
    "jmp==0.0.4",
    "joblib==1.6.0",
    "markdown-it-py==4.3.0",
    "mdurl==0.1.2",
    "msgpack==1.2.4",
    "narwhals==2.29.0",
    "optax==0.2.8",
    "orbax-checkpoint==0.12.8",
    "prometheus_client==0.26.0",
    "protobuf==7.36.2",
    "psutil==7.2.2",
    YAML,
    "rich==15.0.0",
    "scikit-learn==1.9.1",
    "tabulate==0.10.0",
    "tensorstore==0.1.86",
    "threadpoolctl==3.8.0",
    "toolz==1.2.0",
    "tqdm==4.70.1",
    "treescope==0.1.10",
    "typing_extensions==4.16.0",
    "uvloop==0.23.0",
    "wrapt==2.5.2",
    "zipp==4.1.2",
];

/// One supported torch.
pub(crate) struct Torch {
    pub(crate) version: &'static str,
    /// The Pythons that it is tried on.
    pub(crate) python: Minors,
    /// Size of its wheel, which has everything for CUDA in it: PyPI has no other one for Linux.
    pub(crate) megabytes: u32,
}

const fn torch(version: &'static str, python: Minors, megabytes: u32) -> Torch {
    Torch { version, python, megabytes }
}

/// The supported versions, oldest first: `cargo xtask matrix torch` runs on all of them, everything else on the newest.
/// The first has operators in its C shim at all, 2.10 has texts and lists, 2.13 can say why a call of the shim failed.
pub(crate) const TORCH: &[Torch] = &[
    torch("2.7.1", (11, 13), 821),
    torch("2.8.0", (11, 13), 888),
    torch("2.10.0", (11, 14), 916),
    torch("2.13.0", (11, 14), 527),
    torch("2.15.0", (11, 14), 539),
];

/// What torch itself imports, and what reads ELF files to make stubs of the CUDA libraries.
pub(crate) const TORCH_NEEDS: &[&str] = &[
    "typing-extensions==4.16.0",
    "sympy==1.14.0",
    "mpmath==1.4.1",
    "networkx==3.6.1",
    "filelock==4.2.11",
    "fsspec==2026.9.0",
    "jinja2==3.1.6",
    "markupsafe==3.0.4",
    "numpy==2.4.6",
    "pyelftools==0.33",
];

/// The torch that torch_xla needs.
pub(crate) const TORCH_OF_XLA: Torch = torch("2.9.1", (11, 13), 900);

/// torch_xla, and what it imports beside torch.
pub(crate) const TORCH_XLA: &[&str] = &[
    "torch_xla==2.9.0",
    "absl-py==2.5.1",
    "pyyaml==6.0.3",
    "requests==2.34.2",
    "certifi==2026.10.18",
    "charset-normalizer==3.5.2",
    "idna==3.20",
    "urllib3==2.8.0",
];

/// Runs the Python tests; its own dependencies are pinned too, because nothing is resolved at install time.
pub(crate) const PYTEST: &[&str] =
    &["pytest==9.2.0", "iniconfig==2.3.1", PACKAGING, "pluggy==1.7.0", "pygments==2.21.0"];

/// Formats and lints Python.
pub(crate) const RUFF: &str = "ruff==0.17.5";

/// Checks the types of programs that use stubs. The last version whose dependencies are Python alone.
pub(crate) const MYPY: &[&str] =
    &["mypy==1.18.2", "mypy_extensions==1.2.0", "pathspec==1.1.1", "typing_extensions==4.16.0"];

/// Builds wheels of op libraries, with what [`PYTEST`] and [`MYPY`] have besides.
pub(crate) const HATCHLING: &[&str] = &["hatchling==1.33.0", "editables==0.6", "trove-classifiers==2026.9.21.13"];

/// Reads the workflows, for their tests.
pub(crate) const YAML: &str = "PyYAML==6.0.3";

/// What hatchling imports of those.
pub(crate) const HATCHLING_NEEDS: &[&str] = &["packaging", "pluggy", "pathspec"];

/// Plots benchmarks.
pub(crate) const MATPLOTLIB: &[&str] = &[
    "matplotlib==3.11.2",
    "contourpy==1.3.3",
    "cycler==0.12.1",
    "fonttools==4.68.0",
    "kiwisolver==1.5.1",
    "pillow==13.0.0",
    "pyparsing==3.3.3",
    "python-dateutil==4.0.0",
    "tzdata==2026.6",
    PACKAGING,
];

const PACKAGING: &str = "packaging==26.3";

/// The compiler of CUDA C, which needs no GPU.
pub(crate) const NVRTC: &str = "nvidia-cuda-nvrtc==13.2.86";

/// A whole C++ compiler in a wheel, for machines without one.
pub(crate) const ZIG: &str = "ziglang==0.17.0";

/// What bindgen parses headers with.
pub(crate) const LIBCLANG: &str = "libclang==18.1.1";

/// The jaxlib whose header `ffi-sys` is generated from, and the older ones for structs whose layout changed since.
pub(crate) const HEADERS: [&str; 3] = ["0.12.0.1", "0.8.3", "0.4.38"];

/// The tensorflow-cpu whose PJRT headers (API 0.90) `ffi-sys` is generated from.
pub(crate) const PJRT_HEADERS: &str = "2.21.0";

/// The torch whose stable C interface `ffi-sys` is generated from. It is not installed for this: only its headers are.
pub(crate) const TORCH_HEADERS: &str = "2.15.0";

/// Knows the layouts of PJRT 0.114, which no published header has; also an independent client of PJRT plugins.
pub(crate) const PYPJRT: &str = "pypjrt==0.1.1";

/// The jaxlibs that the C++ peers are compiled for by `cargo xtask test`: one for each layout of the argument structs.
/// Each costs the download of a wheel and some seconds of the compiler.
pub(crate) const PEERS: [&str; 4] = ["0.4.38", "0.8.3", "0.10.2", "0.12.0.1"];

/// Those of `cargo xtask matrix peers`: every one whose handlers met another host than those before.
pub(crate) const ALL_PEERS: [&str; 7] = ["0.4.38", "0.8.0", "0.8.3", "0.9.2", "0.10.2", "0.11.2", "0.12.0.1"];

/// The newest jax for an interpreter.
pub(crate) fn newest_jax(minor: u32) -> Option<&'static Jax> {
    JAX.iter().rev().find(|jax| (jax.python.0..=jax.python.1).contains(&minor))
}

/// The newest torch for an interpreter.
pub(crate) fn newest_torch(minor: u32) -> Option<&'static Torch> {
    TORCH.iter().rev().find(|torch| (torch.python.0..=torch.python.1).contains(&minor))
}

/// The name in a requirement.
pub(crate) fn name(pin: &str) -> &str {
    pin.split_once("==").map_or(pin, |(name, _)| name)
}

/// The pip requirements of one jax.
pub(crate) fn jax_requirements(version: &str) -> Vec<String> {
    let mut all = vec![format!("jax=={version}"), format!("jaxlib=={version}")];
    all.extend(JAX_NEEDS.iter().map(ToString::to_string));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_jax_follows_the_interpreter() {
        let version = |minor| newest_jax(minor).map(|jax| jax.version);
        assert_eq!(version(10), None);
        assert_eq!(version(11), Some("0.10.2"));
        assert_eq!(version(13), Some("0.12.0.1"));
        assert_eq!(version(PYTHON.1 + 1), None);
    }

    #[test]
    fn every_supported_python_has_a_torch() {
        assert!((PYTHON.0..=PYTHON.1).all(|minor| newest_torch(minor).is_some()));
    }

    #[test]
    fn every_row_lies_within_the_supported_pythons() {
        let pythons = JAX.iter().map(|jax| jax.python).chain(TORCH.iter().map(|torch| torch.python));
        assert!(pythons.into_iter().all(|(first, last)| PYTHON.0 <= first && last <= PYTHON.1));
        assert!(HEADERS.iter().chain(&ALL_PEERS).all(|header| JAX.iter().any(|jax| jax.version == *header)));
        assert!(PEERS.iter().all(|version| ALL_PEERS.contains(version)));
    }
}
