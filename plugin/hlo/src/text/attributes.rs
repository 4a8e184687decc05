//! Attributes.

use super::cursor::list;
use super::lexer::Kind;
use super::{Error, Parser, types};
use crate::{Attribute, ElementType, print};

/// What an alias stands for, and what it costs to copy it.
#[derive(Debug, Clone)]
pub(super) struct Alias<T> {
    pub(super) value: T,
    pub(super) nodes: usize,
    pub(super) depth: usize,
}

impl<'a> Parser<'a> {
    /// Takes an attribute.
    pub(super) fn attribute(&mut self) -> Result<Attribute, Error> {
        self.tokens.enter()?;
        let attribute = self.any_attribute()?;
        self.tokens.leave();
        Ok(attribute)
    }

    fn any_attribute(&mut self) -> Result<Attribute, Error> {
        let start = self.tokens.start();
        Ok(match (self.tokens.kind(), self.tokens.text()) {
            (Kind::String, _) => {
                let bytes = self.tokens.string()?;
                if self.tokens.eat(":")? {
                    self.attribute()?; // strings may have a type, which means nothing
                }
                Attribute::String(bytes)
            }
            (Kind::Integer | Kind::Float, _) | (Kind::Punctuation, "-") => return self.typed_number(),
            (Kind::Word, "true" | "false") => Attribute::Bool(self.tokens.boolean()?),
            (Kind::Word, "unit") => {
                self.tokens.bump()?;
                Attribute::Unit
            }
            (Kind::Word, "dense") => Attribute::Dense(self.dense()?),
            (Kind::Word, "array") => Attribute::DenseArray(self.dense_array()?),
            (Kind::Word, "dense_resource") => {
                let message = "dense_resource is not supported: constants must be in the text (if it says \
                               `__elided__`, print it without a limit on large elements)";
                return Err(Error::unsupported(message).at(self.tokens.position(start)));
            }
            (Kind::Word, "tensor" | "tuple") | (Kind::Exclamation, "!stablehlo.token" | "!stablehlo.future") => {
                Attribute::Type(self.ty()?)
            }
            (Kind::Symbol, _) => Attribute::Symbol(self.tokens.symbol()?),
            (Kind::Punctuation, "[") => Attribute::Array(list(self, "[", "]", Parser::attribute)?),
            (Kind::Punctuation, "{") => Attribute::Dictionary(self.dictionary()?),
            (Kind::Hash, name) => {
                if let Some(alias) = self.aliases.get(name) {
                    let (nodes, depth) = (alias.nodes, alias.depth);
                    let attribute = alias.value.clone();
                    self.charge(nodes, depth)?;
                    self.tokens.bump()?;
                    return Ok(attribute);
                }
                self.tokens.bump()?;
                if !name.contains('.') && !self.tokens.is("<") {
                    return Err(self.tokens.error_at(start, format!("the alias {name} is not defined")));
                }
                if let Some(sharding) = self.sharding_attribute(name)? {
                    return Ok(sharding);
                }
                self.tokens.skip_parameters()?;
                Attribute::Other(self.tokens.since(start).into())
            }
            (Kind::Punctuation, "(") => {
                self.function_type()?;
                Attribute::Other(self.tokens.since(start).into())
            }
            (Kind::Word, "loc") => {
                self.tokens.bump()?;
                self.tokens.skip_brackets()?;
                Attribute::Other(self.tokens.since(start).into())
            }
            (Kind::Word | Kind::Exclamation, _) => {
                self.tokens.bump()?;
                self.tokens.skip_parameters()?;
                Attribute::Other(self.tokens.since(start).into())
            }
            _ => return Err(self.tokens.expected("an attribute")),
        })
    }

