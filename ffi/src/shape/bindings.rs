//! Names bound to dimensions, and the evaluation of patterns with them.

use std::fmt::{self, Write as _};

use super::Pattern;
use super::operands::Operand;
use crate::descriptor::{DimExpr, DimOp, DimPattern, Recorded};

/// The value of a name.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Dim(i64),
    List(&'a [i64]),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Dim(dim) => write!(f, "{dim}"),
            Value::List(dims) => write!(f, "{dims:?}"),
        }
    }
}

/// Where a name got its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin<'a> {
    Attribute(&'a str),
    Operand(Operand),
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Attribute(name) => write!(f, "attribute `{name}`"),
            Origin::Operand(operand) => write!(f, "{operand}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Binding<'a> {
    name: &'a str,
    value: Value<'a>,
    origin: Origin<'a>,
}

/// Names with their values and origins. Up to [`INLINE`] names are kept without allocation.
#[derive(Debug)]
pub(super) struct Bindings<'a> {
    /// How the operation is written, for messages.
    recorded: Recorded,
    inline: [Option<Binding<'a>>; INLINE],
    more: Vec<Binding<'a>>,
}

/// More names than any operation of practice has in its patterns and integer attributes.
const INLINE: usize = 12;

/// Why an expression has no value.
#[derive(Debug)]
pub(super) enum EvalError<'e> {
    /// A wildcard or a list of unknown length: any value would do.
    Free,
    Unbound(&'static str),
    Overflow(&'e DimExpr),
    Negative(&'e DimExpr, i64),
    DivisionByZero(&'e DimExpr),
}

impl fmt::Display for EvalError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Free => f.write_str("it has no value"),
            EvalError::Unbound(name) => {
                write!(f, "`{name}` is bound neither by an argument nor by an integer attribute that is given")
            }
            EvalError::Overflow(expr) => write!(f, "`{expr}` overflows"),
            EvalError::Negative(expr, value) => write!(f, "`{expr}` is negative: {value}"),
            EvalError::DivisionByZero(expr) => write!(f, "`{expr}` divides by zero"),
        }
    }
}

/// How a pattern and dimensions fail to match.
#[derive(Debug)]
pub(super) enum Mismatch<'e> {
    /// The number of dimensions, or one of them, is another.
    Shape,
    /// More than one list has an unknown length.
    Ambiguous,
    /// An expression has no value.
    Eval(EvalError<'e>),
}

impl<'a> Bindings<'a> {
    pub(super) fn new(recorded: Recorded) -> Self {
        Bindings { recorded, inline: [None; INLINE], more: Vec::new() }
    }

    fn get(&self, name: &str) -> Option<&Binding<'a>> {
        self.inline.iter().map_while(Option::as_ref).chain(&self.more).find(|binding| binding.name == name)
    }

    fn list(&self, name: &str) -> Option<&'a [i64]> {
        match self.get(name)?.value {
            Value::List(dims) => Some(dims),
            Value::Dim(_) => None,
        }
    }

    /// Binds `name` unless it is bound already.
    fn insert(&mut self, name: &'a str, value: Value<'a>, origin: Origin<'a>) {
        if self.get(name).is_some() {
            return;
        }
        let binding = Binding { name, value, origin };
        match self.inline.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(binding),
            None => self.more.push(binding),
        }
    }

    /// Binds a name to the value of the attribute of that name.
    pub(super) fn bind_attribute(&mut self, name: &'a str, value: i64) {
        self.insert(name, Value::Dim(value), Origin::Attribute(name));
    }

    /// Binds the names that stand alone in `pattern` to the dimensions of `operand`.
    ///
    /// Nothing is compared except the number of dimensions. A pattern whose lists cannot be told apart yet binds none.
    pub(super) fn bind(
        &mut self,
        pattern: &'static [DimPattern],
        dims: &'a [i64],
        operand: Operand,
    ) -> Result<(), Mismatch<'static>> {
        let free = match self.free_len(pattern, dims.len()) {
            Ok(free) => free,
            Err(Mismatch::Ambiguous) => return Ok(()),
            Err(mismatch) => return Err(mismatch),
        };
        let mut rest = dims;
        for token in pattern {
            match *token {
                DimPattern::Any => rest = &rest[free..],
                DimPattern::List(name) => {
                    let (list, after) = rest.split_at(self.list(name).map_or(free, <[i64]>::len).min(rest.len()));
                    self.insert(name, Value::List(list), Origin::Operand(operand));
                    rest = after;
                }
                DimPattern::Dim(expr) => {
                    let Some((&dim, after)) = rest.split_first() else { return Err(Mismatch::Shape) };
                    if let DimExpr::Name(name) = expr {
                        self.insert(name, Value::Dim(dim), Origin::Operand(operand));
                    }
                    rest = after;
                }
            }
        }
        if rest.is_empty() { Ok(()) } else { Err(Mismatch::Shape) }
    }

    /// Compares `dims` with `pattern`.
    pub(super) fn verify<'p>(&self, pattern: &'p [DimPattern], dims: &[i64]) -> Result<(), Mismatch<'p>> {
        let free = self.free_len(pattern, dims.len())?;
        let mut rest = dims;
        for token in pattern {
            match token {
                DimPattern::Any => rest = &rest[free..],
                DimPattern::List(name) => match self.list(name) {
                    Some(list) => rest = rest.strip_prefix(list).ok_or(Mismatch::Shape)?,
                    None => rest = &rest[free..],
                },
                DimPattern::Dim(expr) => {
                    let (&dim, after) = rest.split_first().ok_or(Mismatch::Shape)?;
                    match self.eval(expr) {
                        Ok(value) if value != dim => return Err(Mismatch::Shape),
                        Ok(_) | Err(EvalError::Free) => rest = after,
                        Err(error) => return Err(Mismatch::Eval(error)),
                    }
                }
            }
        }
        Ok(())
    }

    /// The length of the one list in `pattern` that has no bound length, for `rank` dimensions in all.
    fn free_len(&self, pattern: &[DimPattern], rank: usize) -> Result<usize, Mismatch<'static>> {
        let (mut fixed, mut free) = (0, 0);
        for token in pattern {
            match token {
                DimPattern::Dim(_) => fixed += 1,
                DimPattern::Any => free += 1,
                DimPattern::List(name) => match self.list(name) {
                    Some(list) => fixed += list.len(),
                    None => free += 1,
                },
            }
        }
        match (free, rank.checked_sub(fixed)) {
            (0, Some(0)) => Ok(0),
            (1, Some(free)) => Ok(free),
            (2.., Some(_)) => Err(Mismatch::Ambiguous),
            _ => Err(Mismatch::Shape),
        }
    }

    /// The dimensions that `pattern` stands for; the error comes with the text of the token that has no value.
    pub(super) fn evaluate<'p>(&self, pattern: &'p [DimPattern]) -> Result<Vec<i64>, (String, EvalError<'p>)> {
        let mut dims = Vec::with_capacity(pattern.len());
        for token in pattern {
            let failed = |error| (Pattern(std::slice::from_ref(token)).to_string(), error);
            match token {
                DimPattern::Any => return Err(failed(EvalError::Free)),
                DimPattern::List(name) => {
                    dims.extend_from_slice(self.list(name).ok_or_else(|| failed(EvalError::Unbound(name)))?);
                }
                DimPattern::Dim(expr) => dims.push(self.eval(expr).map_err(failed)?),
            }
        }
        Ok(dims)
    }

    /// The value of an expression; it and all its parts are non-negative.
    fn eval<'e>(&self, expr: &'e DimExpr) -> Result<i64, EvalError<'e>> {
        let value = match *expr {
            DimExpr::Wildcard => return Err(EvalError::Free),
            DimExpr::Const(value) => value,
            DimExpr::Name(name) => match self.get(name) {
                Some(&Binding { value: Value::Dim(dim), .. }) => dim,
                _ => return Err(EvalError::Unbound(name)),
            },
            DimExpr::Binary(op, left, right) => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                let value = match op {
                    DimOp::Add => left.checked_add(right),
                    DimOp::Sub => left.checked_sub(right),
                    DimOp::Mul => left.checked_mul(right),
                    DimOp::Div => left.checked_div(right),
                    DimOp::Rem => left.checked_rem(right),
                };
                // Both sides are non-negative, so the only quotient that does not exist is that by zero.
                value.ok_or(match op {
                    DimOp::Div | DimOp::Rem => EvalError::DivisionByZero(expr),
                    DimOp::Add | DimOp::Sub | DimOp::Mul => EvalError::Overflow(expr),
                })?
            }
        };
        if value < 0 { Err(EvalError::Negative(expr, value)) } else { Ok(value) }
    }

    /// What the user wrote that a pattern stands for: the pattern, or the type of a row's elements or of its number.
    pub(super) fn written(&self, pattern: &[DimPattern]) -> String {
        match (self.recorded, pattern) {
            (Recorded::Rowwise, [_]) => "`PerRow`".to_owned(),
            (Recorded::Rowwise, _) => "`Row`".to_owned(),
            _ => format!("`#[dims({})]`", Pattern(pattern)),
        }
    }

    /// The names of `pattern` with values and origins, for messages: ` with n = 8 (from argument ...)`, or nothing.
    pub(super) fn describe(&self, pattern: Pattern<'_>) -> String {
        let mut names: Vec<&Binding<'a>> = Vec::new();
        pattern.for_each_name(&mut |name| {
            if let Some(binding) = self.get(name).filter(|_| names.iter().all(|seen| seen.name != name)) {
                names.push(binding);
            }
        });
        let mut text = String::new();
        for group in names.chunk_by(|a, b| a.origin == b.origin) {
            text.push_str(if text.is_empty() { " with " } else { " and " });
            for (i, binding) in group.iter().enumerate() {
                text.push_str(match i {
                    0 => "",
                    _ if i + 1 == group.len() => " and ",
                    _ => ", ",
                });
                let _ = write!(text, "{} = {}", binding.name, binding.value);
            }
            let _ = write!(text, " (from {})", group[0].origin);
        }
        text
    }

    /// The dimensions that `pattern` expects, for messages: `[4, 8]`; what has no value stays as it is written.
    pub(super) fn expected(&self, pattern: &[DimPattern]) -> String {
        let tokens: Vec<String> = pattern
            .iter()
            .filter_map(|token| match self.evaluate(std::slice::from_ref(token)) {
                Ok(dims) if dims.is_empty() => None,
                Ok(dims) => Some(dims.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
                Err((text, _)) => Some(text),
            })
            .collect();
        format!("[{}]", tokens.join(", "))
    }
}
