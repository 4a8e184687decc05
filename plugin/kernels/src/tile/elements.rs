//! Small programs as a part of a block of machine code.

use oxcall_hlo::{ElementType, OpKind};
use oxcall_jit::Value as Lane;
use smallvec::SmallVec;

use super::access::Access;
use super::build::{Builder, Definition, SplatOf, Value};
use super::generated;
use crate::machine::{Block, Slot};
use crate::math::function::TileFn;
use crate::math::generated::{self as functions, constant_of, is_wide, lanes_of, width};
use crate::math::{self, Function};

/// The values of a program whose functions all can be generated.
#[derive(Debug)]
pub(super) struct Elements(Builder);

/// The most elements for which values are kept, and the most vectors of all values that a block computes: more of them
/// take so long that the start of a kernel no longer counts.
pub const MOST_ELEMENTS: usize = 1024;
const MOST_VECTORS: usize = 1024;

impl Elements {
    /// The program of `builder`; `None` if it has too many elements, rows, or functions that cannot be generated.
    pub(super) fn new(builder: Builder) -> Option<Elements> {
        let can_be_generated = |value: Value| match &builder.values[value].0 {
            Definition::Input(_) | Definition::Splat(_) => true,
            Definition::Gather(parts) => parts.len() == 1,
            Definition::Iota { .. } => true,
            Definition::Apply { .. } => {
                generated::fits(&builder, value) || is_called(&builder, value) || Indices::of(&builder, value).is_some()
            }
            Definition::Fold { .. }
            | Definition::Spread { .. }
            | Definition::Pick { .. }
            | Definition::Stack { .. } => false,
        };
        let is_small = (1..=MOST_ELEMENTS).contains(&builder.count) && builder.row() == 1;
        let fits = is_small
            && !builder.has_updates()
            && builder.outputs.iter().all(|&(_, element)| lanes_of(element).is_some())
            && builder.values.iter().all(|&(_, element)| lanes_of(element).is_some())
            && (0..builder.values.len()).all(can_be_generated);
        fits.then_some(Elements(builder))
    }

    /// The numbers of lanes that an element may get, best first: that of elements with which functions compute, and
    /// that of values. AVX2 does not write half a vector of narrow elements.
    fn lanes(&self) -> SmallVec<[u8; 2]> {
        let Elements(builder) = self;
        let own = builder.values.iter().filter_map(|&(_, element)| lanes_of(element)).max().unwrap_or(1);
        let has_guard = |(definition, _): &(Definition, ElementType)| match definition {
            Definition::Apply { function, .. } => function.guard.is_some(),
            _ => false,
        };
        let computed = if builder.values.iter().any(has_guard) { 2 } else { own };
        let mut lanes = SmallVec::from_buf([computed, own]);
        lanes.dedup();
        lanes
    }

