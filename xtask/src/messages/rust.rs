//! Messages in Rust: first literals of error constructors, of `ensure!`, of the macros' table, and of diagnostics.

use super::Message;

/// Constructors of errors, and the status codes that they give.
const CONSTRUCTORS: &[(&str, &str)] = &[
    ("cancelled", "CANCELLED"),
    ("unknown", "UNKNOWN"),
    ("invalid_argument", "INVALID_ARGUMENT"),
    ("invalid", "INVALID_ARGUMENT"),
    ("deadline_exceeded", "DEADLINE_EXCEEDED"),
    ("not_found", "NOT_FOUND"),
    ("already_exists", "ALREADY_EXISTS"),
    ("permission_denied", "PERMISSION_DENIED"),
    ("resource_exhausted", "RESOURCE_EXHAUSTED"),
    ("failed_precondition", "FAILED_PRECONDITION"),
    ("aborted", "ABORTED"),
    ("out_of_range", "OUT_OF_RANGE"),
    ("unimplemented", "UNIMPLEMENTED"),
    ("unsupported", "UNIMPLEMENTED"),
    ("internal", "INTERNAL"),
    ("unavailable", "UNAVAILABLE"),
    ("data_loss", "DATA_LOSS"),
    ("new", ""),
];

/// Functions that add to their argument where the error is: the argument is a message, too.
const HELPERS: [&str; 4] = ["wrong", "fail", "failed", "reject"];

/// How far before a constructor a text is looked for that it has by name.
const REACH: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
}

/// The messages of a file, without those of its tests.
pub(super) fn messages(source: &str) -> Vec<Message> {
    let tokens = without_tests(tokens(source));
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        found.extend(diagnostic(&tokens, at).or_else(|| table_entry(&tokens, at)));
        let Some((open, code)) = sink(&tokens, at) else { continue };
        let arguments = &tokens[open + 1..end(&tokens, open)];
        let mut texts = literals(arguments);
        if let [Token::Word(name)] = arguments {
            texts = bound(&tokens[at.saturating_sub(REACH)..at], name);
        }
        for text in texts {
            match only_placeholders(&text) {
                Some(name) => found.extend(
                    bound(&tokens[at.saturating_sub(REACH)..at], &name)
                        .into_iter()
                        .filter_map(|text| message(&text, code)),
                ),
                None => found.extend(message(&text, code)),
            }
        }
    }
    found
}

/// The parenthesis behind a constructor at `at`, and its code.
fn sink(tokens: &[Token], at: usize) -> Option<(usize, &'static str)> {
    let word = |offset: usize, name: &str| matches!(tokens.get(at + offset), Some(Token::Word(word)) if word == name);
    let mark = |offset: usize, mark: char| tokens.get(at + offset) == Some(&Token::Mark(mark));
    let Some(Token::Word(name)) = tokens.get(at) else { return None };
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    if name == "Error" && mark(1, ':') && mark(2, ':') && mark(4, '(') {
        let Some(Token::Word(constructor)) = tokens.get(at + 3) else { return None };
        let (_, code) = CONSTRUCTORS.iter().find(|(name, _)| name == constructor)?;
        return Some((at + 4, code));
    }
    let is_helper = HELPERS.contains(&name.as_str()) && mark(1, '(');
    let is_text =
        name == "Err" && mark(1, '(') && (word(2, "format") || matches!(tokens.get(at + 2), Some(Token::Text(_))));
    let is_defined = before == Some(&Token::Word("fn".to_owned()));
    if (is_helper || is_text) && !is_defined {
        return Some((at + 1, ""));
    }
    (name == "ensure" && mark(1, '!') && mark(2, '(')).then_some((at + 2, "INVALID_ARGUMENT"))
}

/// The messages among the tokens of an expression: literals that are it, or that `format!` has first, also in the
/// arms of a `match`.
fn literals(tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Text(text) = token else { continue };
        let before = |back: usize| at.checked_sub(back).and_then(|place| tokens.get(place));
        let is_first = match before(1) {
            None | Some(Token::Mark('>' | '{' | ',')) => true,
            Some(Token::Mark('(')) => before(2) == Some(&Token::Mark('!')),
            _ => false,
        };
        // What joins words, or replaces one of them.
        if is_first && text.trim().contains(' ') {
            found.push(text.clone());
        }
    }
    found
}

