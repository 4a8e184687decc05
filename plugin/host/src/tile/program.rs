//! Running a program of tiles.

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::ElementType;

use super::access::Access;
use super::chain::Chain;
use super::memory::{Buffers, Memory, Slot};
use super::runs::Used;
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::math::function::TileFn;
use crate::pool::Cost;
use crate::scalar::Scalar;

/// What is done with each tile.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// `out = function(args)`; only the first `arity` args are read.
    Apply {
        /// The function.
        function: TileFn,
        /// The number of operands.
        arity: u8,
        /// The operands.
        args: [Slot; 3],
        /// The result.
        out: Slot,
    },
    /// Loads elements of an operand that is not contiguous.
    Gather {
        /// The operand.
        input: Slot,
        /// Which elements.
        access: Access,
        /// Their type, as stored.
        element: ElementType,
        /// Where they go.
        out: Slot,
    },
    /// The index along a dimension, as `i64`.
    Iota {
        /// The number of elements after one another that have the same index.
        repeat: usize,
        /// The size of the dimension.
        size: usize,
        /// Where it goes.
        out: Slot,
    },
    /// Several functions at once.
    Chain(Box<Linked>),
    /// `out = from`.
    Copy {
        /// What is read.
        from: Slot,
        /// What is written.
        out: Slot,
    },
}

/// A chain and the slots that are its first places; so many blocks of its own follow.
#[derive(Debug, Clone)]
pub(super) struct Linked {
    /// The chain.
    pub(super) chain: Chain,
    /// Slots of elements of 32 bits.
    pub(super) slots: Vec<Used>,
    /// Blocks for values that no other step uses.
    pub(super) blocks: usize,
}

/// What registers hold before the first tile.
#[derive(Debug, Clone)]
pub(super) enum Splat {
    /// An element, as computed.
    Constant(Scalar),
    /// The first element of an operand, loaded by a function if it is stored otherwise than computed.
    Input {
        /// The operand.
        slot: Slot,
        /// As stored.
        element: ElementType,
        /// To load it.
        load: Option<crate::math::Function>,
    },
}

/// A program: element-wise functions of operands, tile by tile.
#[derive(Debug)]
pub(super) struct Program {
    /// For dumps.
    pub(super) name: String,
    /// The number of elements of each result.
    pub(super) count: usize,
    /// The types of registers.
    pub(super) registers: Vec<ElementType>,
    /// The types of operands, as stored.
    pub(super) inputs: Vec<ElementType>,
    /// The types of results, as stored.
    pub(super) outputs: Vec<ElementType>,
    /// Registers that are filled before the first tile.
    pub(super) splats: Vec<(Slot, Splat)>,
    /// What is done with each tile.
    pub(super) steps: Vec<Step>,
    /// Operands and results that may share memory.
    pub(super) in_place: Vec<(usize, usize)>,
    /// An estimate.
    pub(super) cost: Cost,
}

/// The bytes of a tile in all registers and arrays together: half of the usual first-level cache.
const TILE_BYTES: usize = 24 << 10;

impl Program {
    /// The elements of a tile.
    fn tile(&self) -> usize {
        let widths = self.registers.iter().chain(&self.inputs).chain(&self.outputs).map(|element| element.byte_width());
        let tile = (TILE_BYTES / widths.sum::<usize>().max(1)).clamp(512, 2048) / 64 * 64;
        tile.min(self.count)
    }

    /// Fills the registers that stay the same.
    fn fill(&self, memory: &mut Memory, tile: usize) {
        memory.set_tile(0, tile);
        for (out, splat) in &self.splats {
            let element = self.registers[*out as usize];
            match splat {
                Splat::Constant(value) => {
                    by_width!(element, T => memory.with(*out, [], |out, []| {
                        bytemuck::cast_slice_mut::<u8, T>(out).fill(value.to_pod::<T>());
                    }));
                }
                Splat::Input { slot, element: stored, load } => memory.with_array(*out, *slot, |out, array| {
                    let value = Scalar::from_bytes(&array[..stored.byte_width()]);
                    let value = load.map_or(value, |load| load.call([value; 3]));
                    by_width!(element, T => bytemuck::cast_slice_mut::<u8, T>(out).fill(value.to_pod::<T>()));
                }),
            }
        }
    }

    /// The blocks that a chain needs: its own, and one for each slot where a tile ends within a block.
    fn blocks(&self) -> usize {
        let blocks = |step: &Step| match step {
            Step::Chain(linked) => linked.blocks + linked.slots.len(),
            _ => 0,
        };
        self.steps.iter().map(blocks).max().unwrap_or(0)
    }

    fn run_range(&self, range: Range<usize>, buffers: Buffers<'_>) {
        let tile = self.tile();
        // SAFETY: each thread has a range of its own, in which its tiles are; `in_place` has operands only that no step
        // reads as arrays.
        let mut memory =
            unsafe { Memory::new(&self.registers, &self.inputs, &self.outputs, tile, self.blocks(), buffers) };
        if !self.splats.is_empty() {
            self.fill(&mut memory, tile);
        }
        for start in range.clone().step_by(tile.max(1)) {
            memory.set_tile(start, tile.min(range.end - start));
            self.steps.iter().for_each(|step| step.run(&mut memory));
        }
    }
}

impl Step {
    #[inline]
    fn run(&self, memory: &mut Memory) {
        match self {
            Step::Apply { function, arity: 1, args: [a, ..], out } => {
                memory.with(*out, [*a], |out, [a]| function(out, [a, &[], &[]]));
            }
            Step::Apply { function, arity: 2, args: [a, b, _], out } => {
                memory.with(*out, [*a, *b], |out, [a, b]| function(out, [a, b, &[]]));
            }
            Step::Apply { function, args, out, .. } => memory.with(*out, *args, function),
            Step::Gather { input, access, element, out } => {
                let start = memory.start();
                memory.with_array(*out, *input, |out, array| {
                    by_width!(element, T => access.load::<T>(bytemuck::cast_slice(array), start, bytemuck::cast_slice_mut(out)));
                });
            }
            Step::Iota { repeat, size, out } => {
                let start = memory.start();
                memory.with(*out, [], |out, []| iota(*repeat, *size, start, bytemuck::cast_slice_mut(out)));
            }
            Step::Chain(linked) => memory.run_chain(&linked.chain, &linked.slots, linked.blocks),
            Step::Copy { from, out } => memory.with(*out, [*from], |out, [from]| out.copy_from_slice(from)),
        }
    }
}

/// The indices of elements from `start` on.
fn iota(repeat: usize, size: usize, start: usize, out: &mut [i64]) {
    let (mut value, mut left) = (start / repeat % size, repeat - start % repeat);
    if repeat == 1 {
        let mut rest = out;
        while !rest.is_empty() {
            let (run, others) = rest.split_at_mut((size - value).min(rest.len()));
            run.iter_mut().enumerate().for_each(|(index, out)| *out = (value + index) as i64);
            (rest, value) = (others, 0);
        }
        return;
    }
    let mut rest = out;
    while !rest.is_empty() {
        let (run, others) = rest.split_at_mut(left.min(rest.len()));
        run.fill(value as i64);
        (rest, left, value) = (others, repeat, (value + 1) % size);
    }
}

impl Kernel for Program {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.in_place.clone()
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        if self.count == 0 {
            return Ok(());
        }
        let buffers = Buffers::new(inputs, &outputs);
        // Ranges start at cache lines, whatever the width of elements.
        cx.pool.for_ranges(self.cost, self.count, 64, |range| self.run_range(range, buffers));
        Ok(())
    }
}
