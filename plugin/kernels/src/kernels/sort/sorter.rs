//! Sort.

use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op};

use super::comparator::{self, Key, Part};
use super::key::{Bits, Sortable, by_sortable};
use super::partition::Threads;
use super::{merge, radix, short};
use crate::by_width;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::movement::tensor;
use crate::math::level::vectorised;
use crate::memory::Scratch;
use crate::pool::Cost;
use crate::scalar::Program;

/// Operands sorted together along a dimension.
#[derive(Debug)]
struct Sort {
    elements: Vec<ElementType>,
    /// The size of the dimension, and the number of indices of those before it and after.
    len: usize,
    outer: usize,
    inner: usize,
    order: Order,
}

/// The order of the elements.
#[derive(Debug)]
enum Order {
    Keys(Vec<Key>),
    Comparator(Program),
}

pub(super) fn make(op: &Op, func: &Func, dim: usize) -> Result<Box<dyn Kernel>, Error> {
    let shape = tensor(func, op.operands[0])?;
    let elements: Vec<ElementType> =
        op.operands.iter().map(|&value| tensor(func, value).map(|ty| ty.element)).collect::<Result<_, _>>()?;
    let len = shape.dims[dim];
    if u32::try_from(len).is_err() {
        return Err(Error::unimplemented(format!(
            "dimension {dim} has {len} elements; at most {} are supported",
            u32::MAX
        )));
    }
    let region = &op.regions[0];
    let sortable = |key: &Key| by_sortable!(elements[key.operand].real(), T => size_of::<T>()).is_some();
    let order = match comparator::keys(func, region) {
        Some(keys) if keys.iter().all(sortable) => Order::Keys(keys),
        _ => Order::Comparator(Program::new(func, &region.params, &region.ops, &region.results)?),
    };
    let (outer, inner) = (shape.dims[..dim].iter().product(), shape.dims[dim + 1..].iter().product());
    Ok(Box::new(Sort { elements, len, outer, inner, order }))
}

/// The places of a row's elements in its operands.
#[derive(Debug, Clone, Copy)]
struct Row {
    base: usize,
    stride: usize,
}

impl Sort {
    fn rows(&self) -> usize {
        self.outer * self.inner
    }

    fn row(&self, index: usize) -> Row {
        Row { base: index / self.inner * self.len * self.inner + index % self.inner, stride: self.inner }
    }

    /// The key, if one operand is sorted by it alone.
    fn only_key(&self) -> Option<&Key> {
        match &self.order {
            Order::Keys(keys) if self.elements.len() == 1 => match &keys[..] {
                [key @ Key { part: Part::Whole, .. }] => Some(key),
                _ => None,
            },
            _ => None,
        }
    }

    /// The threads for one row: several only if there is one row.
    fn threads_for_row(&self, cx: Context<'_>) -> Threads {
        let count = if self.rows() == 1 { cx.pool.threads_for(self.cost()) } else { 1 };
        Threads { count, cost: self.cost() }
    }

    /// Sorts elements by a key that determines them completely.
    fn sort_values<T: Sortable>(
        &self,
        cx: Context<'_>,
        key: &Key,
        operand: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        let threads = self.threads_for_row(cx);
        let sort_rows = |first: usize, chunk: &mut [T]| {
            let mut scratch = Scratch::empty();
            let mut keys = cx.scratch::<T::Key>(self.len)?;
            for (row, from) in chunk.chunks_exact_mut(self.len).zip(operand[first..].chunks_exact(self.len)) {
                let has_odd = AtomicBool::new(false);
                threads.divide(cx, &mut keys, |start, keys| {
                    if read_keys(from, Row { base: start, stride: 1 }, key, keys) {
                        has_odd.store(true, Ordering::Relaxed);
                    }
                });
                radix::sort_parallel(cx, &mut keys, &mut scratch, 0, threads)?;
                let invert = |bits: T::Key| if key.descending { bits.inverted() } else { bits };
                threads.divide(cx, row, |start, row| {
                    row.iter_mut().zip(&keys[start..]).for_each(|(to, &bits)| *to = T::from_key(invert(bits)));
                });
                if has_odd.into_inner() {
                    restore_equal(from, row, key, &keys);
                }
            }
            Ok(())
        };
        if threads.count > 1 {
            sort_rows(0, result)
        } else {
            cx.pool.for_chunks(self.cost(), result, self.len, sort_rows)
        }
    }

