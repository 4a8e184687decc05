//! A place in the text, and what can be read there without knowing any name.

use super::Error;
use super::lexer::{self, Kind, Token};

/// How deep regions, attributes, types and locations may nest, together. Bounds the stack that readers need.
const MAX_DEPTH: usize = 96;

/// The next token of a text.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    source: &'a str,
    token: Token,
    /// The end of the token before it.
    previous_end: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// The first token of `source`.
    pub(super) fn new(source: &'a str) -> Result<Cursor<'a>, Error> {
        Ok(Cursor { source, token: lexer::next_token(source, 0)?, previous_end: 0, depth: 0 })
    }

    /// The whole text.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// The token's text.
    pub(super) fn text(&self) -> &'a str {
        &self.source[self.token.start..self.token.end]
    }

    /// The token's kind.
    pub(super) fn kind(&self) -> Kind {
        self.token.kind
    }

    /// Where the token starts.
    pub(super) fn start(&self) -> usize {
        self.token.start
    }

    /// Where the token ends.
    pub(super) fn end(&self) -> usize {
        self.token.end
    }

    /// The text from `start` to the end of the last token that was taken.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.source[start..self.previous_end.max(start)]
    }

    /// The text of bytes `start..end`.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        &self.source[start..end]
    }

    /// Whether the token is this word or punctuation.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.token.kind, Kind::Word | Kind::Punctuation) && self.text() == text
    }

    /// Takes the token.
    pub(super) fn bump(&mut self) -> Result<&'a str, Error> {
        let text = self.text();
        self.previous_end = self.token.end;
        self.token = lexer::next_token(self.source, self.token.end)?;
        Ok(text)
    }

    /// Takes the token if it is this word or punctuation.
    pub(super) fn eat(&mut self, text: &str) -> Result<bool, Error> {
        let found = self.is(text);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Takes the token, which must be this word or punctuation.
    pub(super) fn expect(&mut self, text: &str) -> Result<(), Error> {
        if self.eat(text)? { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Takes the token, which must be of this kind; `what` names it in the error.
    pub(super) fn take(&mut self, kind: Kind, what: &str) -> Result<&'a str, Error> {
        if self.token.kind == kind { self.bump() } else { Err(self.expected(what)) }
    }

    /// Takes a word.
    pub(super) fn word(&mut self) -> Result<&'a str, Error> {
        self.take(Kind::Word, "a keyword")
    }

    /// Goes to the first token at or after byte `at`.
    pub(super) fn seek(&mut self, at: usize) -> Result<(), Error> {
        self.previous_end = at;
        self.token = lexer::next_token(self.source, at)?;
        Ok(())
    }

    /// Counts a level of nesting, which [`leave`](Cursor::leave) takes back.
    pub(super) fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        self.check_depth(0)
    }

    /// An error if what nests `depth` levels deep may not stand here.
    pub(super) fn check_depth(&self, depth: usize) -> Result<(), Error> {
        if self.depth + depth > MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(())
    }

    /// Ends a level of nesting.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes an integer with its sign.
    pub(super) fn integer(&mut self) -> Result<i64, Error> {
        let at = self.start();
        let negative = self.eat("-")?;
        let digits = self.take(Kind::Integer, "an integer")?;
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let value = magnitude.ok().map(|magnitude: i128| if negative { -magnitude } else { magnitude });
        value.and_then(|value| i64::try_from(value).ok()).ok_or_else(|| {
            self.error_at(at, format!("the integer {}{digits} does not fit 64 bits", if negative { "-" } else { "" }))
        })
    }

    /// Takes `true` or `false`.
    pub(super) fn boolean(&mut self) -> Result<bool, Error> {
        if self.eat("true")? {
            Ok(true)
        } else if self.eat("false")? {
            Ok(false)
        } else {
            Err(self.expected("`true` or `false`"))
        }
    }

    /// Takes a list of integers in brackets.
    pub(super) fn integers(&mut self) -> Result<Vec<i64>, Error> {
        list(self, "[", "]", Cursor::integer)
    }

    /// Takes a string.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, Error> {
        let at = self.start();
        let quoted = self.take(Kind::String, "a string")?;
        lexer::unescape(quoted).ok_or_else(|| self.error_at(at, "a string has an invalid escape"))
    }

    /// Takes a symbol; its name without `@` and quotes.
    pub(super) fn symbol(&mut self) -> Result<String, Error> {
        let at = self.start();
        let name = &self.take(Kind::Symbol, "a symbol, such as `@main`")?[1..];
        if !name.starts_with('"') {
            return Ok(name.into());
        }
        let bytes = lexer::unescape(name).and_then(|bytes| String::from_utf8(bytes).ok());
        bytes.ok_or_else(|| self.error_at(at, "the name of a symbol is not UTF-8, or has an invalid escape"))
    }

    /// Takes everything from an opening bracket to the one that closes it.
    pub(super) fn skip_brackets(&mut self) -> Result<(), Error> {
        let bytes = self.source.as_bytes();
        let start = self.start();
        let mut closers = Vec::new();
        let mut at = start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'<' => closers.push(b'>'),
                b'(' => closers.push(b')'),
                b'[' => closers.push(b']'),
                b'{' => closers.push(b'}'),
                b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
                b'"' => {
                    at = lexer::string_end(bytes, at).ok_or_else(|| self.error_at(at, "a string is not closed"))? - 1;
                }
                b'>' | b')' | b']' | b'}' if closers.pop() != Some(byte) => {
                    return Err(self.error_at(at, format!("unmatched `{}`", char::from(byte))));
                }
                _ => {}
            }
            at += 1;
            if closers.is_empty() {
                return self.seek(at);
            }
        }
        Err(self.error_at(start, format!("`{}` is not closed", self.text())))
    }

    /// Takes the rest of an attribute or type of a dialect, whose name was just taken: `<...>` if it has parameters.
    pub(super) fn skip_parameters(&mut self) -> Result<(), Error> {
        if self.is("<") && self.start() == self.previous_end { self.skip_brackets() } else { Ok(()) }
    }

    /// `line:column` of byte `at`.
    pub(super) fn position(&self, at: usize) -> String {
        lexer::position(self.source, at)
    }

    /// An error about the text at byte `at`.
    pub(super) fn error_at(&self, at: usize, message: impl Into<String>) -> Error {
        Error::invalid(message).at(self.position(at))
    }

    /// An error about the token.
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.start(), message)
    }

    /// Something else than the token was expected.
    pub(super) fn expected(&self, what: &str) -> Error {
        /// How much of a token an error quotes.
        const QUOTED: usize = 40;
        let found = match self.kind() {
            Kind::End => "the text ends".into(),
            _ => {
                let mut characters = self.text().chars();
                let quoted: String = characters.by_ref().take(QUOTED).collect();
                format!("found `{quoted}{}`", if characters.next().is_some() { "..." } else { "" })
            }
        };
        self.error(format!("expected {what}, but {found}"))
    }
}

impl<'a> AsMut<Cursor<'a>> for Cursor<'a> {
    fn as_mut(&mut self) -> &mut Cursor<'a> {
        self
    }
}

/// Takes a list of what `each` takes, with commas between, in brackets.
pub(super) fn list<'a, P: AsMut<Cursor<'a>>, T>(
    parser: &mut P,
    open: &str,
    close: &str,
    mut each: impl FnMut(&mut P) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    parser.as_mut().expect(open)?;
    let mut items = Vec::new();
    if parser.as_mut().eat(close)? {
        return Ok(items);
    }
    loop {
        items.push(each(parser)?);
        if !parser.as_mut().eat(",")? {
            parser.as_mut().expect(close)?;
            return Ok(items);
        }
    }
}
