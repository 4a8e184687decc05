//! Generated code beside the meaning of its operations, for every set of instructions that the processor has.

mod extremes;
mod listing;
mod packed;
mod picks;
mod program;
mod region;
mod rotations;
mod schedule;
mod wide;

use self::program::program;
use crate::{Binary, Builder, Compare, Counts, Isa, Kernel, LONGEST_BLOCK, Program, Rows, Unary, Value, Width};

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

/// The arrays of a test after the [splats](SPLATS): widths of those that are loaded, then of those that are stored.
struct Arrays {
    loaded: Vec<Width>,
    stored: Vec<Width>,
}

/// The widths of the first arrays, which are splats.
const SPLATS: [Width; 3] = [Width::Word, Width::Pair, Width::Quad];
const SPLAT: u16 = 0;
const WIDE_SPLAT: u16 = 1;
const QUAD_SPLAT: u16 = 2;

/// Runs a program on some elements, and compares each with the interpreter's.
fn check(program: &Program, arrays: &Arrays, isa: Isa, counts: Counts, random: &mut Random) {
    let kernel = Kernel::compile_for(program, isa, counts).expect("the program is small");
    assert!(kernel.takes_any_count() || kernel.block() <= LONGEST_BLOCK, "a block has {} elements", kernel.block());
    let count = if kernel.takes_any_count() {
        1 + random.below(3 * kernel.block())
    } else {
        kernel.block() * (1 + random.below(3))
    };
    let mut memory: Vec<Vec<u8>> = Vec::new();
    let mut elements = |width: Width| -> Vec<u8> {
        let element = |random: &mut Random| match width {
            Width::Pair => wide::number(random).to_le_bytes().to_vec(),
            Width::Quad => [(); 2].iter().flat_map(|()| wide::number(random).to_le_bytes()).collect(),
            _ => random.float().to_le_bytes()[4 - width.bytes()..].to_vec(),
        };
        (0..count).flat_map(|_| element(random)).collect()
    };
    memory.extend(SPLATS.map(&mut elements));
    memory.extend(arrays.loaded.iter().map(|&width| elements(width)));
    // One element more than is stored, to see that it stays as it is.
    memory.extend(arrays.stored.iter().map(|width| vec![0x5a; (count + 1) * width.bytes()]));
    let addresses: Vec<*mut u8> = memory.iter_mut().map(Vec::as_mut_ptr).collect();
    let widths: Vec<Width> =
        SPLATS.into_iter().chain(arrays.loaded.iter().copied()).chain(arrays.stored.iter().copied()).collect();
    // The splats of each element.
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
                _ if array < SPLATS.len() => (address.wrapping_add(splat * width.bytes()), 0),
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
        let index = if usize::from(array) < SPLATS.len() { splats[index] } else { index };
        let mut number = [0; 16];
        number[..width].copy_from_slice(&bytes[index * width..][..width]);
        u128::from_le_bytes(number)
    };
    for index in 0..count {
        program.interpret(
            |array| element(array, index),
            |array, expected| {
                let width = widths[usize::from(array)];
                let kept = u128::MAX >> (128 - 8 * width.bytes());
                let found = element(array, index);
                // Which NaN comes of two is not defined.
                let are_nan = match width {
                    Width::Quad => [0, 64].into_iter().all(|part| {
                        let [found, expected] = [found, expected].map(|bits| (bits >> part) as u64);
                        found == expected || is_nan(Width::Pair, found) && is_nan(Width::Pair, expected)
                    }),
                    _ => is_nan(width, found as u64) && is_nan(width, expected as u64),
                };
                assert!(
                    are_nan || found == expected & kept,
                    "{isa:?}, array {array}, element {index} of {count}: {found:#x}, expected {expected:#x}\n{program:#?}"
                );
            },
        );
    }
    for (index, &width) in widths.iter().enumerate().skip(SPLATS.len() + arrays.loaded.len()) {
        assert!(memory[index][count * width.bytes()..].iter().all(|&byte| byte == 0x5a), "the last element is kept");
    }
}