    /// Sorts the positions of each row.
    fn sort_positions(&self, cx: Context<'_>, inputs: Inputs<'_>, positions: &mut [u32]) -> Result<(), Error> {
        let threads = self.threads_for_row(cx);
        let sort_rows = |first: usize, chunk: &mut [u32]| {
            for (index, positions) in chunk.chunks_exact_mut(self.len).enumerate() {
                let row = self.row(first / self.len + index);
                threads.divide(cx, positions, |start, part| {
                    part.iter_mut().zip(start as u32..).for_each(|(position, index)| *position = index);
                });
                match &self.order {
                    Order::Keys(keys) => {
                        for (step, key) in keys.iter().rev().enumerate() {
                            by_sortable!(self.elements[key.operand].real(), T => {
                                let operand = inputs.get(key.operand);
                                sort_by_key::<T>(cx, operand, row, key, (threads, step == 0), positions)?;
                            });
                        }
                    }
                    Order::Comparator(program) => self.sort_by_program(cx, inputs, row, program, positions)?,
                }
            }
            Ok(())
        };
        if threads.count > 1 {
            sort_rows(0, positions)
        } else {
            cx.pool.for_chunks(self.cost(), positions, self.len, sort_rows)
        }
    }

    fn sort_by_program(
        &self,
        cx: Context<'_>,
        inputs: Inputs<'_>,
        row: Row,
        program: &Program,
        positions: &mut [u32],
    ) -> Result<(), Error> {
        let mut evaluator = program.evaluator();
        let mut args = vec![Scalar::default(); 2 * self.elements.len()]; // Bounded: parameters.
        let operands: Vec<(&[u8], usize)> =
            self.elements.iter().enumerate().map(|(i, element)| (inputs.get(i), element.byte_width())).collect();
        merge::sort(cx, positions, |a, b| {
            for (pair, (bytes, width)) in args.chunks_exact_mut(2).zip(&operands) {
                for (arg, position) in pair.iter_mut().zip([a, b]) {
                    let place = row.base + position as usize * row.stride;
                    *arg = Scalar::from_bytes(&bytes[place * width..][..*width]);
                }
            }
            evaluator.call1(&args).0 & 1 == 1
        })
    }

    /// Writes the elements of each row in the order of `positions`.
    fn permute<T: Pod + Send + Sync>(&self, cx: Context<'_>, operand: &[T], positions: &[u32], result: &mut [T]) {
        let cost = Cost { flops: 0.0, bytes: 4.0 * size_of_val(operand) as f64 };
        if self.rows() == 1 {
            return cx.pool.for_chunks(cost, result, 1, |first, chunk| {
                let positions = &positions[first..];
                chunk.iter_mut().zip(positions).for_each(|(to, &position)| *to = operand[position as usize]);
            });
        }
        let slab = self.len * self.inner;
        cx.pool.for_chunks(cost, result, slab, |first, chunk| {
            for (index, slab_out) in chunk.chunks_exact_mut(slab).enumerate() {
                let start = first + index * slab;
                let positions = &positions[start..][..slab];
                for (column, positions) in positions.chunks_exact(self.len).enumerate() {
                    let from = &operand[start + column..];
                    let to = slab_out[column..].iter_mut().step_by(self.inner);
                    to.zip(positions).for_each(|(to, &position)| *to = from[position as usize * self.inner]);
                }
            }
        });
    }
}

/// Reads the keys of a row, smaller ones first. Returns whether some elements are not the ones that their keys stand
/// for.
fn read_keys<T: Sortable>(operand: &[T], row: Row, key: &Key, keys: &mut [T::Key]) -> bool {
    let (elements, order) = (&operand[row.base..], (T::IS_FLOAT && key.canonical, key.descending));
    if row.stride == 1 {
        return read_adjacent(elements, order, keys);
    }
    let read = keys.iter_mut().zip(elements.iter().step_by(row.stride));
    read.fold(false, |has_odd, (to, &x)| has_odd | read_key(x, order, to))
}

vectorised! {
/// The same of elements next to each other.
fn read_adjacent<T: Sortable>(elements: &[T], order: (bool, bool), keys: &mut [T::Key]) -> bool {
    // Conditions that are known make vectors.
    let mut read = |order| keys.iter_mut().zip(elements).fold(false, |has_odd, (to, &x)| has_odd | read_key(x, order, to));
    match order {
        (false, false) => read((false, false)),
        (false, true) => read((false, true)),
        (true, false) => read((true, false)),
        (true, true) => read((true, true)),
    }
}
}

/// Reads the key of an element; returns whether that stands for another.
#[inline(always)]
pub(super) fn read_key<T: Sortable>(x: T, (is_canonical, is_descending): (bool, bool), to: &mut T::Key) -> bool {
    let own = x.key();
    let key = if is_canonical { x.canonical().key() } else { own };
    *to = if is_descending { key.inverted() } else { key };
    key != own
}

