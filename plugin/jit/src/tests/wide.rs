//! Operations on elements of 64 bits beside those of Rust, on each number of elements.

use super::Random;
use crate::{
    Binary, Block, Builder, Compare, Conversion, End, Isa, Place, Region, Round, Routine, Shift, Shuffle, Stop, Target,
    Value, WideBinary, Width,
};

/// The most elements of a vector.
const MOST: usize = 8;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Array([u64; MOST]);

#[repr(C)]
struct Entry {
    data: *mut u64,
    bytes: usize,
}

/// Numbers of all sorts: any bits, doubles of moderate size, small integers, and what is special.
pub(super) fn number(random: &mut Random) -> u64 {
    const SPECIAL: [f64; 8] = [0.0, -0.0, 1.0, -0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324];
    let any = random.next();
    match any % 5 {
        0 => random.next(),
        1 => ((any >> 8) as f64 / 1e15 - 30.0).to_bits(),
        2 => i64::from((any >> 40) as i8).cast_unsigned(),
        3 => SPECIAL[(any >> 8) as usize % SPECIAL.len()].to_bits(),
        _ => u64::MAX >> (any >> 8 & 63),
    }
}

/// Checks a function of three values of 64 bits, whose result is one of 64, or of 32 zero-extended if `is_narrow`.
fn check(name: &str, is_narrow: bool, record: impl Fn(&Builder, [Value; 3]) -> Value, exact: impl Fn([u64; 3]) -> u64) {
    let mut random = Random(name.len() as u64 + 7);
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        for count in 1..=isa.lanes() / 2 {
            let builder = Builder::new();
            let place =
                |slot: u16| Place { slot, offset: 0, lanes: 2 * count as u8, width: Width::Word, is_exact: true };
            builder.set_lanes(2 * count as u8);
            let args = [0, 1, 2].map(|slot| builder.read(place(slot), None, 0));
            builder.set_lanes(count as u8);
            let result = record(&builder, args);
            let result = if is_narrow { builder.wide().convert(Conversion::ZeroExtend, result) } else { result };
            builder.set_lanes(2 * count as u8);
            builder.write(place(3), None, result);
            let region = Region { blocks: vec![Block::new(builder, End::Jump(Target::Exit(1)))] };
            let routine = Routine::compile_for(&region, isa).expect("it is small");
            for _ in 0..200 {
                let arrays = [[0; 3]; MOST].map(|numbers| numbers.map(|_: u64| number(&mut random)));
                let mut memory: [Array; 4] = [0, 1, 2, 3]
                    .map(|slot| Array(std::array::from_fn(|index| if slot < 3 { arrays[index][slot] } else { 77 })));
                let mut table = memory.each_mut().map(|array| Entry { data: array.0.as_mut_ptr(), bytes: 8 * MOST });
                // SAFETY: each of the slots has an array of the size that the places have, aligned to 64 bytes.
                let stop = unsafe { routine.run(table.as_mut_ptr().cast(), 0, &mut 0) };
                assert_eq!(stop, Stop::Exit(1));
                let found = memory[3].0;
                assert!(found[count..].iter().all(|&rest| rest == 77), "{name} wrote beyond {count} elements");
                for (index, args) in arrays.iter().enumerate().take(count) {
                    let exact = exact(*args);
                    let (a, b) = (f64::from_bits(found[index]), f64::from_bits(exact));
                    let is_same = found[index] == exact || !is_narrow && a.is_nan() && b.is_nan();
                    assert!(is_same, "{name} of {args:x?}, {isa:?}: {:x}, not {exact:x}", found[index]);
                }
            }
        }
    }
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn mask(is_true: bool) -> u64 {
    if is_true { u64::MAX } else { 0 }
}

