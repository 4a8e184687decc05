//! Elements of an array by index, in registers of every number.

use super::Random;
use crate::{Binary, Builder, Counts, Isa, Kernel, Rows, Value, Width};

/// Arrays 0 to 2 are indices, 3 is picked from, 4 is loaded and stored word by word, 5 is stored.
const PICKED: u16 = 3;
const OLD: u16 = 4;
const SUMS: u16 = 5;

/// The sum of `picks` words of an array of `len`, all of whose indices and results are live at once, and an old word.
fn sums(picks: usize, len: usize) -> Builder {
    let builder = Builder::new();
    // Loaded before it is stored.
    let old = builder.load(OLD, Width::Word);
    let loaded: Vec<Value> = (0..3).map(|array| builder.load(array, Width::Word)).collect();
    let index = |at: usize| builder.binary(Binary::AddBits, loaded[at % 3], builder.constant((at / 3 * 5) as u32));
    let indices: Vec<Value> = (0..picks).map(index).collect();
    let picked: Vec<Value> = indices.iter().map(|&index| builder.pick(PICKED, index, len as u32 - 1)).collect();
    let add = |sum, &each| builder.binary(Binary::AddBits, sum, each);
    let all = indices.iter().chain(picked.iter().rev()).fold(old, add);
    builder.store(SUMS, Width::Word, all);
    builder.store(OLD, Width::Word, picked[0]);
    builder
}

#[test]
fn words_are_picked_by_indices_that_are_moved_inside() {
    let mut random = Random(0x51f1_5ee2);
    for (picks, len) in [(1, 1), (1, 7), (2, 1000), (5, 33), (9, 5), (14, 64), (40, 129)] {
        let program = sums(picks, len).build();
        for (isa, counts) in Isa::all().flat_map(|isa| [(isa, Counts::Blocks), (isa, Counts::Any)]) {
            if !isa.is_present() || cfg!(miri) {
                continue;
            }
            let kernel = Kernel::compile_for(&program, isa, counts).expect("the program is small");
            let count = if kernel.takes_any_count() { 3 * kernel.block() + 5 } else { 2 * kernel.block() };
            let mut words = |len: usize, range: usize| -> Vec<i32> {
                (0..len).map(|_| random.below(range) as i32 - range as i32 / 4).collect()
            };
            let mut arrays: Vec<Vec<i32>> = (0..3).map(|_| words(count, 2 * len + 8)).collect();
            arrays[0][0] = i32::MIN;
            arrays[1][count - 1] = i32::MAX - 100;
            arrays.push(words(len, 1 << 30));
            arrays.push(words(count, 1 << 20));
            arrays.push(vec![0; count]);
            let before = arrays.clone();
            let addresses: Vec<*mut u8> = arrays.iter_mut().map(|array| array.as_mut_ptr().cast()).collect();
            if kernel.takes_any_count() {
                // Short rows, then all the others as one.
                let mut rows = Rows::new(&kernel);
                let row = |start: usize| {
                    let address = |(array, address): (usize, &*mut u8)| {
                        address.wrapping_add(if array == usize::from(PICKED) { 0 } else { 4 * start })
                    };
                    addresses.iter().enumerate().map(address).collect::<Vec<_>>()
                };
                rows.push(row(0), 3);
                rows.push(row(3), count - 3);
                // SAFETY: the rows are parts of the arrays, which are apart; indices are moved into the picked one.
                unsafe { kernel.run_rows(&rows) };
            } else {
                // SAFETY: each array has so many elements, and all are apart; indices are moved into the picked one.
                unsafe { kernel.run(&addresses, count) };
            }
            for index in 0..count {
                let load = |array: u16| u128::from(before[usize::from(array)][index].cast_unsigned());
                let pick = |array: u16, at: usize| before[usize::from(array)][at].cast_unsigned();
                program.interpret_with(load, pick, |array, expected| {
                    let found = arrays[usize::from(array)][index].cast_unsigned();
                    assert_eq!(found, expected as u32, "{isa:?} {counts:?}, {picks} of {len}, array {array}, {index}");
                });
            }
            let first = before[0][0].clamp(0, len as i32 - 1);
            assert_eq!(arrays[usize::from(OLD)][0], before[usize::from(PICKED)][first as usize]);
            assert_eq!(arrays[usize::from(PICKED)], before[usize::from(PICKED)]);
        }
    }
}
