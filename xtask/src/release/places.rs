//! The texts that have the version in them, and the change of all of them.

use super::version::Version;
use crate::tidy::Complaint;
use crate::tidy::sources::{Source, Sources};

/// Files with the whole version, and the forms in which each has it; `{}` is the version.
const WHOLE: [(&str, &[&str]); 4] = [
    ("Cargo.toml", &["\nversion = \"{}\"", "version = \"={}\""]),
    ("python/oxcall/pyproject.toml", &["\nversion = \"{}\""]),
    ("python/oxcall-plugin/pyproject.toml", &["\nversion = \"{}\"", "\"oxcall=={}\""]),
    ("python/oxcall/src/oxcall/__init__.py", &["\n__version__ = \"{}\""]),
];

/// What comes before the version in requirements of users, which name a series: in templates, documents and tests.
const REQUIREMENTS: [&str; 3] = ["oxcall = \"", "oxcall = { version = \"", "oxcall>="];

/// What tells of the past or explains these forms.
pub(super) fn is_history(path: &str) -> bool {
    path == "CHANGELOG.md" || path.starts_with("docs/decisions/") || path.starts_with("xtask/src/release/")
}

/// The version of `form`.
fn written(form: &str, version: Version) -> String {
    form.replace("{}", &version.to_string())
}

/// The new texts of the files that have the old version.
pub(super) fn changed(sources: &Sources, old: Version, new: Version) -> Vec<(String, String)> {
    let change = |file: &Source| {
        let mut text = file.text.clone();
        let forms = WHOLE.iter().find(|(path, _)| *path == file.path).map_or(&[][..], |(_, forms)| *forms);
        for form in forms {
            text = text.replace(&written(form, old), &written(form, new));
        }
        for (before, version) in requirements(&file.text) {
            text = text.replace(&format!("{before}{version}"), &format!("{before}{}", new.series()));
        }
        (text != file.text).then(|| (file.path.clone(), text))
    };
    sources.files().iter().filter(|file| !is_history(&file.path)).filter_map(change).collect()
}

/// The requirements in a text: what comes before the version, and the version.
fn requirements(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    REQUIREMENTS.into_iter().flat_map(move |before| {
        text.match_indices(before).filter_map(move |(at, _)| Some((before, number(&text[at + before.len()..])?)))
    })
}

/// The version at the start of a text, if it starts with one.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    (!number.is_empty()).then_some(number)
}

/// The places that do not have the version of the workspace.
pub(crate) fn check(sources: &Sources) -> Vec<Complaint> {
    let Some(Ok(version)) = sources.file("Cargo.toml").map(|file| Version::of(&file.text)) else { return Vec::new() };
    let mut complaints = Vec::new();
    for (path, forms) in WHOLE {
        let Some(file) = sources.file(path) else { continue };
        for form in forms.iter().map(|form| written(form, version)).filter(|form| !file.text.contains(form)) {
            complaints.push(file.complaint(1, format!("no `{}`: the workspace has this version", form.trim_start())));
        }
    }
    let series = version.series();
    for file in sources.files().iter().filter(|file| !is_history(&file.path)) {
        for (number, line) in file.lines() {
            for (before, other) in requirements(line).filter(|(_, other)| *other != series) {
                let message = format!("`{before}{other}`, but the workspace is of the series {series}");
                complaints.push(file.complaint(number, message));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(version: &str, series: &str) -> Sources {
        let text = |form: &str| format!("[a]{}\n", form.replace("{}", version));
        let whole: Vec<(&str, String)> =
            WHOLE.iter().map(|(path, forms)| (*path, forms.iter().map(|form| text(form)).collect())).collect();
        let page = format!(
            "```\noxcall = \"{series}\"\noxcall = {{ version = \"{series}\", features = [] }}\nrequires = [\"oxcall>={series}\", \"other>=0.1\"]\n```\n"
        );
        let mut files: Vec<(&str, &str)> = whole.iter().map(|(path, text)| (*path, text.as_str())).collect();
        files.extend([("a.md", page.as_str()), ("CHANGELOG.md", "oxcall>=0.1\n"), ("b.toml", "oxcall = \"a:b\"\n")]);
        Sources::of(&files)
    }

    #[test]
    fn every_place_gets_the_new_version() {
        let (old, new) = ("0.1.0".parse().unwrap(), "0.2.0".parse().unwrap());
        let changed = changed(&sources("0.1.0", "0.1"), old, new);
        let wanted = sources("0.2.0", "0.2");
        assert_eq!(changed.len(), WHOLE.len() + 1);
        for (path, text) in changed {
            assert_eq!(text, wanted.file(&path).unwrap().text, "{path}");
        }
        assert_eq!(check(&wanted), []);
    }

    #[test]
    fn a_patch_leaves_requirements_alone() {
        let changed = changed(&sources("0.1.0", "0.1"), "0.1.0".parse().unwrap(), "0.1.1".parse().unwrap());
        assert_eq!(changed.len(), WHOLE.len());
    }

    #[test]
    fn a_place_with_another_version_is_reported() {
        let messages: Vec<_> = check(&sources("0.1.0", "0.2")).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "a.md:2: `oxcall = \"0.2`, but the workspace is of the series 0.1",
                "a.md:3: `oxcall = { version = \"0.2`, but the workspace is of the series 0.1",
                "a.md:4: `oxcall>=0.2`, but the workspace is of the series 0.1",
            ]
        );
        let files = [("Cargo.toml", "\nversion = \"0.1.0\"\nversion = \"=0.1.0\""), ("a.md", "")];
        let other = (WHOLE[3].0, "\n__version__ = \"0.0.9\"\n");
        let messages: Vec<_> =
            check(&Sources::of(&[files[0], files[1], other])).iter().map(ToString::to_string).collect();
        assert_eq!(messages, [format!("{}:1: no `__version__ = \"0.1.0\"`: the workspace has this version", other.0)]);
    }
}