#[test]
fn arithmetic() {
    let binary = |name: &str, op: WideBinary, exact: fn(u64, u64) -> u64| {
        check(name, false, move |b, [x, y, _]| b.wide().binary(op, x, y), move |[x, y, _]| exact(x, y));
    };
    binary("add", WideBinary::Add, |x, y| (double(x) + double(y)).to_bits());
    binary("subtract", WideBinary::Subtract, |x, y| (double(x) - double(y)).to_bits());
    binary("multiply", WideBinary::Multiply, |x, y| (double(x) * double(y)).to_bits());
    binary("divide", WideBinary::Divide, |x, y| (double(x) / double(y)).to_bits());
    binary("add bits", WideBinary::AddBits, u64::wrapping_add);
    binary("subtract bits", WideBinary::SubtractBits, u64::wrapping_sub);
    binary("multiply low", WideBinary::MultiplyLow, |x, y| (x & 0xffff_ffff) * (y & 0xffff_ffff));
    binary("and", WideBinary::And, |x, y| x & y);
    binary("or", WideBinary::Or, |x, y| x | y);
    binary("xor", WideBinary::Xor, |x, y| x ^ y);
    binary("shift left", WideBinary::ShiftLeft, |x, y| if y < 64 { x << y } else { 0 });
    binary("shift right", WideBinary::ShiftRight, |x, y| if y < 64 { x >> y } else { 0 });
    let fused = |[x, y, z]: [u64; 3]| double(x).mul_add(double(y), double(z)).to_bits();
    check("fused", false, |b, [x, y, z]| b.wide().fused(x, y, z), fused);
    check("fused with itself", false, |b, [x, ..]| b.wide().fused(x, x, x), move |[x, ..]| fused([x; 3]));
    check("sqrt", false, |b, [x, ..]| b.wide().sqrt(x), |[x, ..]| double(x).sqrt().to_bits());
    let round = |round: Round, exact: fn(f64) -> f64| {
        check("round", false, |b, [x, ..]| b.wide().round(round, x), |[x, ..]| exact(double(x)).to_bits());
    };
    round(Round::Even, f64::round_ties_even);
    round(Round::Floor, f64::floor);
    round(Round::Ceil, f64::ceil);
    round(Round::Truncate, f64::trunc);
    for amount in [0, 1, 31, 32, 63] {
        check("left", false, |b, [x, ..]| b.wide().shift(Shift::Left, x, amount), |[x, ..]| x << amount);
        check("right", false, |b, [x, ..]| b.wide().shift(Shift::Right, x, amount), |[x, ..]| x >> amount);
    }
}

#[test]
fn lanes_of_pairs() {
    // Any bits as integers; numbers as floats, since which NaN comes of two is not defined.
    let lanes = |pair: u64| [pair as u32, (pair >> 32) as u32];
    let pair = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
    let sum = move |[x, y, _]: [u64; 3]| {
        let [[a, b], [c, d]] = [lanes(x), lanes(y)];
        pair([a.wrapping_add(c), b.wrapping_add(d)])
    };
    check("add lanes", false, |b, [x, y, _]| b.wide().words(Binary::AddBits, x, y), sum);
    let number = |b: &Builder, x: Value| b.wide().binary(WideBinary::And, x, b.wide().constant(0xbfff_ffff_bfff_ffff));
    let floats = move |x: u64| lanes(x & 0xbfff_ffff_bfff_ffff).map(f32::from_bits);
    let product = move |[x, y, _]: [u64; 3]| {
        let [[a, b], [c, d]] = [floats(x), floats(y)];
        pair([a * c, b * d].map(f32::to_bits))
    };
    let times = move |b: &Builder, [x, y, _]: [Value; 3]| b.wide().words(Binary::Multiply, number(b, x), number(b, y));
    check("multiply lanes", false, times, product);
    let fused = move |args: [u64; 3]| {
        let [[a, b], [c, d], [e, f]] = args.map(floats);
        pair([a.mul_add(c, e), b.mul_add(d, f)].map(f32::to_bits))
    };
    let plus = move |b: &Builder, args: [Value; 3]| {
        let [x, y, z] = args.map(|arg| number(b, arg));
        b.wide().fused_words(x, y, z)
    };
    check("multiply add lanes", false, plus, fused);
    let by_pair = |b: &Builder, [x, ..]: [Value; 3]| b.wide().words(Binary::Xor, x, b.wide().constant(1 << 63 | 5));
    check("lanes with a constant", false, by_pair, |[x, ..]| x ^ (1 << 63 | 5));
    let low = move |[x, ..]: [u64; 3]| pair([lanes(x)[0]; 2]);
    check("low", false, |b, [x, ..]| b.wide().shuffle(Shuffle::Low, x), low);
    let high = move |[x, ..]: [u64; 3]| pair([lanes(x)[1]; 2]);
    check("high", false, |b, [x, ..]| b.wide().shuffle(Shuffle::High, x), high);
    check("swap", false, |b, [x, ..]| b.wide().shuffle(Shuffle::Swap, x), |[x, ..]| x.rotate_left(32));
}

