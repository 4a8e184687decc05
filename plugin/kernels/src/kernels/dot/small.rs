//! Small products inside the machine code of loops, with the bits of [`loops`](super::loops).

use oxcall_hlo::{BinaryOp, ElementType};
use oxcall_jit::Value;
use smallvec::SmallVec;

use super::matmul::{FEW, Shape};
use crate::machine::{Block, Slot};
use crate::math;
use crate::math::generated::{self, Record, constant_of, is_wide};

/// The most products of vectors, of those of one row, and of single elements.
const MOST_VECTORS: usize = 96;
const MOST_OF_ROW: usize = 256;
const MOST_ELEMENTS: usize = 256;

/// The most matrices of a batch.
pub(super) const MOST_BATCHES: usize = 32;

/// The number of products that are added before their sum is added to the others.
const TOGETHER: usize = 4;

/// Products of matrices in slots, all of one shape.
pub(super) struct Products {
    pub(super) shape: Shape,
    /// The type in which products are computed.
    pub(super) compute: ElementType,
    pub(super) a: Matrices,
    pub(super) b: Matrices,
    pub(super) out: (Slot, ElementType),
}

/// Matrices in a slot: the type of their elements, the distances of neighbours in a column and in a row, and the first
/// element of each.
pub(super) struct Matrices {
    pub(super) slot: Slot,
    pub(super) element: ElementType,
    pub(super) strides: [usize; 2],
    pub(super) starts: Vec<usize>,
}

impl Matrices {
    fn at(&self, index: usize, row: usize, column: usize) -> usize {
        self.starts[index] + row * self.strides[0] + column * self.strides[1]
    }
}

/// The functions of elements.
struct Functions {
    times: Record,
    plus: Record,
    zero: Value,
    lanes: u8,
    /// From the elements of the operands, and to those of the result, where they are narrow floats.
    load: [Option<Record>; 2],
    store: Option<Record>,
}

/// Whether blocks convert elements of this type to the type of the computation and back, or both are one.
pub(super) fn converts(element: ElementType, compute: ElementType) -> bool {
    element == compute || compute == ElementType::F32 && generated::packed(element).is_some()
}

impl Functions {
    fn times(&self, block: &Block<'_>, a: Value, b: Value) -> Value {
        (self.times)(&block.lanes, [a, b, b])
    }

    fn plus(&self, block: &Block<'_>, a: Value, b: Value) -> Value {
        (self.plus)(&block.lanes, [a, b, b])
    }

    fn plus_product(&self, block: &Block<'_>, sum: Value, [a, b]: [Value; 2]) -> Value {
        self.plus(block, sum, self.times(block, a, b))
    }
}

impl Products {
    /// Adds the products to a block; `None`, and no write, if they are too large.
    pub(super) fn generate(&self, block: &mut Block<'_>) -> Option<()> {
        let times = match self.compute {
            ElementType::C64 => generated::product_by_parts,
            element => generated::binary(BinaryOp::Multiply, element)?,
        };
        let functions = Functions {
            times,
            plus: generated::binary(BinaryOp::Add, self.compute)?,
            zero: constant_of(&block.lanes, self.compute, 0),
            lanes: generated::lanes_of(self.compute)?,
            load: [&self.a, &self.b].map(|matrices| math::packed(matrices.element)?.load.record),
            store: math::packed(self.out.1).and_then(|packed| packed.store.record),
        };
        let has_dense_rows = self.b.strides[1] == 1 || self.shape.n == 1;
        if has_dense_rows && self.shape.n > 1 {
            self.rows(&functions, block)
        } else {
            self.elements(&functions, block, has_dense_rows)
        }
    }

    /// Elements in the type of the computation; `load` is their conversion.
    fn read(
        block: &mut Block<'_>,
        (matrix, load): (&Matrices, Option<Record>),
        place: usize,
        lanes: u8,
    ) -> Option<Value> {
        let element = matrix.element;
        let value = block.read(matrix.slot, place * element.byte_width(), lanes, generated::width(element))?;
        Some(load.map_or(value, |load| {
            block.lanes.set_lanes(lanes);
            load(&block.lanes, [value; 3])
        }))
    }

    /// Elements of the result as they are stored.
    fn stored(functions: &Functions, block: &Block<'_>, value: Value) -> Value {
        functions.store.map_or(value, |store| store(&block.lanes, [value; 3]))
    }

