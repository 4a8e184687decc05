//! Construction of tile programs: from values to slots.

use std::sync::OnceLock;

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, OpKind};
use smallvec::{SmallVec, smallvec};

use super::access::Access;
use super::chain::Chain;
use super::elements::Elements;
use super::generated;
use super::memory::{Cell, Slot};
use super::program::{Linked, Program, Splat, Step};
use super::rings::{self, LONGEST_RING, Parts, Ring, ring, runs};
use super::run::Run;
use super::runs::{Runs, Simple};
use super::table::Table;
use super::update::{Region, Update};
use crate::element::Scalar;
use crate::kernel::Outputs;
use crate::kernels::reduce::{RowFold, row_fold};
use crate::math::generated::{is_quad, is_wide};
use crate::math::{self, Function, Source, wide};
use crate::pool::Cost;

/// The number of a value in a [`Builder`].
pub type Value = usize;

/// The definition of a value.
#[derive(Debug, Clone)]
pub(super) enum Definition {
    /// The tile of an operand, read in place.
    Input(usize),
    /// A register that is filled before the first tile.
    Splat(SplatOf),
    /// Elements of operands.
    Gather(Parts),
    /// Words of operand `input` at signed indices of 32 bits, which are moved into its bounds.
    Pick { input: usize, arg: [Value; 1] },
    /// An index.
    Iota { repeat: usize, size: usize },
    /// Each row of a value, reduced to one element.
    Fold { fold: RowFold, arg: [Value; 1] },
    /// The elements of a value with one element per row, each repeated for its row.
    Spread { arg: [Value; 1] },
    /// One element of each value side by side; a result.
    Stack { args: SmallVec<[Value; 4]> },
    /// A function of values; `simple` if a chain can compute it.
    Apply { function: Function, args: SmallVec<[Value; 3]>, simple: Option<Simple> },
}

impl Definition {
    /// The arguments of the definition.
    pub(super) fn args(&self) -> &[Value] {
        match self {
            Definition::Apply { args, .. } => args,
            Definition::Stack { args } => args,
            Definition::Fold { arg, .. } | Definition::Spread { arg } | Definition::Pick { arg, .. } => arg,
            _ => &[],
        }
    }

    /// Whether it reads elements of an operand.
    fn reads(&self, operand: usize) -> bool {
        match self {
            Definition::Input(input) | Definition::Splat(SplatOf::Input(input)) | Definition::Pick { input, .. } => {
                *input == operand
            }
            Definition::Gather(parts) => parts.iter().any(|(input, _)| *input == operand),
            _ => false,
        }
    }

