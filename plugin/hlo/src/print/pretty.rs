//! The pretty forms of ops that [`Piece`]s describe.

use super::attributes::{convolution_labels, fields_text, join, pairs_text};
use super::{Entries, Printer, put};
use crate::ops::{Field, Piece, Signature, Value};
use crate::{Attribute, Op, Type};

impl<'m> Printer<'m> {
    /// The op as these pieces, if they can say it; else nothing is printed.
    pub(super) fn pieces(&mut self, op: &Op, name: &str, pieces: &[Piece], attributes: &Entries) -> bool {
        if !op.regions.is_empty() || !can_print(op, pieces, attributes) {
            return false;
        }
        let start = self.out.len();
        self.out.push_str(name);
        let mut said = Vec::new();
        let done = pieces.iter().all(|piece| self.piece(op, piece, attributes, &mut said));
        if !done {
            self.out.truncate(start);
        }
        done
    }

    fn piece<'p>(&mut self, op: &Op, piece: &'p Piece, attributes: &Entries, said: &mut Vec<&'p str>) -> bool {
        let mut get = |name: &'p str| {
            said.push(name);
            attributes.iter().find(|(each, _)| *each == name).map(|(_, value)| value)
        };
        let text = match *piece {
            Piece::Text(text) => {
                for token in text.split(' ') {
                    let joined = matches!(token, "," | "(" | ")" | "[" | "]");
                    put!(self, "{}{token}", if joined { "" } else { " " });
                }
                return true;
            }
            Piece::Operands => {
                if !op.operands.is_empty() {
                    self.space();
                    self.values(&op.operands);
                }
                return true;
            }
            Piece::Arguments => {
                self.out.push('(');
                self.values(&op.operands);
                self.out.push(')');
                return true;
            }
            Piece::Optional(name, pieces) => {
                if !has(attributes, name) {
                    // What is left out must have nothing to say.
                    return !pieces.iter().flat_map(names).any(|name| has(attributes, name));
                }
                return pieces.iter().all(|piece| self.piece(op, piece, attributes, said));
            }
            // Only ops that the IR does not have are written with these.
            Piece::Quoted(_) => return false,
            Piece::Sharding(name) => match get(name) {
                Some(Value::Attribute(Attribute::Sharding(sharding))) => Some(sharding.to_string()),
                _ => None,
            },
            Piece::Attributes => {
                self.other_attributes(attributes, said);
                return true;
            }
            Piece::Types(signature) => {
                self.out.push_str(" : ");
                self.signature(op, signature);
                return true;
            }
            Piece::Ints(name) => ints(get(name)).map(|values| format!("[{}]", join(values))),
            Piece::Int(name) => match get(name) {
                Some(Value::Attribute(Attribute::Integer(value, _))) => Some(value.to_string()),
                _ => None,
            },
            Piece::Bool(name) => match get(name) {
                Some(Value::Attribute(Attribute::Bool(value))) => Some(value.to_string()),
                _ => None,
            },
            Piece::Enum(name, _) => match get(name) {
                Some(Value::Enum(_, word)) => Some((*word).into()),
                _ => None,
            },
            Piece::Enums(name, _) => match get(name) {
                Some(Value::Enums(_, words)) => Some(format!("[{}]", join(words))),
                _ => None,
            },
            Piece::DotDims(lhs, rhs) => match get("dot_dimension_numbers") {
                Some(Value::Struct(_, fields)) => {
                    let dims = |name| match fields.iter().find(|(field, _)| *field == name) {
                        Some((_, Field::Ints(dims))) => join(dims),
                        _ => String::new(),
                    };
                    Some(format!("[{}] x [{}]", dims(lhs), dims(rhs)))
                }
                _ => None,
            },
            Piece::DotAlgorithm => match get("algorithm") {
                Some(Value::Struct(_, fields)) => Some(format!("<{}>", fields_text(fields))),
                _ => None,
            },
            Piece::ConvolutionDims => match get("dimension_numbers") {
                Some(Value::Struct(_, fields)) => convolution_labels(fields),
                _ => None,
            },
            Piece::ConvolutionWindow => {
                let names = ["window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"];
                match names.map(&mut get) {
                    [stride, Some(Value::Pairs(pad)), lhs, rhs, Some(Value::Bools(reverse))] => {
                        let list = |value| ints(value).map(|values| join(values)).unwrap_or_default();
                        Some(format!(
                            "{{stride = [{}], pad = [{}], lhs_dilate = [{}], rhs_dilate = [{}], reverse = [{}]}}",
                            list(stride),
                            pairs_text(pad),
                            list(lhs),
                            list(rhs),
                            join(reverse)
                        ))
                    }
                    _ => None,
                }
            }
            Piece::SliceRanges => match ["start_indices", "limit_indices", "strides"].map(|name| ints(get(name))) {
                [Some(start), Some(limit), Some(strides)] => slice_ranges(start, limit, strides),
                _ => None,
            },
            Piece::ExponentMantissa => match ["exponent_bits", "mantissa_bits"].map(&mut get) {
                [
                    Some(Value::Attribute(Attribute::Integer(exponent, _))),
                    Some(Value::Attribute(Attribute::Integer(mantissa, _))),
                ] => Some(format!("e{exponent}m{mantissa}")),
                _ => None,
            },
        };
        if let Some(text) = &text {
            self.space();
            self.out.push_str(text);
        }
        text.is_some()
    }

    /// A space, but not after an opening bracket.
    fn space(&mut self) {
        if !self.out.ends_with(['(', '[']) {
            self.out.push(' ');
        }
    }

    fn signature(&mut self, op: &Op, signature: Signature) {
        let inputs = self.operand_types(op);
        let results: Vec<&Type> = op.results.iter().map(|&result| self.func.ty(result)).collect();
        match (signature, inputs.as_slice(), results.as_slice()) {
            (Signature::Same, inputs, [result]) if inputs.iter().all(|input| input.is_identical(result)) => {
                put!(self, "{result}");
            }
            (Signature::Select, [predicate, on_true, on_false], [result])
                if on_true.is_identical(result) && on_false.is_identical(result) =>
            {
                put!(self, "{predicate}, {result}");
            }
            (Signature::Complex, inputs, [result @ Type::Tensor(ty)])
                if ty.element.is_complex() && {
                    let part = Type::Tensor(ty.with_element(ty.element.real()));
                    inputs.iter().all(|input| input.is_identical(&part))
                } =>
            {
                put!(self, "{result}");
            }
            (Signature::Tuple, inputs, [result @ Type::Tuple(parts)])
                if Type::are_identical(inputs.iter().copied(), parts) =>
            {
                put!(self, "{result}");
            }
            (Signature::Pairwise, inputs, results)
                if Type::are_identical(inputs.iter().copied(), results.iter().copied()) =>
            {
                self.types(&op.operands);
            }
            (Signature::Arrow, [_, ..], _) => {
                self.types(&op.operands);
                self.out.push_str(" -> ");
                self.result_types(&op.results);
            }
            _ => self.function_type(op),
        }
    }
}

