//! Packing: programs over narrow integers, with two or four elements in a lane.
//!
//! A packed program computes each value modulo 2^16 or 2^8. Sums, products, logic and shifts to the left need no more
//! of their operands. Comparisons, extremes and shifts to the right need operands whose range fits, with a sign or
//! without: ranges follow from the widths of arrays, constants, and the operations that extend narrow integers.

mod range;

use self::range::Range;
use crate::ir::{Binary, Builder, Compare, Op, Program, Shift, Value, Width};

/// The elements that share a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Packing {
    /// Four of 8 bits.
    Bytes,
    /// Two of 16 bits.
    Halves,
}

impl Packing {
    /// The number of bits of an element.
    pub(crate) fn bits(self) -> u32 {
        8 * self.width().bytes() as u32
    }

    /// The width of an element.
    pub(crate) fn width(self) -> Width {
        match self {
            Packing::Bytes => Width::Byte,
            Packing::Halves => Width::Half,
        }
    }

    /// The number of elements in a lane.
    pub(crate) fn elements(self) -> usize {
        Width::Word.bytes() / self.width().bytes()
    }

    /// The low bits of a number in each element of a lane.
    pub(crate) fn repeated(self, bits: u32) -> u32 {
        match self {
            Packing::Bytes => (bits & 0xff) * 0x0101_0101,
            Packing::Halves => (bits & 0xffff) * 0x0001_0001,
        }
    }

    /// What `f` makes of each element of lanes, of which it gets the bits without those above.
    pub(crate) fn map<const N: usize>(self, lanes: [u32; N], f: impl Fn([u32; N]) -> u32) -> u32 {
        let low = self.width().bits();
        let places = (0..self.elements() as u32).map(|index| index * self.bits());
        places.fold(0, |lane, place| lane | (f(lanes.map(|lane| lane >> place & low)) & low) << place)
    }

    /// An element as a signed number.
    pub(crate) fn signed(self, bits: u32) -> u32 {
        let above = u32::BITS - self.bits();
        ((bits << above).cast_signed() >> above).cast_unsigned()
    }
}

impl Program {
    /// The same program with as many elements in a lane as possible; `None` if only one fits.
    pub(crate) fn packed(&self) -> Option<Program> {
        if self.has_wide_arrays {
            return None;
        }
        let is_narrow = |packing: Packing| self.widths().all(|width| width.bits() <= packing.width().bits());
        let mut packings = [Packing::Bytes, Packing::Halves].into_iter().filter(|&packing| is_narrow(packing));
        let packed = packings.find_map(|packing| Packer::new(self, packing).program())?;
        // Callers give an address for each array.
        (packed.arrays() == self.arrays()).then_some(packed)
    }
}

/// A packed program under construction.
struct Packer<'a> {
    program: &'a Program,
    packing: Packing,
    builder: Builder,
    /// Each value of the program so far: where it is in the packed one, and its range there.
    values: Vec<(Value, Range)>,
}