    /// Adds the program to a block; `None`, and no write, if some vector cannot be read or written.
    pub(super) fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let Elements(builder) = self;
        if !block.fits(builder.count) {
            return None;
        }
        let lines = self.lines();
        let of_lanes = |lanes: u8| lines.iter().find_map(|&line| self.vectors(block, (line, lanes), inputs, outputs));
        let vectors = self.lanes().into_iter().find_map(of_lanes)?;
        // Each vector is read before it is written: operands in place are those that are read element by element.
        for (first, count) in vectors {
            let values = self.vector(block, inputs, first, count)?;
            for (&(value, element), &slot) in builder.outputs.iter().zip(outputs) {
                let lanes = lanes_of(element)? * count;
                block.write(slot, first * element.byte_width(), lanes, width(element), values[value])?;
            }
        }
        Some(())
    }

    /// Numbers of elements, longest first, such that no vector has elements on both sides of a multiple: all, and the
    /// lines along which operands are read. A vector of several lines of a broadcast has no pattern.
    fn lines(&self) -> SmallVec<[usize; 4]> {
        let Elements(builder) = self;
        let line = |(definition, _): &(Definition, ElementType)| match definition {
            Definition::Gather(parts) => parts.first().map(|(_, access)| access.line()),
            Definition::Iota { repeat, .. } => Some(*repeat),
            _ => None,
        };
        let mut lines: SmallVec<[usize; 4]> = builder.values.iter().filter_map(line).collect();
        lines.retain(|line| (2..builder.count).contains(line) && builder.count.is_multiple_of(*line));
        lines.push(builder.count);
        lines.sort_unstable_by_key(|&line| std::cmp::Reverse(line));
        lines.dedup();
        lines
    }

    /// The vectors of the elements, of so many lanes each, none of which crosses a multiple of `line`: the first
    /// element of each, and their number. `None` if they are too many, or some cannot be read or written.
    fn vectors(
        &self,
        block: &Block<'_>,
        (line, lanes): (usize, u8),
        inputs: &[Slot],
        outputs: &[Slot],
    ) -> Option<SmallVec<[(usize, u8); 8]>> {
        let Elements(builder) = self;
        let of_line = |start: usize| block.vectors_of(line, lanes).map(move |(first, count)| (start + first, count));
        let vectors = (0..builder.count).step_by(line).flat_map(of_line);
        let vectors: SmallVec<[(usize, u8); 8]> = vectors.take(MOST_VECTORS + 1).collect();
        if vectors.len() * builder.values.len() > MOST_VECTORS {
            return None;
        }
        for &(first, count) in &vectors {
            let can_access = |slot: Slot, first: usize, element: ElementType, is_write: bool| {
                let lanes = lanes_of(element).map(|lanes| lanes * count);
                let offset = first * element.byte_width();
                lanes.is_some_and(|lanes| block.can_access(slot, offset, lanes, width(element), is_write))
            };
            let is_read = |value: Value| match &builder.values[value] {
                (Definition::Input(input), element) => can_access(inputs[*input], first, *element, false),
                (Definition::Gather(parts), element) => parts.iter().all(|(input, access)| {
                    Pattern::new(access, first, count).is_some_and(|pattern| match pattern {
                        Pattern::Row(place) => can_access(inputs[*input], place, *element, false),
                        Pattern::Same(_) => true,
                        Pattern::Each(_) => !is_wide(*element),
                    })
                }),
                _ => Indices::of(builder, value)
                    .is_none_or(|indices| count <= MOST_INSERTED || indices.are_equal(first, count)),
            };
            let is_written =
                |(&(_, element), &slot): (&(Value, ElementType), &Slot)| can_access(slot, first, element, true);
            if !(0..builder.values.len()).all(is_read) || !builder.outputs.iter().zip(outputs).all(is_written) {
                return None;
            }
        }
        Some(vectors)
    }

    /// One vector of each value.
    fn vector(&self, block: &mut Block<'_>, inputs: &[Slot], first: usize, count: u8) -> Option<Vec<Lane>> {
        let Elements(builder) = self;
        let mut values: Vec<Lane> = Vec::with_capacity(builder.values.len());
        for (index, &(ref definition, element)) in builder.values.iter().enumerate() {
            if let Some(indices) = Indices::of(builder, index) {
                values.push(indices.vector(block, first, count)?);
                continue;
            }
            let value = match definition {
                Definition::Input(input) => {
                    let lanes = lanes_of(element)? * count;
                    block.read(inputs[*input], first * element.byte_width(), lanes, width(element))?
                }
                Definition::Splat(SplatOf::Constant(scalar)) => constant_of(&block.lanes, element, scalar.to_pod()),
                Definition::Splat(SplatOf::Input(input)) => {
                    let stored = builder.input_type(*input);
                    let one = block.read(inputs[*input], 0, lanes_of(stored)?, width(stored))?;
                    block.lanes.set_lanes(1);
                    let one = match math::packed(stored) {
                        Some(packed) => packed.load.record?(&block.lanes, [one; 3]),
                        None => one,
                    };
                    repeated(block, one, element, count)
                }
                Definition::Gather(parts) => {
                    let (input, access) = parts.first()?;
                    Pattern::new(access, first, count)?.read(block, inputs[*input], element, count)?
                }
                Definition::Apply { function, args, .. } => {
                    let mut operands: SmallVec<[Lane; 3]> = args.iter().map(|&arg| values[arg]).collect();
                    operands.resize(3, *operands.first()?);
                    block.lanes.set_lanes(count);
                    let operands = [operands[0], operands[1], operands[2]];
                    match (function.record, function.guard) {
                        (Some(record), _) => record(&block.lanes, operands),
                        (None, Some(guard)) => block.call_guarded(function.tile, guard, operands, count),
                        (None, None) => {
                            let lanes = [lanes_of(builder.values[args[0]].1)?, lanes_of(element)?];
                            block.call(function.tile, operands, count, lanes)
                        }
                    }
                }
                Definition::Iota { .. }
                | Definition::Fold { .. }
                | Definition::Spread { .. }
                | Definition::Stack { .. }
                | Definition::Pick { .. } => return None,
            };
            values.push(value);
        }
        Some(values)
    }
}

/// An element in `count` places.
fn repeated(block: &Block<'_>, one: Lane, element: ElementType, count: u8) -> Lane {
    block.lanes.set_lanes(count);
    if is_wide(element) { block.lanes.wide().broadcast(one) } else { block.lanes.broadcast(one) }
}

/// The indices along a dimension, as elements of some type.
struct Indices {
    repeat: usize,
    size: usize,
    /// The type in which they are counted.
    counted: ElementType,
    /// The conversion from it, if there is one.
    convert: Option<TileFn>,
    element: ElementType,
}

/// The lanes of a vector that can each get an element of their own.
const MOST_INSERTED: u8 = 4;

