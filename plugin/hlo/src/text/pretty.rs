//! The pretty forms of ops that [`Piece`]s describe.

use super::cursor::{Cursor, list};
use super::given::Given;
use super::lexer::Kind;
use super::{Error, Parser};
use crate::ops::{Field, Fields, Piece, Signature, Value};
use crate::{Attribute, ElementType, TensorType, Type};

/// The largest number of dimensions of a convolution.
const MAX_RANK: usize = 64;

impl<'a> Parser<'a> {
    /// Takes pieces.
    pub(super) fn pieces(&mut self, op: &mut Given<'a>, pieces: &[Piece]) -> Result<(), Error> {
        pieces.iter().try_for_each(|&piece| self.piece(op, piece))
    }

    fn piece(&mut self, op: &mut Given<'a>, piece: Piece) -> Result<(), Error> {
        let at = self.tokens.start();
        match piece {
            Piece::Text(text) => text.split(' ').try_for_each(|token| self.tokens.expect(token)),
            Piece::Operands => {
                op.operands =
                    if self.tokens.is("(") { list(self, "(", ")", Parser::operand)? } else { self.operands()? };
                Ok(())
            }
            Piece::Arguments => {
                op.operands = list(self, "(", ")", Parser::operand)?;
                Ok(())
            }
            Piece::Ints(name) => {
                op.set(name, Value::Ints(self.tokens.integers()?), at);
                Ok(())
            }
            Piece::Int(name) => {
                let value = self.tokens.integer()?;
                op.set(name, Value::Attribute(Attribute::Integer(value, ElementType::S64)), at);
                Ok(())
            }
            Piece::Bool(name) => {
                op.set(name, Value::Attribute(Attribute::Bool(self.tokens.boolean()?)), at);
                Ok(())
            }
            Piece::Quoted(name) => {
                op.set(name, Value::Attribute(Attribute::String(self.tokens.string()?)), at);
                Ok(())
            }
            Piece::Enum(name, kind) => {
                op.set(name, Value::Enum(kind, self.tokens.word()?), at);
                Ok(())
            }
            Piece::Enums(name, kind) => {
                let words = list(&mut self.tokens, "[", "]", Cursor::word)?;
                op.set(name, Value::Enums(kind, words), at);
                Ok(())
            }
            Piece::DotDims(lhs, rhs) => {
                let left = self.tokens.integers()?;
                self.tokens.expect("x")?;
                let right = self.tokens.integers()?;
                add_fields(op, [(lhs, Field::Ints(left)), (rhs, Field::Ints(right))], at);
                Ok(())
            }
            Piece::DotAlgorithm => {
                op.set("algorithm", Value::Struct("dot_algorithm", self.tokens.fields()?), at);
                Ok(())
            }
            Piece::ConvolutionDims => {
                op.set("dimension_numbers", Value::Struct("conv", self.tokens.convolution_dims()?), at);
                Ok(())
            }
            Piece::ConvolutionWindow => self.convolution_window(op),
            Piece::SliceRanges => self.slice_ranges(op),
            Piece::ExponentMantissa => self.exponent_mantissa(op),
            Piece::Optional(_, pieces) => {
                // If all of the text in front is there, so must be the rest.
                let [Piece::Text(text), rest @ ..] = pieces else { return self.pieces(op, pieces) };
                for token in text.split(' ') {
                    if !self.tokens.eat(token)? {
                        return self.tokens.seek(at);
                    }
                }
                self.pieces(op, rest)
            }
            Piece::Sharding(name) => {
                let sharding = Attribute::Sharding(self.tensor_sharding()?);
                op.set(name, Value::Attribute(sharding), at);
                Ok(())
            }
            Piece::Attributes => self.op_attributes(op),
            Piece::Types(signature) => {
                self.tokens.expect(":")?;
                self.signature(op, signature)
            }
        }
    }

