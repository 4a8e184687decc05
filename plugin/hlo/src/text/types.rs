//! Types.

use super::cursor::list;
use super::lexer::{self, Kind};
use super::{Error, Parser};
use crate::{Dims, DynamicDims, ElementType, TensorType, Type};

impl<'a> Parser<'a> {
    /// Takes the type of a value.
    pub(super) fn ty(&mut self) -> Result<Type, Error> {
        match (self.tokens.kind(), self.tokens.text()) {
            (Kind::Word, "tensor") => Ok(Type::Tensor(self.tensor_type()?)),
            (Kind::Word, "tuple") => {
                self.tokens.bump()?;
                self.tokens.enter()?;
                let types = list(self, "<", ">", Parser::ty)?;
                self.tokens.leave();
                Ok(Type::Tuple(types))
            }
            (Kind::Exclamation, "!stablehlo.token") => {
                self.tokens.bump()?;
                Ok(Type::Token)
            }
            (Kind::Exclamation, "!stablehlo.future") => {
                self.tokens.bump()?;
                self.tokens.enter()?;
                let types = list(self, "<", ">", Parser::ty)?;
                self.tokens.leave();
                Ok(Type::Future(types))
            }
            (Kind::Exclamation, name) => match self.type_aliases.get(name) {
                Some(alias) => {
                    let (nodes, depth) = (alias.nodes, alias.depth);
                    let ty = alias.value.clone();
                    self.charge(nodes, depth)?;
                    self.tokens.bump()?;
                    Ok(ty)
                }
                None => Err(self.unsupported_type()),
            },
            (Kind::Word, _) => Err(self.unsupported_type()),
            _ => Err(self.tokens.expected("a type")),
        }
    }

    /// Takes `tensor<2x3xf32>`.
    pub(super) fn tensor_type(&mut self) -> Result<TensorType, Error> {
        let start = self.tokens.start();
        self.tokens.expect("tensor")?;
        if !self.tokens.is("<") {
            return Err(self.tokens.expected("`<`"));
        }
        let (dims, dynamic) = self.dims()?;
        let mut ty = TensorType { element: self.element_type()?, dims, dynamic };
        if self.tokens.is(",") {
            self.bounds(&mut ty)?;
        } else if !dynamic.is_empty() {
            let message = "tensors with dynamic dimensions without bounds are not supported";
            return Err(Error::unsupported(message).at(self.tokens.position(start)));
        }
        self.tokens.expect(">")?;
        let element = ty.element;
        let bytes = ty.checked_count().and_then(|count| count.checked_mul(element.byte_width()));
        match bytes {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(ty),
            _ => Err(self.tokens.error_at(start, format!("{ty} does not fit in memory"))),
        }
    }

