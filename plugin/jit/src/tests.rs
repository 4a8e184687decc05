//! Generated code beside the meaning of its operations, for every set of instructions that the processor has.

mod region;
mod wide;

use crate::{Binary, Builder, Compare, Counts, Isa, Kernel, Program, Round, Rows, Shift, Unary, Value, Width};

/// Numbers that repeat from run to run: Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// The bits of a float, often an odd one.
    fn float(&mut self) -> u32 {
        let odd = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, 3e38, 1e9];
        match self.below(3) {
            0 => self.pick(&odd).to_bits(),
            _ => (self.below(2000) as f32 / 100.0 - 10.0).to_bits(),
        }
    }
}

/// The arrays of a test: widths of those that are loaded, then of those that are stored.
struct Arrays {
    loaded: Vec<Width>,
    stored: Vec<Width>,
}

const SPLAT: u16 = 0;

/// Runs a program on some elements, and compares each with the interpreter's.
fn check(program: &Program, arrays: &Arrays, isa: Isa, counts: Counts, random: &mut Random) {
    let kernel = Kernel::compile_for(program, isa, counts).expect("the program is small");
    let count = if kernel.takes_any_count() {
        1 + random.below(3 * kernel.block())
    } else {
        kernel.block() * (1 + random.below(3))
    };
    let mut memory: Vec<Vec<u8>> = Vec::new();
    memory.push((0..count).flat_map(|_| random.float().to_le_bytes()).collect());
    for width in &arrays.loaded {
        let elements = (0..count).flat_map(|_| random.float().to_le_bytes()[4 - width.bytes()..].to_vec());
        memory.push(elements.collect());
    }
    // One element more than is stored, to see that it stays as it is.
    memory.extend(arrays.stored.iter().map(|width| vec![0x5a; (count + 1) * width.bytes()]));
    let addresses: Vec<*mut u8> = memory.iter_mut().map(Vec::as_mut_ptr).collect();
    let widths: Vec<Width> =
        [Width::Word].into_iter().chain(arrays.loaded.iter().copied()).chain(arrays.stored.iter().copied()).collect();
    // The splat of each element.
    let mut splats = vec![0; count];
    if kernel.takes_any_count() && random.below(2) == 0 {
        let mut rows = Rows::new(&kernel);
        let mut start = 0;
        while start < count {
            let row = random.below(count - start + 1);
            let alike = (count - start).checked_div(row).map_or(1, |most| 1 + random.below(most));
            let splat = rows.count() % count;
            splats[start..start + alike * row].fill(splat);
            let places = widths.iter().zip(&addresses).enumerate().map(|(array, (width, address))| match array {
                0 => (address.wrapping_add(splat * width.bytes()), 0),
                _ => (address.wrapping_add(start * width.bytes()), row * width.bytes()),
            });
            let places: Vec<_> = places.take(program.arrays()).collect();
            if alike == 1 {
                rows.push(places.iter().map(|(address, _)| *address), row);
            } else {
                rows.push_evenly(&places, alike, row);
            }
            start += alike * row;
        }
        // SAFETY: the rows are parts of the arrays, which have so many elements, and are apart.
        unsafe { kernel.run_rows(&rows) };
    } else {
        // SAFETY: each array has so many elements, and all are apart.
        unsafe { kernel.run(&addresses, count) };
    }
    let element = |array: u16, index: usize| {
        let (bytes, width) = (&memory[usize::from(array)], widths[usize::from(array)].bytes());
        let index = if array == SPLAT { splats[index] } else { index };
        let mut word = [0; 4];
        word[..width].copy_from_slice(&bytes[index * width..][..width]);
        u32::from_le_bytes(word)
    };
    for index in 0..count {
        program.interpret(
            |array| element(array, index),
            |array, expected| {
                let width = widths[usize::from(array)];
                let kept = u32::MAX >> (32 - 8 * width.bytes());
                let found = element(array, index);
                // Which NaN comes of two is not defined.
                let are_nan = width == Width::Word && f32::from_bits(found).is_nan() && f32::from_bits(expected).is_nan();
                assert!(
                    are_nan || found == expected & kept,
                    "{isa:?}, array {array}, element {index} of {count}: {found:#x}, expected {expected:#x}\n{program:#?}"
                );
            },
        );
    }
    for (index, &width) in widths.iter().enumerate().skip(1 + arrays.loaded.len()) {
        assert!(memory[index][count * width.bytes()..].iter().all(|&byte| byte == 0x5a), "the last element is kept");
    }
}