/// The messages in what the nearest `let NAME = ...;` binds.
fn bound(tokens: &[Token], name: &str) -> Vec<String> {
    let binds = |at: usize| {
        tokens[at] == Token::Word("let".to_owned()) && tokens.get(at + 1) == Some(&Token::Word(name.to_owned()))
    };
    let Some(at) = (0..tokens.len()).rev().find(|&at| binds(at)) else { return Vec::new() };
    let mut depth = 0;
    let mut end = at;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Mark('(' | '{' | '[') => depth += 1,
            Token::Mark(')' | '}' | ']') => depth -= 1,
            Token::Mark(';') if depth == 0 => {
                end = place;
                break;
            }
            _ => {}
        }
    }
    let start = (at..end).find(|&place| tokens[place] == Token::Mark('=')).map_or(end, |place| place + 1);
    literals(&tokens[start..end])
}

/// The name in the last placeholder of a text without words.
fn only_placeholders(text: &str) -> Option<String> {
    let plain = shown(text);
    let (words, last) = split(&plain);
    (!words.chars().any(char::is_alphabetic)).then_some(last).flatten()
}

/// What is outside placeholders, and the last of these.
fn split(text: &str) -> (String, Option<String>) {
    let (mut words, mut last) = (String::new(), None);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        words += before;
        let Some((name, after)) = after.split_once('}') else { break };
        last = (!name.is_empty()).then(|| name.to_owned());
        rest = after;
    }
    words += rest;
    (words, last)
}

/// `#[diagnostic::on_unimplemented(message = "...", label = "...", note = "...")]`.
fn diagnostic(tokens: &[Token], at: usize) -> Option<Message> {
    let Token::Word(name) = &tokens[at] else { return None };
    let open = at + 1;
    if name != "on_unimplemented" || tokens.get(open) != Some(&Token::Mark('(')) {
        return None;
    }
    let arguments = &tokens[open..end(tokens, open)];
    let values = |key: &str| -> Vec<String> {
        let pairs = arguments.windows(3).filter(|window| window[0] == Token::Word(key.to_owned()));
        pairs.filter_map(|window| if let Token::Text(text) = &window[2] { Some(shown(text)) } else { None }).collect()
    };
    let text = values("message").into_iter().next()?;
    let notes = values("note");
    Some(Message { text, code: "", help: (!notes.is_empty()).then(|| notes.join("; ")) })
}

/// `name(...): "wrong", "instead";` of the macros' table.
fn table_entry(tokens: &[Token], at: usize) -> Option<Message> {
    match tokens.get(at..at + 6)? {
        [
            Token::Mark(')'),
            Token::Mark(':'),
            Token::Text(wrong),
            Token::Mark(','),
            Token::Text(instead),
            Token::Mark(';'),
        ] => Some(Message { text: shown(wrong), code: "", help: Some(shown(instead)) }),
        _ => None,
    }
}

fn message(text: &str, code: &'static str) -> Option<Message> {
    let text = shown(text);
    let (words, _) = split(&text);
    let is_message = words.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() > 1;
    is_message.then_some(Message { text, code, help: None })
}