    /// Takes `, #stablehlo.bounds<8, ?>`, which has the bounds of dynamic dimensions: the token is the comma.
    fn bounds(&mut self, ty: &mut TensorType) -> Result<(), Error> {
        const HEADS: [&str; 2] = ["#stablehlo.bounds<", "#stablehlo.type_extensions<bounds = ["];
        let (at, source) = (lexer::skip_space(self.tokens.source(), self.tokens.end()), self.tokens.source());
        let Some(head) = HEADS.into_iter().find(|head| source[at..].starts_with(head)) else {
            let message = "tensors with an encoding other than bounds of dynamic dimensions are not supported";
            return Err(Error::unsupported(message).at(self.tokens.position(at)));
        };
        let from = at + head.len();
        let wrong = || self.tokens.error_at(at, "expected the bound of each dynamic dimension, and `?` for others");
        let len = source[from..].find('>').ok_or_else(wrong)?;
        let mut bounds = source[from..from + len].trim_end_matches(']').split(',').map(str::trim);
        for (dim, size) in ty.dims.iter_mut().enumerate() {
            match (bounds.next(), ty.dynamic.contains(dim)) {
                (Some("?"), false) => {}
                (Some(bound), true) => *size = bound.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        if bounds.next().is_some() {
            return Err(wrong());
        }
        self.tokens.seek(from + len + 1)
    }

    /// Takes `<2x?x`: the token is the bracket. Not done by tokens, which in `0x4xf32` would be `0x4` and `xf32`.
    fn dims(&mut self) -> Result<(Dims, DynamicDims), Error> {
        let (mut dims, mut dynamic) = (Dims::new(), DynamicDims::NONE);
        let mut at = self.tokens.end();
        let end = self.tokens.source().len();
        loop {
            at = lexer::skip_space(self.tokens.slice(0, end), at);
            let rest = self.tokens.slice(at, end);
            if rest.starts_with('*') || rest.starts_with('?') && !dynamic.insert(dims.len()) {
                let message = "tensors without a rank, or with so many dynamic dimensions, are not supported";
                return Err(Error::unsupported(message).at(self.tokens.position(at)));
            }
            let is_dynamic = rest.starts_with('?');
            let digits = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
            if digits == 0 && !is_dynamic {
                self.tokens.seek(at)?;
                return Ok((dims, dynamic));
            }
            let dim = if is_dynamic { Ok(0) } else { rest[..digits].parse() };
            dims.push(dim.map_err(|_| self.tokens.error_at(at, "a dimension does not fit 64 bits"))?);
            at = lexer::skip_space(self.tokens.slice(0, end), at + digits.max(usize::from(is_dynamic)));
            if !self.tokens.slice(at, end).starts_with('x') {
                return Err(self.tokens.error_at(at, "expected `x` after a dimension of a tensor"));
            }
            at += 1;
        }
    }

    /// Takes the type of an element. `index`, which only attributes have, is `S64`.
    pub(super) fn element_type(&mut self) -> Result<ElementType, Error> {
        let at = self.tokens.start();
        if self.tokens.kind() != Kind::Word {
            return Err(match self.tokens.kind() {
                Kind::Exclamation => self.unsupported_type(),
                _ => self.tokens.expected("an element type"),
            });
        }
        if self.tokens.eat("complex")? {
            self.tokens.expect("<")?;
            let part = self.tokens.word()?;
            self.tokens.expect(">")?;
            return match part {
                "f32" => Ok(ElementType::C64),
                "f64" => Ok(ElementType::C128),
                _ => {
                    Err(Error::unsupported(format!("type complex<{part}> is not supported"))
                        .at(self.tokens.position(at)))
                }
            };
        }
        match element_type(self.tokens.text()) {
            Some(element) => {
                self.tokens.bump()?;
                Ok(element)
            }
            None => Err(self.unsupported_type()),
        }
    }

    /// The type that starts at the token is not supported.
    fn unsupported_type(&mut self) -> Error {
        let start = self.tokens.start();
        let name = self.tokens.text();
        let _ = self.tokens.bump().and_then(|_| self.tokens.skip_parameters());
        let text = self.tokens.since(start);
        let what = if name.starts_with("!quant.") { "quantized types are not supported: " } else { "type " };
        let end = if what.ends_with(": ") { "" } else { " is not supported" };
        Error::unsupported(format!("{what}{text}{end}")).at(self.tokens.position(start))
    }

    /// Takes one type, or a list of types in parentheses.
    pub(super) fn types(&mut self) -> Result<Vec<Type>, Error> {
        if self.tokens.is("(") { list(self, "(", ")", Parser::ty) } else { Ok(vec![self.ty()?]) }
    }

    /// Takes `(types) -> types`.
    pub(super) fn function_type(&mut self) -> Result<(Vec<Type>, Vec<Type>), Error> {
        let inputs = list(self, "(", ")", Parser::ty)?;
        self.tokens.expect("->")?;
        Ok((inputs, self.types()?))
    }
}

/// The element type of this name, other than complex ones.
pub(super) fn element_type(name: &str) -> Option<ElementType> {
    match name {
        "index" => Some(ElementType::S64),
        _ => ElementType::from_name(name),
    }
}

/// The number of nodes of a type, and the levels of nesting: what it costs to copy.
pub(super) fn type_cost(ty: &Type) -> (usize, usize) {
    match ty {
        Type::Tensor(tensor) => (1 + tensor.rank(), 1),
        Type::Token => (1, 1),
        Type::Tuple(types) | Type::Future(types) => {
            types.iter().map(type_cost).fold((1, 1), |(nodes, depth), each| (nodes + each.0, depth.max(each.1 + 1)))
        }
    }
}
