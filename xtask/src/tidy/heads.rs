//! The heads of Rust files and of Markdown sections: noun phrases, not questions.

use super::{Complaint, markdown};
use crate::tidy::sources::Sources;

/// Words that begin a question.
const QUESTIONS: [&str; 5] = ["What", "Which", "Where", "How", "Who"];

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in sources.rust() {
        let head = file.text.lines().next().and_then(|line| line.strip_prefix("//! "));
        if let Some(word) = head.and_then(question) {
            let message =
                format!("the file's head begins with `{word}`: name its subject, as in \"Buffer assignment.\"");
            complaints.push(file.complaint(1, message));
        }
    }
    for file in sources.markdown() {
        for (number, heading) in markdown::headings(&file.text) {
            if let Some(word) = question(heading) {
                let message =
                    format!("the heading begins with `{word}`: name the subject, as in \"Buffer assignment\"");
                complaints.push(file.complaint(number, message));
            }
        }
    }
    complaints
}

/// The word with which a question begins.
fn question(head: &str) -> Option<&'static str> {
    QUESTIONS.into_iter().find(|word| head.split(|letter: char| !letter.is_alphanumeric()).next() == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noun_phrases_pass() {
        let sources = Sources::of(&[
            ("a.rs", "//! Whole programs.\n//!\n//! What follows is text.\n"),
            ("a.md", "# Whatever\n```\n# What is code\n```\nWhat is text\n"),
        ]);
        assert_eq!(check(&sources), []);
    }

    #[test]
    fn questions_are_reported() {
        let sources = Sources::of(&[("a.rs", "//! What is here.\n"), ("a.md", "# A\n## How's that\n")]);
        let messages: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "a.rs:1: the file's head begins with `What`: name its subject, as in \"Buffer assignment.\"",
                "a.md:2: the heading begins with `How`: name the subject, as in \"Buffer assignment\"",
            ]
        );
    }
}
