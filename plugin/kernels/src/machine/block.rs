//! Blocks under construction.

use std::collections::HashMap;

use oxcall_hlo::ElementType;
use oxcall_jit::{Binary, Builder, Compare, Conversion, Isa, Place, Shift, Value, Width};
use smallvec::SmallVec;

use super::{Kept, Slot, Slots, Small, calls};
use crate::math::function::TileFn;
use crate::math::generated::{Guard, Record, clamp, constant_of, is_wide};
use crate::memory::BUFFER_ALIGN;

/// The largest number of vectors in an operand of a step, and of those that it copies.
const MOST_VECTORS: usize = 64;

/// The code of steps that run one after another.
///
/// Elements that a step has written are known to the steps after it, which then need not read them.
pub struct Block<'a> {
    /// Their operations.
    pub lanes: Builder,
    isa: Isa,
    slots: &'a Slots,
    contents: HashMap<Slot, Vec<(Place, Value)>>,
    /// The number of writes to each slot so far.
    versions: HashMap<Slot, u32>,
    /// The data that the code refers to.
    pub kept: Vec<Kept>,
    /// The slots that called kernels use, and those whose addresses rotate.
    pub used: Vec<Slot>,
}

/// Bytes to copy from one slot to another.
#[derive(Debug, Clone, Copy)]
pub struct Copy {
    /// The distance from the start of the one, in bytes.
    pub from: usize,
    /// The distance from the start of the other, in bytes.
    pub to: usize,
    /// The number of bytes.
    pub bytes: usize,
    /// The size of an element in bytes: a divisor of the others.
    pub width: usize,
}

/// An index of a dynamic slice or a window: the slot that holds it, its type, its last value in bounds, and the
/// distance of neighbours in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) slot: Slot,
    /// The place of the index in its slot, in bytes.
    pub(crate) offset: usize,
    pub(crate) element: ElementType,
    pub(crate) last: i64,
    pub(crate) stride: usize,
}

/// A slice of a gather, or a window of a scatter.
pub(crate) struct Window {
    /// The distance in bytes to which its indices lead, if they lead anywhere.
    pub(crate) start: Option<Value>,
    /// The mask that says whether it is in bounds, if it may be out of bounds: such a window is dropped.
    pub(crate) mask: Option<Value>,
    /// The copies of its elements.
    pub(crate) copies: Vec<Copy>,
}

