//! Runs of simple ops on 32-bit elements, in vector registers.
//!
//! A step of a program reads tiles from the L1 cache and writes one, which takes most of the time of simple ops. A
//! chain is a list of instructions that runs on one short block after another. An accumulator of a few vector registers
//! holds the block's elements of the latest value; only values that are needed later are stored.

use pulp::{Arch, Simd, WithSimd};

/// The operation of an instruction. `acc` is the accumulator; `a`, `b` and `c` are the blocks at its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// `acc = a`.
    Load,
    /// `a = acc`.
    Store,
    /// `acc + a`, for floats, like all up to the comparisons.
    Add,
    /// `acc - a`.
    Subtract,
    /// `a - acc`.
    SubtractFrom,
    /// `acc * a`.
    Multiply,
    /// `acc * a + b`, rounded twice.
    MultiplyAdd,
    /// `acc / a`.
    Divide,
    /// `a / acc`.
    DivideInto,
    /// The larger of `acc` and `a`; NaN if one is; +0 rather than -0.
    Maximum,
    /// The smaller of `acc` and `a`; NaN if one is; -0 rather than +0.
    Minimum,
    /// `-acc`.
    Negate,
    /// `|acc|`.
    Abs,
    /// `a < b ? acc : c`.
    IfLess,
    /// `a < b ? c : acc`.
    UnlessLess,
    /// `a <= b ? acc : c`.
    IfLessOrEqual,
    /// `a <= b ? c : acc`.
    UnlessLessOrEqual,
    /// `a == b ? acc : c`.
    IfEqual,
    /// `a == b ? c : acc`.
    UnlessEqual,
    /// `acc + a`, for integers, like all that follow.
    AddBits,
    /// `acc - a`.
    SubtractBits,
    /// `a - acc`.
    SubtractBitsFrom,
    /// `acc & a`.
    And,
    /// `acc | a`.
    Or,
    /// `acc ^ a`.
    Xor,
    /// `acc << a`; 0 for 32 and more.
    ShiftLeft,
    /// `acc >> a`; 0 for 32 and more.
    ShiftRight,
    /// `acc << a | acc >> b`: a rotation, if `a + b` is 32.
    Funnel,
}

/// An instruction, with the indices of its places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) code: Code,
    pub(super) args: [u16; 3],
}

/// The place of blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) data: *mut u8,
    /// Whether successive blocks follow each other; otherwise all are the same one.
    pub(super) advances: bool,
}

/// The number of vectors in an accumulator.
const VECTORS: usize = 8;

/// The size of the longest block, with vectors of 512 bits, in bytes.
pub(super) const BLOCK_BYTES: usize = VECTORS * 64;

/// The instructions, for this processor.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    arch: Arch,
    block: usize,
    code: Vec<Instruction>,
}

impl Chain {
    pub(super) fn new(code: Vec<Instruction>) -> Chain {
        struct Lanes;
        impl WithSimd for Lanes {
            type Output = usize;
            fn with_simd<S: Simd>(self, _: S) -> usize {
                S::F32_LANES
            }
        }
        let arch = Arch::new();
        Chain { arch, block: VECTORS * arch.dispatch(Lanes), code }
    }

    /// The number of elements in a block.
    pub(super) fn block(&self) -> usize {
        self.block
    }

    /// Runs the instructions on `blocks` blocks.
    ///
    /// # Safety
    /// Places that advance point to `blocks` blocks of elements, others to one block, all initialised; places that are
    /// stored to may be written. No other place overlaps these, unless it starts at the same address and advances
    /// alike.
    pub(super) unsafe fn run(&self, places: &[Place], blocks: usize) {
        self.arch.dispatch(Run { code: &self.code, places, blocks });
    }
}

/// A call of [`Chain::run`], with all its requirements.
struct Run<'a> {
    code: &'a [Instruction],
    places: &'a [Place],
    blocks: usize,
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut offset = 0;
        for _ in 0..self.blocks {
            block(simd, self.code, self.places, offset);
            offset += VECTORS * size_of::<S::f32s>();
        }
    }
}

