//! Messages in Python: first arguments of errors and of warnings.

use super::Message;

/// The messages of a file.
pub(super) fn messages(source: &str) -> Vec<Message> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices('(') {
        let name = source[..at].rsplit(|letter: char| !letter.is_alphanumeric() && !"_.".contains(letter)).next();
        let is_sink = |name: &str| name.ends_with("Error") || name == "warnings.warn";
        if !name.is_some_and(is_sink)
            || source[..at].lines().next_back().is_some_and(|line| line.trim().starts_with("class "))
        {
            continue;
        }
        let mut text = literals(&source[at + 1..]);
        if text.is_empty() {
            // `message = "..."` before.
            let end = source[at + 1..].find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(0);
            let name = &source[at + 1..at + 1 + end];
            let binding = source[..at].rfind(&format!("    {name} = ")).filter(|_| !name.is_empty());
            text = binding.map_or(String::new(), |start| {
                let value = source[start + name.len() + 7..].trim_start();
                literals(value.strip_prefix('(').unwrap_or(value))
            });
        }
        if shown(&text).split(['{', '}']).step_by(2).flat_map(str::split_whitespace).count() > 2 {
            found.push(Message { text: shown(&text), code: "", help: None });
        }
    }
    found
}

/// The literals, one after the other, with which `source` begins.
fn literals(source: &str) -> String {
    let (mut text, mut rest) = (String::new(), source.trim_start());
    while let Some(body) = rest.strip_prefix('f').unwrap_or(rest).strip_prefix(['"', '\'']) {
        let quote = rest.trim_start_matches('f').chars().next().unwrap_or('"');
        let mut escaped = false;
        let end = body.find(|letter: char| {
            let ends = letter == quote && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { break };
        text += &body[..end];
        rest = body[end + 1..].trim_start();
    }
    text
}

/// One line; placeholders with a name, where they have one.
fn shown(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\\"", "\"").replace("\\'", "'");
    let (mut out, mut depth, mut name) = (String::new(), 0, String::new());
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    let plain = name.split(['!', ':']).next().unwrap_or_default();
                    let is_name = plain.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter));
                    out += &format!("{{{}}}", if is_name { plain } else { "" });
                    name.clear();
                }
            }
            letter if depth > 0 => name.push(letter),
            letter => out.push(letter),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_warnings_give_their_literals() {
        let source = r#"
class LoadError(RuntimeError):
    """Base."""
def f():
    raise LoadError(f"{self.path} has {len(x)} ops: "
                    'load it "again"') from None
    message = f"{value!r} is new here"
    warnings.warn(message, stacklevel=2)
    raise KeyError(name)
"#;
        let texts: Vec<String> = messages(source).into_iter().map(|message| message.text).collect();
        assert_eq!(texts, ["{self.path} has {} ops: load it \"again\"", "{value} is new here"]);
    }
}
