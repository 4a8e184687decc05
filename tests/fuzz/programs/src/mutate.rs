//! Changes of text, word by word, so that many of the programs still read.

use oxcall_hlo::{BinaryOp, UnaryOp};

use crate::Random;
use crate::pieces::PIECES;

/// What a word is about. Words are exchanged with those of their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `tensor<2x3xf32>`.
    Tensor,
    /// `%0`.
    Value,
    /// `42`, `1.0`.
    Number,
    /// `stablehlo.add`, `dims`.
    Word,
    /// White space and punctuation.
    Other,
}

/// Splits text in words.
fn words(text: &str) -> Vec<(Kind, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let tensor = rest.starts_with("tensor<").then(|| rest.find('>')).flatten();
        let (kind, length) = match (tensor, first) {
            (Some(end), _) => (Kind::Tensor, end + 1),
            (_, '%' | '@' | '#' | '^' | '!') => {
                (Kind::Value, 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1))
            }
            (_, '0'..='9' | '-') => (Kind::Number, 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1)),
            _ if is_word(first) => (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            _ => (Kind::Other, first.len_utf8()),
        };
        words.push((kind, &rest[..length]));
        rest = &rest[length..];
    }
    words
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "-1",
    "-2",
    "16",
    "64",
    "65",
    "255",
    "256",
    "2147483647",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0x7FC00000",
    "1.0",
    "1e400",
    "-0.0",
];

const ELEMENTS: &[&str] = &[
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "ui2",
    "ui4",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8E4M3FN",
    "f8E5M2",
    "f8E8M0FNU",
    "f4E2M1FN",
    "f6E2M3FN",
    "complex<f32>",
    "complex<f64>",
];

/// A tensor type near this one.
fn tensor(ty: &str, random: &mut Random) -> String {
    let inner = &ty["tensor<".len()..ty.len() - 1];
    let mut parts: Vec<&str> = inner.split('x').collect();
    match random.below(4) {
        0 => *parts.last_mut().expect("not empty") = pick(ELEMENTS, random),
        1 if parts.len() > 1 => _ = parts.remove(0),
        2 => parts.insert(0, pick(NUMBERS, random)),
        _ => {
            let dims = parts.len() - 1;
            if dims > 0 {
                parts[random.below(dims)] = pick(NUMBERS, random);
            }
        }
    }
    format!("tensor<{}>", parts.join("x"))
}

/// Another word for one of this kind.
fn other(kind: Kind, word: &str, words: &[(Kind, &str)], random: &mut Random) -> String {
    let alike: Vec<&str> = words.iter().filter(|(each, _)| *each == kind).map(|(_, word)| *word).collect();
    match (kind, random.below(3)) {
        (Kind::Tensor, 0 | 1) => tensor(word, random),
        (Kind::Number, 0 | 1) => pick(NUMBERS, random).to_owned(),
        (Kind::Word, 0) if word.contains('.') => pick(UnaryOp::ALL, random).name().to_owned(),
        (Kind::Word, 1) if word.contains('.') => pick(BinaryOp::ALL, random).name().to_owned(),
        (Kind::Other, 0) => pick(PIECES, random).to_owned(),
        _ => pick(&alike, random).to_owned(),
    }
}

/// One of the items.
fn pick<T: Copy>(items: &[T], random: &mut Random) -> T {
    items[random.below(items.len())]
}

/// The text with a few changes.
pub fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(4) {
        text = mutate_once(&text, random);
    }
    text
}

fn mutate_once(text: &str, random: &mut Random) -> String {
    if random.below(6) == 0 {
        let mut lines: Vec<&str> = text.lines().collect();
        if !lines.is_empty() {
            let (from, to) = (random.below(lines.len()), random.below(lines.len()));
            match random.below(3) {
                0 => _ = lines.remove(from),
                1 => lines.swap(from, to),
                _ => lines.insert(to, lines[from]),
            }
        }
        return lines.join("\n");
    }
    let mut words = words(text);
    let telling: Vec<usize> = (0..words.len()).filter(|&at| words[at].0 != Kind::Other).collect();
    let at = match telling.as_slice() {
        [] => return text.to_owned(),
        _ if random.below(10) == 0 => random.below(words.len()),
        telling => pick(telling, random),
    };
    let (kind, word) = words[at];
    let replacement = other(kind, word, &words, random);
    // Everywhere, so that what belongs together changes together, or here alone.
    let everywhere = kind != Kind::Other && random.below(2) == 0;
    for (index, (each, other)) in words.iter_mut().enumerate() {
        if index == at || (everywhere && *each == kind && *other == word) {
            *other = &replacement;
        }
    }
    words.iter().map(|(_, word)| *word).collect()
}
