//! Elements of 64 bits: each takes a pair of lanes.

use crate::ir::{Binary, Builder, Compare, Extreme, Op, Round, Shift, Value};

/// Operations on pairs of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wide {
    /// The square root of a double.
    Sqrt,
    /// A double rounded to an integer, as a double.
    Round(Round),
    /// A shift by less than 64; none fills with the sign.
    Shift(Shift, u8),
    Binary(WideBinary),
    /// `a * b + c`, rounded once.
    Fused,
    Compare(Compare),
    /// `mask ? a : b`, of mask, a, b.
    Select,
    /// The first pair in every pair.
    Broadcast,
    Convert(Conversion),
    /// An operation on each lane of both.
    Words(Binary),
    /// `a * b + c` of each lane, rounded once.
    FusedWords,
    Shuffle(Shuffle),
}

/// Moves within a pair of lanes, as products of complex numbers need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shuffle {
    /// The lower lane in both.
    Low,
    /// The upper lane in both.
    High,
    /// Each lane in the place of the other.
    Swap,
}

/// Operations with two operands of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WideBinary {
    /// Sum of doubles.
    Add,
    /// Difference of doubles.
    Subtract,
    /// Product of doubles.
    Multiply,
    /// Quotient of doubles.
    Divide,
    /// `a < b ? a : b` of doubles.
    Smaller,
    /// `a > b ? a : b` of doubles.
    Larger,
    /// Sum of integers.
    AddBits,
    /// Difference of integers.
    SubtractBits,
    /// Product of the low halves, as unsigned integers.
    MultiplyLow,
    /// Bits that both have.
    And,
    /// Bits that one has.
    Or,
    /// Bits that differ.
    Xor,
    /// `a << b`; 0 for 64 and more.
    ShiftLeft,
    /// `a >> b` of unsigned integers; 0 for 64 and more.
    ShiftRight,
}

impl WideBinary {
    fn is_commutative(self) -> bool {
        use WideBinary::{Divide, Larger, ShiftLeft, ShiftRight, Smaller, Subtract, SubtractBits};
        !matches!(self, Subtract | Divide | Smaller | Larger | SubtractBits | ShiftLeft | ShiftRight)
    }
}

/// Conversions between elements of 32 and of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The low 32 bits.
    Low,
    /// A signed integer.
    SignExtend,
    /// An unsigned integer.
    ZeroExtend,
    /// A float as a double.
    ToDouble,
    /// The float nearest to a double.
    ToFloat,
    /// A signed integer of 32 bits as a double.
    IntegerToDouble,
}

impl Conversion {
    /// Whether the result has 64 bits.
    pub(crate) fn widens(self) -> bool {
        !matches!(self, Conversion::Low | Conversion::ToFloat)
    }
}

impl Wide {
    pub(crate) fn arity(self) -> usize {
        match self {
            Wide::Sqrt | Wide::Round(_) | Wide::Shift(..) | Wide::Broadcast | Wide::Convert(_) | Wide::Shuffle(_) => 1,
            Wide::Binary(_) | Wide::Compare(_) | Wide::Words(_) => 2,
            Wide::Fused | Wide::FusedWords | Wide::Select => 3,
        }
    }

    /// Whether the result has pairs of lanes.
    pub(crate) fn gives_pairs(self) -> bool {
        !matches!(self, Wide::Convert(conversion) if !conversion.widens())
    }
}

/// Construction of operations on elements of 64 bits. In blocks, [`Builder::set_lanes`] says how many elements they
/// compute: at most half of a vector's lanes. There, values of 64 bits are read and written as twice as many words.
#[derive(Debug, Clone, Copy)]
pub struct WideBuilder<'b>(&'b Builder);

impl Builder {
    /// Operations on elements of 64 bits.
    pub fn wide(&self) -> WideBuilder<'_> {
        WideBuilder(self)
    }
}

