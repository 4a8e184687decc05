//! Programs over lanes of 32 bits: operations in order, each of which reads the results of earlier ones.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::encode::Isa;
use crate::listing::Sources;
use crate::packed::Packing;
use crate::parts::Part;
use crate::region::{Callee, Place};
use crate::wide::Wide;

/// The result of an operation: 32 bits in each lane. Whether they are a float, an integer or a mask (all bits or none)
/// depends on the operations that read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value(pub(crate) u32);

impl Value {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The size of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits.
    Half,
    /// 16 bits, an IEEE half, whose lane has the float of 32 bits: one instruction converts and accesses memory.
    Float16,
    /// 32 bits.
    Word,
    /// 64 bits, which take a pair of lanes.
    Pair,
    /// 128 bits, of two parts of 64 bits that are values of their own: [`Builder::parts`].
    Quad,
}

impl Width {
    /// The number of bytes.
    pub fn bytes(self) -> usize {
        1 << self.log2()
    }

    pub(crate) fn log2(self) -> u8 {
        match self {
            Width::Byte => 0,
            Width::Half | Width::Float16 => 1,
            Width::Word => 2,
            Width::Pair => 3,
            Width::Quad => 4,
        }
    }

    /// The bits of a lane that an element has.
    pub fn bits(self) -> u32 {
        match self {
            Width::Byte => 0xff,
            Width::Half => 0xffff,
            Width::Float16 | Width::Word | Width::Pair | Width::Quad => u32::MAX,
        }
    }
}

/// The direction in which a float is rounded to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Round {
    /// To the nearest, halves to even.
    Even,
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// Towards zero.
    Truncate,
}

/// Operations with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// The square root of a float.
    Sqrt,
    /// A float rounded to an integer, as a float.
    Round(Round),
    /// The float nearest to a signed integer.
    ToFloat,
    /// A float truncated to a signed integer; the least integer if it does not fit, or of a NaN.
    ToInteger,
    /// The bits of the IEEE half nearest to a float.
    ToHalf,
    /// The float of an IEEE half, whose bits are the only ones in the lane.
    OfHalf,
    /// The float that the nearest IEEE half is.
    RoundToHalf,
}

/// Shifts by a constant less than the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shift {
    /// To the left.
    Left,
    /// To the right, filling with zeros.
    Right,
    /// To the right, filling with the sign.
    RightArithmetic,
    /// To the left, filling with the bits that leave.
    Rotate,
}

impl Shift {
    /// The left shift by which a rotation of `width` bits can be had of two shifts that fill with zeros.
    pub(crate) fn rotation([left, right]: [(Shift, u8); 2], width: u8) -> Option<u8> {
        match [left, right] {
            [(Shift::Left, up), (Shift::Right, down)] | [(Shift::Right, down), (Shift::Left, up)] => {
                (up + down == width).then_some(up)
            }
            _ => None,
        }
    }
}

/// Operations with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// Sum of floats.
    Add,
    /// Difference of floats.
    Subtract,
    /// Product of floats.
    Multiply,
    /// Quotient of floats.
    Divide,
    /// `a < b ? a : b` of floats.
    Smaller,
    /// `a > b ? a : b` of floats.
    Larger,
    /// Sum of integers.
    AddBits,
    /// Difference of integers.
    SubtractBits,
    /// The low 32 bits of a product of integers.
    MultiplyBits,
    /// The high 32 bits of a product of signed integers.
    MultiplyHighSigned,
    /// The high 32 bits of a product of unsigned integers.
    MultiplyHighUnsigned,
    /// Bits that both have.
    And,
    /// Bits of the second that the first does not have.
    AndNot,
    /// Bits that one has.
    Or,
    /// Bits that differ.
    Xor,
    /// `a << b`; 0 for 32 and more.
    ShiftLeft,
    /// `a >> b` of unsigned integers; 0 for 32 and more.
    ShiftRight,
    /// `a >> b` of signed integers; the sign for 32 and more.
    ShiftRightArithmetic,
    /// The smaller signed integer.
    MinSigned,
    /// The larger signed integer.
    MaxSigned,
    /// The smaller unsigned integer.
    MinUnsigned,
    /// The larger unsigned integer.
    MaxUnsigned,
}