    /// The arguments, to be replaced.
    pub(super) fn args_mut(&mut self) -> &mut [Value] {
        match self {
            Definition::Apply { args, .. } => args,
            Definition::Stack { args } => args,
            Definition::Fold { arg, .. } | Definition::Spread { arg } | Definition::Pick { arg, .. } => arg,
            _ => &mut [],
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum SplatOf {
    Constant(Scalar),
    Input(usize),
}

/// A program under construction: values in order, each computed from earlier ones.
#[derive(Debug, Clone)]
pub struct Builder {
    /// The number of elements.
    pub(crate) count: usize,
    /// The number of elements in a row; 1 without rows.
    row: usize,
    /// Whether added values have one element per row.
    pub per_row: bool,
    /// Whether runs of functions become machine code.
    pub generate: bool,
    /// Whether machine code has a label for each operation.
    pub listed: bool,
    /// Whether the program is a step of a loop, which may become machine code as a whole.
    pub in_loop: bool,
    /// Whether machine code reads gathered elements where they are, row by row.
    pub(super) reads_runs: bool,
    /// Whether each value has one element per row.
    rows: Vec<bool>,
    /// The definition of each value, and the element type of its slot.
    pub(super) values: Vec<(Definition, ElementType)>,
    /// The type of each operand, and the number of its bytes that are read.
    inputs: Vec<(ElementType, usize)>,
    pub(crate) outputs: Vec<(Value, ElementType)>,
    /// The number of the last results that are reduced, tile by tile.
    reduced: usize,
    /// The operands that are accumulators of these results, if they are machine code.
    accumulators: Vec<usize>,
    /// The results that are parts of larger arrays.
    updates: Vec<Update>,
}

/// The number of elements from which on a row is long.
const LONG_ROW: usize = 32;

/// A row of machine code takes as long, beside its elements, as a copy of so many takes.
const COPIED: usize = 32;

/// Rows of machine code that are evenly spaced take as long, beside each of them, as a copy of so many elements takes.
const COPIED_FOR_GROUP: usize = 512;

impl Builder {
    /// A program over `count` elements, whose operands have the given types and numbers of elements.
    pub fn new(count: usize, inputs: impl IntoIterator<Item = (ElementType, usize)>) -> Builder {
        let inputs = inputs.into_iter().collect();
        Builder {
            count,
            row: 1,
            per_row: false,
            generate: false,
            listed: false,
            in_loop: false,
            reads_runs: false,
            rows: Vec::new(),
            values: Vec::new(),
            inputs,
            outputs: Vec::new(),
            reduced: 0,
            accumulators: Vec::new(),
            updates: Vec::new(),
        }
    }

    /// A program over `count` elements in rows of `row`, without operands yet.
    pub fn of_rows(count: usize, row: usize) -> Builder {
        Builder { row, ..Builder::new(count, []) }
    }

    fn push(&mut self, definition: Definition, element: ElementType) -> Value {
        // A splat is the same for elements and rows, so one register serves both.
        let is_per_row = self.per_row && !matches!(definition, Definition::Splat(_));
        self.push_as(definition, element, is_per_row)
    }

    /// Adds a value, which has one element per row or one per element.
    pub(super) fn push_as(&mut self, definition: Definition, element: ElementType, is_per_row: bool) -> Value {
        self.rows.push(is_per_row);
        self.values.push((definition, element));
        self.values.len() - 1
    }

    /// Whether a value has one element per row.
    pub fn is_per_row(&self, value: Value) -> bool {
        self.rows[value]
    }

    /// Whether all elements of a value are equal.
    pub fn is_constant(&self, value: Value) -> bool {
        matches!(self.values[value].0, Definition::Splat(_))
    }

    /// A value with one element per row, repeated for each row.
    pub fn spread(&mut self, value: Value) -> Value {
        self.push(Definition::Spread { arg: [value] }, self.values[value].1)
    }

    /// The rows of a value of type `element`, reduced by a function whose initial value is `init`.
    ///
    /// # Errors
    /// UNIMPLEMENTED if there is no such reduction of rows.
    pub fn fold(
        &mut self,
        function: BinaryOp,
        element: ElementType,
        value: Value,
        init: Value,
    ) -> Result<Value, Error> {
        let Some((fold, identity)) = row_fold(function, wide(element)) else {
            return Err(Error::unimplemented(format!("reducing rows by {} is not supported", function.name())));
        };
        let folded = self.push(Definition::Fold { fold, arg: [value] }, wide(element));
        let folded = match math::packed(element) {
            Some(packed) => self.apply(packed.round, &[folded]),
            None => folded,
        };
        match self.values[init].0 {
            Definition::Splat(SplatOf::Constant(known)) if known == identity => Ok(folded),
            _ => self.op(&OpKind::Binary(function), &[(init, element), (folded, element)], element),
        }
    }

    /// Adds an operand.
    pub fn add_input(&mut self, element: ElementType, count: usize) -> usize {
        self.inputs.push((element, count));
        self.inputs.len() - 1
    }

    /// The elements of operand `input`, in their stored form.
    pub(crate) fn stored_input(&mut self, input: usize, access: Access) -> Value {
        let element = self.inputs[input].0;
        let is_whole = access.is_contiguous() && access.count() == self.inputs[input].1;
        match () {
            () if is_whole => self.push(Definition::Input(input), element),
            () => self.push(Definition::Gather(smallvec![(input, access)]), element),
        }
    }

    /// The elements of operand `input`, in their computed form.
    pub fn input(&mut self, input: usize, access: Access) -> Value {
        let element = self.inputs[input].0;
        if access.is_splat() && self.count > 1 {
            return self.push(Definition::Splat(SplatOf::Input(input)), wide(element));
        }
        let stored = self.stored_input(input, access);
        self.loaded(stored, element)
    }

    /// The elements of operand `input`, of 32 bits, at signed indices of 32 bits, which are moved into its bounds.
    pub fn pick(&mut self, input: usize, index: Value) -> Value {
        self.push(Definition::Pick { input, arg: [index] }, self.inputs[input].0)
    }

    /// The last index of operand `input`; `None` if it is no signed integer of 32 bits.
    pub(super) fn last_of(&self, input: usize) -> Option<u32> {
        let last = self.inputs[input].1.checked_sub(1)?;
        i32::try_from(last).ok().map(i32::cast_unsigned)
    }

    /// Elements of several operands of type `element`, in their computed form. Each element of the domain is in the box
    /// of one access.
    pub fn joined(&mut self, parts: Parts, element: ElementType) -> Value {
        let stored = self.push(Definition::Gather(parts), element);
        self.loaded(stored, element)
    }

    /// The computed form of elements in their stored form.
    fn loaded(&mut self, stored: Value, element: ElementType) -> Value {
        match math::packed(element) {
            Some(packed) => self.apply(packed.load, &[stored]),
            None => stored,
        }
    }

    /// A constant, of a type in which elements are computed.
    pub(crate) fn constant(&mut self, value: Scalar, wide: ElementType) -> Value {
        let is_same = |(definition, element): &(Definition, ElementType)| {
            *element == wide && matches!(definition, Definition::Splat(SplatOf::Constant(known)) if *known == value)
        };
        if let Some(known) = self.values.iter().position(is_same) {
            return known;
        }
        self.push(Definition::Splat(SplatOf::Constant(value)), wide)
    }

    /// A constant in its stored form.
    pub fn stored_constant(&mut self, bytes: &[u8], element: ElementType) -> Value {
        let value = Scalar::from_bytes(bytes);
        let value = math::packed(element).map_or(value, |packed| packed.load.call([value; 3]));
        self.constant(value, wide(element))
    }

    /// The index along dimension `dim` of a domain of size `dims`.
    ///
    /// # Errors
    /// UNIMPLEMENTED if there is no conversion to `element`.
    pub fn iota(&mut self, dims: &[usize], dim: usize, element: ElementType) -> Result<Value, Error> {
        let repeat = dims[dim + 1..].iter().product();
        // Those of 64 bits take twice the memory of what most of them are converted to.
        let wide = if i32::try_from(dims[dim]).is_ok() { ElementType::S32 } else { ElementType::S64 };
        let index = self.push(Definition::Iota { repeat, size: dims[dim] }, wide);
        self.op(&OpKind::Convert, &[(index, wide)], element)
    }

    /// A function of values.
    pub(crate) fn apply(&mut self, function: Function, args: &[Value]) -> Value {
        self.push(Definition::Apply { function, args: args.into(), simple: None }, function.output)
    }

    /// An element-wise op on values, with their element types in the program.
    ///
    /// # Errors
    /// UNIMPLEMENTED if the op is not defined for these types.
    pub fn op(
        &mut self,
        kind: &OpKind,
        operands: &[(Value, ElementType)],
        result: ElementType,
    ) -> Result<Value, Error> {
        let types: SmallVec<[ElementType; 4]> = operands.iter().map(|&(_, element)| element).collect();
        let mut results = SmallVec::<[Value; 4]>::new();
        for step in math::lower(kind, &types, result)? {
            let mut args = SmallVec::<[Value; 3]>::new();
            for source in step.sources {
                args.push(match source {
                    Source::Operand(index) => operands[index].0,
                    Source::Step(index) => results[index],
                    Source::Constant(value) => self.constant(value, ElementType::U32),
                });
            }
            results.push(self.apply(step.function, &args));
        }
        if let &[only] = &results[..]
            && let Definition::Apply { simple, .. } = &mut self.values[only].0
        {
            *simple = Simple::new(kind, &types, result).filter(|_| !self.per_row);
        }
        Ok(results.last().copied().unwrap_or(operands[0].0))
    }

    /// Adds a result of type `element`.
    pub fn output(&mut self, value: Value, element: ElementType) {
        let stored = self.stored(value, element);
        self.stored_output(stored, element);
    }

    /// A value in its stored form, which rounds by itself what was only rounded to be stored.
    fn stored(&mut self, value: Value, element: ElementType) -> Value {
        let Some(packed) = math::packed(element) else { return value };
        let exact = match &self.values[value].0 {
            Definition::Apply { function, args, .. } if function.rounds_to == Some(element) => args[0],
            _ => value,
        };
        self.apply(packed.store, &[exact])
    }

    /// Adds a result with one element of each value side by side, for each element of the domain.
    pub fn output_stack(&mut self, parts: &[Value], element: ElementType) {
        let args = parts.iter().map(|&part| self.stored(part, element)).collect();
        let stack = self.push(Definition::Stack { args }, element);
        self.stored_output(stack, element);
    }

    /// Adds a result of type `element`: operand `operand`, or an array of copies of that if it is a scalar, with the
    /// elements of a value in a box of it. The program may read the operand.
    ///
    /// # Errors
    /// INTERNAL if the value is not computed, or is a result; UNIMPLEMENTED if other elements of the operand are read,
    /// and the box is only a small part of it, so that it would be copied more than once, or if there are too many
    /// results.
    pub fn output_update(
        &mut self,
        value: Value,
        element: ElementType,
        operand: usize,
        region: Region,
    ) -> Result<(), Error> {
        let stored = self.stored(value, element);
        let is_result = self.outputs.iter().any(|&(output, _)| output == stored);
        if is_result || !matches!(self.values[stored].0, Definition::Apply { .. }) || self.row > 1 {
            return Err(Error::internal("only what a program computes, and nothing else, is a part of an array"));
        }
        if self.outputs.len() >= Outputs::MOST_TAKEN {
            return Err(Error::unimplemented("only the first 64 results of a program can be parts of larger arrays"));
        }
        let update = Update { output: self.outputs.len(), operand, element, region };
        if !self.reads_only_inside(&update) && 2 * self.count < self.inputs[operand].1 {
            return Err(Error::unimplemented("an array is read whose small part is updated"));
        }
        self.updates.push(update);
        self.stored_output(stored, element);
        Ok(())
    }

    /// Whether elements of an update's operand are read only at the places that are written for them.
    fn reads_only_inside(&self, update: &Update) -> bool {
        let is_inside = |(definition, _): &(Definition, ElementType)| match definition {
            Definition::Gather(parts) => match &parts[..] {
                [(_, access)] => access == update.region.inside(),
                _ => false,
            },
            _ => false,
        };
        self.values.iter().all(|value| !value.0.reads(update.operand) || is_inside(value))
    }

    /// Whether elements of an operand are read.
    fn is_read(&self, operand: usize) -> bool {
        self.values.iter().any(|(definition, _)| definition.reads(operand))
    }

    /// Whether results are parts of larger arrays.
    pub(super) fn has_updates(&self) -> bool {
        !self.updates.is_empty()
    }

    /// The update that a value is written to.
    fn update_of(&self, value: Value) -> Option<&Update> {
        self.updates.iter().find(|update| self.outputs[update.output].0 == value)
    }

    /// The number of elements that a value has for each element of the domain.
    fn stacked(&self, value: Value) -> usize {
        match &self.values[value].0 {
            Definition::Stack { args } => args.len(),
            _ => 1,
        }
    }

    /// Adds a result of type `element`, from a value in its stored form.
    pub(crate) fn stored_output(&mut self, stored: Value, element: ElementType) {
        self.outputs.push((stored, element));
    }

    /// Adds a result that combines the elements of a value of type `element` with accumulators, after all operands and
    /// other results.
    ///
    /// # Errors
    /// UNIMPLEMENTED if the function is not defined for this type.
    pub(super) fn accumulate(&mut self, function: BinaryOp, element: ElementType, value: Value) -> Result<(), Error> {
        let input = self.add_input(element, 0);
        let known = self.push(Definition::Input(input), element);
        let joined = self.op(&OpKind::Binary(function), &[(known, element), (value, element)], element)?;
        self.accumulators.push(input);
        self.reduce(joined, element);
        Ok(())
    }

    /// Adds a result that is reduced, tile by tile, after all others.
    pub(super) fn reduce(&mut self, value: Value, element: ElementType) {
        self.reduced += 1;
        self.stored_output(value, element);
    }

    /// Puts the values in another order, in which each is still computed from earlier ones.
    pub(super) fn reorder(&mut self, order: &[Value]) {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &value)| places[value] = place);
        self.rows = order.iter().map(|&value| self.rows[value]).collect();
        self.values = order.iter().map(|&value| self.values[value].clone()).collect();
        for (definition, _) in &mut self.values {
            definition.args_mut().iter_mut().for_each(|arg| *arg = places[*arg]);
        }
        self.outputs.iter_mut().for_each(|(value, _)| *value = places[*value]);
    }

    /// Builds a program with [accumulators](Builder::accumulate); `None` if it cannot become machine code as a whole.
    pub(super) fn build_table(mut self, name: &str) -> Option<Program> {
        self.share_exponentials();
        self.reads_runs = self.generate && self.are_long(COPIED);
        if self.reads_runs { Allocation::new(&self).program(&self, name) } else { None }
    }

    /// Builds the program. `name` is for dumps.
    pub fn build(mut self, name: String) -> Program {
        self.share_exponentials();
        self.recompute();
        self.reads_runs = self.generate && self.has_long_runs();
        let program = loop {
            match Allocation::new(&self).program(&self, &name) {
                Some(program) => break program,
                None if self.reads_runs => self.reads_runs = false,
                None => self.generate = false,
            }
        };
        let elements = if self.in_loop { Elements::new(self) } else { None };
        Program { elements, ..program }
    }

    /// Whether machine code runs row by row: rows are long enough that this beats writing out what they repeat and
    /// reading it back.
    pub(super) fn generates_rows(&self) -> bool {
        self.generate && self.row >= LONG_ROW
    }

    /// Whether it takes less time to compute each run of gathered elements apart, where they are, than to gather them.
    fn has_long_runs(&self) -> bool {
        let is_elsewhere = self.gathers().count() + self.updates.len() > 0;
        self.row == 1 && is_elsewhere && self.are_long(COPIED)
    }

    /// Whether all gathered elements are in runs that are at least as long as rings, or rings.
    pub(super) fn has_long_rows(&self) -> bool {
        let is_long = |parts: &Parts| runs(parts) <= self.count.div_ceil(LONGEST_RING);
        self.gathers().all(|parts| ring(parts).is_some() || is_long(parts))
    }

    /// Whether copies of all gathered elements take longer than to find their runs, each of which takes as long as a
    /// copy of `copied` elements.
    fn are_long(&self, copied: usize) -> bool {
        let has_rings = self.has_long_rows();
        let runs_of = |parts: &Parts| match ring(parts) {
            Some(ring) if has_rings => self.count / ring.width,
            _ => runs(parts),
        };
        let written = self.updates.iter().map(|update| update.region.runs());
        let Some(runs) = self.gathers().map(runs_of).chain(written).max() else { return true };
        let copies = self.gathers().count() + self.updates.len();
        runs * copied + self.groups() * COPIED_FOR_GROUP <= self.count * copies
    }

    /// The number of groups of runs that are evenly spaced, if no run ends within a line of another.
    fn groups(&self) -> usize {
        let read = || self.gathers().filter(|parts| ring(parts).is_none()).flatten().map(|(_, access)| access);
        let accesses = || read().chain(self.updates.iter().map(|update| update.region.inside()));
        if accesses().any(Access::cuts_lines) {
            return 0;
        }
        let row = accesses().map(Access::line).filter(|&line| line > 1).min().unwrap_or(self.count);
        accesses().map(|access| access.groups(row)).max().unwrap_or(0)
    }

    /// Whether each run of a gathered value repeats one word or pair, so that the code loads a single element.
    pub(super) fn is_constant_in_runs(&self, value: Value, parts: &[(usize, Access)]) -> bool {
        let element = self.values[value].1;
        let is_word = element.byte_width() == size_of::<u32>() || is_wide(element) || is_quad(element);
        let is_output = self.outputs.iter().any(|&(output, _)| output == value);
        let is_even = || parts.iter().all(|(_, access)| access.stride() == 0);
        self.reads_runs && is_word && !is_output && is_even() && self.ring(value, parts).is_none()
    }

    /// The ring that a gathered value is, if its elements are a short row that repeats.
    fn ring(&self, value: Value, parts: &[(usize, Access)]) -> Option<Ring> {
        let is_output = self.outputs.iter().any(|&(output, _)| output == value);
        ring(parts).filter(|_| self.reads_runs && !is_output && self.has_long_rows())
    }

    /// The operand, and the first of its elements, that a gathered value has in each row, if they are the same ones.
    pub(super) fn same_row(&self, parts: &Parts) -> Option<(usize, usize)> {
        let [(input, access)] = &parts[..] else { return None };
        let (first, period) = access.period()?;
        (period == self.row).then_some((*input, first))
    }

    /// Whether a value has one element per row, or the same elements in every row.
    pub(super) fn repeats_in_rows(&self, value: Value) -> bool {
        match &self.values[value].0 {
            Definition::Spread { .. } => true,
            Definition::Gather(parts) => self.same_row(parts).is_some(),
            _ => false,
        }
    }

    /// Whether no other value takes the register of a value: it is filled in advance, or elements are read or written
    /// where they are.
    fn keeps_register(&self, value: Value) -> bool {
        if self.update_of(value).is_some() {
            return true;
        }
        match self.values[value].0 {
            Definition::Splat(_) => true,
            Definition::Gather(_) => self.reads_runs,
            _ => false,
        }
    }

    /// Whether a result depends on each value.
    pub(super) fn used(&self) -> Vec<bool> {
        let mut used = vec![false; self.values.len()];
        self.outputs.iter().for_each(|&(value, _)| used[value] = true);
        for (value, (definition, _)) in self.values.iter().enumerate().rev() {
            if used[value] {
                definition.args().iter().for_each(|&arg| used[arg] = true);
            }
        }
        used
    }

    /// The type of operand `input`.
    pub(super) fn input_type(&self, input: usize) -> ElementType {
        self.inputs[input].0
    }

    /// The number of elements in a row; 1 without rows.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// The operands and maps of each gathered value.
    fn gathers(&self) -> impl Iterator<Item = &Parts> {
        self.values.iter().filter_map(|(definition, _)| match definition {
            Definition::Gather(parts) => Some(parts),
            _ => None,
        })
    }

    fn cost(&self) -> Cost {
        /// What the copy of a run takes beside its elements: about three nanoseconds.
        const RUN_FLOPS: f64 = 24.0;
        /// The most words of an operand that is in a cache near the processor.
        const NEAR: usize = 1 << 18;
        let flops: f32 = (self.values.iter())
            .map(|(definition, _)| match definition {
                Definition::Apply { function, .. } => function.flops,
                Definition::Pick { input, .. } if self.inputs[*input].1 <= NEAR => 16.0,
                // Most of them are in memory.
                Definition::Pick { .. } => 64.0,
                Definition::Gather(_) | Definition::Iota { .. } => 1.0,
                Definition::Fold { .. } | Definition::Spread { .. } => 1.0,
                Definition::Stack { args } => args.len() as f32,
                _ => 0.0,
            })
            .sum();
        let runs: usize = self.gathers().flatten().map(|(_, access)| access.runs()).sum();
        let read = self.bytes_read();
        let results = |value: Value| if self.rows[value] { self.count / self.row } else { self.count };
        let outputs = &self.outputs[..self.outputs.len() - self.reduced];
        let written: usize =
            (outputs.iter()).map(|&(value, element)| element.byte_width() * self.stacked(value) * results(value)).sum();
        // In registers, an operation takes a fraction of the time that it takes in a pass of its own.
        let share = if self.generate { 0.25 } else { 1.0 };
        let flops = share * f64::from(flops) * self.count as f64 + RUN_FLOPS * runs as f64;
        Cost { flops, bytes: (read + written) as f64 }
    }

    /// The number of bytes of operands that are read: of a slice of a large one, only its own.
    fn bytes_read(&self) -> usize {
        let mut read = vec![0; self.inputs.len()];
        for (definition, _) in &self.values {
            match definition {
                Definition::Input(input) => read[*input] = self.inputs[*input].1,
                Definition::Pick { input, .. } => read[*input] += self.count,
                Definition::Splat(SplatOf::Input(input)) => read[*input] += 1,
                Definition::Gather(parts) => parts.iter().for_each(|(input, access)| read[*input] += access.len()),
                _ => {}
            }
        }
        let bytes = |(&(element, all), read): (&(ElementType, usize), usize)| element.byte_width() * read.min(all);
        self.inputs.iter().zip(read).map(bytes).sum()
    }

    /// Whether an operand has one element per row.
    fn is_row_input(&self, input: usize) -> bool {
        self.row > 1 && self.inputs[input].1 == self.count / self.row
    }

    /// Operands that are read only as tiles, each paired with a result of the same width, and operands of updates, each
    /// with its result. `reads_first` says that all elements are read where they are, before any is written.
    fn in_place(&self, reads_first: bool) -> Vec<(usize, usize)> {
        let is_free = |update: &&Update| {
            let is_array = self.inputs[update.operand].1 == update.region.all();
            // Another update of it copies what is around its own box.
            let is_only = self.updates.iter().filter(|other| other.operand == update.operand).count() == 1;
            let is_read_there = !self.is_read(update.operand) || reads_first && self.reads_only_inside(update);
            is_array && is_only && is_read_there
        };
        let mut pairs: Vec<(usize, usize)> =
            self.updates.iter().filter(is_free).map(|update| (update.operand, update.output)).collect();
        for (input, &(element, _)) in self.inputs.iter().enumerate() {
            let is_whole = |definition: &Definition| matches!(definition, Definition::Input(i) if *i == input);
            let is_part = |definition: &Definition| match definition {
                Definition::Gather(parts) => parts.iter().any(|(part, _)| *part == input),
                Definition::Splat(SplatOf::Input(whole)) | Definition::Pick { input: whole, .. } => *whole == input,
                _ => false,
            };
            let is_accumulator = self.accumulators.contains(&input);
            if !is_accumulator
                && self.values.iter().any(|(each, _)| is_whole(each))
                && !self.values.iter().any(|(each, _)| is_part(each))
            {
                let fits = |(value, output): &(Value, ElementType)| {
                    let width = output.byte_width() * self.stacked(*value);
                    width == element.byte_width() && self.rows[*value] == self.is_row_input(input)
                };
                let outputs = self.outputs[..self.outputs.len() - self.reduced].iter().enumerate();
                let outputs = outputs.filter(|(_, output)| self.update_of(output.0).is_none());
                pairs.extend(outputs.filter(|(_, output)| fits(output)).map(|(output, _)| (input, output)));
            }
        }
        pairs
    }
}

/// The allocation of registers to values.
struct Allocation {
    /// The slot of each value; registers are numbered from 0, operands from `registers.len()`, and so on.
    places: Vec<Option<Place>>,
    registers: Vec<Cell>,
    runs: Runs,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Register(Slot),
    Input(usize),
    Output(usize),
}

impl Allocation {
    /// A register is free again after the last use of its value, unless the value keeps it. A value that is a
    /// result is written directly to the first such result.
    fn new(builder: &Builder) -> Allocation {
        let runs = Runs::new(builder);
        let mut last_use = vec![None; builder.values.len()];
        let used = builder.used();
        for index in (0..builder.values.len()).filter(|&index| used[index]) {
            // A run reads all that its members need when it runs, at its end.
            let at = runs.end(index).unwrap_or(index);
            for &arg in runs.reads(index) {
                last_use[arg] = last_use[arg].max(Some(at));
            }
        }
        for &(value, _) in &builder.outputs {
            last_use[value] = Some(usize::MAX);
        }
        let mut dying: Vec<SmallVec<[Value; 2]>> = vec![SmallVec::new(); builder.values.len()];
        for (value, last) in last_use.iter().enumerate() {
            if let Some(dying) = last.and_then(|last| dying.get_mut(last)) {
                dying.push(value);
            }
        }
        let mut allocation = Allocation { places: Vec::new(), registers: Vec::new(), runs };
        let mut free: Vec<Slot> = Vec::new();
        for (index, (definition, element)) in builder.values.iter().enumerate() {
            let is_splat = matches!(definition, Definition::Splat(_));
            let is_kept = builder.keeps_register(index);
            let is_elsewhere = is_splat || builder.update_of(index).is_some();
            let output = builder.outputs.iter().position(|&(value, _)| value == index).filter(|_| !is_elsewhere);
            let place = match (definition, output) {
                (Definition::Input(input), _) => Some(Place::Input(*input)),
                (_, Some(output)) => Some(Place::Output(output)),
                _ if last_use[index].is_none() || allocation.runs.is_internal(index) => None,
                _ => {
                    let cell = Cell { element: *element, per_row: builder.rows[index], stacked: 1 };
                    Some(Place::Register(allocation.register(cell, is_kept, &mut free)))
                }
            };
            allocation.places.push(place);
            for &value in &dying[index] {
                if let Some(Place::Register(register)) = allocation.places[value]
                    && !builder.keeps_register(value)
                {
                    free.push(register);
                }
            }
        }
        allocation
    }