impl WideBuilder<'_> {
    fn push(self, op: Wide, [first, second, third]: [Option<Value>; 3]) -> Value {
        let first = first.expect("operations have operands");
        self.0.push(Op::Wide(op, [first, second.unwrap_or(first), third.unwrap_or(first)]))
    }

    /// A constant.
    pub fn constant(self, bits: u64) -> Value {
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        if low == high { self.0.constant(low) } else { self.0.push(Op::Pair(bits)) }
    }

    /// The bits of a constant; `None` for other values.
    pub fn known(self, value: Value) -> Option<u64> {
        match self.0.op(value) {
            Op::Constant(bits) => Some(u64::from(bits) << 32 | u64::from(bits)),
            Op::Pair(bits) => Some(bits),
            _ => None,
        }
    }

    /// The square root of a double.
    pub fn sqrt(self, a: Value) -> Value {
        self.push(Wide::Sqrt, [Some(a), None, None])
    }

    /// A double rounded to an integer.
    pub fn round(self, round: Round, a: Value) -> Value {
        self.push(Wide::Round(round), [Some(a), None, None])
    }

    /// A shift by less than 64 that does not fill with the sign.
    ///
    /// # Panics
    /// If `amount` is 64 or more, or the shift fills with the sign.
    pub fn shift(self, op: Shift, a: Value, amount: u8) -> Value {
        assert!(amount < 64, "a shift by a constant is by less than the width");
        assert!(op != Shift::RightArithmetic, "AVX2 shifts no element of 64 bits with its sign");
        if amount == 0 { a } else { self.push(Wide::Shift(op, amount), [Some(a), None, None]) }
    }

    /// An operation on two values.
    pub fn binary(self, op: WideBinary, a: Value, b: Value) -> Value {
        if let Some(rotation) = self.rotation(op, a, b) {
            return rotation;
        }
        // Constants come second, where they need no register.
        let [a, b] = if op.is_commutative() && self.known(a).is_some() { [b, a] } else { [a, b] };
        self.push(Wide::Binary(op), [Some(a), Some(b), None])
    }

    /// The rotation that joins two shifts of one value, which share no bits; `None` for other operands.
    fn rotation(self, op: WideBinary, a: Value, b: Value) -> Option<Value> {
        let (WideBinary::Or | WideBinary::Xor | WideBinary::AddBits) = op else { return None };
        let (Op::Wide(Wide::Shift(left, up), [x, ..]), Op::Wide(Wide::Shift(right, down), [y, ..])) =
            (self.0.op(a), self.0.op(b))
        else {
            return None;
        };
        let amount = Shift::rotation([(left, up), (right, down)], 64).filter(|_| x == y)?;
        Some(self.shift(Shift::Rotate, x, amount))
    }

    /// The bits that `a` does not have.
    pub fn not(self, a: Value) -> Value {
        self.binary(WideBinary::Xor, a, self.constant(u64::MAX))
    }

    /// `a * b + c`, rounded once.
    pub fn fused(self, a: Value, b: Value, c: Value) -> Value {
        let [a, b] = if self.known(a).is_some() { [b, a] } else { [a, b] };
        self.push(Wide::Fused, [Some(a), Some(b), Some(c)])
    }

    /// An operation on each lane of two values: a pair of floats is a complex number.
    ///
    /// # Panics
    /// If the operation is one of several instructions.
    pub fn words(self, op: Binary, a: Value, b: Value) -> Value {
        let is_one = !matches!(op, Binary::MultiplyHighSigned | Binary::MultiplyHighUnsigned);
        assert!(is_one, "products of pairs are those of doubles");
        self.push(Wide::Words(op), [Some(a), Some(b), None])
    }

    /// `a * b + c` of each lane, rounded once.
    pub fn fused_words(self, a: Value, b: Value, c: Value) -> Value {
        self.push(Wide::FusedWords, [Some(a), Some(b), Some(c)])
    }

    /// Moves within each pair of lanes.
    pub fn shuffle(self, shuffle: Shuffle, a: Value) -> Value {
        self.push(Wide::Shuffle(shuffle), [Some(a), None, None])
    }

    /// A comparison: a mask of 64 bits.
    pub fn compare(self, op: Compare, a: Value, b: Value) -> Value {
        self.push(Wide::Compare(op), [Some(a), Some(b), None])
    }

    /// `mask ? a : b`, by a mask of 64 bits.
    pub fn select(self, mask: Value, a: Value, b: Value) -> Value {
        if a == b {
            return a;
        }
        let is_zero = |value: Value| self.known(value).is_none_or(|bits| bits << 1 == 0);
        let extreme = match self.0.op(mask) {
            Op::Wide(Wide::Compare(op), [x, y, _]) => Extreme::of(op, [x, y], [a, b], is_zero(a) && is_zero(b)),
            _ => None,
        };
        match extreme {
            Some(Extreme::Smaller) => self.binary(WideBinary::Smaller, a, b),
            Some(Extreme::Larger) => self.binary(WideBinary::Larger, a, b),
            None => self.push(Wide::Select, [Some(mask), Some(a), Some(b)]),
        }
    }

    /// The first element in every place.
    pub fn broadcast(self, a: Value) -> Value {
        if self.known(a).is_some() { a } else { self.push(Wide::Broadcast, [Some(a), None, None]) }
    }

    /// A conversion from or to elements of 32 bits. Masks are integers: [`Conversion::Low`] narrows one, and
    /// [`Conversion::SignExtend`] widens it.
    pub fn convert(self, conversion: Conversion, a: Value) -> Value {
        // A mask that is narrowed only to be widened.
        if let (Conversion::SignExtend, Op::Wide(Wide::Convert(Conversion::Low), [mask, ..])) =
            (conversion, self.0.op(a))
            && let Op::Wide(Wide::Compare(_), _) = self.0.op(mask)
        {
            return mask;
        }
        self.push(Wide::Convert(conversion), [Some(a), None, None])
    }
}