/// Runs the instructions on the block at `offset`.
#[inline(always)]
fn block<S: Simd>(simd: S, code: &[Instruction], places: &[Place], offset: usize) {
    let s = simd;
    let at = |place: u16| -> *mut S::f32s {
        let Place { data, advances } = places[usize::from(place)];
        data.wrapping_add(if advances { offset } else { 0 }).cast()
    };
    // SAFETY: as `Chain::run` demands: the block is there, at this offset. Vectors of floats may have any bits.
    let load = |from: *mut S::f32s, i: usize| unsafe { from.wrapping_add(i).read_unaligned() };
    let bits = |x: S::f32s| s.transmute_u32s_f32s(x);
    let floats = |x: S::u32s| s.transmute_f32s_u32s(x);
    let mut acc = [s.splat_f32s(0.0); VECTORS];
    for &Instruction { code, args } in code {
        let a = at(args[0]);
        /// Computes `acc` from `acc` and `a`, as floats.
        macro_rules! float {
            (|$x:pat_param, $y:pat_param| $value:expr) => {
                for i in 0..VECTORS {
                    let ($x, $y) = (acc[i], load(a, i));
                    acc[i] = $value;
                }
            };
        }
        /// Computes `acc` from `acc` and `a`, as integers.
        macro_rules! integer {
            (|$x:pat_param, $y:pat_param| $value:expr) => {
                for i in 0..VECTORS {
                    let ($x, $y) = (bits(acc[i]), bits(load(a, i)));
                    acc[i] = floats($value);
                }
            };
        }
        /// Selects `acc` or `c` by a comparison of `a` and `b`.
        macro_rules! select {
            ($compare:ident, |$acc:ident, $other:ident| $arms:expr) => {{
                let (b, c) = (at(args[1]), at(args[2]));
                for i in 0..VECTORS {
                    let ($acc, $other) = (acc[i], load(c, i));
                    let (on_true, on_false) = $arms;
                    acc[i] = s.select_f32s(s.$compare(load(a, i), load(b, i)), on_true, on_false);
                }
            }};
        }
        // Shifts by 32 or more give 0.
        let within =
            |amount: S::u32s, x: S::u32s| s.select_u32s(s.less_than_u32s(amount, s.splat_u32s(32)), x, s.splat_u32s(0));
        let left = |x: S::u32s, amount: S::u32s| within(amount, s.wrapping_dyn_shl_u32s(x, amount));
        let right = |x: S::u32s, amount: S::u32s| within(amount, s.wrapping_dyn_shr_u32s(x, amount));
        // For equal floats, which are zeros or have the same bits, `$join` computes the result.
        macro_rules! extreme {
            ($join:ident, |$x:ident, $y:ident| $first:expr) => {
                float!(|$x, $y| {
                    let apart = s.select_f32s(s.equal_f32s($x, $x), s.select_f32s($first, $x, $y), $x);
                    s.select_f32s(s.equal_f32s($x, $y), floats(s.$join(bits($x), bits($y))), apart)
                })
            };
        }
        match code {
            Code::Load => float!(|_, y| y),
            Code::Store => {
                for (i, &value) in acc.iter().enumerate() {
                    // SAFETY: as `Chain::run` demands: the block may be written.
                    unsafe { a.wrapping_add(i).write_unaligned(value) };
                }
            }
            Code::Add => float!(|x, y| s.add_f32s(x, y)),
            Code::Subtract => float!(|x, y| s.sub_f32s(x, y)),
            Code::SubtractFrom => float!(|x, y| s.sub_f32s(y, x)),
            Code::Multiply => float!(|x, y| s.mul_f32s(x, y)),
            Code::MultiplyAdd => {
                let b = at(args[1]);
                for (i, x) in acc.iter_mut().enumerate() {
                    *x = s.add_f32s(s.mul_f32s(*x, load(a, i)), load(b, i));
                }
            }
            Code::Divide => float!(|x, y| s.div_f32s(x, y)),
            Code::DivideInto => float!(|x, y| s.div_f32s(y, x)),
            Code::Maximum => extreme!(and_u32s, |x, y| s.less_than_f32s(y, x)),
            Code::Minimum => extreme!(or_u32s, |x, y| s.less_than_f32s(x, y)),
            Code::Negate => float!(|x, _| floats(s.xor_u32s(bits(x), s.splat_u32s(1 << 31)))),
            Code::Abs => float!(|x, _| floats(s.and_u32s(bits(x), s.splat_u32s(u32::MAX >> 1)))),
            Code::IfLess => select!(less_than_f32s, |acc, other| (acc, other)),
            Code::UnlessLess => select!(less_than_f32s, |acc, other| (other, acc)),
            Code::IfLessOrEqual => select!(less_than_or_equal_f32s, |acc, other| (acc, other)),
            Code::UnlessLessOrEqual => select!(less_than_or_equal_f32s, |acc, other| (other, acc)),
            Code::IfEqual => select!(equal_f32s, |acc, other| (acc, other)),
            Code::UnlessEqual => select!(equal_f32s, |acc, other| (other, acc)),
            Code::AddBits => integer!(|x, y| s.add_u32s(x, y)),
            Code::SubtractBits => integer!(|x, y| s.sub_u32s(x, y)),
            Code::SubtractBitsFrom => integer!(|x, y| s.sub_u32s(y, x)),
            Code::And => integer!(|x, y| s.and_u32s(x, y)),
            Code::Or => integer!(|x, y| s.or_u32s(x, y)),
            Code::Xor => integer!(|x, y| s.xor_u32s(x, y)),
            Code::ShiftLeft => integer!(|x, y| left(x, y)),
            Code::ShiftRight => integer!(|x, y| right(x, y)),
            Code::Funnel => {
                let b = at(args[1]);
                for (i, x) in acc.iter_mut().enumerate() {
                    let value = bits(*x);
                    let (low, high) = (left(value, bits(load(a, i))), right(value, bits(load(b, i))));
                    *x = floats(s.or_u32s(low, high));
                }
            }
        }
    }
}