impl Binary {
    pub(crate) fn is_commutative(self) -> bool {
        use Binary::{
            AndNot, Divide, Larger, ShiftLeft, ShiftRight, ShiftRightArithmetic, Smaller, Subtract, SubtractBits,
        };
        let is_shift = matches!(self, ShiftLeft | ShiftRight | ShiftRightArithmetic);
        !(is_shift || matches!(self, Subtract | Divide | Smaller | Larger | SubtractBits | AndNot))
    }
}

/// Comparisons, which give masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `a == b` of floats.
    Equal,
    /// `a != b` of floats: true if one is NaN.
    NotEqual,
    /// `a < b` of floats.
    Less,
    /// `a <= b` of floats.
    LessOrEqual,
    /// `a == b` of integers.
    EqualBits,
    /// `a > b` of signed integers.
    Greater,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Successive elements of an array, filled with zeros above.
    Load {
        array: u16,
        width: Width,
    },
    /// The first element of an array in every place.
    Splat {
        array: u16,
        width: Width,
    },
    /// One part of successive elements of 128 bits of an array, filled with zeros above.
    LoadPart {
        array: u16,
        part: Part,
    },
    /// One part of the first element of 128 bits of an array in every place.
    SplatPart {
        array: u16,
        part: Part,
    },
    /// Elements of 128 bits of their parts, which only stores and [`Builder::parts`] read.
    Join([Value; 2]),
    /// The words of an array at indices from its first element, which are all inside.
    Pick(u16, [Value; 1]),
    /// A constant in every lane.
    Constant(u32),
    /// A constant in every pair of lanes.
    Pair(u64),
    Unary(Unary, [Value; 1]),
    Shift(Shift, [Value; 1], u8),
    Binary(Binary, [Value; 2]),
    /// `a * b + c`, rounded once.
    Fused([Value; 3]),
    Compare(Compare, [Value; 2]),
    /// `mask ? a : b`, of mask, a, b.
    Select([Value; 3]),
    /// A shift of each half of lanes, by less than 16.
    PackedShift(Shift, [Value; 1], u8),
    /// An operation on elements that share lanes: sums, differences, products and extremes of integers.
    PackedBinary(Packing, Binary, [Value; 2]),
    /// A comparison of integers that share lanes: a mask in each of them.
    PackedCompare(Packing, Compare, [Value; 2]),
    /// An operation on pairs of lanes. Arguments beyond its arity repeat the first.
    Wide(Wide, [Value; 3]),
    /// The first lane in every lane.
    Broadcast([Value; 1]),
    /// One of the first four lanes, as the first.
    Extract([Value; 1], u8),
    /// The first value, with one of its first four lanes replaced by the first lane of the second.
    Insert([Value; 2], u8),
    /// Elements at a place, filled with zeros above, after so many writes to its slot.
    Read(Place, u32),
    /// The same, so many bytes farther as the value's first lane says.
    ReadAt(Place, [Value; 1], u32),
    /// The words of a slot's array at indices from its first element, which are all inside, after so many writes to it.
    PickAt(u16, [Value; 1], u32),
    /// Writes the low bits of a value. No operation reads the result of this and those that follow.
    Write(Place, [Value; 1]),
    /// Writes the low bits of the first value, so many bytes farther as the second one's first lane says.
    WriteAt(Place, [Value; 2]),
    /// Each slot of a list takes the address of the next, and the last takes that of the first.
    Rotate(u32),
    /// Passes the first lane to the end of the block.
    Decide([Value; 1]),
    /// The result of a function in Rust on these vectors.
    Call(u32, [Value; 3]),
    /// The third value; where a lane of the fourth has all bits, the result of a function in Rust on the first two.
    Guarded(u32, [Value; 4]),
    /// Calls a function in Rust with the table of slots.
    Invoke(u32),
}

impl Op {
    pub(crate) fn args(&self) -> &[Value] {
        match self {
            Op::Load { .. } | Op::Splat { .. } | Op::Constant(_) | Op::Pair(_) => &[],
            Op::LoadPart { .. } | Op::SplatPart { .. } => &[],
            Op::Wide(wide, args) => &args[..wide.arity()],
            Op::Read(..) | Op::Rotate(_) | Op::Invoke(_) => &[],
            Op::Call(_, args) => args,
            Op::Guarded(_, args) => args,
            Op::Unary(_, args) | Op::Shift(_, args, _) | Op::Broadcast(args) | Op::Extract(args, _) => args,
            Op::PackedShift(_, args, _) => args,
            Op::PackedBinary(_, _, args) | Op::PackedCompare(_, _, args) => args,
            Op::ReadAt(_, args, _) | Op::Write(_, args) | Op::Decide(args) => args,
            Op::Pick(_, args) | Op::PickAt(_, args, _) => args,
            Op::Binary(_, args) | Op::Compare(_, args) | Op::Insert(args, _) | Op::WriteAt(_, args) => args,
            Op::Join(args) => args,
            Op::Fused(args) | Op::Select(args) => args,
        }
    }

