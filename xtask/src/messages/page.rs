//! The chapter: for each area the messages with their causes and cures, then those that need none.

use super::Message;
use super::areas::AREAS;
use super::{cures, of_area};
use crate::tidy::sources::Sources;

const HEAD: &str = "# 24 Index of messages

Written by `cargo xtask messages` from the sources. In this chapter you look up the text of an error. `{...}` stands for
a value. A message of the plugin comes with its status code, the op and its place in the source; one of an op with the
op's name. [Chapter 23](23-troubleshooting.md) has symptoms without a message.

A table gives cause and cure. The messages below it state what was expected, or what to do. Two kinds have one cure:

* INTERNAL: a check of oxcall itself failed. Report it, with the program; `f: panicked at ...` is a panic of the op `f`.
* UNIMPLEMENTED: the program needs what the plugin lacks. [Limitations](../limitations.md) and
  [the list of ops](../plugin-ops.md) name the alternatives.
";

/// The text of the chapter.
pub(super) fn of(sources: &Sources) -> String {
    let mut text = HEAD.to_owned();
    for area in AREAS {
        text += &format!("\n## {}\n\n{}\n", area.title, wrapped(area.about));
        let messages = of_area(sources, area);
        let (cured, others): (Vec<Message>, Vec<Message>) =
            messages.into_iter().partition(|message| message.help.is_some() || cures::cure(&message.text).is_some());
        if !cured.is_empty() {
            text += "\n| message | cause and cure |\n|---|---|\n";
            for message in &cured {
                let cure = message.help.as_deref().or(cures::cure(&message.text)).unwrap_or_default();
                text += &format!("| {} | {} |\n", code(&message.text), escaped(cure));
            }
        }
        let mut codes: Vec<&str> = others.iter().map(|message| message.code).collect();
        codes.sort_unstable();
        codes.dedup();
        for name in codes {
            let heading = if name.is_empty() { "" } else { name };
            text += &match heading {
                "" => "\n```text\n".to_owned(),
                name => format!("\n{name}:\n\n```text\n"),
            };
            for message in others.iter().filter(|message| message.code == name) {
                text += &message.text;
                text.push('\n');
            }
            text += "```\n";
        }
    }
    text
}

/// Inline code, in quotes that do not occur in it.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn escaped(text: &str) -> String {
    text.replace("\\|", "|").replace('|', "\\|")
}

/// Lines of at most 120 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 120 {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n")
}
