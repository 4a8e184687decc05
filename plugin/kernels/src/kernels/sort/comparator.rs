//! Comparators that order by keys.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Func, OpKind, Region, UnaryOp, ValueId};

/// The part of an element that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of a real element.
    Whole,
    Real,
    Imag,
}

/// A key that orders elements which earlier keys leave equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) operand: usize,
    pub(super) part: Part,
    pub(super) descending: bool,
    /// Whether zeros are equal, and NaNs, which come last. A comparison of floats as numbers counts as canonical,
    /// because it does not order NaN.
    pub(super) canonical: bool,
}

/// The keys of a comparator: one comparison, or several in turn, as in JAX's sort by several keys, `a0 < b0 or (a0 ==
/// b0 and (a1 < b1 or ...))`. `None` for any other.
pub(super) fn keys(func: &Func, region: &Region) -> Option<Vec<Key>> {
    let &[result] = &region.results[..] else { return None };
    Reader { func, region }.keys(result)
}

struct Reader<'a> {
    func: &'a Func,
    region: &'a Region,
}

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Side {
    operand: usize,
    /// Whether it belongs to the second element.
    second: bool,
    part: Part,
    canonical: bool,
}

impl Reader<'_> {
    /// The op that defines `value`, and its operands.
    fn op(&self, value: ValueId) -> Option<(&OpKind, &[ValueId])> {
        let op = self.region.ops.iter().find(|op| op.results.contains(&value))?;
        Some((&op.kind, &op.operands))
    }

    fn keys(&self, value: ValueId) -> Option<Vec<Key>> {
        match self.op(value)? {
            (OpKind::Compare(direction, _), _) => {
                use ComparisonDirection::{Gt, Lt};
                let (key, swapped) = self.comparison(value)?;
                let descending = match direction {
                    Lt => swapped,
                    Gt => !swapped,
                    _ => return None,
                };
                Some(vec![Key { descending, ..key }])
            }
            (OpKind::Binary(BinaryOp::Or), &[a, b]) => self.lexicographic(a, b).or_else(|| self.lexicographic(b, a)),
            _ => None,
        }
    }

    /// `first or (equal and rest)`.
    fn lexicographic(&self, first: ValueId, second: ValueId) -> Option<Vec<Key>> {
        let &[first] = &self.keys(first)?[..] else { return None };
        let (OpKind::Binary(BinaryOp::And), &[a, b]) = self.op(second)? else { return None };
        for (equal, rest) in [(a, b), (b, a)] {
            let Some((OpKind::Compare(ComparisonDirection::Eq, _), _)) = self.op(equal) else { continue };
            let Some((same, _)) = self.comparison(equal) else { continue };
            if (Key { descending: first.descending, ..same }) == first {
                let rest = self.keys(rest)?;
                return Some([&[first], &rest[..]].concat());
            }
        }
        None
    }

    /// The key of a comparison, and whether the second element is on the left.
    fn comparison(&self, value: ValueId) -> Option<(Key, bool)> {
        let (OpKind::Compare(_, order), &[a, b]) = self.op(value)? else { return None };
        let (left, right) = (self.side(a)?, self.side(b)?);
        if left.second == right.second || (Side { second: left.second, ..right }) != left {
            return None;
        }
        let is_float = self.func.ty(a).tensor()?.element.is_float();
        let canonical = is_float && (left.canonical || *order != ComparisonType::TotalOrder);
        Some((Key { operand: left.operand, part: left.part, descending: false, canonical }, left.second))
    }

    fn side(&self, value: ValueId) -> Option<Side> {
        let plain = |value| self.plain(value);
        plain(value).or_else(|| {
            // NaNs made equal, then zeros, or in the other order.
            let inner = self.replaced(value, Self::is_nan_test).and_then(|x| self.replaced(x, Self::is_zero_test));
            let inner = inner
                .or_else(|| self.replaced(value, Self::is_zero_test).and_then(|x| self.replaced(x, Self::is_nan_test)));
            plain(inner?).map(|side| Side { canonical: true, ..side })
        })
    }

    /// A parameter, or a part of one.
    fn plain(&self, value: ValueId) -> Option<Side> {
        if let Some(param) = self.region.params.iter().position(|&param| param == value) {
            return Some(Side { operand: param / 2, second: param % 2 == 1, part: Part::Whole, canonical: false });
        }
        let (part, operands) = match self.op(value)? {
            (OpKind::Unary(UnaryOp::Real), operands) => (Part::Real, operands),
            (OpKind::Unary(UnaryOp::Imag), operands) => (Part::Imag, operands),
            _ => return None,
        };
        let complex = self.func.ty(operands[0]).tensor()?.element.is_complex();
        self.plain(operands[0]).filter(|side| complex && side.part == Part::Whole).map(|side| Side { part, ..side })
    }

    /// The value of `select(test(x), constant, value)`; the test is of that value or of its operand.
    fn replaced(&self, value: ValueId, test: fn(&Self, ValueId, ValueId) -> Option<ValueId>) -> Option<ValueId> {
        let (OpKind::Select, &[predicate, constant, rest]) = self.op(value)? else { return None };
        let tested = test(self, predicate, constant)?;
        let below = || match self.op(rest) {
            Some((OpKind::Select, operands)) => operands.get(2).copied(),
            _ => None,
        };
        (tested == rest || below() == Some(tested) || self.same_part(tested, rest)).then_some(rest)
    }

    /// Whether both values are the same part of the same parameter.
    fn same_part(&self, a: ValueId, b: ValueId) -> bool {
        self.plain(a).is_some_and(|side| self.plain(b) == Some(side))
    }

    /// `x != x`, replaced with a NaN: `x`.
    fn is_nan_test(&self, predicate: ValueId, constant: ValueId) -> Option<ValueId> {
        let (OpKind::Compare(ComparisonDirection::Ne, _), &[a, b]) = self.op(predicate)? else { return None };
        (a == b && self.constant(constant)?.is_nan()).then_some(a)
    }

    /// `x == 0`, replaced with a zero: `x`.
    fn is_zero_test(&self, predicate: ValueId, constant: ValueId) -> Option<ValueId> {
        let (OpKind::Compare(ComparisonDirection::Eq, _), &[a, zero]) = self.op(predicate)? else { return None };
        (self.constant(zero)? == 0.0 && self.constant(constant)? == 0.0).then_some(a)
    }

    /// A constant float; in narrow types only zeros and NaNs are recognised.
    fn constant(&self, value: ValueId) -> Option<f64> {
        let (OpKind::Constant(literal), _) = self.op(value)? else { return None };
        let bytes = literal.element(0);
        Some(match literal.ty().element {
            ElementType::F32 => f32::from_le_bytes(bytes.try_into().ok()?).into(),
            ElementType::F64 => f64::from_le_bytes(bytes.try_into().ok()?),
            ElementType::F16 => half::f16::from_le_bytes(bytes.try_into().ok()?).into(),
            ElementType::BF16 => half::bf16::from_le_bytes(bytes.try_into().ok()?).into(),
            _ => return None,
        })
    }
}
