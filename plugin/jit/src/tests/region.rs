//! Regions beside the meaning of their operations.

use super::Random;
use crate::ir::Op;
use crate::{
    Binary, Block, Builder, Callee, Compare, End, Isa, Place, Region, Routine, Shift, Stop, Target, Unary, Value, Width,
};

/// The size of an array, which is aligned as buffers are.
const BYTES: usize = 128;

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(64))]
struct Array([u8; BYTES]);

/// What a slot of the table is.
#[repr(C)]
struct Entry {
    data: *mut u8,
    bytes: usize,
}

/// The oracle: memory by slots, and lanes as they are computed. `None` is a lane that is not specified.
struct Machine {
    arrays: Vec<Array>,
    /// The array of each slot.
    slots: Vec<usize>,
}

impl Machine {
    /// Runs a block, and returns the first lane of what decides its end.
    fn block(&mut self, block: &Block) -> Option<u32> {
        let mut values: Vec<[Option<u32>; 16]> = Vec::new();
        let mut decision = None;
        for (op, &lanes) in block.program.ops.iter().zip(&block.program.lanes) {
            let arg = |index: usize| values[op.args()[index].index()];
            let first = |index: usize| arg(index)[0].expect("it is specified");
            let value = match *op {
                Op::Broadcast(_) => [arg(0)[0]; 16],
                Op::Extract(_, lane) => only(arg(0)[usize::from(lane)]),
                Op::Insert(_, lane) => {
                    let mut value = arg(0);
                    value[4..].fill(None);
                    value[usize::from(lane)] = arg(1)[0];
                    value
                }
                Op::Read(place, _) => self.read(place, 0),
                Op::ReadAt(place, ..) => self.read(place, first(0)),
                Op::PickAt(slot, ..) => {
                    let array = &self.arrays[self.slots[usize::from(slot)]].0;
                    arg(0).map(|index| {
                        let at = 4 * index? as usize;
                        Some(u32::from_le_bytes(array[at..at + 4].try_into().expect("they are four bytes")))
                    })
                }
                Op::Write(place, _) => self.write(place, 0, arg(0)),
                Op::WriteAt(place, _) => self.write(place, first(1), arg(0)),
                Op::Rotate(list) => {
                    let slots = &block.program.rotations[list as usize];
                    let first = self.slots[usize::from(slots[0])];
                    for pair in slots.windows(2) {
                        self.slots[usize::from(pair[0])] = self.slots[usize::from(pair[1])];
                    }
                    self.slots[usize::from(slots[slots.len() - 1])] = first;
                    [None; 16]
                }
                Op::Call(..) => std::array::from_fn(|lane| {
                    let word = |index: usize| arg(index)[lane].expect("it is specified");
                    (lane < usize::from(lanes)).then(|| mixed([word(0), word(1), word(2)]))
                }),
                Op::Guarded(..) => {
                    let is_hard = (0..usize::from(lanes)).any(|lane| arg(3)[lane].expect("it is specified") != 0);
                    std::array::from_fn(|lane| {
                        let word = |index: usize| arg(index)[lane].expect("it is specified");
                        let value = || if is_hard { mixed([word(0), word(1), 0]) } else { word(2) };
                        (lane < usize::from(lanes)).then(value)
                    })
                }
                Op::Invoke(_) => {
                    let counter = &mut self.arrays[self.slots[0]].0[0];
                    *counter = counter.wrapping_add(1);
                    [None; 16]
                }
                Op::Decide(_) => {
                    decision = arg(0)[0];
                    [None; 16]
                }
                _ => std::array::from_fn(|lane| {
                    let known = (0..op.args().len()).all(|index| arg(index)[lane].is_some());
                    known.then(|| op.lane(|index| arg(index)[lane].expect("it is specified")))
                }),
            };
            values.push(value);
        }
        decision
    }