/// Whether an attribute, or a field of one, is there.
fn has(attributes: &Entries, name: &str) -> bool {
    attributes.iter().any(|(each, value)| match value {
        _ if *each == name => true,
        Value::Struct(_, fields) => fields.iter().any(|(field, _)| *field == name),
        _ => false,
    })
}

/// The attributes, or fields of one, that a piece inside of an optional part says.
fn names(piece: &Piece) -> impl Iterator<Item = &'static str> + use<> {
    let names = match *piece {
        Piece::Int(name) | Piece::Bool(name) | Piece::Enum(name, _) | Piece::Enums(name, _) => [Some(name), None],
        Piece::DotDims(lhs, rhs) => [Some(lhs), Some(rhs)],
        Piece::DotAlgorithm => [Some("algorithm"), None],
        _ => [None, None],
    };
    names.into_iter().flatten()
}

/// Whether pieces can say the op: without operands, no comma may follow them.
fn can_print(op: &Op, pieces: &[Piece], attributes: &Entries) -> bool {
    let after_operands = pieces.iter().skip_while(|piece| !matches!(piece, Piece::Operands)).nth(1);
    let comma = match after_operands {
        Some(Piece::Text(_) | Piece::SliceRanges | Piece::Types(Signature::Pairwise)) => true,
        Some(Piece::Optional(name, _)) => has(attributes, name),
        _ => false,
    };
    let pairwise = pieces.iter().any(|piece| matches!(piece, Piece::Types(Signature::Pairwise)));
    !op.operands.is_empty() || !(comma || pairwise)
}

fn ints<'v>(value: Option<&'v Value>) -> Option<&'v Vec<i64>> {
    match value {
        Some(Value::Ints(values)) => Some(values),
        _ => None,
    }
}

/// `[0:4:2, 1:3]`, if there are as many starts as limits and strides.
fn slice_ranges(start: &[i64], limit: &[i64], strides: &[i64]) -> Option<String> {
    if start.len() != limit.len() || start.len() != strides.len() {
        return None;
    }
    let ranges = start.iter().zip(limit).zip(strides).map(|((start, limit), stride)| match stride {
        1 => format!("{start}:{limit}"),
        _ => format!("{start}:{limit}:{stride}"),
    });
    Some(format!("[{}]", ranges.collect::<Vec<_>>().join(", ")))
}