    /// Vectors of rows of the result.
    fn rows(&self, functions: &Functions, block: &mut Block<'_>) -> Option<()> {
        let Shape { m, n, k } = self.shape;
        let (out, element) = self.out;
        let (width, count) = (generated::width(element), self.a.starts.len());
        let vectors: SmallVec<[(usize, u8); 8]> = block.vectors_of(n, functions.lanes).take(MOST_VECTORS).collect();
        let most = if count * m == 1 { MOST_OF_ROW } else { MOST_VECTORS };
        if count * m * k * vectors.len() > most {
            return None;
        }
        let place = |row: usize, first: usize| (row * n + first) * element.byte_width();
        let can_write = |row: usize, &(first, count): &(usize, u8)| {
            block.can_access(out, place(row, first), count * functions.lanes, width, true)
        };
        if !(0..count * m).all(|row| vectors.iter().all(|vector| can_write(row, vector))) {
            return None;
        }
        let mut results: SmallVec<[(usize, u8, Value); 16]> = SmallVec::new();
        for (index, row) in (0..count).flat_map(|index| (0..m).map(move |row| (index, row))) {
            for &(first, count) in &vectors {
                let mut product = |block: &mut Block<'_>, step: usize| {
                    let (a, b) = ((&self.a, functions.load[0]), (&self.b, functions.load[1]));
                    let one = Self::read(block, a, self.a.at(index, row, step), functions.lanes)?;
                    let line = Self::read(block, b, self.b.at(index, step, first), count * functions.lanes)?;
                    block.lanes.set_lanes(count);
                    let lanes = &block.lanes;
                    let factor = if is_wide(self.compute) { lanes.wide().broadcast(one) } else { lanes.broadcast(one) };
                    Some([factor, line])
                };
                let sum = self.sum(functions, block, &mut product)?;
                let sum = Self::stored(functions, block, sum);
                results.push((place(index * m + row, first), count * functions.lanes, sum));
            }
        }
        results.into_iter().try_for_each(|(place, lanes, sum)| block.write(out, place, lanes, width, sum))
    }

    /// Single elements.
    fn elements(&self, functions: &Functions, block: &mut Block<'_>, has_dense_rows: bool) -> Option<()> {
        let Shape { m, n, k } = self.shape;
        let count = self.a.starts.len();
        let is_in_lanes = m.min(n) == 1 && m * n * k > FEW;
        if count * m * n * k > MOST_ELEMENTS || is_in_lanes {
            return None;
        }
        let mut results: SmallVec<[Value; MOST_ELEMENTS]> = SmallVec::new();
        for place in 0..count * m * n {
            let (index, row, column) = (place / (m * n), place / n % m, place % n);
            let mut product = |block: &mut Block<'_>, step: usize| {
                let (a, b) = ((&self.a, functions.load[0]), (&self.b, functions.load[1]));
                let a = Self::read(block, a, self.a.at(index, row, step), functions.lanes)?;
                let b = Self::read(block, b, self.b.at(index, step, column), functions.lanes)?;
                block.lanes.set_lanes(1);
                Some([a, b])
            };
            let sum = if has_dense_rows {
                self.sum(functions, block, &mut product)?
            } else {
                self.sum_of_chains(functions, block, &mut product)?
            };
            results.push(Self::stored(functions, block, sum));
        }
        let (out, element) = self.out;
        block.write_each(out, (functions.lanes, generated::width(element)), &results)
    }

    /// The sum of all products, in the order of products by rows.
    fn sum(
        &self,
        functions: &Functions,
        block: &mut Block<'_>,
        product: &mut impl FnMut(&mut Block<'_>, usize) -> Option<[Value; 2]>,
    ) -> Option<Value> {
        let (k, mut sum) = (self.shape.k, functions.zero);
        let whole = k / TOGETHER * TOGETHER;
        for step in (0..whole).step_by(TOGETHER) {
            let [a, b] = product(block, step)?;
            let mut four = functions.times(block, a, b);
            for next in 1..TOGETHER {
                let factors = product(block, step + next)?;
                four = functions.plus_product(block, four, factors);
            }
            sum = functions.plus(block, sum, four);
        }
        for step in whole..k {
            let factors = product(block, step)?;
            sum = functions.plus_product(block, sum, factors);
        }
        Some(sum)
    }

    /// The sum of all products, in the order of products by elements: four sums side by side.
    fn sum_of_chains(
        &self,
        functions: &Functions,
        block: &mut Block<'_>,
        product: &mut impl FnMut(&mut Block<'_>, usize) -> Option<[Value; 2]>,
    ) -> Option<Value> {
        let (k, mut sums) = (self.shape.k, [functions.zero; TOGETHER]);
        let whole = k / TOGETHER * TOGETHER;
        for step in 0..k {
            let factors = product(block, step)?;
            let sum = &mut sums[if step < whole { step % TOGETHER } else { 0 }];
            *sum = functions.plus_product(block, *sum, factors);
        }
        let [a, b, c, d] = sums;
        let halves = [functions.plus(block, a, b), functions.plus(block, c, d)];
        let sum = functions.plus(block, halves[0], halves[1]);
        Some(functions.plus(block, functions.zero, sum))
    }
}