    fn bytes(&mut self, place: Place, index: u32, lane: usize) -> &mut [u8] {
        let start = place.offset as usize + index as usize + lane * place.width.bytes();
        &mut self.arrays[self.slots[usize::from(place.slot)]].0[start..start + place.width.bytes()]
    }

    fn read(&mut self, place: Place, index: u32) -> [Option<u32>; 16] {
        std::array::from_fn(|lane| {
            (lane < usize::from(place.lanes)).then(|| {
                let mut word = [0; 4];
                let bytes = self.bytes(place, index, lane);
                word[..bytes.len()].copy_from_slice(bytes);
                u32::from_le_bytes(word)
            })
        })
    }

    fn write(&mut self, place: Place, index: u32, value: [Option<u32>; 16]) -> [Option<u32>; 16] {
        for (lane, word) in value.iter().enumerate().take(usize::from(place.lanes)) {
            let word = word.expect("it is specified").to_le_bytes();
            let bytes = self.bytes(place, index, lane);
            bytes.copy_from_slice(&word[..bytes.len()]);
        }
        [None; 16]
    }
}

/// The function that blocks call for each lane.
fn mixed([a, b, c]: [u32; 3]) -> u32 {
    a.wrapping_add(b) ^ c.rotate_left(3)
}

unsafe extern "C" fn mix(_: *const (), vectors: *mut [[u32; 16]; 4], lanes: usize) {
    // SAFETY: machine code gives vectors of its own.
    let [a, b, c, out] = unsafe { &mut *vectors };
    (0..lanes).for_each(|lane| out[lane] = mixed([a[lane], b[lane], c[lane]]));
}

unsafe extern "C" fn mix_two(_: *const (), vectors: *mut [[u32; 16]; 4], lanes: usize) {
    // SAFETY: machine code gives vectors of its own.
    let [a, b, _, out] = unsafe { &mut *vectors };
    (0..lanes).for_each(|lane| out[lane] = mixed([a[lane], b[lane], 0]));
}

/// Counts in the first byte of slot 0.
unsafe extern "C" fn count(_: *const (), table: *mut u8) {
    // SAFETY: the table begins with the entry of slot 0, whose array is not empty.
    unsafe {
        let counter = (*table.cast::<Entry>()).data;
        *counter = (*counter).wrapping_add(1);
    }
}

fn only(first: Option<u32>) -> [Option<u32>; 16] {
    std::array::from_fn(|lane| if lane == 0 { first } else { None })
}

/// Runs a region on the processor, and beside it what `Machine` makes of it.
fn check(region: &Region, isa: Isa, slots: usize, random: &mut Random, fuel: i64) -> Option<Stop> {
    let routine = Routine::compile_for(region, isa)?;
    let mut arrays: Vec<Array> = (0..slots)
        .map(|_| {
            let words = (0..BYTES / 4).flat_map(|_| random.float().to_le_bytes());
            Array(words.collect::<Vec<u8>>().try_into().expect("it has these bytes"))
        })
        .collect();
    let mut machine = Machine { arrays: arrays.clone(), slots: (0..slots).collect() };
    let starts: Vec<*mut u8> = arrays.iter_mut().map(|array| array.0.as_mut_ptr()).collect();
    let mut table: Vec<Entry> = starts.iter().map(|&data| Entry { data, bytes: BYTES }).collect();
    let mut left = fuel;
    // SAFETY: places are within the arrays, which are aligned.
    let stop = unsafe { routine.run(table.as_mut_ptr().cast(), 0, &mut left) };
    let (mut at, mut fuel) = (0, fuel);
    let expected = loop {
        let block: &Block = &region.blocks[at as usize];
        let decision = machine.block(block);
        let target = match &block.end {
            End::Jump(target) => *target,
            End::Choose(_, [yes, no]) => {
                if decision.expect("it decides") & 255 == 0 {
                    *no
                } else {
                    *yes
                }
            }
            End::Table(_, targets) => {
                let last = targets.len() - 1;
                targets[(decision.expect("it decides") as usize).min(last)]
            }
        };
        match target {
            Target::Exit(number) => break Stop::Exit(number),
            Target::Block(block) if block <= at => {
                fuel -= 1;
                if fuel < 0 {
                    break Stop::OutOfFuel(block);
                }
                at = block;
            }
            Target::Block(block) => at = block,
        }
    };
    assert_eq!(stop, expected);
    for (slot, entry) in table.iter().enumerate() {
        assert_eq!(entry.data, starts[machine.slots[slot]], "the address in slot {slot}");
    }
    for (index, (array, expected)) in arrays.iter().zip(&machine.arrays).enumerate() {
        let differs = |(a, b): (&u8, &u8)| a != b;
        let at = array.0.iter().zip(&expected.0).position(differs);
        assert_eq!(at, None, "array {index} for {isa:?}: {array:?}, {expected:?}\n{region:?}");
    }
    Some(stop)
}