#[test]
fn comparisons_and_selections() {
    let compare = |op: Compare, exact: fn(u64, u64) -> bool| {
        check("compare", false, move |b, [x, y, _]| b.wide().compare(op, x, y), move |[x, y, _]| mask(exact(x, y)));
        let select = move |b: &Builder, [x, y, z]: [Value; 3]| b.wide().select(b.wide().compare(op, x, y), z, x);
        check("select", false, select, move |[x, y, z]| if exact(x, y) { z } else { x });
        // Both lanes of a mask become one, which is one of 32 bits.
        let low = move |b: &Builder, [x, y, _]: [Value; 3]| {
            b.truth(b.wide().convert(Conversion::Low, b.wide().compare(op, x, y)))
        };
        check("truth", true, low, move |[x, y, _]| exact(x, y).into());
    };
    compare(Compare::Equal, |x, y| double(x) == double(y));
    compare(Compare::NotEqual, |x, y| double(x) != double(y));
    compare(Compare::Less, |x, y| double(x) < double(y));
    compare(Compare::LessOrEqual, |x, y| double(x) <= double(y));
    compare(Compare::EqualBits, |x, y| x == y);
    compare(Compare::Greater, |x, y| x.cast_signed() > y.cast_signed());
}

#[test]
fn conversions_and_constants() {
    let low = |b: &Builder, x: Value| b.wide().convert(Conversion::Low, x);
    check("low", true, |b, [x, ..]| low(b, x), |[x, ..]| x & 0xffff_ffff);
    let extend = |conversion: Conversion, exact: fn(u32) -> u64| {
        let record = move |b: &Builder, [x, ..]: [Value; 3]| b.wide().convert(conversion, low(b, x));
        check("extend", false, record, move |[x, ..]| exact(x as u32));
    };
    extend(Conversion::SignExtend, |x| i64::from(x.cast_signed()).cast_unsigned());
    extend(Conversion::ZeroExtend, u64::from);
    extend(Conversion::ToDouble, |x| f64::from(f32::from_bits(x)).to_bits());
    extend(Conversion::IntegerToDouble, |x| f64::from(x.cast_signed()).to_bits());
    let is_number = |[x, ..]: [u64; 3]| if double(x).is_nan() { 0 } else { (double(x) as f32).to_bits().into() };
    let to_float = |b: &Builder, [x, ..]: [Value; 3]| {
        let is_number = low(b, b.wide().compare(Compare::Equal, x, x));
        b.select(is_number, b.wide().convert(Conversion::ToFloat, x), b.constant(0))
    };
    check("to float", true, to_float, is_number);
    for bits in [0, 1, 1 << 32, u64::MAX, 0x1234_5678_9abc_def0] {
        let plus =
            move |b: &Builder, [x, ..]: [Value; 3]| b.wide().binary(WideBinary::AddBits, x, b.wide().constant(bits));
        check("constant", false, plus, move |[x, ..]| x.wrapping_add(bits));
    }
}

#[test]
fn the_first_element_in_every_place() {
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        let count = isa.lanes() / 2;
        let place =
            |slot: u16, lanes: usize| Place { slot, offset: 0, lanes: lanes as u8, width: Width::Word, is_exact: true };
        let builder = Builder::new();
        builder.set_lanes(2);
        let one = builder.read(place(0, 2), None, 0);
        builder.set_lanes(count as u8);
        let all = builder.wide().broadcast(one);
        builder.set_lanes(2 * count as u8);
        builder.write(place(1, 2 * count), None, all);
        let region = Region { blocks: vec![Block::new(builder, End::Jump(Target::Exit(1)))] };
        let routine = Routine::compile_for(&region, isa).expect("it is small");
        let mut memory = [Array([0x1234_5678_9abc_def0; MOST]), Array([0; MOST])];
        memory[0].0[1..].fill(5);
        let mut table = memory.each_mut().map(|array| Entry { data: array.0.as_mut_ptr(), bytes: 8 * MOST });
        // SAFETY: both slots have an array of the size that the places have.
        let stop = unsafe { routine.run(table.as_mut_ptr().cast(), 0, &mut 0) };
        assert_eq!(stop, Stop::Exit(1));
        assert!(memory[1].0[..count].iter().all(|&element| element == 0x1234_5678_9abc_def0));
    }
}
