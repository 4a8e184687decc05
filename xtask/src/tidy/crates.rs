//! The code map of ARCHITECTURE.md: it names each crate of the workspace, and no other.

use super::{Complaint, markdown};
use crate::tidy::sources::{Source, Sources};

const MAP: &str = "ARCHITECTURE.md";

/// Crates of others that the text names: the PJRT client by which `tests/pjrt_client` tests the server.
const OTHERS: [&str; 1] = ["pjrt"];

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let Some(map) = sources.file(MAP) else { return Vec::new() };
    let crates: Vec<(&str, &str)> =
        sources.ending("Cargo.toml").filter_map(|file| Some((file.folder(), package(file)?))).collect();
    let codes = markdown::inline_code(&map.text);
    let mut complaints = Vec::new();
    for (folder, name) in &crates {
        // Libraries of tests are named by the folder of all.
        let folder = folder.strip_prefix("tests/libs/").map_or(*folder, |_| "tests/libs");
        if codes.iter().all(|code| code.text.trim_end_matches('/') != folder) {
            complaints.push(map.complaint(1, format!("the map has no `{folder}`, the folder of the crate `{name}`")));
        }
    }
    for (number, line) in map.lines() {
        for name in line.split("crate `").skip(1).filter_map(|rest| rest.split('`').next()) {
            if crates.iter().all(|(_, known)| *known != name) && !OTHERS.contains(&name) {
                complaints.push(map.complaint(number, format!("no crate of the repository is called `{name}`")));
            }
        }
    }
    complaints
}

/// The name of a manifest's package.
pub(super) fn package(manifest: &Source) -> Option<&str> {
    manifest.text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFESTS: [(&str, &str); 3] = [
        ("Cargo.toml", "[workspace]\n"),
        ("ffi/Cargo.toml", "[package]\nname = \"oxcall\"\n"),
        ("tests/libs/a/Cargo.toml", "[package]\nname = \"a\"\n"),
    ];

    fn messages(map: &str) -> Vec<String> {
        let sources = Sources::of(&[MANIFESTS[0], MANIFESTS[1], MANIFESTS[2], (MAP, map)]);
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_map_passes() {
        assert_eq!(messages("# A\n`ffi`: crate `oxcall`\n| `tests/libs` |\n"), [""; 0]);
    }

    #[test]
    fn a_crate_too_few_and_one_too_many_are_reported() {
        assert_eq!(
            messages("# A\n`tests/libs/`: crate `gone`\n"),
            [
                "ARCHITECTURE.md:1: the map has no `ffi`, the folder of the crate `oxcall`",
                "ARCHITECTURE.md:2: no crate of the repository is called `gone`",
            ]
        );
    }
}