impl Indices {
    /// The indices that a value is, if it is some.
    fn of(builder: &Builder, value: Value) -> Option<Indices> {
        let (definition, element) = &builder.values[value];
        let (source, convert) = match definition {
            Definition::Apply { function, args, .. } if args.len() == 1 => (args[0], Some(function.tile)),
            _ => (value, None),
        };
        let Definition::Iota { repeat, size } = builder.values[source].0 else { return None };
        Some(Indices { repeat, size, counted: builder.values[source].1, convert, element: *element })
    }

    /// The index of each of `count` elements from `first` on.
    fn numbers(&self, first: usize, count: u8) -> SmallVec<[i64; 16]> {
        (first..first + usize::from(count)).map(|element| (element / self.repeat % self.size) as i64).collect()
    }

    fn are_equal(&self, first: usize, count: u8) -> bool {
        self.numbers(first, count).windows(2).all(|pair| pair[0] == pair[1])
    }

    /// The indices as constants: in all places one, or in each of few its own.
    fn vector(&self, block: &mut Block<'_>, first: usize, count: u8) -> Option<Lane> {
        let are_equal = self.are_equal(first, count);
        let numbers = self.numbers(first, if are_equal { 1 } else { count });
        if is_wide(self.element) && !are_equal {
            let words = numbers.iter().map(|&number| block.lanes.constant(number as u32));
            let vector = inserted(block, words.collect())?;
            block.lanes.set_lanes(count);
            return Some(functions::convert(ElementType::S32, self.element)?(&block.lanes, [vector; 3]));
        }
        let words: SmallVec<[i32; 16]> = numbers.iter().map(|&number| number as i32).collect();
        let from: &[u8] = match self.counted {
            ElementType::S32 => bytemuck::cast_slice(&words),
            _ => bytemuck::cast_slice(&numbers),
        };
        let mut bytes = [0; 64];
        let converted = &mut bytes[..numbers.len() * self.element.byte_width()];
        match self.convert {
            Some(convert) => convert(converted, [from; 3]),
            None => converted.copy_from_slice(from),
        }
        let elements = converted.chunks_exact(self.element.byte_width()).map(|element| {
            let mut bits = [0; 8];
            bits[..element.len()].copy_from_slice(element);
            constant_of(&block.lanes, self.element, u64::from_le_bytes(bits).into())
        });
        inserted(block, elements.collect())
    }
}

/// The vector with these values as its first lanes.
fn inserted(block: &Block<'_>, values: SmallVec<[Lane; 4]>) -> Option<Lane> {
    let (&first, others) = values.split_first()?;
    Some(others.iter().zip(1..).fold(first, |vector, (&value, lane)| {
        block.lanes.set_lanes(MOST_INSERTED);
        block.lanes.insert(vector, lane, value)
    }))
}

/// Whether a value is a function, in Rust, of elements that are computed as they are stored.
fn is_called(builder: &Builder, value: Value) -> bool {
    let Definition::Apply { function, .. } = &builder.values[value].0 else { return false };
    function.record.is_none() && has_whole_lanes(function)
}

/// Whether the operands of a function take equally many lanes, and these and the result fill theirs.
fn has_whole_lanes(function: &Function) -> bool {
    let args = &function.args[..function.arity];
    let is_whole = |element: ElementType| is_word(element) || is_wide(element);
    args.iter().chain([&function.output]).all(|&element| is_whole(element))
        && args.iter().all(|&element| is_wide(element) == is_wide(args[0]))
}

/// Whether elements are computed as they are stored, in 32 bits.
fn is_word(element: ElementType) -> bool {
    element.byte_width() == size_of::<u32>() && math::packed(element).is_none()
}

/// Whether an element-wise op on elements of these types can be a part of a block of machine code.
pub fn is_generated(kind: &OpKind, operands: &[ElementType], result: ElementType) -> bool {
    let fits = |&element: &ElementType| {
        let packed = math::packed(element);
        lanes_of(element).is_some() && packed.is_none_or(|packed| packed.load.record.is_some())
    };
    let is_known = |function: &Function| function.record.is_some() || has_whole_lanes(function);
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

    fn read(self, block: &mut Block<'_>, slot: Slot, element: ElementType, count: u8) -> Option<Lane> {
        let (bytes, width, lanes) = (element.byte_width(), width(element), lanes_of(element)?);
        match self {
            Pattern::Row(place) => block.read(slot, place * bytes, lanes * count, width),
            Pattern::Same(place) => {
                let one = block.read(slot, place * bytes, lanes, width)?;
                Some(repeated(block, one, element, count))
            }
            Pattern::Each(places) => {
                let values = places.iter().map(|&place| block.read(slot, place * bytes, 1, width));
                let values = values.collect::<Option<_>>()?;
                inserted(block, values)
            }
        }
    }
}