/// A literal as the index shows it: one line, and placeholders without their format.
fn shown(text: &str) -> String {
    let text = text.replace("\\\"", "\"").replace("\\n", " ").replace("\\\\", "\\");
    let (mut out, mut letters) = (String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                out.push(letter);
            }
            '{' => {
                let name: String = letters.by_ref().take_while(|letter| *letter != '}').collect();
                let name = name.split(':').next().unwrap_or_default();
                out += &format!("{{{}}}", name.trim());
            }
            letter => out.push(letter),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the bracket at `open` closes.
fn end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Mark('(' | '{' | '[') => depth += 1,
            Token::Mark(')' | '}' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Without modules that exist for tests alone.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let word = |name: &str| Token::Word(name.to_owned());
    let head = [word("cfg"), Token::Mark('('), word("test"), Token::Mark(')'), Token::Mark(']'), word("mod")];
    let Some(at) = tokens.windows(head.len()).position(|window| window == head) else { return tokens };
    let open = at + head.len() + 1;
    if tokens.get(open) != Some(&Token::Mark('{')) {
        let mut rest = tokens;
        rest.drain(at..open);
        return without_tests(rest);
    }
    let close = end(&tokens, open);
    let mut rest = tokens;
    rest.drain(at..(close + 1).min(rest.len()));
    without_tests(rest)
}

/// Words, string literals and other characters; neither comments nor characters in quotes.
fn tokens(source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().collect();
    let starts = |at: usize, mark: &str| letters[at..].iter().copied().take(mark.len()).eq(mark.chars());
    let (mut found, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        let letter = letters[at];
        if starts(at, "//") {
            at += letters[at..].iter().position(|letter| *letter == '\n').unwrap_or(letters.len() - at);
        } else if letter == '\'' {
            // A lifetime, or a character: the quote behind it, or behind what is escaped.
            let len = if letters.get(at + 1) == Some(&'\\') { 3 } else { 2 };
            let close = letters[at..].iter().skip(len).take(8).position(|letter| *letter == '\'');
            at += match close {
                Some(close) if len == 3 || close == 0 => len + close + 1,
                _ => 1,
            };
        } else if letter == 'r' && (starts(at, "r\"") || starts(at, "r#\"")) {
            let marks = usize::from(letters[at + 1] == '#');
            let close: String = format!("\"{}", "#".repeat(marks));
            let start = at + 2 + marks;
            let stop = (start..letters.len()).find(|&place| starts(place, &close)).unwrap_or(letters.len());
            found.push(Token::Text(letters[start..stop].iter().collect()));
            at = stop + close.len();
        } else if letter == '"' {
            let (text, stop) = literal(&letters, at + 1);
            found.push(Token::Text(text));
            at = stop;
        } else if letter.is_alphanumeric() || letter == '_' {
            let len = letters[at..].iter().position(|letter| !letter.is_alphanumeric() && *letter != '_');
            let stop = at + len.unwrap_or(letters.len() - at);
            found.push(Token::Word(letters[at..stop].iter().collect()));
            at = stop;
        } else {
            if !letter.is_whitespace() {
                found.push(Token::Mark(letter));
            }
            at += 1;
        }
    }
    found
}

/// A literal from behind its quote, without the breaks of its lines, and the place behind it.
fn literal(letters: &[char], start: usize) -> (String, usize) {
    let (mut text, mut at) = (String::new(), start);
    while at < letters.len() && letters[at] != '"' {
        if letters[at] == '\\' && letters.get(at + 1) == Some(&'\n') {
            at += 2;
            while letters.get(at).is_some_and(|letter| letter.is_whitespace()) {
                at += 1;
            }
            continue;
        }
        if letters[at] == '\\' {
            text.push('\\');
            at += 1;
        }
        text.extend(letters.get(at));
        at += 1;
    }
    (text, at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<(String, &'static str)> {
        messages(source).into_iter().map(|message| (message.text, message.code)).collect()
    }

    #[test]
    fn constructors_give_their_literals() {
        let source = r#"
            fn a(x: &'static str) {
                // Error::internal("in a comment");
                Error::internal("one of them");
                Error::invalid_argument(format!("dims {dims:?} of \
                                                 {} in {{1}}", names.join(", and ")));
                let message = format!("{} is missing", name);
                return Err(Error::not_found(message));
                ensure!(a == '"', "{what} must be {}", 1);
            }
            #[cfg(test)]
            mod tests {
                fn b() { Error::internal("of a test"); }
            }
        "#;
        let expected = [
            ("one of them", "INTERNAL"),
            ("dims {dims} of {} in {1}", "INVALID_ARGUMENT"),
            ("{} is missing", "NOT_FOUND"),
            ("{what} must be {}", "INVALID_ARGUMENT"),
        ];
        assert_eq!(found(source), expected.map(|(text, code)| (text.to_owned(), code)));
    }

    #[test]
    fn texts_that_a_match_chooses_are_messages() {
        let source = r#"
            let text = match x { 0 => format!("its dtype is {got}"), _ => "its memory is not aligned".to_owned() };
            Error::invalid_argument(format!("{}: {name}: {text}", handler.name))
        "#;
        let expected = [("its dtype is {got}", "INVALID_ARGUMENT"), ("its memory is not aligned", "INVALID_ARGUMENT")];
        assert_eq!(found(source), expected.map(|(text, code)| (text.to_owned(), code)));
    }

    #[test]
    fn the_compiler_s_messages_come_with_their_help() {
        let source = r#"
            messages! { const_fn(): "a handler cannot be a `const fn`", "remove `const`"; }
            #[diagnostic::on_unimplemented(message = "`{Self}` is not a rank", label = "not", note = "use `Dyn`")]
        "#;
        let expected =
            [("a handler cannot be a `const fn`", "remove `const`"), ("`{Self}` is not a rank", "use `Dyn`")];
        let found: Vec<_> = messages(source).into_iter().map(|message| (message.text, message.help.unwrap())).collect();
        assert_eq!(found, expected.map(|(text, help)| (text.to_owned(), help.to_owned())));
    }
}