    /// The same operation on the values that `at` gives for its arguments.
    pub(crate) fn map(self, at: impl Fn(Value) -> Value) -> Op {
        match self {
            Op::Load { .. } | Op::Splat { .. } | Op::Constant(_) | Op::Pair(_) => self,
            Op::LoadPart { .. } | Op::SplatPart { .. } => self,
            Op::Join(args) => Op::Join(args.map(at)),
            Op::Pick(array, args) => Op::Pick(array, args.map(at)),
            Op::Wide(wide, args) => Op::Wide(wide, args.map(at)),
            Op::Read(..) | Op::Rotate(_) | Op::Invoke(_) => self,
            Op::Call(callee, args) => Op::Call(callee, args.map(at)),
            Op::Guarded(callee, args) => Op::Guarded(callee, args.map(at)),
            Op::Unary(kind, args) => Op::Unary(kind, args.map(at)),
            Op::Shift(kind, args, amount) => Op::Shift(kind, args.map(at), amount),
            Op::Binary(kind, args) => Op::Binary(kind, args.map(at)),
            Op::Fused(args) => Op::Fused(args.map(at)),
            Op::Compare(kind, args) => Op::Compare(kind, args.map(at)),
            Op::Select(args) => Op::Select(args.map(at)),
            Op::PackedShift(kind, args, amount) => Op::PackedShift(kind, args.map(at), amount),
            Op::PackedBinary(packing, kind, args) => Op::PackedBinary(packing, kind, args.map(at)),
            Op::PackedCompare(packing, kind, args) => Op::PackedCompare(packing, kind, args.map(at)),
            Op::Broadcast(args) => Op::Broadcast(args.map(at)),
            Op::Extract(args, lane) => Op::Extract(args.map(at), lane),
            Op::Insert(args, lane) => Op::Insert(args.map(at), lane),
            Op::ReadAt(place, args, version) => Op::ReadAt(place, args.map(at), version),
            Op::PickAt(slot, args, version) => Op::PickAt(slot, args.map(at), version),
            Op::Write(place, args) => Op::Write(place, args.map(at)),
            Op::WriteAt(place, args) => Op::WriteAt(place, args.map(at)),
            Op::Decide(args) => Op::Decide(args.map(at)),
        }
    }

    /// Whether each element of the result has 64 bits.
    fn gives_pairs(&self) -> bool {
        match self {
            Op::Load { width, .. } | Op::Splat { width, .. } => *width == Width::Pair,
            Op::Wide(wide, _) => wide.gives_pairs(),
            Op::LoadPart { .. } | Op::SplatPart { .. } | Op::Join(_) => true,
            _ => false,
        }
    }

    /// The number of lanes of `elements` elements of the result.
    pub(crate) fn lanes(&self, elements: usize) -> usize {
        if self.gives_pairs() { 2 * elements } else { elements }
    }

    /// Whether each lane of the result, of 32 bits, depends on the same lane of the operands.
    fn is_by_lane(&self) -> bool {
        use Op::{Binary, Compare, Fused, Select, Shift, Unary};
        matches!(self, Unary(..) | Shift(..) | Binary(..) | Fused(_) | Compare(..) | Select(_))
    }

    /// Whether it reads elements of an array, which may be stored later.
    pub(crate) fn is_load(&self) -> bool {
        matches!(self, Op::Load { .. } | Op::LoadPart { .. } | Op::Pick(..))
    }

    /// Whether it does something else than to compute a value.
    pub(crate) fn is_effect(&self) -> bool {
        matches!(self, Op::Write(..) | Op::WriteAt(..) | Op::Rotate(_) | Op::Decide(_) | Op::Invoke(_))
    }
}

