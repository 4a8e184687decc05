//! The change log: what is not released yet becomes the section of a release.

use super::version::Version;
use crate::shell::{Failure, Result};

pub(super) const FILE: &str = "CHANGELOG.md";

const UNRELEASED: &str = "## [Unreleased]";

/// The text with its first section, of what is not released yet, as that of a release.
pub(super) fn released(text: &str, version: Version, date: &str) -> Result<String> {
    let missing = format!("{FILE} has no line `{UNRELEASED}`: add it above the section of the last release");
    let (before, after) = split(text, UNRELEASED).ok_or_else(|| Failure::new(missing))?;
    if body(after).is_empty() {
        let empty = "has nothing under `Unreleased`: write what users notice of this release";
        return Err(Failure::new(format!("{FILE} {empty}")));
    }
    Ok(format!("{before}{UNRELEASED}\n\n## [{version}] - {date}\n{after}"))
}

/// The section of a release, without its heading; `None` if there is none.
pub(super) fn section(text: &str, version: Version) -> Option<&str> {
    let (_, after) = split(text, &format!("## [{version}]"))?;
    Some(body(after.split_once('\n')?.1))
}

/// What lies before a line that starts so, and what follows this start.
fn split<'a>(text: &'a str, heading: &str) -> Option<(&'a str, &'a str)> {
    let at = text.find(&format!("\n{heading}"))? + 1;
    Some((&text[..at], text[at + heading.len()..].strip_prefix('\n').unwrap_or(&text[at + heading.len()..])))
}

/// The text up to the next section.
fn body(text: &str) -> &str {
    text.find("\n## ").map_or(text, |end| &text[..end]).trim_matches('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Changelog\n\nHow.\n\n## [Unreleased]\n\n### Added\n\n- A.\n\n## [0.1.0] - 2026-01-02\n\n- Old.\n";

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_unreleased_becomes_a_section() {
        let text = released(TEXT, version("0.2.0"), "2026-12-01").unwrap();
        let head =
            "# Changelog\n\nHow.\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A.\n\n## [0.1.0]";
        assert!(text.starts_with(head), "{text}");
        assert_eq!(section(&text, version("0.2.0")), Some("### Added\n\n- A."));
        assert_eq!(section(&text, version("0.1.0")), Some("- Old."));
        assert_eq!(section(&text, version("0.3.0")), None);
    }

    #[test]
    fn nothing_to_release_is_an_error() {
        let empty = TEXT.replace("### Added\n\n- A.\n\n", "");
        let message = |text: &str| released(text, version("0.2.0"), "today").unwrap_err().to_string();
        assert!(message(&empty).contains("nothing under `Unreleased`"), "{}", message(&empty));
        assert!(message("# Changelog\n").contains("no line `## [Unreleased]`"));
    }

    #[test]
    fn the_change_log_of_this_repository_has_something_to_release() {
        let text = crate::workspace::read(&crate::workspace::root().join(FILE)).unwrap();
        let current = Version::current().unwrap();
        assert!(section(&text, current).is_some() || released(&text, current, "today").is_ok());
    }
}