/// A place that a vector of the whole length fits, if it is not exact.
fn place(random: &mut Random, isa: Isa, slot: u16, lanes: u8, is_write: bool) -> Place {
    let widths = [Width::Word, Width::Word, Width::Half, Width::Byte];
    let width = random.pick(&widths);
    let is_exact = isa == Isa::Avx512 || width == Width::Word || lanes == 1;
    let is_exact = is_exact && (is_write || random.below(2) == 0);
    let touched = if is_exact { usize::from(lanes) } else { 16 } * width.bytes();
    let offset = random.below((BYTES - touched) / width.bytes() + 1) * width.bytes();
    Place { slot, offset: offset as u32, lanes, width, is_exact }
}

/// Adds random operations on `lanes` lanes.
fn operations(builder: &Builder, random: &mut Random, isa: Isa, lanes: u8, slots: usize) {
    builder.set_lanes(lanes);
    let slot = |random: &mut Random| random.below(slots) as u16;
    let mut values: Vec<Value> = vec![builder.constant(random.float())];
    let mut version = 0;
    for _ in 0..3 + random.below(40) {
        let pick = |random: &mut Random| random.pick(&values);
        version += 1;
        let value = match random.below(16) {
            0..3 => {
                let from = slot(random);
                builder.read(place(random, isa, from, lanes, false), None, version)
            }
            3 => {
                // An index in bounds, by what an array holds.
                let from = slot(random);
                let index = Place { slot: from, offset: 0, lanes: 1, width: Width::Byte, is_exact: true };
                builder.set_lanes(1);
                let index = builder.read(index, None, version);
                let index = builder.binary(Binary::And, index, builder.constant(12));
                builder.set_lanes(lanes);
                let from = slot(random);
                let place = Place { offset: 4, is_exact: true, width: Width::Word, slot: from, lanes };
                builder.read(place, Some(index), version)
            }
            15 => {
                // Indices in bounds in all lanes, by what an array holds.
                let index = builder.binary(Binary::And, pick(random), builder.constant(15));
                builder.pick_at(slot(random), index, version)
            }
            4 => {
                let one = pick(random);
                builder.broadcast(one)
            }
            5 => builder.binary(Binary::Add, pick(random), pick(random)),
            6 => builder.binary(Binary::MaxSigned, pick(random), pick(random)),
            7 => builder.select(builder.compare(Compare::Less, pick(random), pick(random)), pick(random), pick(random)),
            8 => builder.shift(Shift::Right, pick(random), 3),
            9 => builder.unary(Unary::ToInteger, pick(random)),
            12 => {
                // SAFETY: the function only computes.
                let callee = unsafe { Callee::of_vectors(mix, std::ptr::null()) };
                builder.call(callee, [pick(random), pick(random), pick(random)])
            }
            14 => {
                // SAFETY: the function only computes.
                let callee = unsafe { Callee::of_vectors(mix_two, std::ptr::null()) };
                let [a, b, value, x, y] = [(); 5].map(|()| pick(random));
                builder.guarded(callee, [a, b], value, builder.compare(Compare::Less, x, y))
            }
            13 => {
                // SAFETY: tables of these tests have a slot 0.
                builder.invoke(unsafe { Callee::of_table(count, std::ptr::null()) });
                continue;
            }
            10 if lanes == 4 => {
                let lane = random.below(4) as u8;
                builder.insert(pick(random), lane, pick(random))
            }
            // One lane, as a vector of four again.
            10 => builder.broadcast(builder.extract(pick(random), random.below(usize::from(lanes).min(4)) as u8)),
            _ => {
                let to = slot(random);
                // Exact, as bytes beyond it are not specified.
                let place = place(random, isa, to, lanes, true);
                if place.is_exact {
                    builder.write(place, None, pick(random));
                }
                continue;
            }
        };
        values.push(value);
    }
}

