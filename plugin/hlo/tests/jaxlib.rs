//! The names of VHLO that jaxlibs know, against those that the reader knows. `OXCALL_TEST_JAXLIB` has the folders of
//! jaxlibs, as `PATH` has others; without it there is nothing to compare with. `cargo xtask test` names the one that it
//! installs, `cargo xtask matrix stablehlo` those of all supported releases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use oxcall_hlo::knows_vhlo;

/// Where the names begin.
const DIALECT: &[u8] = b"vhlo.";

/// Every release has more ops, attributes and types than this.
const FEWEST: usize = 150;

/// The shared libraries in a folder, but for those of folders in it: jaxlib's dialects are in one of these.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "so")).collect()
}

/// The names in a library, `add_v1`: those of ops, attributes and types.
fn names(library: &[u8]) -> BTreeSet<String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut names = BTreeSet::new();
    let mut rest = library;
    while let Some(at) = find(rest) {
        let before = at.checked_sub(1).map(|at| rest[at]);
        rest = &rest[at + DIALECT.len()..];
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let name = String::from_utf8_lossy(&rest[..length]).into_owned();
        let versioned = name.rsplit_once("_v").is_some_and(|(_, version)| version.parse::<u32>().is_ok());
        if versioned && !before.is_some_and(|byte| is_part(&byte) || byte == b'.') {
            names.insert(name);
        }
    }
    names
}

/// Where the dialect's name is first.
fn find(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == DIALECT[0])?;
        if bytes[at..].starts_with(DIALECT) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[test]
fn every_name_of_every_jaxlib_is_known() {
    let Some(folders) = env::var_os("OXCALL_TEST_JAXLIB") else { return };
    let mut unknown = Vec::new();
    for folder in env::split_paths(&folders) {
        let mut all = BTreeSet::new();
        for library in libraries(&folder) {
            all.append(&mut names(&fs::read(library).unwrap()));
        }
        assert!(all.len() > FEWEST, "{}: {} names of VHLO", folder.display(), all.len());
        println!("{}: {} names of VHLO", folder.display(), all.len());
        unknown
            .extend(all.iter().filter(|name| !knows_vhlo(name)).map(|name| format!("{name} of {}", folder.display())));
    }
    assert!(unknown.is_empty(), "names of VHLO that the reader does not know:\n{}", unknown.join("\n"));
}

#[test]
fn names_are_found_in_what_is_around_them() {
    let bytes = b"\0vhlo.add_v1\0!vhlo.f8E4M3FN_v1<stablehlo.vhlo.no_v1 'vhlo.sort_v12' vhlo.cross_replica vhlo.tan_v2";
    assert_eq!(names(bytes).into_iter().collect::<Vec<_>>(), ["add_v1", "f8E4M3FN_v1", "sort_v12", "tan_v2"]);
    for name in ["add_v1", "f8E4M3FN_v1", "mesh_v1", "recv_v2", "func_v1", "custom_call_v2", "exponential_v2"] {
        assert!(knows_vhlo(name), "{name}");
    }
    for name in ["add_v2", "add", "sort_v12", "nothing_v1", ""] {
        assert!(!knows_vhlo(name), "{name}");
    }
}
