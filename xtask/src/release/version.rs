//! Versions of a release.

use std::fmt;
use std::str::FromStr;

use crate::shell::{Failure, Result};
use crate::workspace;

/// A version of all crates and both Python packages. Later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version([u32; 3]);

impl Version {
    /// The version in the manifest of the workspace.
    pub(super) fn current() -> Result<Self> {
        Self::of(&workspace::read(&workspace::root().join("Cargo.toml"))?)
    }

    /// The version in the text of that manifest.
    pub(super) fn of(manifest: &str) -> Result<Self> {
        let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
        line.ok_or_else(|| Failure::new("Cargo.toml: no line `version = \"...\"` under [workspace.package]"))?.parse()
    }

    /// The part that compatible releases share, as requirements have it: `0.1` of 0.1.2.
    pub(super) fn series(self) -> String {
        let [major, minor, _] = self.0;
        format!("{major}.{minor}")
    }

    /// The name of its tag.
    pub(super) fn tag(self) -> String {
        format!("v{self}")
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl FromStr for Version {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self> {
        let is_number = |part: &str| part == "0" || !part.starts_with(['0', '+']);
        let number = |part: &str| part.parse().ok().filter(|_| is_number(part));
        let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
        numbers.and_then(|numbers| Some(Self(numbers.try_into().ok()?))).ok_or_else(|| {
            Failure::new(format!(
                "`{text}` is not a version: write three numbers, such as 0.2.0; Cargo and Python write pre-releases \
                 in different ways, so there are none"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_three_numbers() {
        assert_eq!(version("0.10.2").to_string(), "0.10.2");
        assert_eq!((version("1.2.3").series(), version("1.2.3").tag()), ("1.2".into(), "v1.2.3".into()));
        for text in ["0.1", "0.1.0-rc.1", "v0.1.0", "0.1.00", "0.1.0.0", "", "0.1.+1"] {
            let message = text.parse::<Version>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("`{text}` is not a version: write three numbers")), "{message}");
        }
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(version("0.9.9") < version("0.10.0") && version("0.10.0") < version("1.0.0"));
    }

    #[test]
    fn the_current_version_is_that_of_the_workspace() {
        assert_eq!(Version::of("[workspace.package]\nversion = \"1.2.3\"\n").unwrap(), version("1.2.3"));
        assert!(Version::current().is_ok());
    }
}