#[test]
fn blocks_compute_what_their_operations_say() {
    let mut random = Random(0x5eed_cafe);
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        for _ in 0..400 {
            let lanes = 1 + random.below(isa.lanes()) as u8;
            let builder = Builder::new();
            operations(&builder, &mut random, isa, lanes, 7);
            let block = Block::new(builder, End::Jump(Target::Exit(7)));
            let region = Region { blocks: vec![block] };
            assert_eq!(check(&region, isa, 7, &mut random, 0), Some(Stop::Exit(7)));
        }
    }
}

/// A loop that adds to a counter, rotates, and leaves once the counter is large enough.
fn counting(turns: u32) -> Region {
    let counter = Place { slot: 0, offset: 64, lanes: 1, width: Width::Word, is_exact: true };
    let start = Builder::new();
    start.set_lanes(1);
    start.write(counter, None, start.constant(0));
    let first = Block::new(start, End::Jump(Target::Block(1)));
    let head = Builder::new();
    head.set_lanes(1);
    let count = head.read(counter, None, 0);
    let goes_on = head.truth(head.compare(Compare::Greater, head.constant(turns), count));
    let head = Block::new(head, End::Choose(goes_on, [Target::Block(2), Target::Exit(3)]));
    let body = Builder::new();
    body.set_lanes(4);
    let own = |slot: u16| Place { slot, offset: 16, lanes: 3, width: Width::Word, is_exact: true };
    let sum = body.binary(Binary::AddBits, body.read(own(1), None, 0), body.read(own(2), None, 0));
    body.write(own(3), None, sum);
    body.rotate(vec![1, 2, 3]);
    body.set_lanes(1);
    let next = body.binary(Binary::AddBits, body.read(counter, None, 0), body.constant(1));
    body.write(counter, None, next);
    let parity = body.binary(Binary::And, next, body.constant(3));
    let targets = vec![Target::Block(3), Target::Block(1), Target::Block(1), Target::Block(3)];
    let body = Block::new(body, End::Table(parity, targets));
    let rest = Builder::new();
    rest.set_lanes(4);
    rest.write(own(4), None, rest.read(own(3), None, 0));
    let rest = Block::new(rest, End::Jump(Target::Block(1)));
    Region { blocks: vec![first, head, body, rest] }
}

#[test]
fn loops_run_until_they_leave_or_their_fuel_is_used_up() {
    let mut random = Random(0xfeed);
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        for turns in [0, 1, 2, 7, 100] {
            let region = counting(turns);
            assert_eq!(check(&region, isa, 5, &mut random, 1000), Some(Stop::Exit(3)));
            let stop = check(&region, isa, 5, &mut random, 5);
            assert_eq!(stop == Some(Stop::OutOfFuel(1)), turns > 5, "{turns} turns");
        }
    }
}