/// A random program over floats, integers and masks.
fn program(random: &mut Random, ops: usize) -> (Program, Arrays) {
    let widths = [Width::Word, Width::Word, Width::Half, Width::Byte];
    let arrays = Arrays {
        loaded: (0..1 + random.below(9)).map(|_| random.pick(&widths)).collect(),
        stored: (0..1 + random.below(3)).map(|_| random.pick(&widths)).collect(),
    };
    let builder = Builder::new();
    let (mut floats, mut integers) = (vec![builder.splat(SPLAT)], vec![builder.constant(random.next() as u32)]);
    let mut masks = vec![builder.compare(Compare::Less, floats[0], floats[0])];
    for (index, &width) in arrays.loaded.iter().enumerate() {
        let value = builder.load(index as u16 + 1, width);
        if width == Width::Word { floats.push(value) } else { integers.push(value) }
    }
    for _ in 0..ops {
        let float = |random: &mut Random| -> Value {
            if random.below(4) == 0 { builder.constant(random.float()) } else { random.pick(&floats) }
        };
        let [x, y, z] = [(); 3].map(|()| float(random));
        let [i, j] = [(); 2].map(|()| random.pick(&integers));
        let [p, q] = [(); 2].map(|()| random.pick(&masks));
        use Binary::*;
        match random.below(12) {
            0 | 1 => floats.push(builder.binary(random.pick(&[Add, Subtract, Multiply, Divide]), x, y)),
            2 | 3 => floats.push(builder.fused(x, y, z)),
            4 => {
                let round = random.pick(&[Round::Even, Round::Floor, Round::Ceil, Round::Truncate]);
                floats.push(builder.unary(random.pick(&[Unary::Sqrt, Unary::Round(round)]), x));
            }
            5 => floats.push(builder.select(p, x, y)),
            6 => integers.push(builder.select(p, i, j)),
            7 => {
                let compare = [Compare::Equal, Compare::NotEqual, Compare::Less, Compare::LessOrEqual];
                masks.push(builder.compare(random.pick(&compare), x, y));
            }
            8 => masks.push(builder.compare(random.pick(&[Compare::EqualBits, Compare::Greater]), i, j)),
            9 => {
                let ops = [
                    AddBits,
                    SubtractBits,
                    MultiplyBits,
                    And,
                    AndNot,
                    Or,
                    Xor,
                    MinSigned,
                    MaxSigned,
                    MinUnsigned,
                    MaxUnsigned,
                ];
                let shifts = [ShiftLeft, ShiftRight, ShiftRightArithmetic];
                let op = if random.below(3) == 0 { random.pick(&shifts) } else { random.pick(&ops) };
                integers.push(builder.binary(op, i, j));
            }
            10 => {
                let shift = random.pick(&[Shift::Left, Shift::Right, Shift::RightArithmetic]);
                integers.push(builder.shift(shift, i, random.below(32) as u8));
                floats.push(builder.unary(Unary::ToFloat, i));
            }
            _ => {
                masks.push(builder.binary(random.pick(&[And, AndNot, Or, Xor]), p, q));
                integers.push(builder.truth(p));
                masks.push(builder.mask(builder.shift(Shift::Right, i, 1)));
                masks.push(builder.not(q));
            }
        }
    }
    for (index, &width) in arrays.stored.iter().enumerate() {
        let value = if width == Width::Word {
            floats[floats.len() - 1 - index % 2 % floats.len()]
        } else {
            random.pick(&integers)
        };
        builder.store((1 + arrays.loaded.len() + index) as u16, width, value);
    }
    (builder.build(), arrays)
}

#[test]
fn random_programs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..if cfg!(miri) { 1 } else { 2000 } {
        let ops = 1 + random.below(if round % 4 == 0 { 150 } else { 25 });
        let (program, arrays) = program(&mut random, ops);
        for isa in Isa::all().filter(|isa| isa.is_present()) {
            for counts in [Counts::Blocks, Counts::Any] {
                check(&program, &arrays, isa, counts, &mut random);
            }
        }
    }
}

#[test]
fn programs_with_more_values_than_registers() {
    let mut random = Random(77);
    for values in [10, 20, 40] {
        let builder = Builder::new();
        let loads: Vec<Value> = (1..=values).map(|array| builder.load(array, Width::Word)).collect();
        // All are live until the last product.
        let sums: Vec<Value> = loads.iter().map(|&x| builder.binary(Binary::Add, x, loads[0])).collect();
        let result = sums.iter().zip(&loads).rev().fold(builder.constant(0), |sum, (&x, &y)| builder.fused(x, y, sum));
        builder.store(values + 1, Width::Word, result);
        let program = builder.build();
        let arrays = Arrays { loaded: vec![Width::Word; values.into()], stored: vec![Width::Word] };
        for isa in Isa::all().filter(|isa| isa.is_present()) {
            for counts in [Counts::Blocks, Counts::Any] {
                check(&program, &arrays, isa, counts, &mut random);
            }
        }
    }
}

#[test]
fn unused_operations_are_left_out_and_equal_ones_are_one() {
    let builder = Builder::new();
    let x = builder.load(0, Width::Word);
    let sum = builder.binary(Binary::Add, x, x);
    assert_eq!(sum, builder.binary(Binary::Add, x, x));
    builder.binary(Binary::Divide, x, sum);
    builder.store(1, Width::Word, sum);
    let program = builder.build();
    assert_eq!((program.len(), program.arrays()), (2, 2));
}

#[test]
fn pages_are_used_again() {
    let builder = Builder::new();
    let x = builder.load(0, Width::Word);
    builder.store(1, Width::Word, x);
    let program = builder.build();
    for _ in 0..if cfg!(miri) { 1 } else { 2000 } {
        let kernels: Vec<_> = (0..3).map(|_| Kernel::compile(&program, Counts::Blocks)).collect();
        drop(kernels);
    }
}