/// A store of the low bits of a value to successive elements of an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store {
    pub(crate) array: u16,
    pub(crate) width: Width,
    pub(crate) value: Value,
}

/// Operations in order, and stores. No array is both read and written, unless every element is read before it is
/// written by the order of operations.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub(crate) ops: Vec<Op>,
    /// The number of lanes of each operation; 0 for those of as many elements as a vector has.
    pub(crate) lanes: Vec<u8>,
    pub(crate) stores: Vec<Store>,
    /// Whether any array has elements of 64 bits or more, even if no operation uses it any more: callers size their
    /// blocks for the widest array.
    pub(crate) has_wide_arrays: bool,
    /// The elements that share a lane, if several do.
    pub(crate) packing: Option<Packing>,
    /// The slots that rotate.
    pub(crate) rotations: Vec<Vec<u16>>,
    /// The functions that are called.
    pub(crate) callees: Vec<Callee>,
    /// The sources of operations, if they get labels.
    pub(crate) sources: Option<Sources>,
}

/// The numbers of elements that a program computes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Multiples of a block.
    Blocks,
    /// Any.
    Any,
}

impl Program {
    /// Whether all loads come before all stores, so that an array that is loaded may be one that is stored.
    pub fn loads_before_it_stores(&self) -> bool {
        let last = self.ops.iter().rposition(Op::is_load);
        self.stores.iter().all(|store| last.is_none_or(|last| last <= store.value.index()))
    }

    /// The width of each array that is loaded or stored, as often as it is.
    pub(crate) fn widths(&self) -> impl Iterator<Item = Width> {
        let loaded = self.ops.iter().filter_map(|op| match op {
            Op::Load { width, .. } => Some(*width),
            Op::LoadPart { .. } => Some(Width::Quad),
            _ => None,
        });
        loaded.chain(self.stores.iter().map(|store| store.width))
    }

