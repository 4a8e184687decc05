//! The task runner's commands: those that texts name exist, CONTRIBUTING.md has each, and usage texts come from the
//! table.

use super::{Complaint, markdown};
use crate::commands::COMMANDS;
use crate::tidy::sources::Sources;

/// The page with the table of commands.
const PAGE: &str = "CONTRIBUTING.md";

/// The file that has the table.
const TABLE: &str = "xtask/src/commands.rs";

/// In two parts, so that this file names no command.
const CALL: &str = concat!("cargo", " xtask ");

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = named(sources);
    complaints.extend(usages(sources));
    complaints.extend(table(sources));
    complaints
}

/// Commands that any text names.
fn named(sources: &Sources) -> Vec<Complaint> {
    let known = |name: &str| name == "help" || COMMANDS.iter().any(|command| command.name == name);
    let mut complaints = Vec::new();
    for file in sources.files() {
        for (number, line) in file.lines() {
            for rest in line.split(CALL).skip(1) {
                let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
                let name = &rest[..end.unwrap_or(rest.len())];
                if !name.is_empty() && !known(name) {
                    complaints.push(file.complaint(number, format!("xtask has no command `{name}`: see {TABLE}")));
                }
            }
        }
    }
    complaints
}

/// Usage texts written by hand.
fn usages(sources: &Sources) -> Vec<Complaint> {
    let written = format!("\"usage: {}", CALL.trim_end());
    let mut complaints = Vec::new();
    for file in sources.rust().filter(|file| file.path.starts_with("xtask/") && file.path != TABLE) {
        let lines = file.lines().filter(|(_, line)| line.contains(&written));
        complaints.extend(lines.map(|(number, _)| {
            file.complaint(number, "a usage text written twice: use `commands::usage`, which makes it from the table")
        }));
    }
    complaints
}

/// The table of the page: a row for each form of each command, and no others.
fn table(sources: &Sources) -> Vec<Complaint> {
    let Some(page) = sources.file(PAGE) else { return Vec::new() };
    let rows: Vec<(usize, String)> = page
        .lines()
        .filter(|(_, line)| line.starts_with(&format!("| `{CALL}")))
        .filter_map(|(number, line)| Some((number, markdown::inline_code(line).into_iter().next()?.text)))
        .collect();
    let forms = || COMMANDS.iter().flat_map(|command| command.forms.iter().map(|form| form.line(command.name)));
    let mut complaints = Vec::new();
    for form in forms().filter(|form| rows.iter().all(|(_, row)| row != form)) {
        complaints.push(page.complaint(rows.first().map_or(1, |(number, _)| *number), format!("no row for `{form}`")));
    }
    for (number, row) in rows.iter().filter(|(_, row)| forms().all(|form| form != *row)) {
        complaints
            .push(page.complaint(*number, format!("`{row}` is not in the table of {TABLE}: write what is there")));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with a row for each form.
    fn page() -> String {
        let forms = COMMANDS.iter().flat_map(|command| command.forms.iter().map(|form| form.line(command.name)));
        forms.map(|form| format!("| `{}` | about |\n", form.replace('|', "\\|"))).collect()
    }

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Sources::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_page_with_every_command_passes() {
        assert_eq!(messages(&[(PAGE, &page())]), [""; 0]);
    }

    #[test]
    fn a_missing_row_and_one_too_many_are_reported() {
        let text = page().replace("xtask soak [KIND]", "xtask soak [kind]");
        let number = 1 + text.lines().position(|line| line.contains("soak")).unwrap();
        let missing = format!("{PAGE}:1: no row for `{CALL}soak [KIND]... [--calls N]`");
        let other = format!(
            "{PAGE}:{number}: `{CALL}soak [kind]... [--calls N]` is not in the table of {TABLE}: write what is there"
        );
        assert_eq!(messages(&[(PAGE, &text)]), [missing, other]);
    }

    #[test]
    fn an_unknown_command_is_reported() {
        let text = format!("//! `{CALL}soak`, `{CALL}soaks 3`, `{CALL}COMMAND`, `{CALL}help`\n");
        assert_eq!(messages(&[("a.rs", &text)]), [format!("a.rs:1: xtask has no command `soaks`: see {TABLE}")]);
    }

    #[test]
    fn a_usage_text_written_by_hand_is_reported() {
        let text = format!("fn a() {{\n    fail(\"usage: {CALL}docs\");\n}}\n");
        assert_eq!(
            messages(&[("xtask/src/docs.rs", &text)]),
            ["xtask/src/docs.rs:2: a usage text written twice: use `commands::usage`, which makes it from the table"]
        );
    }
}
