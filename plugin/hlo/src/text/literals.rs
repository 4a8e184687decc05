//! Constant tensors: `dense<...>` and `array<...>`.

use super::cursor::list;
use super::lexer::{self, Kind};
use super::{Error, Parser};
use crate::{ElementType, Literal, TensorType};

/// A number as it is written.
#[derive(Clone, Copy)]
pub(super) struct Number<'a> {
    /// Where it starts.
    pub(super) at: usize,
    negative: bool,
    kind: Kind,
    /// Digits, or `true` or `false`.
    text: &'a str,
}

impl Number<'_> {
    /// Whether it has a decimal point.
    pub(super) fn is_decimal_float(self) -> bool {
        self.kind == Kind::Float
    }

    /// The bits of the element of type `element` that it stands for, sign-extended to 64 if that is signed; otherwise
    /// why it stands for none.
    pub(super) fn bits(self, element: ElementType) -> Result<u64, String> {
        let mismatch = || Err(format!("`{}` is not a number of type {element}", self.text));
        match self.kind {
            Kind::Word if element == ElementType::Pred => Ok(u64::from(self.text == "true")),
            Kind::Float if element.is_float() => {
                let value: f64 = self.text.parse().map_err(|_| format!("`{}` is not a number", self.text))?;
                Ok(element.encode(if self.negative { -value } else { value }))
            }
            Kind::Integer => {
                let too_large = || format!("{} does not fit type {element}", self.text);
                let hex = self.text.strip_prefix("0x");
                let magnitude = match hex {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => self.text.parse(),
                }
                .map_err(|_| too_large())?;
                let bits = element.bits() as u32;
                let max = u64::MAX >> (64 - bits.min(64));
                if element.is_float() && hex.is_some() && !self.negative {
                    return if magnitude <= max { Ok(magnitude) } else { Err(too_large()) };
                }
                if !(element.is_integer() || element == ElementType::Pred) {
                    return Err(format!("a number of type {element} needs a decimal point, got `{}`", self.text));
                }
                let limit = match (self.negative, element.is_signed()) {
                    (true, true) => 1 << (bits - 1),
                    (true, false) => 0,
                    (false, _) => max,
                };
                if magnitude > limit {
                    return Err(too_large());
                }
                let value = if self.negative { magnitude.wrapping_neg() } else { magnitude };
                Ok(if element.is_signed() { sign_extend(value, bits) } else { value })
            }
            _ => mismatch(),
        }
    }
}

/// The lower `bits` bits, sign-extended.
pub(super) fn sign_extend(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits;
    ((value << shift) as i64 >> shift) as u64
}

/// Appends an element whose bits are given.
pub(super) fn push_element(data: &mut Vec<u8>, element: ElementType, bits: u64) {
    data.extend_from_slice(&bits.to_le_bytes()[..element.byte_width()]);
}