    /// The number of elements in a vector: where some have 64 bits, as many of all types as there are pairs of lanes.
    pub(crate) fn elements(&self, isa: Isa) -> usize {
        if let Some(packing) = self.packing {
            return packing.elements() * isa.lanes();
        }
        let is_wide = |op: &Op| op.gives_pairs() || matches!(op, Op::Wide(..) | Op::Pair(_));
        if self.has_wide_arrays || self.ops.iter().any(is_wide) { isa.lanes() / 2 } else { isa.lanes() }
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn push(&mut self, op: Op, lanes: u8) {
        self.ops.push(op);
        self.lanes.push(lanes);
        if let Some(sources) = &mut self.sources {
            sources.add();
        }
    }

    /// The operations that stores and effects need, in the same order.
    fn pruned(self) -> Program {
        let Program { ops, lanes, stores, has_wide_arrays, packing, rotations, callees, mut sources } = self;
        let mut is_used: Vec<bool> = ops.iter().map(Op::is_effect).collect();
        stores.iter().for_each(|store| is_used[store.value.index()] = true);
        for (index, op) in ops.iter().enumerate().rev() {
            if is_used[index] {
                op.args().iter().for_each(|arg| is_used[arg.index()] = true);
            }
        }
        if let Some(sources) = &mut sources {
            sources.retain(&is_used);
        }
        let mut places = Vec::with_capacity(ops.len());
        let mut program = Program { has_wide_arrays, packing, rotations, callees, sources, ..Program::default() };
        for ((op, lanes), is_used) in ops.into_iter().zip(lanes).zip(is_used) {
            places.push(Value(program.ops.len() as u32));
            if is_used {
                program.ops.push(op.map(|value| places[value.index()]));
                program.lanes.push(lanes);
            }
        }
        program.stores =
            stores.into_iter().map(|store| Store { value: places[store.value.index()], ..store }).collect();
        program
    }

    /// The program without the writes that do not fulfil a condition, and without what only they need.
    pub(crate) fn with_writes(self, is_kept: impl Fn(Place) -> bool) -> Program {
        let mut program = self;
        for op in &mut program.ops {
            if let Op::Write(place, _) | Op::WriteAt(place, _) = *op
                && !is_kept(place)
            {
                *op = Op::Constant(0);
            }
        }
        program.pruned()
    }

    /// Bits that are known to be 0.
    pub(crate) fn zeros(&self, value: Value) -> u32 {
        match self.ops[value.index()] {
            Op::Load { width, .. } | Op::Read(Place { width, .. }, _) | Op::ReadAt(Place { width, .. }, ..) => {
                !width.bits()
            }
            Op::Constant(bits) => !bits,
            Op::Unary(Unary::ToHalf, _) => !Width::Half.bits(),
            Op::Shift(Shift::Left, _, amount) => !(u32::MAX << amount),
            Op::Shift(Shift::Right, _, amount) => !(u32::MAX >> amount),
            Op::Binary(Binary::And, [_, b]) => match self.ops[b.index()] {
                Op::Constant(bits) => !bits,
                _ => 0,
            },
            Op::Select([_, a, b]) => self.zeros(a) & self.zeros(b),
            _ => 0,
        }
    }

    /// Whether all bits above those of `width` are known to be 0.
    pub(crate) fn fits(&self, value: Value, width: Width) -> bool {
        self.zeros(value) & !width.bits() == !width.bits()
    }

    /// One more than the largest number of an array.
    pub fn arrays(&self) -> usize {
        let loads = self.ops.iter().filter_map(|op| match *op {
            Op::Load { array, .. } | Op::Splat { array, .. } | Op::Pick(array, _) => Some(array),
            Op::LoadPart { array, .. } | Op::SplatPart { array, .. } => Some(array),
            _ => None,
        });
        loads.chain(self.stores.iter().map(|store| store.array)).max().map_or(0, |last| usize::from(last) + 1)
    }
}

/// One of two floats that a comparison of both selects: one instruction, which gives the second of two zeros, and the
/// second if one is NaN.
pub(crate) enum Extreme {
    Smaller,
    Larger,
}

impl Extreme {
    /// What `op(x, y) ? a : b` is. Both may be zeros of different signs unless that is excluded.
    pub(crate) fn of(op: Compare, [x, y]: [Value; 2], [a, b]: [Value; 2], may_be_zeros: bool) -> Option<Extreme> {
        let is_exact = op == Compare::Less || op == Compare::LessOrEqual && !may_be_zeros;
        match is_exact {
            true if [a, b] == [x, y] => Some(Extreme::Smaller),
            true if [a, b] == [y, x] => Some(Extreme::Larger),
            _ => None,
        }
    }
}

/// The most operations between lanes that are put together and one that is taken out.
const MOST_JOINED: usize = 6;

/// A program under construction. Equal operations are one value, and unused ones are left out of the program.
#[derive(Debug, Default)]
pub struct Builder(RefCell<Graph>);

#[derive(Debug, Default)]
struct Graph {
    program: Program,
    /// The value of each operation, on each number of lanes.
    known: HashMap<(Op, u8), Value>,
    lanes: u8,
}

impl Builder {
    /// A program without operations.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// A program without operations, whose code will have a label for each of them.
    pub fn listed() -> Builder {
        let builder = Builder::default();
        builder.0.borrow_mut().program.sources = Some(Sources::default());
        builder
    }

    /// Names the source of the operations that follow, if they get labels.
    pub fn enter(&self, name: impl FnOnce() -> String) {
        if let Some(sources) = &mut self.0.borrow_mut().program.sources {
            sources.enter(name());
        }
    }

    pub(crate) fn push(&self, op: Op) -> Value {
        let Graph { program, known, lanes } = &mut *self.0.borrow_mut();
        let lanes = match op {
            // A constant is the same in any number of lanes.
            Op::Constant(_) | Op::Pair(_) => 0,
            _ => op.lanes(usize::from(*lanes)) as u8,
        };
        *known.entry((op, lanes)).or_insert_with(|| {
            program.push(op, lanes);
            Value(program.ops.len() as u32 - 1)
        })
    }

    pub(crate) fn op(&self, value: Value) -> Op {
        self.0.borrow().program.ops[value.index()]
    }

    /// Successive elements of an array; the bits above them are 0.
    pub fn load(&self, array: u16, width: Width) -> Value {
        self.note_width(width);
        match width {
            Width::Quad => self.joined(Part::BOTH.map(|part| self.push(Op::LoadPart { array, part }))),
            _ => self.push(Op::Load { array, width }),
        }
    }

    /// The first element of an array, of 32 bits or more, in every place.
    ///
    /// # Panics
    /// If elements are narrower.
    pub fn splat(&self, array: u16, width: Width) -> Value {
        self.note_width(width);
        match width {
            Width::Quad => self.joined(Part::BOTH.map(|part| self.push(Op::SplatPart { array, part }))),
            Width::Word | Width::Pair => self.push(Op::Splat { array, width }),
            _ => panic!("narrow elements are not repeated"),
        }
    }

