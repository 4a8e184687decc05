//! Schemas as text, in the notation of torch's registrations.

use super::{Argument, Base, Schema, Type};
use crate::{Error, Result};

/// A schema and the namespace before its name, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) namespace: Option<String>,
    pub(crate) schema: Schema,
}

/// Reads `ns::name.overload(Tensor a, int b=1, *, str? c=None) -> (Tensor, Tensor)`.
///
/// # Errors
/// `INVALID_ARGUMENT` with the expected token and its place; the caller adds the text.
pub(crate) fn parse(text: &str) -> Result<Parsed> {
    let mut reader = Reader { text, at: 0 };
    let mut name = reader.word("the operator's name")?;
    let mut namespace = None;
    if reader.skip("::") {
        namespace = Some(name);
        name = reader.word("the operator's name")?;
    }
    let overload = if reader.skip(".") { reader.word("the overload's name")? } else { String::new() };
    reader.expect("(")?;
    let args = reader.arguments()?;
    reader.expect("->")?;
    let returns = reader.returns()?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.expected("the end of the schema"));
    }
    Ok(Parsed { namespace, schema: Schema { name, overload, args, returns } })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Reads `token` if it is next.
    fn skip(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.skip(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn expected(&self, what: &str) -> Error {
        let rest: String = self.rest().chars().take(20).collect();
        let found = if rest.is_empty() { "the text ends".to_owned() } else { format!("there is `{rest}`") };
        Error::invalid_argument(format!("expected {what} at character {}, but {found}", self.at + 1))
    }

    fn word(&mut self, what: &str) -> Result<String> {
        self.space();
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if len == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(what));
        }
        self.at += len;
        Ok(rest[..len].to_owned())
    }

    /// The arguments, up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Argument>> {
        let mut args: Vec<Argument> = Vec::new();
        let mut keyword = false;
        if self.skip(")") {
            return Ok(args);
        }
        loop {
            if !keyword && self.skip("*") {
                keyword = true;
            } else {
                let (ty, mutable) = self.ty()?;
                let name = self.word("the argument's name")?;
                if args.iter().any(|other| other.name == name) {
                    return Err(Error::invalid_argument(format!("two arguments have the name `{name}`")));
                }
                let default = if self.skip("=") { Some(self.default()?) } else { None };
                args.push(Argument { name, ty, default, mutable, keyword });
            }
            if self.skip(")") {
                return Ok(args);
            }
            self.expect(",")?;
        }
    }

    /// A type, and whether the argument is updated in place.
    fn ty(&mut self) -> Result<(Type, bool)> {
        self.space();
        let start = self.at;
        let word = self.word("a type")?;
        let Some((base, _)) = Base::ALL.into_iter().find(|(_, name)| *name == word) else {
            self.at = start;
            let names = Base::ALL.map(|(_, name)| name).join(", ");
            return Err(self.expected(&format!("one of the types {names}")));
        };
        let mutable = self.skip("(") && {
            self.word("a set of aliases")?;
            let mutable = self.skip("!");
            self.expect(")")?;
            mutable
        };
        let mut ty = Type::plain(base);
        if self.skip("[") {
            // A length is only for convenience in Python calls.
            self.at += self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
            self.expect("]")?;
            ty.list = true;
        }
        ty.optional = self.skip("?");
        Ok((ty, mutable))
    }

    /// A default's text, up to the comma or parenthesis after it.
    fn default(&mut self) -> Result<String> {
        self.space();
        let rest = self.rest();
        let (mut depth, mut quote) = (0, None);
        let end = rest.char_indices().find(|(_, c)| {
            match (quote, c) {
                (Some(open), c) if open == *c => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(*c),
                (None, '[') => depth += 1,
                (None, ']') => depth -= 1,
                (None, ',' | ')') => return depth == 0,
                _ => {}
            }
            false
        });
        let text = end.map_or(rest, |(end, _)| &rest[..end]).trim_end();
        if text.is_empty() || end.is_none() {
            return Err(self.expected("a default and what follows it"));
        }
        self.at += text.len();
        Ok(text.to_owned())
    }

    /// The results: one type, or several in parentheses, with or without names.
    fn returns(&mut self) -> Result<Vec<Type>> {
        if !self.skip("(") {
            return Ok(vec![self.ty()?.0]);
        }
        let mut returns = Vec::new();
        if self.skip(")") {
            return Ok(returns);
        }
        loop {
            returns.push(self.ty()?.0);
            self.space();
            if self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                self.word("the result's name")?;
            }
            if self.skip(")") {
                return Ok(returns);
            }
            self.expect(",")?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_round_trip() {
        for text in [
            "f() -> ()",
            "top_k(SymInt k, Tensor x) -> (Tensor, Tensor)",
            "mix.float(Tensor a, Tensor? b, Tensor[] c, int[]? d=None, *, str e=\"a, b)\", float f=1e-05) -> Tensor[]",
            "update(Tensor(a!) x, Tensor(b!) y, bool flag=True, ScalarType? dtype=None, int[] dims=[1, 2]) -> ()",
            "scale(Tensor self, Scalar factor) -> Tensor",
        ] {
            let parsed = parse(text).unwrap();
            assert_eq!((parsed.namespace.as_deref(), parsed.schema.to_string().as_str()), (None, text));
        }
        let parsed = parse(" custom_op::f ( Tensor  self , int[2] s ) -> ( Tensor(a) values , Tensor ) ").unwrap();
        assert_eq!(parsed.namespace.as_deref(), Some("custom_op"));
        assert_eq!(parsed.schema.to_string(), "f(Tensor self, int[] s) -> (Tensor, Tensor)");
    }

    #[test]
    fn mistakes_name_what_was_expected() {
        for (text, part) in [
            ("", "the operator's name at character 1, but the text ends"),
            ("f", "expected `(`"),
            ("f(Tensor) -> Tensor", "the argument's name at character 9, but there is `) -> Tensor`"),
            ("f(tensor x) -> Tensor", "one of the types Tensor, int,"),
            ("f(Tensor x, int x) -> Tensor", "two arguments have the name `x`"),
            ("f(Tensor x Tensor y) -> Tensor", "expected `,`"),
            ("f(Tensor x)", "expected `->`"),
            ("f(int k=) -> Tensor", "a default"),
            ("f(int k=[1, 2 -> Tensor", "a default"),
            ("f() -> Tensor junk", "the end of the schema"),
            ("f() -> (Tensor,", "a type"),
            ("1f() -> ()", "the operator's name"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message().contains(part), "{text}: {}", error.message());
        }
    }
}