impl<'a> Parser<'a> {
    /// Takes a number with its sign, or `true` or `false`.
    pub(super) fn number(&mut self) -> Result<Number<'a>, Error> {
        let at = self.tokens.start();
        let negative = self.tokens.eat("-")?;
        let kind = self.tokens.kind();
        let boolean = !negative && (self.tokens.is("true") || self.tokens.is("false"));
        if boolean || matches!(kind, Kind::Integer | Kind::Float) {
            Ok(Number { at, negative, kind, text: self.tokens.bump()? })
        } else {
            Err(self.tokens.expected("a number"))
        }
    }

    /// Takes a number of type `element` and appends it.
    fn element(&mut self, element: ElementType, data: &mut Vec<u8>) -> Result<(), Error> {
        if element.is_complex() {
            self.tokens.expect("(")?;
            self.element(element.real(), data)?;
            self.tokens.expect(",")?;
            self.element(element.real(), data)?;
            return self.tokens.expect(")");
        }
        let number = self.number()?;
        let bits = number.bits(element).map_err(|message| self.tokens.error_at(number.at, message))?;
        push_element(data, element, bits);
        Ok(())
    }

    /// Takes `dense<...> : tensor<...>`. The type is read first: it says how to read the elements.
    pub(super) fn dense(&mut self) -> Result<Literal, Error> {
        self.tokens.expect("dense")?;
        let open = self.tokens.start();
        if !self.tokens.is("<") {
            return Err(self.tokens.expected("`<`"));
        }
        self.tokens.skip_brackets()?;
        self.tokens.expect(":")?;
        let type_at = self.tokens.start();
        if self.tokens.is("vector") {
            return Err(Error::unsupported("vector types are not supported").at(self.tokens.position(type_at)));
        }
        let ty = match self.ty()? {
            crate::Type::Tensor(ty) => ty,
            other => return Err(self.tokens.error_at(type_at, format!("a constant must be a tensor, got {other}"))),
        };
        let end = self.tokens.start();
        self.tokens.seek(open)?;
        self.tokens.expect("<")?;
        let literal = self.dense_elements(ty)?;
        self.tokens.expect(">")?;
        self.tokens.seek(end)?;
        Ok(literal)
    }

    /// Takes what is in the brackets of `dense<...>`.
    fn dense_elements(&mut self, ty: TensorType) -> Result<Literal, Error> {
        let at = self.tokens.start();
        if self.tokens.kind() == Kind::String {
            let hex = self.tokens.bump()?;
            return raw(hex, ty).map_err(|message| self.tokens.error_at(at, message));
        }
        if self.tokens.is(">") {
            return match ty.count() {
                0 => Ok(Literal::dense(ty, [])),
                count => Err(self.tokens.error(format!("expected {count} elements for {ty}, got none"))),
            };
        }
        let mut data = Vec::new();
        if !self.tokens.is("[") {
            self.element(ty.element, &mut data)?;
            return Ok(Literal::splat(ty, data));
        }
        self.nested_elements(&ty, 0, &mut data)?;
        Ok(from_elements(ty, data))
    }

    /// Takes the lists of dimension `level` and those within it.
    fn nested_elements(&mut self, ty: &TensorType, level: usize, data: &mut Vec<u8>) -> Result<(), Error> {
        let Some(&dim) = ty.dims.get(level) else {
            return self.element(ty.element, data);
        };
        let at = self.tokens.start();
        self.tokens.enter()?;
        let count = list(self, "[", "]", |parser| parser.nested_elements(ty, level + 1, data))?.len();
        self.tokens.leave();
        if count != dim {
            let message = format!("expected {dim} elements along dimension {level} of {ty}, got {count}");
            return Err(self.tokens.error_at(at, message));
        }
        Ok(())
    }

    /// Takes `array<i64: 1, 2>`.
    pub(super) fn dense_array(&mut self) -> Result<Literal, Error> {
        self.tokens.expect("array")?;
        self.tokens.expect("<")?;
        let element = self.element_type()?;
        let mut data = Vec::new();
        let count = if self.tokens.eat(":")? {
            let mut count = 1;
            self.element(element, &mut data)?;
            while self.tokens.eat(",")? {
                self.element(element, &mut data)?;
                count += 1;
            }
            count
        } else {
            0
        };
        self.tokens.expect(">")?;
        Ok(Literal::dense(TensorType::new(element, [count]), data))
    }
}

/// The tensor with these elements; a splat if they are all the same, as in MLIR.
fn from_elements(ty: TensorType, data: Vec<u8>) -> Literal {
    let mut elements = data.chunks_exact(ty.element.byte_width());
    match elements.next() {
        Some(first) if elements.all(|element| element == first) => Literal::splat(ty, first),
        _ => Literal::dense(ty, data),
    }
}

/// The tensor whose elements are the bytes of `hex`, which is `"0x..."` with its quotes: all of them, or one of a
/// splat. Booleans are a byte each or, in older texts, eight to a byte.
fn raw(hex: &str, ty: TensorType) -> Result<Literal, String> {
    let digits = hex.strip_prefix("\"0x").and_then(|hex| hex.strip_suffix('"'));
    let digits = digits.ok_or("a string of elements is not supported, except as \"0x...\"")?.as_bytes();
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err("elements in hexadecimal must be whole bytes, got half a byte at the end".into());
    }
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| Some(lexer::hex_digit(pair[0])? << 4 | lexer::hex_digit(pair[1])?)).collect();
    let mut bytes = bytes.ok_or("a character in the elements is not a hexadecimal digit")?;
    let (count, width) = (ty.count(), ty.element.byte_width());
    if ty.element == ElementType::Pred {
        if bytes.len() == count.div_ceil(8) && count != 1 && bytes.len() != count {
            bytes = (0..count).map(|index| bytes[index / 8] >> (index % 8) & 1).collect();
        }
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    } else if ty.element.bits() < 8 {
        let bits = ty.element.bits() as u32;
        let signed = ty.element.is_signed();
        for byte in &mut bytes {
            let low = u64::from(*byte) & (0xff >> (8 - bits));
            *byte = if signed { sign_extend(low, bits) } else { low } as u8;
        }
    }
    match bytes.len() {
        length if length == count * width => Ok(from_elements(ty, bytes)),
        length if length == width => Ok(Literal::splat(ty, bytes)),
        length => Err(format!("expected {} bytes of elements for {ty}, got {length}", count * width)),
    }
}