    /// Takes the types of an op and checks its operands.
    pub(super) fn signature(&mut self, op: &mut Given<'a>, signature: Signature) -> Result<(), Error> {
        let at = self.tokens.start();
        if self.tokens.is("(") {
            let (inputs, results) = self.function_type()?;
            op.results = results;
            return self.check_operands(op, &inputs);
        }
        let mut types = vec![self.ty()?];
        while self.tokens.eat(",")? {
            types.push(self.ty()?);
        }
        if self.tokens.eat("->")? {
            op.results = self.types()?;
            return self.check_operands(op, &types);
        }
        let count = op.operands.len();
        let wrong = |expected: &str| Err(self.tokens.error_at(at, format!("expected {expected}")));
        let inputs = match (signature, types.as_slice()) {
            (Signature::Pairwise, _) => {
                op.results = types.clone();
                types
            }
            // MHLO writes functions that CHLO writes with an arrow like others.
            (Signature::Same | Signature::Arrow, [ty]) => {
                op.results = vec![ty.clone()];
                return self.check_uses(op, |_| ty);
            }
            (Signature::Select, [predicate, ty]) if count == 3 => {
                op.results = vec![ty.clone()];
                vec![predicate.clone(), ty.clone(), ty.clone()]
            }
            (Signature::Select, _) => return wrong("three operands and their types"),
            (Signature::Complex, [Type::Tensor(ty)]) if ty.element.is_complex() => {
                op.results = types.clone();
                let part = Type::Tensor(ty.with_element(ty.element.real()));
                return self.check_uses(op, |_| &part);
            }
            (Signature::Complex, _) => return wrong("a complex tensor type"),
            (Signature::Tuple, [Type::Tuple(parts)]) => {
                op.results = types.clone();
                parts.clone()
            }
            (Signature::Tuple, _) => return wrong("a tuple type"),
            (Signature::Full | Signature::Arrow | Signature::Same, _) => return wrong("types as `(...) -> ...`"),
        };
        self.check_operands(op, &inputs)
    }

    /// Takes `[0:4:2, 1:3]`.
    fn slice_ranges(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let at = self.tokens.start();
        let ranges = list(&mut self.tokens, "[", "]", |tokens: &mut Cursor| {
            let start = tokens.integer()?;
            tokens.expect(":")?;
            let limit = tokens.integer()?;
            Ok([start, limit, if tokens.eat(":")? { tokens.integer()? } else { 1 }])
        })?;
        for (index, name) in ["start_indices", "limit_indices", "strides"].into_iter().enumerate() {
            op.set(name, Value::Ints(ranges.iter().map(|range| range[index]).collect()), at);
        }
        Ok(())
    }

    /// Takes `e5m10`.
    fn exponent_mantissa(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let at = self.tokens.start();
        let word = self.tokens.word()?;
        let parts = word.strip_prefix('e').and_then(|rest| rest.split_once('m'));
        let bits = parts.and_then(|(exponent, mantissa)| Some([exponent.parse().ok()?, mantissa.parse().ok()?]));
        let Some(bits): Option<[i64; 2]> = bits else {
            return Err(self.tokens.error_at(at, format!("expected a format such as `e5m10`, but found `{word}`")));
        };
        for (name, bits) in ["exponent_bits", "mantissa_bits"].into_iter().zip(bits) {
            op.set(name, Value::Attribute(Attribute::Integer(bits, ElementType::S32)), at);
        }
        Ok(())
    }

    /// Takes `{stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]}`.
    fn convolution_window(&mut self, op: &mut Given<'a>) -> Result<(), Error> {
        let entries = list(&mut self.tokens, "{", "}", |tokens: &mut Cursor| {
            let at = tokens.start();
            let name = tokens.word()?;
            tokens.expect("=")?;
            let (name, value) = match name {
                "stride" => ("window_strides", Value::Ints(tokens.integers()?)),
                "pad" => ("padding", Value::Pairs(list(tokens, "[", "]", Cursor::pair)?)),
                "lhs_dilate" => ("lhs_dilation", Value::Ints(tokens.integers()?)),
                "rhs_dilate" => ("rhs_dilation", Value::Ints(tokens.integers()?)),
                "reverse" => ("window_reversal", Value::Bools(list(tokens, "[", "]", Cursor::flag)?)),
                _ => return Err(tokens.error_at(at, format!("a window has no `{name}`"))),
            };
            Ok((name, value, at))
        })?;
        for (name, value, at) in entries {
            op.set(name, value, at);
        }
        Ok(())
    }
}

