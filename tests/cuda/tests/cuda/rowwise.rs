//! Kernels of functions of rows beside their loops for the CPU.

use oxcall::pointwise::Stored;
use oxcall::prelude::*;

use crate::compare::{Case, derivatives, difference, kept};
use crate::fake::{Array, Fake, Program, fake, on_cuda};

/// What the gallery's functions have not: every kind of value as a result, masks of rows and of numbers, reductions of
/// one another, and a number that is the same for all elements.
#[rowwise(derivatives = 1)]
fn every_kind(x: Row, y: Row, t: PerRow, #[attr] shift: f64) -> (Row, PerRow, PerRow, Row) {
    let is_small = x.less(t) & y.less_equal(x.mean());
    let chosen = is_small.select(x * shift, y - t);
    let spread = (chosen - chosen.mean()).abs().max();
    let count = x.count();
    (chosen / (spread + 1.0), x.min() + count, t.less(spread).select(t, spread * 2.0), Row::from(spread + t))
}

/// Whether an operand or a result is a row.
type IsRow = bool;

/// The gallery's functions, with their operands and results.
const FUNCTIONS: [(&str, &[IsRow], &[IsRow]); 3] = [
    ("softmax_cross_entropy", &[true, true], &[false]),
    ("layer_norm", &[true, true, true], &[true]),
    ("tempered_softmax", &[true, false], &[true, false]),
];

/// Numbers between 0.25 and 2.25: a temperature of 0 has no result.
fn numbers<T: Stored>(count: usize, seed: usize) -> Vec<T> {
    let number = |i: usize| (((i + 1) * (2 * seed + 3)) as f64 * 0.618_033_988_749_894_9).fract() * 2.0 + 0.25;
    (0..count).map(|i| T::from_f64(number(i))).collect()
}

fn check<T: Stored>(fake: &'static Fake, name: &str, operands: &[IsRow], [rows, n]: [usize; 2], bound: f64) {
    let shapes: Vec<_> = operands.iter().map(|is_row| if *is_row { vec![rows, n] } else { vec![rows] }).collect();
    // Sums of terms that cancel have the errors of the terms.
    let attrs: &[_] = if name.starts_with("every_kind") { &[("shift", 0.75.into())] } else { &[] };
    let (distance, place) = difference::<T>(fake, &Case { name, shapes: &shapes, attrs, least_size: 0.25 }, numbers);
    println!("{distance:.1} ULP: {place}");
    assert!(distance <= bound, "{distance} ULP: {place}");
}

#[test]
fn functions_of_the_gallery_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    // Rows of warps and of blocks, of packs and not, longer and shorter than all threads together; and none.
    for (name, operands, _) in FUNCTIONS {
        let _kept = kept(fake, name, &[]);
        for shape in [[1, 1], [3, 7], [19, 64], [3, 600], [1, 4099], [2, 8192], [0, 4], [4, 0]] {
            check::<f32>(fake, name, operands, shape, 8.0);
            check::<f64>(fake, name, operands, shape, 64.0);
            check::<f16>(fake, name, operands, shape, 1.0);
            check::<bf16>(fake, name, operands, shape, 1.0);
        }
    }
}

#[test]
fn derivatives_of_the_gallery_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    let check = |name: &str, operands: &[IsRow]| {
        let _kept = kept(fake, name, &[]);
        for shape in [[5, 24], [2, 520]] {
            check::<f32>(fake, name, operands, shape, 32.0);
            check::<bf16>(fake, name, operands, shape, 1.0);
        }
    };
    for (name, operands, results) in FUNCTIONS {
        for (name, operands, results) in derivatives(name, operands, results) {
            check(&name, &operands);
            for (name, operands, _) in derivatives(&name, &operands, &results) {
                check(&name, &operands);
            }
        }
    }
}

#[test]
fn every_kind_of_value_is_that_of_the_cpu() {
    let (fake, _turn) = fake();
    let (operands, results) = ([true, true, false], [true, false, false, true]);
    let _kept = kept(fake, "every_kind", &[("shift", 0.75.into())]);
    for shape in [[9, 33], [2, 1024], [3, 0]] {
        check::<f32>(fake, "every_kind", &operands, shape, 4.0);
        check::<f64>(fake, "every_kind", &operands, shape, 64.0);
        check::<f16>(fake, "every_kind", &operands, shape, 1.0);
    }
    for (name, operands, _) in derivatives("every_kind", &operands, &results) {
        check::<f32>(fake, &name, &operands, [3, 40], 8.0);
    }
}

