//! Constant tensors.

use std::fmt::Write;

use crate::{ElementType, Literal};

/// With more elements than this, a constant is printed as hexadecimal bytes.
const MAX_LISTED: usize = 100;
/// With more dimensions too.
const MAX_NESTED: usize = 32;

/// `dense<...> : tensor<...>`; elements that are all the same are written once, as in MLIR.
pub(super) fn dense(literal: &Literal) -> String {
    let ty = literal.ty();
    let elements = if literal.is_uniform() {
        element_text(ty.element, literal.element(0))
    } else if ty.count() == 0 {
        String::new()
    } else if (ty.count() > MAX_LISTED && ty.element != ElementType::Pred) || ty.rank() > MAX_NESTED {
        hex(literal)
    } else {
        let mut text = String::new();
        nested(literal, 0, 0, ty.count(), &mut text);
        text
    };
    format!("dense<{elements}> : {ty}")
}

/// `array<i64: 1, 2>`.
pub(super) fn dense_array(literal: &Literal) -> String {
    let element = literal.ty().element;
    let elements: Vec<String> =
        (0..literal.ty().count()).map(|index| element_text(element, literal.element(index))).collect();
    let colon = if elements.is_empty() { "" } else { ": " };
    format!("array<{element}{colon}{}>", elements.join(", "))
}

/// The elements from `first`, `count` of them, which lie along dimension `level` and those within it.
fn nested(literal: &Literal, level: usize, first: usize, count: usize, text: &mut String) {
    let Some(&dim) = literal.ty().dims.get(level) else {
        text.push_str(&element_text(literal.ty().element, literal.element(first)));
        return;
    };
    let inner = count / dim;
    text.push('[');
    for index in 0..dim {
        if index > 0 {
            text.push_str(", ");
        }
        nested(literal, level + 1, first + index * inner, inner, text);
    }
    text.push(']');
}

/// All bytes as `"0x..."`.
fn hex(literal: &Literal) -> String {
    let bits = literal.ty().element.bits();
    let mask = if bits < 8 { 0xff >> (8 - bits) } else { 0xff };
    let mut text = String::with_capacity(2 * literal.data().len() + 4);
    text.push_str("\"0x");
    for byte in literal.data().iter() {
        let _ = write!(text, "{:02X}", byte & mask);
    }
    text.push('"');
    text
}

/// An element as a number that reads back to the same bits.
fn element_text(element: ElementType, bytes: &[u8]) -> String {
    if element.is_complex() {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        return format!("({}, {})", element_text(element.real(), re), element_text(element.real(), im));
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    match element {
        ElementType::Pred => String::from(if bits != 0 { "true" } else { "false" }),
        _ if element.is_float() => float_text(element, bits),
        _ if element.is_signed() => {
            let shift = 64 - 8 * bytes.len();
            ((bits << shift) as i64 >> shift).to_string()
        }
        _ => bits.to_string(),
    }
}

/// The shortest decimal number that reads back to the same bits; hexadecimal if there is none.
pub(super) fn float_text(element: ElementType, bits: u64) -> String {
    let value = element.decode(bits);
    if value.is_finite() {
        let text = if element == ElementType::F64 { format!("{value:?}") } else { format!("{:?}", value as f32) };
        // MLIR's numbers have a point.
        let text = match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
            _ => text,
        };
        if text.parse().is_ok_and(|value| element.encode(value) == bits) {
            return text;
        }
    }
    format!("0x{bits:0width$X}", width = element.byte_width() * 2)
}
