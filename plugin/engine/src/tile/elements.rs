//! Small programs as a part of a block of machine code.

use oxcall_hlo::{ElementType, OpKind};
use oxcall_jit::Value as Lane;
use smallvec::SmallVec;

use super::access::Access;
use super::build::{Builder, Definition, SplatOf, Value};
use super::generated;
use crate::machine::Block;
use crate::math::function::TileFn;
use crate::math::generated::width;
use crate::math::{self, Function};
use crate::plan::Slot;

/// The values of a program whose functions all can be generated.
#[derive(Debug)]
pub(super) struct Elements(Builder);

/// The most elements for which values are kept, and the most vectors of all values that a block computes: more of them
/// take so long that the start of a kernel no longer counts.
pub(crate) const MOST_ELEMENTS: usize = 1024;
const MOST_VECTORS: usize = 512;

impl Elements {
    /// The program of `builder`; `None` if it has too many elements, rows, or functions that cannot be generated.
    pub(super) fn new(builder: Builder) -> Option<Elements> {
        let can_be_generated = |value: Value| match &builder.values[value].0 {
            Definition::Input(_) | Definition::Splat(_) => true,
            Definition::Gather(parts) => parts.len() == 1,
            // Wider than a lane: what is converted from it is a constant.
            Definition::Iota { .. } => true,
            Definition::Apply { .. } => {
                generated::fits(&builder, value) || is_called(&builder, value) || Indices::of(&builder, value).is_some()
            }
            Definition::Fold { .. } | Definition::Spread { .. } => false,
        };
        let is_small = (1..=MOST_ELEMENTS).contains(&builder.count) && builder.row() == 1;
        let is_narrow = |element: ElementType| element.byte_width() <= size_of::<u32>();
        let fits = is_small
            && builder.outputs.iter().all(|&(_, element)| is_narrow(element))
            && builder.values.iter().all(|(value, ty)| is_narrow(*ty) || matches!(value, Definition::Iota { .. }))
            && (0..builder.values.len()).all(can_be_generated);
        fits.then_some(Elements(builder))
    }

    /// Adds the program to a block; `None`, and no write, if some vector cannot be read or written.
    pub(super) fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let Elements(builder) = self;
        let vectors = block.vectors(builder.count).count() * builder.values.len();
        if !block.fits(builder.count) || vectors > MOST_VECTORS {
            return None;
        }
        for (first, lanes) in block.vectors(builder.count) {
            let can_access = |slot: Slot, element: ElementType, is_write: bool| {
                block.can_access(slot, first * element.byte_width(), lanes, width(element), is_write)
            };
            let is_read = |value: Value| match &builder.values[value] {
                (Definition::Input(input), element) => can_access(inputs[*input], *element, false),
                (Definition::Gather(parts), element) => parts.iter().all(|(input, access)| {
                    Pattern::new(access, first, lanes).is_some_and(|pattern| match pattern {
                        Pattern::Row(place) => {
                            let offset = place * element.byte_width();
                            block.can_access(inputs[*input], offset, lanes, width(*element), false)
                        }
                        Pattern::Same(_) | Pattern::Each(_) => true,
                    })
                }),
                (Definition::Apply { .. }, _) => Indices::of(builder, value)
                    .is_none_or(|indices| lanes <= MOST_INSERTED || indices.are_equal(first, lanes)),
                _ => true,
            };
            let is_written = |(&(_, element), &slot): (&(Value, ElementType), &Slot)| can_access(slot, element, true);
            if !(0..builder.values.len()).all(is_read) || !builder.outputs.iter().zip(outputs).all(is_written) {
                return None;
            }
        }
        // Each vector is read before it is written: operands in place are those that are read element by element.
        for (first, lanes) in block.vectors(builder.count) {
            let values = self.vector(block, inputs, first, lanes)?;
            for (&(value, element), &slot) in builder.outputs.iter().zip(outputs) {
                block.write(slot, first * element.byte_width(), lanes, width(element), values[value])?;
            }
        }
        Some(())
    }

    /// One vector of each value.
    fn vector(&self, block: &mut Block<'_>, inputs: &[Slot], first: usize, lanes: u8) -> Option<Vec<Lane>> {
        let Elements(builder) = self;
        let mut values: Vec<Lane> = Vec::with_capacity(builder.values.len());
        for (index, (definition, element)) in builder.values.iter().enumerate() {
            if let Some(indices) = Indices::of(builder, index) {
                values.push(indices.vector(block, first, lanes));
                continue;
            }
            let value = match definition {
                Definition::Input(input) => {
                    block.read(inputs[*input], first * element.byte_width(), lanes, width(*element))?
                }
                Definition::Splat(SplatOf::Constant(scalar)) => block.lanes.constant(scalar.to_pod::<u32>()),
                Definition::Splat(SplatOf::Input(input)) => {
                    let stored = builder.input_type(*input);
                    let one = block.read(inputs[*input], 0, 1, width(stored))?;
                    block.lanes.set_lanes(1);
                    let one = match math::packed(stored) {
                        Some(packed) => packed.load.record?(&block.lanes, [one; 3]),
                        None => one,
                    };
                    block.lanes.set_lanes(lanes);
                    block.lanes.broadcast(one)
                }
                Definition::Gather(parts) => {
                    let (input, access) = parts.first()?;
                    Pattern::new(access, first, lanes)?.read(block, inputs[*input], *element, lanes)?
                }
                Definition::Apply { function, args, .. } => {
                    let mut operands: SmallVec<[Lane; 3]> = args.iter().map(|&arg| values[arg]).collect();
                    operands.resize(3, *operands.first()?);
                    block.lanes.set_lanes(lanes);
                    let operands = [operands[0], operands[1], operands[2]];
                    match function.record {
                        Some(record) => record(&block.lanes, operands),
                        None => block.call(function.tile, operands, lanes),
                    }
                }
                // Only indices use it.
                Definition::Iota { .. } => block.lanes.constant(0),
                Definition::Fold { .. } | Definition::Spread { .. } => return None,
            };
            values.push(value);
        }
        Some(values)
    }
}