/// Far from 0, the mean of `f32` has more digits than `f32`: differences from it are those of the CPU.
#[test]
fn differences_from_a_mean_keep_their_digits() {
    let (fake, _turn) = fake();
    let far = |count: usize, seed: usize| -> Vec<f32> {
        numbers::<f64>(count, seed).into_iter().map(|x| (x + if seed == 0 { 1e5 } else { 0.0 }) as f32).collect()
    };
    let shapes = vec![vec![3, 100]; 3];
    let case = Case { name: "layer_norm", shapes: &shapes, attrs: &[], least_size: 0.25 };
    let (distance, place) = difference::<f32>(fake, &case, far);
    assert!(distance <= 8.0, "{distance} ULP: {place}");
}

/// A row of half a megabyte, which no shared memory holds.
#[test]
fn rows_longer_than_shared_memory_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    for (name, operands, _) in FUNCTIONS {
        check::<f64>(fake, name, operands, [1, 65_537], 256.0);
    }
}

#[test]
fn threads_have_rows_of_their_own() {
    let (fake, _turn) = fake();
    std::thread::scope(|scope| {
        for device in [0, 1, 0, 1] {
            scope.spawn(move || {
                let numbers: Vec<f32> = (0..40).map(|i| i as f32 - 20.0).collect();
                let (x, gain) = (fake.array(device, &numbers), fake.array(device, &[1f32; 40]));
                let (bias, y) = (fake.array(device, &[3f32; 40]), fake.unwritten::<f32>(device, 40));
                let program = Program::new(on_cuda("layer_norm"), &[], device, fake.stream(device)).unwrap();
                let shaped = |array: &Array<f32>| array.shaped(&[2, 20]);
                for _ in 0..20 {
                    program.run(&[shaped(&x), shaped(&gain), shaped(&bias)], &[shaped(&y)]).unwrap();
                    let mean = y.elements().iter().sum::<f32>() / 40.0;
                    assert!((mean - 3.0).abs() < 1e-5, "{mean}");
                }
            });
        }
    });
    let counts = fake.counts();
    assert_eq!((counts.bad_contexts, counts.unknown_streams), (0, 0));
}

#[test]
fn special_numbers_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    let special = |count: usize, seed: usize| -> Vec<f32> {
        let mut numbers = numbers::<f32>(count, seed);
        let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, 1e-40];
        if seed == 0 {
            values.iter().enumerate().for_each(|(row, value)| numbers[row * (count / 6) + 2] = *value);
        }
        numbers
    };
    for (name, operands, _) in FUNCTIONS {
        let shapes: Vec<_> = operands.iter().map(|is_row| if *is_row { vec![6, 20] } else { vec![6] }).collect();
        let case = Case { name, shapes: &shapes, attrs: &[], least_size: 0.25 };
        let (distance, place) = difference::<f32>(fake, &case, special);
        assert!(distance <= 8.0, "{distance} ULP: {place}");
    }
}

#[test]
fn rows_run_on_the_device_of_the_call() {
    let (fake, _turn) = fake();
    let before = fake.counts();
    for device in [0, 1] {
        let (x, labels) = (fake.array(device, &[1f32, 1.0]), fake.array(device, &[0.5f32, 0.5]));
        let loss = fake.unwritten::<f32>(device, 1);
        let stream = fake.stream(device);
        let program = Program::new(on_cuda("softmax_cross_entropy"), &[], device, stream).unwrap();
        let dims = [1, 2];
        program.run(&[x.shaped(&dims), labels.shaped(&dims)], &[loss.operand()]).unwrap();
        assert_eq!((loss.elements(), fake.counts().last_stream), (vec![2f32.ln()], stream.0.addr()));
    }
    let after = fake.counts();
    assert_eq!((after.bad_contexts, after.launches - before.launches), (before.bad_contexts, 2));
}