/// Adds fields to the dimension numbers of a dot product.
fn add_fields<'a>(op: &mut Given<'a>, fields: impl IntoIterator<Item = (&'a str, Field<'a>)>, at: usize) {
    const NAME: &str = "dot_dimension_numbers";
    let existing = op.attributes.iter_mut().find(|entry| entry.name == NAME);
    match existing.map(|entry| &mut entry.value) {
        Some(Value::Struct(_, all)) => all.extend(fields),
        _ => op.set(NAME, Value::Struct("dot", fields.into_iter().collect()), at),
    }
}

impl<'a> Cursor<'a> {
    /// Takes `[1, 2]`, two integers.
    fn pair(&mut self) -> Result<[i64; 2], Error> {
        let at = self.start();
        <[i64; 2]>::try_from(self.integers()?).map_err(|_| self.error_at(at, "expected two integers in brackets"))
    }

    /// Takes a boolean, which some printers write as a number.
    fn flag(&mut self) -> Result<bool, Error> {
        if self.kind() == Kind::Integer { Ok(self.integer()? != 0) } else { self.boolean() }
    }

    /// Takes `<name = value, ...>`.
    pub(super) fn fields(&mut self) -> Result<Fields<'a>, Error> {
        list(self, "<", ">", Cursor::field)
    }

    /// Takes `name = value`.
    pub(super) fn field(&mut self) -> Result<(&'a str, Field<'a>), Error> {
        let name = self.word()?;
        self.expect("=")?;
        let value = if self.is("[") {
            Field::Ints(self.integers()?)
        } else if self.kind() == Kind::Word {
            Field::Word(self.bump()?)
        } else {
            Field::Int(self.integer()?)
        };
        Ok((name, value))
    }

    /// Takes `[b, 0, f]x[0, i, o]->[b, 0, f]`.
    pub(super) fn convolution_dims(&mut self) -> Result<Fields<'a>, Error> {
        let mut fields = Fields::new();
        self.labels(
            [("b", "input_batch_dimension"), ("f", "input_feature_dimension")],
            "input_spatial_dimensions",
            &mut fields,
        )?;
        self.expect("x")?;
        let kernel = [("i", "kernel_input_feature_dimension"), ("o", "kernel_output_feature_dimension")];
        self.labels(kernel, "kernel_spatial_dimensions", &mut fields)?;
        self.expect("->")?;
        let output = [("b", "output_batch_dimension"), ("f", "output_feature_dimension")];
        self.labels(output, "output_spatial_dimensions", &mut fields)?;
        Ok(fields)
    }

    /// Takes `[b, 0, 1, f]`: which dimension is which. Numbers are spatial dimensions.
    fn labels(
        &mut self,
        named: [(&str, &'static str); 2],
        spatial: &'static str,
        fields: &mut Fields<'a>,
    ) -> Result<(), Error> {
        let at = self.start();
        let labels = list(self, "[", "]", |tokens: &mut Cursor<'a>| match tokens.kind() {
            Kind::Integer | Kind::Word => tokens.bump(),
            _ => Err(tokens.expected("a dimension: a letter or a number")),
        })?;
        if labels.len() > MAX_RANK {
            return Err(self.error_at(at, format!("expected at most {MAX_RANK} dimensions, got {}", labels.len())));
        }
        for (label, field) in named {
            let index = labels.iter().position(|each| *each == label);
            let index = index.ok_or_else(|| self.error_at(at, format!("the dimension `{label}` is missing")))?;
            fields.push((field, Field::Int(index as i64)));
        }
        let count = labels.len() - named.len();
        let dims: Option<Vec<i64>> = (0..count)
            .map(|number| labels.iter().position(|label| label.parse() == Ok(number)).map(|index| index as i64))
            .collect();
        let dims = dims
            .ok_or_else(|| self.error_at(at, format!("expected spatial dimensions numbered from 0, {count} in all")))?;
        fields.push((spatial, Field::Ints(dims)));
        Ok(())
    }
}

/// The types of the parameters of a body that combines elements of `inputs`: scalars, those of the left and then those
/// of the right.
pub(super) fn scalar(ty: &Type) -> Option<Type> {
    ty.tensor().map(|tensor| Type::Tensor(TensorType::scalar(tensor.element)))
}