/// The indices along a dimension, converted to a type that lanes have.
struct Indices {
    repeat: usize,
    size: usize,
    convert: TileFn,
    width: usize,
}

/// The lanes of a vector that can each get an element of their own.
const MOST_INSERTED: u8 = 4;

impl Indices {
    /// The indices that a value is, if it is some.
    fn of(builder: &Builder, value: Value) -> Option<Indices> {
        let (Definition::Apply { function, args, .. }, element) = &builder.values[value] else { return None };
        let &[arg] = args.as_slice() else { return None };
        let Definition::Iota { repeat, size } = builder.values[arg].0 else { return None };
        let width = element.byte_width();
        (width <= size_of::<u32>()).then_some(Indices { repeat, size, convert: function.tile, width })
    }

    /// The index of each of `lanes` elements from `first` on.
    fn numbers(&self, first: usize, lanes: u8) -> SmallVec<[i64; 16]> {
        (first..first + usize::from(lanes)).map(|element| (element / self.repeat % self.size) as i64).collect()
    }

    fn are_equal(&self, first: usize, lanes: u8) -> bool {
        self.numbers(first, lanes).windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The indices as constants: in all lanes one, or in each of few lanes its own.
    fn vector(&self, block: &mut Block<'_>, first: usize, lanes: u8) -> Lane {
        let numbers = self.numbers(first, if self.are_equal(first, lanes) { 1 } else { lanes });
        let from: &[u8] = bytemuck::cast_slice(&numbers);
        let mut bytes = [0; 64];
        let converted = &mut bytes[..numbers.len() * self.width];
        (self.convert)(converted, [from; 3]);
        let constant = |element: &[u8]| {
            let mut word = [0; 4];
            word[..element.len()].copy_from_slice(element);
            block.lanes.constant(u32::from_le_bytes(word))
        };
        let mut elements = converted.chunks_exact(self.width).map(constant);
        let first = elements.next().expect("vectors have elements");
        elements.enumerate().fold(first, |vector, (index, element)| {
            block.lanes.set_lanes(MOST_INSERTED);
            block.lanes.insert(vector, index as u8 + 1, element)
        })
    }
}

/// Whether a value is a function, in Rust, of elements of 32 bits.
fn is_called(builder: &Builder, value: Value) -> bool {
    let is_word = |value: Value| is_word(builder.values[value].1);
    let Definition::Apply { function, args, .. } = &builder.values[value].0 else { return false };
    function.record.is_none() && is_word(value) && args.iter().all(|&arg| is_word(arg))
}

/// Whether elements are computed as they are stored, in 32 bits.
fn is_word(element: ElementType) -> bool {
    element.byte_width() == size_of::<u32>() && math::packed(element).is_none()
}

/// Whether an element-wise op on elements of these types can be a part of a block of machine code.
pub(crate) fn is_generated(kind: &OpKind, operands: &[ElementType], result: ElementType) -> bool {
    let fits = |&element: &ElementType| {
        let packed = math::packed(element);
        element.byte_width() <= size_of::<u32>() && packed.is_none_or(|packed| packed.load.record.is_some())
    };
    let is_known = |function: &Function| {
        let args = &function.args[..function.arity];
        function.record.is_some() || args.iter().chain([&function.output]).all(|&element| is_word(element))
    };
    operands.iter().chain([&result]).all(fits)
        && math::lower(kind, operands, result).is_ok_and(|steps| steps.iter().all(|step| is_known(&step.function)))
}

/// The elements of an operand that a vector consists of.
enum Pattern {
    /// One element in every lane.
    Same(usize),
    /// Successive ones.
    Row(usize),
    /// Up to four.
    Each(SmallVec<[usize; 4]>),
}

impl Pattern {
    /// The elements for `lanes` elements of the domain from `first` on; `None` if they are far apart and many.
    fn new(access: &Access, first: usize, lanes: u8) -> Option<Pattern> {
        let places: SmallVec<[usize; 16]> = access.places(first).take(usize::from(lanes)).collect();
        let start = *places.first()?;
        if places.iter().all(|&place| place == start) {
            return Some(Pattern::Same(start));
        }
        if places.iter().enumerate().all(|(index, &place)| place == start + index) {
            return Some(Pattern::Row(start));
        }
        (places.len() <= 4).then(|| Pattern::Each(places.into_iter().collect()))
    }

    fn read(self, block: &mut Block<'_>, slot: Slot, element: ElementType, lanes: u8) -> Option<Lane> {
        let (bytes, width) = (element.byte_width(), width(element));
        match self {
            Pattern::Row(place) => block.read(slot, place * bytes, lanes, width),
            Pattern::Same(place) => {
                let one = block.read(slot, place * bytes, 1, width)?;
                block.lanes.set_lanes(lanes);
                Some(block.lanes.broadcast(one))
            }
            Pattern::Each(places) => {
                let mut vector = block.read(slot, places[0] * bytes, 1, width)?;
                for (lane, &place) in places.iter().enumerate().skip(1) {
                    let one = block.read(slot, place * bytes, 1, width)?;
                    block.lanes.set_lanes(4);
                    vector = block.lanes.insert(vector, lane as u8, one);
                }
                Some(vector)
            }
        }
    }
}