    fn register(&mut self, cell: Cell, keep: bool, free: &mut Vec<Slot>) -> Slot {
        let size = |cell: Cell| (cell.element.byte_width(), cell.per_row);
        let fitting = free.iter().rposition(|&slot| size(self.registers[slot as usize]) == size(cell));
        if let (Some(index), false) = (fitting, keep) {
            return free.swap_remove(index);
        }
        self.registers.push(cell);
        self.registers.len() as Slot - 1
    }

    fn slot(&self, builder: &Builder, place: Place) -> Slot {
        let registers = self.registers.len();
        match place {
            Place::Register(slot) => slot,
            Place::Input(input) => (registers + input) as Slot,
            Place::Output(output) => (registers + builder.inputs.len() + output) as Slot,
        }
    }

    /// The slots of accumulators.
    fn accumulators(&self, builder: &Builder) -> SmallVec<[[Slot; 2]; 2]> {
        let outputs = builder.outputs.len() - builder.reduced..;
        let slots = |(&input, output): (&usize, usize)| {
            [Place::Input(input), Place::Output(output)].map(|place| self.slot(builder, place))
        };
        builder.accumulators.iter().zip(outputs).map(slots).collect()
    }

    /// The program; `None` if a run cannot become machine code, or something else is between runs of elements.
    fn program(self, builder: &Builder, name: &str) -> Option<Program> {
        let (mut splats, mut steps, mut rings) = (Vec::new(), Vec::new(), Vec::new());
        let slot = |place| self.slot(builder, place);
        let slot_of = |value: Value| self.places[value].map(slot).unwrap_or_default();
        for (index, (definition, element)) in builder.values.iter().enumerate() {
            if let Some(end) = self.runs.end(index) {
                if end == index {
                    let linked = if builder.generate {
                        let operand = |input: usize| slot(Place::Input(input));
                        generated::compile(&self.runs, builder, index, slot_of, operand)?
                    } else {
                        let coded = self.runs.code(builder, index, slot_of);
                        let run = Run::Chain(Chain::new(coded.code));
                        Linked { run, reads_first: false, slots: coded.slots, blocks: coded.blocks }
                    };
                    steps.push(Step::Run(Box::new(linked)));
                }
                continue;
            }
            let Some(out) = self.places[index].map(slot) else { continue };
            match definition.clone() {
                Definition::Input(_) => {}
                Definition::Splat(SplatOf::Constant(value)) => splats.push((out, Splat::Constant(value))),
                Definition::Splat(SplatOf::Input(input)) => {
                    let stored = builder.inputs[input].0;
                    let load = math::packed(stored).map(|packed| packed.load);
                    splats.push((out, Splat::Input { slot: slot(Place::Input(input)), element: stored, load }));
                }
                Definition::Gather(parts) if let Some(ring) = builder.ring(index, &parts) => {
                    let [(input, access)] = &parts[..] else { unreachable!("a ring is of one operand") };
                    let array = slot(Place::Input(*input));
                    let (element, access) = (*element, access.clone());
                    rings.push(rings::Register { slot: out, element, ring, array, access });
                }
                Definition::Gather(parts) => {
                    let part = |(input, access)| (slot(Place::Input(input)), access);
                    let is_even = builder.is_constant_in_runs(index, &parts);
                    let parts = parts.into_iter().map(part).collect();
                    steps.push(Step::Gather { parts, element: *element, out, is_even });
                }
                Definition::Fold { fold, arg: [arg] } => steps.push(Step::Fold { fold, from: slot_of(arg), out }),
                Definition::Spread { arg: [arg] } => {
                    steps.push(Step::Spread { from: slot_of(arg), element: *element, out });
                }
                Definition::Iota { repeat, size } => {
                    steps.push(Step::Iota { repeat, size, element: *element, out });
                }
                Definition::Pick { input, arg: [arg] } => {
                    steps.push(Step::Pick { array: slot(Place::Input(input)), index: slot_of(arg), out });
                }
                Definition::Stack { args } => {
                    let parts = args.iter().map(|&arg| slot_of(arg)).collect();
                    steps.push(Step::Stack { parts, element: *element, out });
                }
                Definition::Apply { function, args, .. } => {
                    let mut slots = [out; 3];
                    slots.iter_mut().zip(&args).for_each(|(slot, &arg)| *slot = slot_of(arg));
                    steps.push(Step::Apply { function: function.tile, arity: args.len() as u8, args: slots, out });
                }
            }
        }
        for (output, &(value, _)) in builder.outputs.iter().enumerate() {
            let (from, out) = (slot_of(value), slot(Place::Output(output)));
            match builder.update_of(value) {
                Some(Update { element, region, .. }) => {
                    let access = region.inside().clone();
                    steps.push(Step::Update { from, element: *element, out, access });
                }
                None if from != out => steps.push(Step::Copy { from, out }),
                None => {}
            }
        }
        let table = if builder.reads_runs {
            let accumulators = self.accumulators(builder);
            Some(Table::new(&steps, self.registers.len(), rings, &accumulators, builder.reduced == 0)?)
        } else {
            None
        };
        let is_one_run = || steps.len() == 1 || table.as_ref().is_some_and(Table::copies_nothing);
        let run = steps.iter().rfind(|step| !matches!(step, Step::Update { .. }));
        let reads_first = match run {
            Some(Step::Run(linked)) => linked.reads_first && is_one_run(),
            _ => false,
        };
        Some(Program {
            name: name.to_owned(),
            count: builder.count,
            row: builder.row,
            registers: self.registers.clone(),
            inputs: (0..builder.inputs.len())
                .map(|input| Cell {
                    element: builder.inputs[input].0,
                    per_row: builder.is_row_input(input),
                    stacked: 1,
                })
                .collect(),
            outputs: builder
                .outputs
                .iter()
                .map(|&(value, element)| Cell {
                    element,
                    per_row: builder.rows[value],
                    stacked: builder.stacked(value),
                })
                .collect(),
            splats,
            steps,
            table,
            reads_first,
            reduced: builder.reduced,
            has_accumulators: !builder.accumulators.is_empty(),
            in_place: builder.in_place(reads_first),
            updates: builder.updates.clone(),
            cost: builder.cost(),
            elements: None,
            geometry: OnceLock::new(),
        })
    }
}