/// A block that jumps to itself up to `turns` times, with values that it reads from slots and writes to others of them.
fn repeating(random: &mut Random, isa: Isa, turns: u32) -> (Region, usize) {
    let counter = Place { slot: 0, offset: 124, lanes: 1, width: Width::Word, is_exact: true };
    let first = Builder::new();
    first.set_lanes(1);
    first.write(counter, None, first.constant(0));
    let first = Block::new(first, End::Jump(Target::Block(1)));
    let lanes = 1 + random.below(isa.lanes()) as u8;
    // Sometimes more than there are registers.
    let most = random.pick(&[7, 7, 7, 40]);
    let slots = 2 + random.below(most);
    let place = |slot: usize| Place { slot: slot as u16, offset: 4, lanes, width: Width::Word, is_exact: true };
    let body = Builder::new();
    body.set_lanes(lanes);
    let mut values: Vec<Value> = vec![body.constant(random.float())];
    let mut unread: Vec<usize> = (1..slots).collect();
    while !unread.is_empty() || random.below(12) > 0 {
        let [a, b, c] = std::array::from_fn(|_| random.pick(&values));
        values.push(match random.below(9) {
            0..4 => match unread.pop() {
                Some(slot) => body.read(place(slot), None, 0),
                None => continue,
            },
            4 => body.binary(Binary::AddBits, a, b),
            5 => body.binary(Binary::Xor, a, b),
            6 => body.select(body.compare(Compare::Greater, a, b), b, c),
            7 => body.broadcast(a),
            // SAFETY: the function only computes.
            _ if random.below(6) == 0 => body.call(unsafe { Callee::of_vectors(mix, std::ptr::null()) }, [a, b, c]),
            _ => body.constant(random.float()),
        });
    }
    if random.below(4) == 0 {
        // These may change the same slots in part, and the counter.
        operations(&body, random, isa, lanes, slots);
        body.set_lanes(lanes);
    }
    for _ in 0..1 + random.below(2 * slots) {
        let slot = 1 + random.below(slots - 1);
        body.write(place(slot), None, random.pick(&values));
    }
    if slots > 2 && random.below(6) == 0 {
        body.rotate(vec![1, slots as u16 - 1]);
    }
    body.set_lanes(1);
    let next = body.binary(Binary::AddBits, body.read(counter, None, 0), body.constant(1));
    body.write(counter, None, next);
    let goes_on = body.truth(body.compare(Compare::Greater, body.constant(turns), next));
    let ends = [Target::Block(1), Target::Block(2)];
    let end = match random.below(3) {
        0 => End::Choose(goes_on, ends),
        1 => End::Choose(body.binary(Binary::Xor, goes_on, body.constant(1)), [ends[1], ends[0]]),
        _ => End::Table(goes_on, vec![ends[1], ends[0], ends[1]]),
    };
    let body = Block::new(body, end);
    let last = Builder::new();
    last.set_lanes(lanes);
    last.write(place(0), None, last.read(place(1), None, 0));
    let last = Block::new(last, End::Jump(Target::Exit(3)));
    (Region { blocks: vec![first, body, last] }, slots)
}

#[test]
fn blocks_that_repeat_hand_on_their_values() {
    let mut random = Random(0xcab1e);
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        for turn in 0..600 {
            let (region, slots) = repeating(&mut random, isa, turn % 9);
            check(&region, isa, slots, &mut random, if turn % 4 == 0 { 3 } else { 20 }).expect("the region is small");
        }
    }
}

#[test]
fn writes_that_nothing_reads_are_left_out() {
    let builder = Builder::new();
    builder.set_lanes(1);
    let place = |slot| Place { slot, offset: 0, lanes: 1, width: Width::Word, is_exact: true };
    let sum = builder.binary(Binary::AddBits, builder.read(place(0), None, 0), builder.constant(5));
    builder.write(place(1), None, sum);
    // Only what is left out reads this.
    builder.write(place(2), None, builder.read(place(3), None, 0));
    builder.write(place(3), None, sum);
    let region = Region { blocks: vec![Block::new(builder, End::Jump(Target::Exit(0)))] };
    let kept = region.without_dead_writes(|slot| slot == 1);
    let writes: Vec<u16> = (kept.blocks[0].program.ops.iter())
        .filter_map(|op| match op {
            Op::Write(place, _) => Some(place.slot),
            _ => None,
        })
        .collect();
    assert_eq!(writes, [1]);
}
