//! Small products inside the machine code of loops, with the bits of [`loops`](super::loops).

use oxcall_hlo::{BinaryOp, ElementType};
use oxcall_jit::Value;
use smallvec::SmallVec;

use super::matmul::Shape;
use crate::machine::Block;
use crate::math::generated::{self, Record, constant_of, is_wide};
use crate::plan::Slot;

/// The most products of vectors, and of single elements.
const MOST_VECTORS: usize = 96;
const MOST_ELEMENTS: usize = 128;

/// The most matrices of a batch.
pub(super) const MOST_BATCHES: usize = 32;

/// The number of products that are added before their sum is added to the others.
const TOGETHER: usize = 4;

/// Products of matrices in slots, all of one shape.
pub(super) struct Products {
    pub(super) shape: Shape,
    pub(super) element: ElementType,
    pub(super) a: Matrices,
    pub(super) b: Matrices,
    pub(super) out: Slot,
}

/// Matrices in a slot: the distances of neighbours in a column and in a row, and the first element of each.
pub(super) struct Matrices {
    pub(super) slot: Slot,
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
        let functions = Functions {
            times: generated::binary(BinaryOp::Multiply, self.element)?,
            plus: generated::binary(BinaryOp::Add, self.element)?,
            zero: constant_of(&block.lanes, self.element, 0),
            lanes: generated::lanes_of(self.element)?,
        };
        let has_dense_rows = self.b.strides[1] == 1 || self.shape.n == 1;
        if has_dense_rows && self.shape.n > 1 {
            self.rows(&functions, block)
        } else {
            self.elements(&functions, block, has_dense_rows)
        }
    }

    fn read(&self, block: &mut Block<'_>, matrix: &Matrices, place: usize, lanes: u8) -> Option<Value> {
        block.read(matrix.slot, place * self.element.byte_width(), lanes, generated::width(self.element))
    }

    /// Vectors of rows of the result.
    fn rows(&self, functions: &Functions, block: &mut Block<'_>) -> Option<()> {
        let Shape { m, n, k } = self.shape;
        let (width, count) = (generated::width(self.element), self.a.starts.len());
        let vectors: SmallVec<[(usize, u8); 8]> = block.vectors_of(n, functions.lanes).take(MOST_VECTORS).collect();
        if count * m * k * vectors.len() > MOST_VECTORS {
            return None;
        }
        let place = |row: usize, first: usize| (row * n + first) * self.element.byte_width();
        let can_write = |row: usize, &(first, count): &(usize, u8)| {
            block.can_access(self.out, place(row, first), count * functions.lanes, width, true)
        };
        if !(0..count * m).all(|row| vectors.iter().all(|vector| can_write(row, vector))) {
            return None;
        }
        let mut results: SmallVec<[(usize, u8, Value); 16]> = SmallVec::new();
        for (index, row) in (0..count).flat_map(|index| (0..m).map(move |row| (index, row))) {
            for &(first, count) in &vectors {
                let mut product = |block: &mut Block<'_>, step: usize| {
                    let one = self.read(block, &self.a, self.a.at(index, row, step), functions.lanes)?;
                    let line = self.read(block, &self.b, self.b.at(index, step, first), count * functions.lanes)?;
                    block.lanes.set_lanes(count);
                    let lanes = &block.lanes;
                    let factor = if is_wide(self.element) { lanes.wide().broadcast(one) } else { lanes.broadcast(one) };
                    Some([factor, line])
                };
                let sum = self.sum(functions, block, &mut product)?;
                results.push((place(index * m + row, first), count * functions.lanes, sum));
            }
        }
        results.into_iter().try_for_each(|(place, lanes, sum)| block.write(self.out, place, lanes, width, sum))
    }

    /// Single elements.
    fn elements(&self, functions: &Functions, block: &mut Block<'_>, has_dense_rows: bool) -> Option<()> {
        let Shape { m, n, k } = self.shape;
        let count = self.a.starts.len();
        if count * m * n * k > MOST_ELEMENTS {
            return None;
        }
        let mut results: SmallVec<[Value; MOST_ELEMENTS]> = SmallVec::new();
        for place in 0..count * m * n {
            let (index, row, column) = (place / (m * n), place / n % m, place % n);
            let mut product = |block: &mut Block<'_>, step: usize| {
                let a = self.read(block, &self.a, self.a.at(index, row, step), functions.lanes)?;
                let b = self.read(block, &self.b, self.b.at(index, step, column), functions.lanes)?;
                block.lanes.set_lanes(1);
                Some([a, b])
            };
            results.push(if has_dense_rows {
                self.sum(functions, block, &mut product)?
            } else {
                self.sum_of_chains(functions, block, &mut product)?
            });
        }
        block.write_each(self.out, (functions.lanes, generated::width(self.element)), &results)
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