/// Whether the bits of a number are those of a NaN, where floats have this width.
fn is_nan(width: Width, bits: u64) -> bool {
    match width {
        Width::Word => f32::from_bits(bits as u32).is_nan(),
        Width::Pair => f64::from_bits(bits).is_nan(),
        Width::Float16 => bits & 0x7fff > 0x7c00,
        Width::Half | Width::Byte | Width::Quad => false,
    }
}

#[test]
fn random_programs() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..if cfg!(miri) { 1 } else { 4000 } {
        let ops = 1 + random.below(if round % 3 == 0 { 150 } else { 25 });
        let (program, arrays) = program(&mut random, ops, round % 2 == 0);
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
        let loads: Vec<Value> =
            (0..values).map(|index| builder.load(SPLATS.len() as u16 + index, Width::Word)).collect();
        // All are live until the last product.
        let sums: Vec<Value> = loads.iter().map(|&x| builder.binary(Binary::Add, x, loads[0])).collect();
        let result = sums.iter().zip(&loads).rev().fold(builder.constant(0), |sum, (&x, &y)| builder.fused(x, y, sum));
        builder.store(SPLATS.len() as u16 + values, Width::Word, result);
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
fn constants_are_stored_in_arrays_of_any_width() {
    let first = SPLATS.len() as u16;
    for width in [Width::Byte, Width::Half, Width::Word, Width::Pair, Width::Quad] {
        let builder = Builder::new();
        let seven = builder.constant(7);
        let value = if width == Width::Quad { builder.joined([seven, builder.constant(9)]) } else { seven };
        builder.store(first, width, value);
        let arrays = Arrays { loaded: Vec::new(), stored: vec![width] };
        let program = builder.build();
        for isa in Isa::all().filter(|isa| isa.is_present()) {
            for counts in [Counts::Blocks, Counts::Any] {
                check(&program, &arrays, isa, counts, &mut Random(9));
            }
        }
    }
}

/// Callers have room for a block of each array, also of those that the program does not need in the end.
#[test]
fn blocks_are_as_short_as_the_widest_array_needs() {
    for width in [Width::Pair, Width::Quad] {
        let builder = Builder::new();
        builder.load(0, width);
        builder.store(1, Width::Byte, builder.constant(7));
        let program = builder.build();
        for isa in Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present()) {
            let kernel = Kernel::compile_for(&program, isa, Counts::Blocks).expect("the program is small");
            assert!(kernel.block() <= 4 * isa.lanes() / 2, "{width:?}: {} elements", kernel.block());
        }
    }
}

#[test]
fn halves_are_converted_by_the_instructions_that_access_memory() {
    let builder = Builder::new();
    let x = builder.unary(Unary::OfHalf, builder.load(0, Width::Half));
    let sum = builder.binary(Binary::Add, x, x);
    builder.store(1, Width::Half, builder.unary(Unary::ToHalf, sum));
    assert_eq!(builder.build().len(), 2);
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

#[test]
fn a_narrow_store_finds_a_register_while_all_operands_are_needed() {
    let builder = Builder::new();
    let first = SPLATS.len() as u16;
    let [x, y, z] = [0, 1, 2].map(|array| builder.load(first + array, Width::Word));
    let mask = builder.compare(Compare::Less, x, y);
    builder.store(first + 3, Width::Byte, builder.select(mask, z, x));
    let sum = [x, y, z].into_iter().fold(mask, |sum, value| builder.binary(Binary::AddBits, sum, value));
    builder.store(first + 4, Width::Word, sum);
    let arrays = Arrays { loaded: vec![Width::Word; 3], stored: vec![Width::Byte, Width::Word] };
    let program = builder.build();
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        check(&program, &arrays, isa, Counts::Blocks, &mut Random(5));
    }
}
