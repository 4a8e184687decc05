//! Tokens of MLIR text.

use super::Error;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// A bare identifier or keyword: `stablehlo.add`, `loc`.
    Word,
    /// `%0`: a value.
    Value,
    /// `@main` or `@"main"`: a symbol.
    Symbol,
    /// `^bb0`: a block.
    Block,
    /// `#loc1`, `#stablehlo`: an attribute alias, or an attribute of a dialect; also the `#1` of `%0#1`.
    Hash,
    /// `!stablehlo.token`: a type alias, or a type of a dialect.
    Exclamation,
    /// A string with its quotes.
    String,
    /// A decimal or hexadecimal integer, without sign.
    Integer,
    /// A decimal number with a point, without sign.
    Float,
    /// `->`, `(`, ...
    Punctuation,
}

/// A token: bytes `start..end` of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A byte that an identifier may start with.
fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// A byte that may follow in an identifier.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// Whether `word` lexes as one identifier.
pub(crate) fn is_word(word: &str) -> bool {
    word.bytes().next().is_some_and(starts_word) && word.bytes().all(in_word)
}

/// The place after white space and comments.
pub(super) fn skip_space(source: &str, mut at: usize) -> usize {
    let bytes = source.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | 0) => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length);
            }
            _ => return at,
        }
    }
}

/// The end of the run of bytes from `at` that satisfy `accept`.
fn run(bytes: &[u8], at: usize, accept: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|&byte| !accept(byte)).map_or(bytes.len(), |length| at + length)
}

/// The first token at or after `at`.
pub(super) fn next_token(source: &str, at: usize) -> Result<Token, Error> {
    let bytes = source.as_bytes();
    let start = skip_space(source, at);
    let Some(&first) = bytes.get(start) else {
        return Ok(Token { kind: Kind::End, start, end: start });
    };
    let fail = |message: String| Err(Error::invalid(message).at(position(source, start)));
    let (kind, end) = match first {
        _ if starts_word(first) => (Kind::Word, run(bytes, start, in_word)),
        b'0'..=b'9' => number(bytes, start),
        b'"' => match string_end(bytes, start) {
            Some(end) => (Kind::String, end),
            None => return fail("a string is not closed".into()),
        },
        b'@' => match bytes.get(start + 1) {
            Some(b'"') => match string_end(bytes, start + 1) {
                Some(end) => (Kind::Symbol, end),
                None => return fail("the name of a symbol is not closed".into()),
            },
            Some(&byte) if starts_word(byte) => (Kind::Symbol, run(bytes, start + 1, in_word)),
            _ => return fail("expected a name after `@`".into()),
        },
        b'%' | b'^' | b'#' | b'!' => {
            let end = suffix_end(bytes, start + 1);
            if end == start + 1 {
                return fail(format!("expected a name after `{}`", char::from(first)));
            }
            let kind = match first {
                b'%' => Kind::Value,
                b'^' => Kind::Block,
                b'#' => Kind::Hash,
                _ => Kind::Exclamation,
            };
            (kind, end)
        }
        b'-' if bytes.get(start + 1) == Some(&b'>') => (Kind::Punctuation, start + 2),
        b'{' if bytes[start..].starts_with(b"{-#") => (Kind::Punctuation, start + 3),
        b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'=' | b'-' | b'+' | b'*' | b'?'
        | b'/' | b'|' => (Kind::Punctuation, start + 1),
        _ => {
            let character = source[start..].chars().next().unwrap_or_default();
            return fail(format!("unexpected character {character:?}"));
        }
    };
    Ok(Token { kind, start, end })
}

/// The end of the name after `%`, `^`, `#` or `!`: digits, or an identifier that may hold `-`.
fn suffix_end(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at).is_some_and(u8::is_ascii_digit) {
        run(bytes, at, |byte| byte.is_ascii_digit())
    } else {
        run(bytes, at, |byte| in_word(byte) || byte == b'-')
    }
}

fn number(bytes: &[u8], start: usize) -> (Kind, usize) {
    let digit = |byte: u8| byte.is_ascii_digit();
    if bytes[start] == b'0' && bytes.get(start + 1) == Some(&b'x') {
        let end = run(bytes, start + 2, |byte| byte.is_ascii_hexdigit());
        // `0x4xf32` in a shape is the integer 0 and a word.
        return (Kind::Integer, if end == start + 2 { start + 1 } else { end });
    }
    let mut end = run(bytes, start, digit);
    if bytes.get(end) != Some(&b'.') {
        return (Kind::Integer, end);
    }
    end = run(bytes, end + 1, digit);
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            end = run(bytes, exponent, digit);
        }
    }
    (Kind::Float, end)
}

/// The place after the string that starts at `start`, if it ends on its line.
pub(super) fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

/// The bytes of a string token, its quotes and escapes taken away; `None` if an escape is not one.
pub(super) fn unescape(quoted: &str) -> Option<Vec<u8>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        at += 1;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escape = *inner.get(at)?;
        at += 1;
        bytes.push(match escape {
            b'"' | b'\\' => escape,
            b'n' => b'\n',
            b't' => b'\t',
            _ => {
                let low = *inner.get(at)?;
                at += 1;
                hex_digit(escape)? << 4 | hex_digit(low)?
            }
        });
    }
    Some(bytes)
}

/// The value of a hexadecimal digit.
pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// `line:column`, both from 1, of the byte at `at`.
pub(super) fn position(source: &str, at: usize) -> String {
    let before = &source.as_bytes()[..at.min(source.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before.len() - before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1) + 1;
    format!("{line}:{column}")
}