    /// Takes note of the width of an array's elements.
    fn note_width(&self, width: Width) {
        self.0.borrow_mut().program.has_wide_arrays |= matches!(width, Width::Pair | Width::Quad);
    }

    /// The words of an array at signed indices, each moved into the range from 0 to `last`. The array's address is that
    /// of its first element in every row.
    ///
    /// # Panics
    /// If `last` is no signed integer.
    pub fn pick(&self, array: u16, index: Value, last: u32) -> Value {
        assert!(last <= i32::MAX as u32, "an index is a signed integer");
        let index = self.binary(Binary::MaxSigned, index, self.constant(0));
        let index = self.binary(Binary::MinSigned, index, self.constant(last));
        self.push(Op::Pick(array, [index]))
    }

    /// A constant.
    pub fn constant(&self, bits: u32) -> Value {
        self.push(Op::Constant(bits))
    }

    /// The bits of a constant; `None` for other values.
    pub fn known(&self, value: Value) -> Option<u32> {
        match self.op(value) {
            Op::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// An operation on one value.
    pub fn unary(&self, op: Unary, a: Value) -> Value {
        match (op, self.op(a)) {
            (Unary::OfHalf, Op::Load { array, width: Width::Half }) => self.load(array, Width::Float16),
            _ => self.push(Op::Unary(op, [a])),
        }
    }

    /// A shift by less than 32.
    ///
    /// # Panics
    /// If `amount` is 32 or more.
    pub fn shift(&self, op: Shift, a: Value, amount: u8) -> Value {
        assert!(amount < 32, "a shift by a constant is by less than the width");
        if amount == 0 { a } else { self.push(Op::Shift(op, [a], amount)) }
    }

    /// An operation on two values.
    pub fn binary(&self, op: Binary, a: Value, b: Value) -> Value {
        // Logic of truths is that of their masks.
        if let (Binary::And | Binary::Or | Binary::Xor, Some(p), Some(q)) = (op, self.of_truth(a), self.of_truth(b)) {
            return self.truth(self.binary(op, p, q));
        }
        if let Some(shift) = self.shift_by(op, a, b).or_else(|| self.rotation(op, a, b)) {
            return shift;
        }
        if op == Binary::MultiplyBits
            && let Some((x, power)) = self.by_power(a, b).or_else(|| self.by_power(b, a))
        {
            return self.shift(Shift::Left, x, power);
        }
        // Constants come second, where they need no register.
        let args = if op.is_commutative() && self.known(a).is_some() { [b, a] } else { [a, b] };
        self.push(Op::Binary(op, args))
    }

    /// A shift by a value, if that is a constant.
    fn shift_by(&self, op: Binary, a: Value, b: Value) -> Option<Value> {
        let kind = match op {
            Binary::ShiftLeft => Shift::Left,
            Binary::ShiftRight => Shift::Right,
            Binary::ShiftRightArithmetic => Shift::RightArithmetic,
            _ => return None,
        };
        Some(match (kind, self.known(b)?) {
            (_, amount @ 0..32) => self.shift(kind, a, amount as u8),
            (Shift::RightArithmetic, _) => self.shift(kind, a, 31),
            _ => self.constant(0),
        })
    }

    /// The rotation that joins two shifts of one value, which share no bits; `None` for other operands.
    fn rotation(&self, op: Binary, a: Value, b: Value) -> Option<Value> {
        let (Binary::Or | Binary::Xor | Binary::AddBits) = op else { return None };
        let (Op::Shift(left, [x], up), Op::Shift(right, [y], down)) = (self.op(a), self.op(b)) else { return None };
        let amount = Shift::rotation([(left, up), (right, down)], 32).filter(|_| x == y)?;
        Some(self.shift(Shift::Rotate, x, amount))
    }

    /// The first value, and the logarithm of the second if that is a power of two.
    fn by_power(&self, a: Value, b: Value) -> Option<(Value, u8)> {
        let factor = self.known(b).filter(|factor| factor.is_power_of_two())?;
        Some((a, factor.trailing_zeros() as u8))
    }

    /// `a * b + c`, rounded once.
    pub fn fused(&self, a: Value, b: Value, c: Value) -> Value {
        self.push(Op::Fused(if self.known(a).is_some() { [b, a, c] } else { [a, b, c] }))
    }

    /// A comparison: a mask.
    pub fn compare(&self, op: Compare, a: Value, b: Value) -> Value {
        self.push(Op::Compare(op, [a, b]))
    }

    /// `mask ? a : b`.
    pub fn select(&self, mask: Value, a: Value, b: Value) -> Value {
        match self.known(mask) {
            _ if a == b => a,
            Some(bits) => {
                if bits == 0 {
                    b
                } else {
                    a
                }
            }
            None => {
                let is_zero = |value: Value| self.known(value).is_none_or(|bits| bits << 1 == 0);
                let extreme = match self.op(mask) {
                    Op::Compare(op, args) => Extreme::of(op, args, [a, b], is_zero(a) && is_zero(b)),
                    _ => None,
                };
                match extreme {
                    Some(Extreme::Smaller) => self.binary(Binary::Smaller, a, b),
                    Some(Extreme::Larger) => self.binary(Binary::Larger, a, b),
                    None => self.push(Op::Select([mask, a, b])),
                }
            }
        }
    }

    /// A mask as a number: 1 or 0.
    pub fn truth(&self, mask: Value) -> Value {
        self.select(mask, self.constant(1), self.constant(0))
    }

    /// The mask of which a value is the truth.
    fn of_truth(&self, value: Value) -> Option<Value> {
        match self.op(value) {
            Op::Select([mask, a, b]) if self.known(a) == Some(1) && self.known(b) == Some(0) => Some(mask),
            _ => None,
        }
    }

    /// Whether a number that is not negative differs from 0, as a mask.
    pub fn mask(&self, number: Value) -> Value {
        self.of_truth(number).unwrap_or_else(|| self.compare(Compare::Greater, number, self.constant(0)))
    }

    /// Whether all bits above those of `width` are known to be 0.
    pub fn fits(&self, value: Value, width: Width) -> bool {
        self.0.borrow().program.fits(value, width)
    }

    /// Bits that are known to be 0.
    pub fn zeros(&self, value: Value) -> u32 {
        self.0.borrow().program.zeros(value)
    }

    /// The bits that `a` does not have.
    pub fn not(&self, a: Value) -> Value {
        let ones = self.constant(u32::MAX);
        match self.op(a) {
            Op::Binary(Binary::Xor, [a, b]) if b == ones => a,
            _ => self.binary(Binary::Xor, a, ones),
        }
    }

    /// Stores the low bits of a value to successive elements of an array; [joined](Builder::joined) values where they
    /// have 128 bits.
    pub fn store(&self, array: u16, width: Width, value: Value) {
        let (width, value) = match (width, self.op(value)) {
            (Width::Half, Op::Unary(Unary::ToHalf, [float])) => (Width::Float16, float),
            _ => (width, value),
        };
        self.note_width(width);
        self.0.borrow_mut().program.stores.push(Store { array, width, value });
    }

    /// The number of operations so far, also of those that nothing uses.
    pub fn size(&self) -> usize {
        self.0.borrow().program.ops.len()
    }

    /// The number of lanes of the operations that follow; 0 for as many as the processor has.
    pub fn set_lanes(&self, lanes: u8) {
        self.0.borrow_mut().lanes = lanes;
    }

    /// The first lane of a value in every lane.
    pub fn broadcast(&self, value: Value) -> Value {
        if self.known(value).is_some() { value } else { self.push(Op::Broadcast([value])) }
    }

    /// Lane `lane` of a value, as the first.
    ///
    /// # Panics
    /// If `lane` is 4 or more.
    pub fn extract(&self, value: Value, lane: u8) -> Value {
        assert!(lane < 4, "lanes of the first 128 bits can be extracted");
        if self.is_joined(value, MOST_JOINED) {
            return self.lane_of(value, lane);
        }
        if lane == 0 || self.known(value).is_some() { value } else { self.push(Op::Extract([value], lane)) }
    }

    /// Whether a value is computed, by at most so many operations, of lanes that were put together: a lane of it need
    /// not wait for the others.
    fn is_joined(&self, value: Value, most: usize) -> bool {
        let op = self.op(value);
        let is_vector = self.0.borrow().program.lanes[value.index()] > 1;
        match op {
            Op::Insert(..) => true,
            _ if op.is_by_lane() && is_vector && most > 0 => op.args().iter().any(|&arg| self.is_joined(arg, most - 1)),
            _ => false,
        }
    }

    /// A lane of a joined value, computed of the same lane of what it is computed of.
    fn lane_of(&self, value: Value, lane: u8) -> Value {
        let op = self.op(value);
        match op {
            Op::Insert([_, one], at) if at == lane => one,
            Op::Insert([vector, _], _) => self.extract(vector, lane),
            Op::Constant(_) => value,
            Op::Broadcast([one]) => one,
            _ if op.is_by_lane() && self.is_joined(value, MOST_JOINED) => {
                let op = op.map(|arg| self.lane_of(arg, lane));
                let lanes = std::mem::replace(&mut self.0.borrow_mut().lanes, 1);
                let scalar = self.push(op);
                self.set_lanes(lanes);
                scalar
            }
            _ => self.extract(value, lane),
        }
    }

    /// A value with lane `lane` replaced by the first lane of another.
    ///
    /// # Panics
    /// If `lane` is 4 or more.
    pub fn insert(&self, value: Value, lane: u8, other: Value) -> Value {
        assert!(lane < 4, "lanes of the first 128 bits can be replaced");
        self.push(Op::Insert([value, other], lane))
    }

    /// Reads elements, `index` bytes beyond the place if there is one; `version` is the number of writes to the slot so
    /// far.
    pub fn read(&self, place: Place, index: Option<Value>, version: u32) -> Value {
        self.push(match index {
            None => Op::Read(place, version),
            Some(index) => Op::ReadAt(place, [index], version),
        })
    }

    /// The words of a slot's array at indices from its first element, all of which are inside, also those in the lanes
    /// up to the end of the vector; `version` is the number of writes to the slot so far.
    pub fn pick_at(&self, slot: u16, index: Value, version: u32) -> Value {
        self.push(Op::PickAt(slot, [index], version))
    }

    /// Adds an operation that is not for its value.
    fn effect(&self, op: Op) {
        let Graph { program, lanes, .. } = &mut *self.0.borrow_mut();
        program.push(op, *lanes);
    }

    /// Writes the low bits of a value, `index` bytes beyond the place if there is one.
    pub fn write(&self, place: Place, index: Option<Value>, value: Value) {
        self.effect(match index {
            None => Op::Write(place, [value]),
            Some(index) => Op::WriteAt(place, [value, index]),
        });
    }

    /// Gives each slot the address of the next one, and the last that of the first.
    pub fn rotate(&self, slots: Vec<u16>) {
        let index = {
            let rotations = &mut self.0.borrow_mut().program.rotations;
            rotations.push(slots);
            rotations.len() as u32 - 1
        };
        self.effect(Op::Rotate(index));
    }

    fn callee(&self, callee: Callee) -> u32 {
        let callees = &mut self.0.borrow_mut().program.callees;
        let known = callees.iter().position(|&each| each == callee);
        known.unwrap_or_else(|| {
            callees.push(callee);
            callees.len() - 1
        }) as u32
    }

    /// The result of a function of vectors.
    pub fn call(&self, callee: Callee, args: [Value; 3]) -> Value {
        let callee = self.callee(callee);
        self.push(Op::Call(callee, args))
    }

    /// A `value` of two operands, which a function of vectors replaces if a lane of the mask `is_hard` is set.
    pub fn guarded(&self, callee: Callee, [a, b]: [Value; 2], value: Value, is_hard: Value) -> Value {
        if self.known(is_hard) == Some(0) {
            return value;
        }
        let callee = self.callee(callee);
        self.push(Op::Guarded(callee, [a, b, value, is_hard]))
    }

    /// Calls a function with the table of slots.
    pub fn invoke(&self, callee: Callee) {
        let callee = self.callee(callee);
        self.effect(Op::Invoke(callee));
    }

    /// The program: the operations that stores need.
    pub fn build(self) -> Program {
        self.0.into_inner().program.pruned()
    }

    /// The block of these operations, which the first lane of a value decides how to leave.
    pub(crate) fn block(self, decision: Option<Value>) -> Program {
        if let Some(value) = decision {
            self.effect(Op::Decide([value]));
        }
        self.build()
    }
}