impl<'a> Packer<'a> {
    fn new(program: &'a Program, packing: Packing) -> Packer<'a> {
        let builder = if program.sources.is_some() { Builder::listed() } else { Builder::new() };
        Packer { program, packing, builder, values: Vec::with_capacity(program.len()) }
    }

    fn program(mut self) -> Option<Program> {
        for (index, op) in self.program.ops.iter().enumerate() {
            if let Some(name) = self.program.sources.as_ref().and_then(|sources| sources.name(index)) {
                self.builder.enter(|| name.to_owned());
            }
            let value = self.value(op)?;
            self.values.push(value);
        }
        for store in &self.program.stores {
            self.builder.store(store.array, store.width, self.values[store.value.index()].0);
        }
        let mut program = self.builder.build();
        program.packing = Some(self.packing);
        Some(program)
    }

    /// A value of the packed program, with its range in this one; `None` if it does not fit.
    fn value(&self, op: &Op) -> Option<(Value, Range)> {
        let range = |value: Value| self.values[value.index()].1;
        let at = |value: Value| self.values[value.index()].0;
        Some(match *op {
            Op::Load { array, width } => (self.builder.load(array, width), Range::unsigned(8 * width.bytes() as u32)),
            Op::Splat { array, width: Width::Word } => {
                (self.builder.push(Op::Splat { array, width: self.packing.width() }), Range::ALL)
            }
            Op::Constant(bits) => (self.constant(bits), Range::of(bits)),
            Op::Shift(kind, [a], amount) => {
                if let Some(found) = self.extension(op) {
                    return Some(found);
                }
                (self.shift(kind, at(a), range(a), amount)?, range(a).shifted(kind, amount))
            }
            Op::Binary(kind, [a, b]) => {
                let ranges = [range(a), range(b)];
                (self.binary(kind, [at(a), at(b)], ranges)?, Range::binary(kind, ranges))
            }
            Op::Compare(kind, [a, b]) => (self.compare(kind, [at(a), at(b)], [range(a), range(b)])?, Range::MASK),
            Op::Select([mask, a, b]) if Range::MASK.contains(range(mask)) => {
                (self.builder.select(at(mask), at(a), at(b)), range(a).or(range(b)))
            }
            _ => return None,
        })
    }

    /// A constant in each element.
    fn constant(&self, bits: u32) -> Value {
        self.builder.constant(self.packing.repeated(bits))
    }

    /// A narrow integer that two shifts extend by its sign, all of which the packed value has.
    fn extension(&self, op: &Op) -> Option<(Value, Range)> {
        let &Op::Shift(Shift::RightArithmetic, [left], amount) = op else { return None };
        let Op::Shift(Shift::Left, [a], by) = self.program.ops[left.index()] else { return None };
        let (bits, (value, range)) = (u32::BITS - u32::from(amount), self.values[a.index()]);
        if by != amount {
            return None;
        }
        let result = Range::signed(bits);
        let value = match self.packing.bits().checked_sub(bits) {
            Some(above @ 1..) => {
                let up = self.shifted(Shift::Left, value, above, u32::MAX << above);
                self.shift(Shift::RightArithmetic, up, Range::signed(self.packing.bits()), above as u8)?
            }
            _ => value,
        };
        Some((value, if result.contains(range) { range } else { result }))
    }

    fn shift(&self, kind: Shift, a: Value, range: Range, amount: u8) -> Option<Value> {
        let bits = self.packing.bits();
        let amount = u32::from(amount);
        match kind {
            Shift::Left if amount >= bits => Some(self.constant(0)),
            Shift::Left => Some(self.shifted(kind, a, amount, u32::MAX << amount)),
            Shift::Right | Shift::RightArithmetic if Range::unsigned(bits).contains(range) => Some(match amount {
                _ if amount >= bits => self.constant(0),
                _ => self.shifted(Shift::Right, a, amount, self.packing.width().bits() >> amount),
            }),
            Shift::RightArithmetic if Range::signed(bits).contains(range) => {
                let amount = amount.min(bits - 1);
                if self.packing == Packing::Halves {
                    return Some(self.builder.push(Op::PackedShift(kind, [a], amount as u8)));
                }
                // The sign's new place: subtracting it extends the sign.
                let sign = self.constant(0x80 >> amount);
                let moved = self.shifted(Shift::Right, a, amount, 0xff >> amount);
                let turned = self.builder.binary(Binary::Xor, moved, sign);
                Some(self.builder.push(Op::PackedBinary(self.packing, Binary::SubtractBits, [turned, sign])))
            }
            _ => None,
        }
    }

    /// A shift that fills with zeros, after which elements have the bits of `kept`: instructions shift 16 bits, and
    /// move bits from one byte to the next.
    fn shifted(&self, kind: Shift, a: Value, amount: u32, kept: u32) -> Value {
        let moved = self.builder.push(Op::PackedShift(kind, [a], amount as u8));
        match self.packing {
            Packing::Halves => moved,
            Packing::Bytes => self.builder.binary(Binary::And, moved, self.constant(kept)),
        }
    }

    fn binary(&self, kind: Binary, args @ [a, b]: [Value; 2], ranges @ [of_a, of_b]: [Range; 2]) -> Option<Value> {
        let push = |kind: Binary, args: [Value; 2]| self.builder.push(Op::PackedBinary(self.packing, kind, args));
        Some(match kind {
            Binary::And if self.builder.known(b) == Some(u32::MAX) => a,
            Binary::And | Binary::AndNot | Binary::Or | Binary::Xor => self.builder.binary(kind, a, b),
            Binary::MultiplyBits if self.packing == Packing::Bytes => self.product_of_bytes(args),
            Binary::AddBits | Binary::SubtractBits | Binary::MultiplyBits => push(kind, args),
            Binary::MinSigned | Binary::MaxSigned => {
                let is_min = kind == Binary::MinSigned;
                match (of_a.is_below(of_b), of_b.is_below(of_a)) {
                    (true, _) => return Some(if is_min { a } else { b }),
                    (_, true) => return Some(if is_min { b } else { a }),
                    _ => {}
                }
                let unsigned = if is_min { Binary::MinUnsigned } else { Binary::MaxUnsigned };
                push(if self.sign(ranges)? { kind } else { unsigned }, args)
            }
            _ => return None,
        })
    }

    /// Whether both ranges fit an element with a sign; `None` if they fit neither with one nor without.
    fn sign(&self, ranges: [Range; 2]) -> Option<bool> {
        let fit = |all: Range| ranges.iter().all(|&range| all.contains(range));
        let bits = self.packing.bits();
        if fit(Range::signed(bits)) { Some(true) } else { fit(Range::unsigned(bits)).then_some(false) }
    }

    /// Products of bytes: those at even and those at odd places, as products of halves.
    fn product_of_bytes(&self, [a, b]: [Value; 2]) -> Value {
        const EVEN: u32 = 0x00ff_00ff;
        let product =
            |a: Value, b: Value| self.builder.push(Op::PackedBinary(Packing::Halves, Binary::MultiplyBits, [a, b]));
        let keep = |value: Value, mask: u32| match self.builder.known(value) {
            Some(bits) => self.builder.constant(bits & mask),
            None => self.builder.binary(Binary::And, value, self.builder.constant(mask)),
        };
        let even = keep(product(a, b), EVEN);
        let high = self.builder.push(Op::PackedShift(Shift::Right, [a], 8));
        let odd = product(high, keep(b, !EVEN));
        self.builder.binary(Binary::Or, even, odd)
    }

    fn compare(&self, kind: Compare, args: [Value; 2], ranges: [Range; 2]) -> Option<Value> {
        let is_signed = match kind {
            Compare::EqualBits | Compare::Greater => self.sign(ranges)?,
            Compare::Equal | Compare::NotEqual | Compare::Less | Compare::LessOrEqual => return None,
        };
        // Changing the top bits maps the order of unsigned numbers to that of signed ones.
        let top = 1 << (self.packing.bits() - 1);
        let turned = |value: Value| match self.builder.known(value) {
            Some(bits) => self.builder.constant(bits ^ self.packing.repeated(top)),
            None => self.builder.binary(Binary::Xor, value, self.constant(top)),
        };
        let args = if kind == Compare::Greater && !is_signed { args.map(turned) } else { args };
        Some(self.builder.push(Op::PackedCompare(self.packing, kind, args)))
    }
}