/// Restores the signs and payloads of elements that are equal but differ, zeros and NaNs, in their original order.
pub(super) fn restore_equal<T: Sortable>(from: &[T], row: &mut [T], key: &Key, keys: &[T::Key]) {
    let key_of = |x: T| if key.descending { x.canonical().key().inverted() } else { x.canonical().key() };
    let mut restored: Vec<T::Key> = Vec::new(); // Bounded: classes of zeros and NaNs.
    for &odd in from.iter().filter(|x| x.canonical().key() != x.key()) {
        let class = key_of(odd);
        if restored.contains(&class) {
            continue;
        }
        restored.push(class);
        let start = keys.partition_point(|&each| each < class);
        let equal = from.iter().filter(|&&x| key_of(x) == class);
        row[start..].iter_mut().zip(equal).for_each(|(to, x)| *to = *x);
    }
}

/// Sorts positions by a key; equal keys keep their order, which `is_first` says is that of the positions.
fn sort_by_key<T: Sortable>(
    cx: Context<'_>,
    operand: &[T],
    row: Row,
    key: &Key,
    (threads, is_first): (Threads, bool),
    positions: &mut [u32],
) -> Result<(), Error> {
    let row = match key.part {
        Part::Whole => row,
        Part::Real => Row { base: 2 * row.base, stride: 2 * row.stride },
        Part::Imag => Row { base: 2 * row.base + 1, stride: 2 * row.stride },
    };
    let mut keys = cx.scratch::<T::Key>(positions.len())?;
    threads.divide(cx, &mut keys, |start, keys| {
        read_keys(operand, Row { base: row.base + start * row.stride, ..row }, key, keys);
    });
    let mut items = cx.scratch::<<T::Key as Bits>::WithPosition>(positions.len())?;
    threads.divide(cx, &mut items, |start, items| {
        let ranks = items.iter_mut().zip(start as u32..);
        if is_first {
            ranks.zip(&keys[start..]).for_each(|((item, rank), key)| *item = key.with_position(rank));
        } else {
            ranks.zip(&positions[start..]).for_each(|((item, rank), &position)| {
                *item = keys[position as usize].with_position(rank);
            });
        }
    });
    radix::sort_parallel(cx, &mut items, &mut Scratch::empty(), 32, threads)?;
    if is_first {
        threads.divide(cx, positions, |start, part| {
            part.iter_mut().zip(&items[start..]).for_each(|(position, item)| *position = item.low());
        });
        return Ok(());
    }
    let before = cx.copied(positions)?;
    threads.divide(cx, positions, |start, part| {
        part.iter_mut().zip(&items[start..]).for_each(|(position, item)| *position = before[item.low() as usize]);
    });
    Ok(())
}

impl Kernel for Sort {
    fn name(&self) -> String {
        match self.order {
            Order::Keys(_) => "sort".into(),
            Order::Comparator(_) => "sort[comparator]".into(),
        }
    }

    fn cost(&self) -> Cost {
        let count = (self.rows() * self.len) as f64;
        let levels = (self.len.max(2) as f64).log2();
        let flops = match &self.order {
            Order::Keys(keys) => 40.0 * count * keys.len() as f64 * (levels / 11.0).max(0.3),
            Order::Comparator(program) => 20.0 * count * levels * (2 + program.len()) as f64,
        };
        let bytes: usize = self.elements.iter().map(|element| element.byte_width()).sum();
        Cost { flops, bytes: 3.0 * count * bytes as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.rows() * self.len == 0 {
            return Ok(());
        }
        if let Some(key) = self.only_key() {
            let rows = short::Rows { len: self.len, inner: self.inner };
            let is_short = (2..=short::LONGEST).contains(&self.len) && self.rows() > 1;
            if is_short && let Some(done) = rows.sort(cx, self.cost(), key, self.elements[0], inputs, &mut outputs) {
                return done;
            }
            if self.inner == 1 {
                by_sortable!(self.elements[0], T => self.sort_values::<T>(cx, key, inputs.get(0), outputs.take(0))?);
                return Ok(());
            }
        }
        let mut positions = cx.scratch(self.rows() * self.len)?;
        self.sort_positions(cx, inputs, &mut positions)?;
        for (index, element) in self.elements.iter().enumerate() {
            by_width!(element, T => self.permute::<T>(cx, inputs.get(index), &positions, outputs.take(index)));
        }
        Ok(())
    }
}