    /// Takes a number with its type, if it has one: otherwise it is an `i64` or `f64`.
    fn typed_number(&mut self) -> Result<Attribute, Error> {
        let number = self.number()?;
        let element = if self.tokens.eat(":")? {
            self.element_type()?
        } else if number.is_decimal_float() {
            ElementType::F64
        } else {
            ElementType::S64
        };
        let bits = number.bits(element).map_err(|message| self.tokens.error_at(number.at, message))?;
        Ok(match element {
            ElementType::Pred => Attribute::Bool(bits != 0),
            _ if element.is_float() => Attribute::Float(element.decode(bits), element),
            _ => Attribute::Integer(bits as i64, element),
        })
    }

    /// Takes a dictionary in braces, sorted by name.
    pub(super) fn dictionary(&mut self) -> Result<Vec<(String, Attribute)>, Error> {
        let start = self.tokens.start();
        let entries = list(self, "{", "}", Parser::entry)?;
        self.sorted(entries, start)
    }

    /// The entries, sorted by name; an error if two have one name.
    pub(super) fn sorted<T>(&self, mut entries: Vec<(String, T)>, at: usize) -> Result<Vec<(String, T)>, Error> {
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(self.tokens.error_at(at, format!("the attribute `{}` is given twice", pair[0].0))),
            None => Ok(entries),
        }
    }

    /// Takes `name = value`, or a name alone for a unit attribute.
    pub(super) fn entry(&mut self) -> Result<(String, Attribute), Error> {
        let name = self.entry_name()?;
        let value = if self.tokens.eat("=")? { self.attribute()? } else { Attribute::Unit };
        Ok((name, value))
    }

    /// Takes the name of an entry of a dictionary.
    fn entry_name(&mut self) -> Result<String, Error> {
        if self.tokens.kind() != Kind::String {
            return Ok(self.tokens.take(Kind::Word, "the name of an attribute")?.into());
        }
        let at = self.tokens.start();
        String::from_utf8(self.tokens.string()?)
            .map_err(|_| self.tokens.error_at(at, "the name of an attribute must be UTF-8"))
    }

    /// Takes `#name = attribute` or `!name = type`, whose name is the token.
    pub(super) fn alias(&mut self) -> Result<(), Error> {
        let at = self.tokens.start();
        let kind = self.tokens.kind();
        let name = self.tokens.bump()?;
        self.tokens.expect("=")?;
        if self.tokens.is("loc") {
            return self.location_alias(name, at);
        }
        let fresh = if kind == Kind::Hash {
            let value = self.attribute()?;
            let (nodes, depth) = attribute_cost(&value);
            self.aliases.insert(name, Alias { value, nodes, depth }).is_none()
        } else {
            let value = self.ty()?;
            let (nodes, depth) = types::type_cost(&value);
            self.type_aliases.insert(name, Alias { value, nodes, depth }).is_none()
        };
        if fresh { Ok(()) } else { Err(self.tokens.error_at(at, format!("the alias {name} is defined twice"))) }
    }
}

/// The number of nodes and bytes to copy, and the levels of nesting.
fn attribute_cost(attribute: &Attribute) -> (usize, usize) {
    let nested = |costs: &mut dyn Iterator<Item = (usize, usize)>| {
        let (nodes, depth) = costs.fold((0, 0), |(nodes, depth), each| (nodes + each.0, depth.max(each.1)));
        (nodes + 1, depth + 1)
    };
    match attribute {
        Attribute::Array(items) => nested(&mut items.iter().map(attribute_cost)),
        Attribute::Dictionary(entries) => nested(&mut entries.iter().map(|(name, value)| {
            let (nodes, depth) = attribute_cost(value);
            (nodes + name.len(), depth)
        })),
        Attribute::String(bytes) => (1 + bytes.len(), 1),
        Attribute::Symbol(text) | Attribute::Other(text) => (1 + text.len(), 1),
        Attribute::Type(ty) => types::type_cost(ty),
        // An alias is written out at each use.
        Attribute::Mesh(_)
        | Attribute::Sharding(_)
        | Attribute::ShardingPerValue(_)
        | Attribute::ShardingRule(_)
        | Attribute::ManualAxes(_) => (print::attribute_text(attribute).len(), 1),
        _ => (1, 1),
    }
}