impl<'a> Block<'a> {
    /// A block without steps; `listed` says whether its operations have labels.
    pub fn new(isa: Isa, listed: bool, slots: &'a Slots) -> Block<'a> {
        Block {
            lanes: if listed { Builder::listed() } else { Builder::new() },
            isa,
            slots,
            contents: HashMap::new(),
            versions: HashMap::new(),
            kept: Vec::new(),
            used: Vec::new(),
        }
    }

    /// The number of elements in a vector.
    pub(crate) fn vector(&self) -> usize {
        self.isa.lanes()
    }

    /// Whether a block can take a step on `count` elements.
    pub(crate) fn fits(&self, count: usize) -> bool {
        count <= MOST_VECTORS * self.vector()
    }

    /// The vectors of so many elements: the first of each, and the number of elements.
    pub(crate) fn vectors(&self, count: usize) -> impl Iterator<Item = (usize, u8)> + use<> {
        self.vectors_of(count, 1)
    }

    /// The vectors of elements that take at most so many lanes.
    pub(crate) fn vectors_of(&self, count: usize, lanes: u8) -> impl Iterator<Item = (usize, u8)> + use<> {
        let vector = self.vector() / usize::from(lanes);
        (0..count).step_by(vector).map(move |first| (first, vector.min(count - first) as u8))
    }

    /// The number of bytes that an access to a whole vector touches.
    fn touched(&self, lanes: u8, width: Width, is_write: bool) -> usize {
        let lanes = usize::from(lanes);
        let whole = match (self.isa, width) {
            _ if lanes == 1 => 1,
            (_, Width::Word) if lanes == 2 => 2,
            // AVX2 narrows eight lanes at once.
            (Isa::Avx2, Width::Byte | Width::Half) if is_write => 8,
            _ => [4, 8, 16].into_iter().find(|&whole| whole >= lanes).unwrap_or(16),
        };
        whole * width.bytes()
    }

    /// A place, if it can be accessed; `is_indexed` if an index is added to its offset.
    fn place(
        &self,
        slot: Slot,
        offset: usize,
        (lanes, width): (u8, Width),
        is_indexed: bool,
        is_write: bool,
    ) -> Option<Place> {
        let known = self.slots.get(slot);
        let room = if is_write { known.room } else { known.bytes.next_multiple_of(BUFFER_ALIGN) };
        let own = usize::from(lanes) * width.bytes();
        if known.bytes > i32::MAX as usize || offset + own > known.bytes {
            return None;
        }
        // A whole vector may change what follows its elements, so nothing of the buffer may follow.
        let is_free = !is_write || offset + own == known.bytes;
        let is_whole = !is_indexed && is_free && offset + self.touched(lanes, width, is_write) <= room;
        let is_full = self.touched(lanes, width, is_write) == own;
        let can_be_exact = self.isa == Isa::Avx512 || width == Width::Word || lanes == 1;
        let place = Place {
            slot: u16::try_from(slot).ok()?,
            offset: offset as u32,
            lanes,
            width,
            is_exact: !is_whole && !is_full,
        };
        (!place.is_exact || can_be_exact).then_some(place)
    }

    /// Whether the block can read, or write, these elements of a slot.
    pub(crate) fn can_access(&self, slot: Slot, offset: usize, lanes: u8, width: Width, is_write: bool) -> bool {
        self.place(slot, offset, (lanes, width), false, is_write).is_some()
    }

    /// Elements of a slot, `offset` bytes from its start.
    pub fn read(&mut self, slot: Slot, offset: usize, lanes: u8, width: Width) -> Option<Value> {
        let place = self.place(slot, offset, (lanes, width), false, false)?;
        if let Some(pair) = self.slots.get(slot).pair.filter(|_| width == Width::Word) {
            // From the second word of a pair on, the words change places.
            let pair = if offset.is_multiple_of(8) { pair } else { pair.rotate_left(32) };
            let is_word = lanes == 1;
            return Some(if is_word { self.lanes.constant(pair as u32) } else { self.lanes.wide().constant(pair) });
        }
        if let Some(value) = self.known(slot, place) {
            return Some(value);
        }
        if let Some((words, lane)) = self.lane_of_vector(slot, place) {
            let vector = self.read(slot, 0, words, Width::Word)?;
            self.lanes.set_lanes(4);
            return Some(self.lanes.extract(vector, lane));
        }
        self.lanes.set_lanes(lanes);
        Some(self.lanes.read(place, None, self.version(slot)))
    }

    /// For a word of a slot that is one short vector, and that no step of this block has written: the number of words,
    /// and the lane. A loop may keep the vector in a register, and a word would be read from memory.
    fn lane_of_vector(&self, slot: Slot, place: Place) -> Option<(u8, u8)> {
        let words = self.slots.get(slot).bytes / 4;
        let is_short = (2..=4).contains(&words) && self.slots.get(slot).bytes.is_multiple_of(4);
        let is_word = (place.lanes, place.width) == (1, Width::Word) && place.offset.is_multiple_of(4);
        let is_written = self.contents.get(&slot).is_some_and(|contents| !contents.is_empty());
        (is_short && is_word && !is_written).then_some((words as u8, (place.offset / 4) as u8))
    }

    /// Elements that a step of this block has written.
    fn known(&mut self, slot: Slot, place: Place) -> Option<Value> {
        let is_same = |each: Place| (each.offset, each.lanes, each.width) == (place.offset, place.lanes, place.width);
        let contents = self.contents.get(&slot)?;
        if let Some(&(_, value)) = contents.iter().find(|(each, _)| is_same(*each)) {
            return Some(value);
        }
        // A word of a vector.
        let lane = |each: Place| {
            let from = place.offset.checked_sub(each.offset)?;
            let lane = u8::try_from(from / 4).ok()?;
            let is_word = (place.lanes, place.width, each.width) == (1, Width::Word, Width::Word);
            (is_word && from.is_multiple_of(4) && lane < each.lanes.min(4)).then_some(lane)
        };
        let (value, lane) = contents.iter().find_map(|&(each, value)| Some((value, lane(each)?)))?;
        self.lanes.set_lanes(4);
        Some(self.lanes.extract(value, lane))
    }

    fn version(&self, slot: Slot) -> u32 {
        self.versions.get(&slot).copied().unwrap_or(0)
    }

    /// Writes elements to a slot, `offset` bytes from its start.
    pub(crate) fn write(&mut self, slot: Slot, offset: usize, lanes: u8, width: Width, value: Value) -> Option<()> {
        let place = self.place(slot, offset, (lanes, width), false, true)?;
        self.lanes.set_lanes(lanes);
        self.lanes.write(place, None, value);
        let value = if self.lanes.fits(value, width) { value } else { self.truncated(value, width) };
        *self.versions.entry(slot).or_default() += 1;
        let end = |place: Place| place.offset as usize + usize::from(place.lanes) * place.width.bytes();
        let contents = self.contents.entry(slot).or_default();
        contents.retain(|&(each, _)| end(each) <= place.offset as usize || end(place) <= each.offset as usize);
        contents.push((place, value));
        Some(())
    }

    /// Writes elements, each of so many lanes and this width, from the start of a slot on: two to four words as one
    /// vector, as later steps read them.
    pub(crate) fn write_each(&mut self, slot: Slot, (lanes, width): (u8, Width), values: &[Value]) -> Option<()> {
        let count = values.len();
        let is_vector = (2..=4).contains(&count) && (lanes, width) == (1, Width::Word);
        if is_vector && self.can_access(slot, 0, count as u8, width, true) {
            self.lanes.set_lanes(4);
            let insert = |vector, (lane, &value): (usize, &Value)| self.lanes.insert(vector, lane as u8, value);
            let vector = values.iter().enumerate().skip(1).fold(values[0], insert);
            return self.write(slot, 0, count as u8, width, vector);
        }
        let size = usize::from(lanes) * width.bytes();
        values.iter().enumerate().try_for_each(|(index, &value)| self.write(slot, index * size, lanes, width, value))
    }

    /// Writes words of other slots, each at a distance in bytes from the start of its slot, side by side to a slot.
    pub(crate) fn join_words(&mut self, words: impl Iterator<Item = (Slot, usize)>, to: Slot) -> Option<()> {
        let read = |(slot, offset)| self.read(slot, offset, 1, Width::Word);
        let words = words.map(read).collect::<Option<SmallVec<[Value; 4]>>>()?;
        self.write_each(to, (1, Width::Word), &words)
    }

    /// The low bits of a value, as they are when they are read again.
    fn truncated(&self, value: Value, width: Width) -> Value {
        self.lanes.binary(Binary::And, value, self.lanes.constant(width.bits()))
    }

    /// The distance in bytes to which indices lead, moved so that the slice is in bounds; `None` without code if they
    /// have a type that lanes do not have.
    pub(crate) fn start(&mut self, starts: impl Iterator<Item = Start>) -> Option<Option<Value>> {
        let mut sum = None;
        for start @ Start { element, last, stride, .. } in starts.filter(|start| start.last > 0) {
            let index = self.index(start)?;
            let index = self.clamped(index, last, element)?;
            sum = Some(self.farther(sum, self.word(index, element), stride)?);
        }
        Some(sum)
    }

    /// The value of an index, as it is stored; `None` if lanes do not have its type.
    fn index(&mut self, Start { slot, offset, element, .. }: Start) -> Option<Value> {
        let lanes = match element {
            ElementType::S32 | ElementType::U32 => 1,
            ElementType::S64 | ElementType::U64 => 2,
            _ => return None,
        };
        let index = self.read(slot, offset, lanes, Width::Word)?;
        self.lanes.set_lanes(1);
        Some(index)
    }

    /// An index of this type, moved into the range from 0 to `last`.
    fn clamped(&self, index: Value, last: i64, element: ElementType) -> Option<Value> {
        let last = u32::try_from(last).ok()?;
        let [zero, last] = [0, last].map(|bound| constant_of(&self.lanes, element, bound.into()));
        Some(clamp(element)?(&self.lanes, [zero, index, last]))
    }

    /// The low word of an integer or a mask as wide as this type.
    fn word(&self, value: Value, element: ElementType) -> Value {
        if is_wide(element) { self.lanes.wide().convert(Conversion::Low, value) } else { value }
    }

    /// The same for a window that is dropped if it is not in bounds: the distance, and the mask of windows that are.
    pub(crate) fn window(&mut self, starts: impl Iterator<Item = Start>) -> Option<(Option<Value>, Option<Value>)> {
        let (mut sum, mut mask) = (None, None);
        for start @ Start { element, last, stride, .. } in starts {
            let index = self.index(start)?;
            // A negative index is a large one without a sign.
            let is_pair = is_wide(element);
            let unsigned = if is_pair { ElementType::U64 } else { ElementType::U32 };
            let clamped = self.clamped(index, last, unsigned)?;
            let inside = if is_pair {
                self.lanes.wide().compare(Compare::EqualBits, clamped, index)
            } else {
                self.lanes.compare(Compare::EqualBits, clamped, index)
            };
            let [clamped, inside] = [clamped, inside].map(|value| self.word(value, element));
            mask = Some(mask.map_or(inside, |mask| self.lanes.binary(Binary::And, mask, inside)));
            sum = Some(self.farther(sum, clamped, stride)?);
        }
        Some((sum, mask))
    }

    /// A distance, `index` times `stride` bytes farther.
    fn farther(&self, distance: Option<Value>, index: Value, stride: usize) -> Option<Value> {
        let stride = u32::try_from(stride).ok()?;
        let bytes = if stride.is_power_of_two() {
            self.lanes.shift(Shift::Left, index, stride.trailing_zeros() as u8)
        } else {
            self.lanes.binary(Binary::MultiplyBits, index, self.lanes.constant(stride))
        };
        Some(distance.map_or(bytes, |distance| self.lanes.binary(Binary::AddBits, distance, bytes)))
    }

    /// Writes windows of a scatter to a slot one after another: the updates, or what `combine` makes of the elements
    /// and their updates. The slot starts as a copy of `operand` unless that is itself. `None`, and no write, if there
    /// are too many.
    pub(crate) fn update(
        &mut self,
        (operand, from): (Slot, Slot),
        to: Slot,
        windows: &[Window],
        combine: Option<Record>,
    ) -> Option<()> {
        let places = |window: &Window| self.places((from, false), (to, window.start.is_some()), &window.copies);
        let all = windows.iter().map(places).collect::<Option<Vec<_>>>()?;
        if all.iter().map(Vec::len).sum::<usize>() > MOST_VECTORS {
            return None;
        }
        if operand != to {
            let bytes = self.slots.get(to).bytes;
            let width = if bytes.is_multiple_of(4) { 4 } else { 1 };
            self.copy((operand, None), (to, None), &[Copy { from: 0, to: 0, bytes, width }])?;
        }
        for (&Window { start, mask, .. }, places) in windows.iter().zip(all) {
            if mask.is_none() && combine.is_none() {
                self.move_all((from, None), (to, start), places)?;
                continue;
            }
            for (source, target) in places {
                let Place { offset, lanes, width, .. } = source;
                let update = self.read(from, offset as usize, lanes, width)?;
                self.lanes.set_lanes(lanes);
                let old = self.lanes.read(target, start, self.version(to));
                let new = combine.map_or(update, |combine| combine(&self.lanes, [old, update, update]));
                let chosen = mask.map_or(new, |mask| self.lanes.select(self.lanes.broadcast(mask), new, old));
                self.lanes.write(target, start, chosen);
                *self.versions.entry(to).or_default() += 1;
                self.contents.remove(&to);
            }
        }
        Some(())
    }

    /// Copies slices of a gather. `None`, and no write, if there are too many.
    pub(crate) fn gather(&mut self, from: Slot, to: Slot, slices: &[Window]) -> Option<()> {
        let places = |slice: &Window| self.places((from, slice.start.is_some()), (to, false), &slice.copies);
        let all = slices.iter().map(places).collect::<Option<Vec<_>>>()?;
        if all.iter().map(Vec::len).sum::<usize>() > MOST_VECTORS {
            return None;
        }
        let mut pairs = slices.iter().zip(all);
        pairs.try_for_each(|(slice, places)| self.move_all((from, slice.start), (to, None), places))
    }

    /// Gathers `count` words of a slot by one index each, as many at a time as a vector has. The indices, of type
    /// `element`, lie side by side, and are moved into the range from 0 to `last`. `None`, and no write, if there are
    /// too many, or they have a type that lanes do not have.
    pub(crate) fn pick(
        &mut self,
        (from, last): (Slot, i64),
        (indices, element): (Slot, ElementType),
        to: Slot,
        count: usize,
    ) -> Option<()> {
        let vectors: SmallVec<[(usize, u8); 8]> = self.vectors(count).take(MOST_VECTORS + 1).collect();
        let word = |first: usize| first * Width::Word.bytes();
        let can_access = |&(first, lanes): &(usize, u8)| {
            self.can_access(indices, word(first), lanes, Width::Word, false)
                && self.can_access(to, word(first), lanes, Width::Word, true)
        };
        let is_known = matches!(element, ElementType::S32 | ElementType::U32) && i32::try_from(last).is_ok();
        if vectors.len() > MOST_VECTORS || !is_known || !vectors.iter().all(can_access) {
            return None;
        }
        let narrow = u16::try_from(from).ok()?;
        for (first, lanes) in vectors {
            let index = self.read(indices, word(first), lanes, Width::Word)?;
            self.lanes.set_lanes(lanes);
            let index = self.clamped(index, last, element)?;
            let picked = self.lanes.pick_at(narrow, index, self.version(from));
            self.write(to, word(first), lanes, Width::Word, picked)?;
        }
        Some(())
    }

    /// Copies bytes between slots; `from_start` and `to_start` are added to the distances. `None`, and no write, if
    /// there are too many.
    pub fn copy(
        &mut self,
        (from, from_start): (Slot, Option<Value>),
        (to, to_start): (Slot, Option<Value>),
        copies: &[Copy],
    ) -> Option<()> {
        let places = self.places((from, from_start.is_some()), (to, to_start.is_some()), copies)?;
        self.move_all((from, from_start), (to, to_start), places)
    }

    /// Copies bytes from several slots to one. `None`, and no write, if there are too many.
    pub(crate) fn join(&mut self, copies: &[(Slot, SmallVec<[Copy; 4]>)], to: Slot) -> Option<()> {
        let places = |(from, copies): &(Slot, SmallVec<[Copy; 4]>)| {
            Some((*from, self.places((*from, false), (to, false), copies)?))
        };
        let all = copies.iter().map(places).collect::<Option<Vec<_>>>()?;
        if all.iter().map(|(_, places)| places.len()).sum::<usize>() > MOST_VECTORS {
            return None;
        }
        all.into_iter().try_for_each(|(from, places)| self.move_all((from, None), (to, None), places))
    }

    /// The vectors of a copy: the places that are read and written.
    fn places(
        &self,
        (from, from_indexed): (Slot, bool),
        (to, to_indexed): (Slot, bool),
        copies: &[Copy],
    ) -> Option<Vec<(Place, Place)>> {
        let mut places = Vec::new();
        for copy in copies {
            let width = match copy.width {
                1 => Width::Byte,
                2 => Width::Half,
                _ => Width::Word,
            };
            // Neighbours are copied as words where they can be.
            let is_even = [copy.from, copy.to, copy.bytes].iter().all(|each| each.is_multiple_of(4));
            let width = if is_even && !from_indexed && !to_indexed { Width::Word } else { width };
            for (first, lanes) in self.vectors(copy.bytes / width.bytes()) {
                let place = |slot, offset, is_indexed, is_write| {
                    self.place(slot, offset + first * width.bytes(), (lanes, width), is_indexed, is_write)
                };
                let source = place(from, copy.from, from_indexed, false)?;
                places.push((source, place(to, copy.to, to_indexed, true)?));
            }
            if places.len() > MOST_VECTORS {
                return None;
            }
        }
        Some(places)
    }

    fn move_all(
        &mut self,
        (from, from_start): (Slot, Option<Value>),
        (to, to_start): (Slot, Option<Value>),
        places: Vec<(Place, Place)>,
    ) -> Option<()> {
        for (source, target) in places {
            let Place { offset, lanes, width, .. } = source;
            let value = match from_start {
                None => self.read(from, offset as usize, lanes, width)?,
                Some(_) => {
                    self.lanes.set_lanes(lanes);
                    self.lanes.read(source, from_start, self.version(from))
                }
            };
            match to_start {
                None => self.write(to, target.offset as usize, lanes, width, value)?,
                Some(_) => {
                    self.lanes.set_lanes(lanes);
                    self.lanes.write(target, to_start, value);
                    *self.versions.entry(to).or_default() += 1;
                    self.contents.remove(&to);
                }
            }
        }
        Some(())
    }

    /// Each slot takes the buffer of the next one, and the last takes that of the first. Where the buffers are a vector
    /// each, their elements move, so that the next iteration finds its addresses sooner.
    pub fn rotate(&mut self, slots: &[Slot]) -> Option<()> {
        if let Some(forms) = slots.iter().map(|&slot| self.form(slot)).collect::<Option<Vec<_>>>() {
            let targets = (0..slots.len()).map(|to| (slots[to], (to + 1) % slots.len()));
            let fits = |(to, from): (Slot, usize)| self.place(to, 0, forms[from], false, true).is_some();
            if targets.clone().all(fits) {
                let read = |(&slot, &(lanes, width))| self.read(slot, 0, lanes, width);
                let values = slots.iter().zip(&forms).map(read).collect::<Option<Vec<_>>>()?;
                for (to, from) in targets {
                    let (lanes, width) = forms[from];
                    self.write(to, 0, lanes, width, values[from])?;
                }
                return Some(());
            }
        }
        self.used.extend(slots);
        let narrow: Vec<u16> = slots.iter().map(|&slot| u16::try_from(slot).ok()).collect::<Option<_>>()?;
        self.lanes.rotate(narrow);
        for slot in slots {
            *self.versions.entry(*slot).or_default() += 1;
            self.contents.remove(slot);
        }
        Some(())
    }

    /// The number and size of elements by which a slot's buffer is one vector: those that a step of the block has
    /// written, or words.
    fn form(&self, slot: Slot) -> Option<(u8, Width)> {
        let bytes = self.slots.get(slot).bytes;
        let is_whole = |place: &Place| usize::from(place.lanes) * place.width.bytes() == bytes;
        let written = self.contents.get(&slot).and_then(|all| all.iter().find(|(place, _)| is_whole(place)));
        let form = written.map(|(place, _)| (place.lanes, place.width)).or(match bytes {
            1 => Some((1, Width::Byte)),
            2 => Some((1, Width::Half)),
            _ if bytes.is_multiple_of(4) => Some(((bytes / 4).min(255) as u8, Width::Word)),
            _ => None,
        })?;
        let fits = usize::from(form.0) <= self.vector() && self.place(slot, 0, form, false, false).is_some();
        fits.then_some(form)
    }

    /// A function of tiles on vectors of `count` elements. `lanes` is the number of lanes that an element of an operand
    /// takes, and that of an element of the result.
    pub(crate) fn call(&mut self, function: TileFn, args: [Value; 3], count: u8, lanes: [u8; 2]) -> Value {
        self.lanes.set_lanes(count);
        self.lanes.call(calls::of_vectors(function, lanes), args)
    }

    /// A function of tiles on vectors of `count` floats. If a vector has so many pairs of lanes, it is called only for
    /// operands that its form does not know.
    pub(crate) fn call_guarded(&mut self, function: TileFn, guard: Guard, args: [Value; 3], count: u8) -> Value {
        if usize::from(count) > self.vector() / 2 {
            return self.call(function, args, count, [1, 1]);
        }
        self.lanes.set_lanes(count);
        let [usual, others] = [guard.usual, guard.others].map(|record| record(&self.lanes, args));
        self.lanes.guarded(calls::of_vectors(function, [1, 1]), [args[0], args[1]], usual, others)
    }

    /// Calls a small kernel.
    pub(crate) fn invoke<K: Small + 'static>(&mut self, kernel: K, inputs: &[Slot], output: Slot) {
        let (callee, kept) = calls::of_table(kernel, inputs, output);
        self.kept.push(kept);
        self.used.extend(inputs.iter().chain([&output]));
        self.lanes.invoke(callee);
        *self.versions.entry(output).or_default() += 1;
        self.contents.remove(&output);
    }

    /// Whether the next step should begin another block.
    pub fn is_full(&self) -> bool {
        self.lanes.size() > MOST_OPS
    }
}

/// The number of operations after which a block ends: choosing registers takes longer the more there are.
const MOST_OPS: usize = 1500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Known, repeated_pair};

    #[test]
    fn constants_that_repeat_two_words_are_read_from_either() {
        let words = [1_u32, 2, 1, 2];
        let slots = Slots::new(vec![Known { bytes: 16, room: 16, pair: repeated_pair(bytemuck::cast_slice(&words)) }]);
        let mut block = Block::new(Isa::Avx2, false, &slots);
        for (offset, lanes, expected) in [(0, 4, 2 << 32 | 1), (4, 2, 1 << 32 | 2), (8, 2, 2 << 32 | 1)] {
            let value = block.read(0, offset, lanes, Width::Word).unwrap();
            assert_eq!(block.lanes.wide().known(value), Some(expected), "{lanes} from {offset}");
        }
        for (offset, expected) in [(0, 1), (4, 2), (8, 1), (12, 2)] {
            let value = block.read(0, offset, 1, Width::Word).unwrap();
            assert_eq!(block.lanes.known(value), Some(expected), "one from {offset}");
        }
    }
}
