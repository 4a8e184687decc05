//! Generated code beside the functions in Rust, in bits: every op that has both, on every type and every set of
//! instructions that the processor has.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, OpKind, UnaryOp};
use oxcall_jit::{Block, Builder, Counts, End, Isa, Kernel, Place, Region, Routine, Stop, Target, Value};
use smallvec::smallvec;

use super::super::level::Avx2;
use super::super::lower::{Step, Steps, lower_at};
use super::super::{Source, packed, wide};
use super::{array_width, fits_lane, is_quad, is_wide, lanes_of, width};
use crate::kernels::testing::Random;

const COUNT: usize = 4 * 16 * 40;

/// Elements of a type: bits of all kinds, and for floats many that are near to one or odd.
fn elements(random: &mut Random, element: ElementType) -> Vec<u8> {
    if element.is_complex() {
        let size = element.real().byte_width();
        let [real, imaginary] = [(); 2].map(|()| elements(random, element.real()));
        let part = |bytes: &[u8], index: usize| bytes[index % COUNT * size..][..size].to_vec();
        // Every kind of real part beside every kind of imaginary part.
        return (0..COUNT).flat_map(|at| [part(&real, at), part(&imaginary, at + at / 4)].concat()).collect();
    }
    if is_wide(element) {
        let ends: [u64; 6] = [0, 1, u64::MAX, i64::MIN.cast_unsigned(), u64::MAX >> 1, 0xffff_ffff];
        let odd = [-0.0, 1.0, -0.5, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 4.0e9, -3.0e9, 1e19, 0.5];
        let bits = random.bytes(COUNT * 9);
        let number = |bytes: &[u8]| {
            let any = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            let kind = usize::from(bytes[8]);
            match kind % 4 {
                0 => ends[kind / 4 % ends.len()],
                1 => odd[kind / 4 % odd.len()].to_bits(),
                2 => (any as f64 / 1e17 - 90.0).to_bits(),
                _ => (any.cast_signed() >> (kind / 4)).cast_unsigned(),
            }
        };
        return bits.chunks_exact(9).flat_map(|bytes| number(bytes).to_le_bytes()).collect();
    }
    let odd = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40, 3e38, -89.5, 104.2];
    if element != ElementType::F32 {
        // Numbers of all lengths, also 0, 1, -1 and the ends.
        let width = element.byte_width();
        let any = random.bytes(COUNT * 5);
        let number = |bytes: &[u8]| {
            let word = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let ends = [0, 1, -1, i32::MIN, i32::MAX, i32::MIN + 1, 2, 3];
            match bytes[4] % 4 {
                0 => ends[bytes[4] as usize / 4 % ends.len()] >> (32 - 8 * width),
                _ => word >> (bytes[4] / 8),
            }
        };
        return any.chunks_exact(5).flat_map(|bytes| number(bytes).to_le_bytes()[..width].to_vec()).collect();
    }
    let bits = random.bytes(COUNT * 4);
    let words = bits.chunks_exact(4).enumerate().flat_map(|(index, bytes)| {
        let any = f32::from_le_bytes(bytes.try_into().unwrap());
        let x = match index % 4 {
            0 => any,
            1 => odd[bytes[0] as usize % odd.len()],
            _ => f32::from(bytes[1]) / 16.0 - 8.0 + f32::from(bytes[2]) / 4096.0,
        };
        x.to_le_bytes()
    });
    words.collect()
}

/// The results of an op's steps by loops in Rust.
fn by_tiles(steps: &Steps, operands: &[Vec<u8>]) -> Vec<u8> {
    let mut results: Vec<Vec<u8>> = Vec::new();
    for step in steps {
        let mut args: [&[u8]; 3] = [&[]; 3];
        for (arg, source) in args.iter_mut().zip(&step.sources) {
            *arg = match *source {
                Source::Operand(index) => &operands[index],
                Source::Step(index) => &results[index],
                Source::Constant(_) => unreachable!("ops with constants have no generated form"),
            };
        }
        let mut out = vec![0; COUNT * step.function.output.byte_width()];
        (step.function.tile)(&mut out, args);
        results.push(out);
    }
    results.pop().unwrap_or_else(|| operands[0].clone())
}

/// The result of an op's steps; `None` if a step has no recorded form.
fn recorded(builder: &Builder, steps: &Steps, operands: &[Value]) -> Option<Value> {
    let mut results: Vec<Value> = Vec::new();
    for step in steps {
        let mut args = [operands[0]; 3];
        for (arg, source) in args.iter_mut().zip(&step.sources) {
            *arg = match *source {
                Source::Operand(index) => operands[index],
                Source::Step(index) => results[index],
                Source::Constant(_) => return None,
            };
        }
        results.push(step.function.record?(builder, args));
    }
    results.pop()
}

/// The results of an op's steps by generated code; `None` if a step has no such form.
fn by_generated_code(steps: &Steps, types: &[ElementType], operands: &[Vec<u8>], isa: Isa) -> Option<Vec<u8>> {
    let builder = Builder::new();
    let loads: Vec<Value> =
        types.iter().enumerate().map(|(index, &element)| builder.load(index as u16, array_width(element))).collect();
    let result = recorded(&builder, steps, &loads)?;
    let output = steps.last()?.function.output;
    builder.store(types.len() as u16, array_width(output), result);
    let kernel = Kernel::compile_for(&builder.build(), isa, Counts::Blocks).expect("the program is small");
    assert_eq!(COUNT % kernel.block(), 0);
    let mut memory: Vec<Vec<u8>> = operands.to_vec();
    memory.push(vec![0; COUNT * output.byte_width()]);
    let addresses: Vec<*mut u8> = memory.iter_mut().map(Vec::as_mut_ptr).collect();
    #[allow(unsafe_code, reason = "runs generated code")]
    // SAFETY: each array has `COUNT` elements of its width, and all are apart.
    unsafe {
        kernel.run(&addresses, COUNT);
    }
    memory.pop()
}

/// Memory of a slot.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Array([u8; 64]);

/// The results of an op's steps by blocks, of as many elements as a vector has pairs of lanes.
fn by_block(steps: &Steps, types: &[ElementType], operands: &[Vec<u8>], isa: Isa) -> Option<Vec<u8>> {
    let (count, builder) = (isa.lanes() / 2, Builder::new());
    let place = |slot: usize, element: ElementType| {
        let lanes = lanes_of(element)? * count as u8;
        Some(Place { slot: slot as u16, offset: 0, lanes, width: width(element), is_exact: false })
    };
    let load = |(slot, &element): (usize, &ElementType)| {
        let place = place(slot, element)?;
        builder.set_lanes(place.lanes);
        Some(builder.read(place, None, 0))
    };
    let loads: Vec<Value> = types.iter().enumerate().map(load).collect::<Option<_>>()?;
    builder.set_lanes(count as u8);
    let result = recorded(&builder, steps, &loads)?;
    let output = steps.last()?.function.output;
    let to = place(types.len(), output)?;
    builder.set_lanes(to.lanes);
    builder.write(to, None, result);
    let region = Region { blocks: vec![Block::new(builder, End::Jump(Target::Exit(0)))] };
    let routine = Routine::compile_for(&region, isa).expect("the region is small");
    let mut found = Vec::new();
    for first in (0..COUNT).step_by(count) {
        let mut memory = vec![Array([0; 64]); types.len() + 1];
        for ((array, bytes), element) in memory.iter_mut().zip(operands).zip(types) {
            let size = element.byte_width();
            array.0[..count * size].copy_from_slice(&bytes[first * size..][..count * size]);
        }
        let mut table: Vec<(*mut u8, usize)> = memory.iter_mut().map(|array| (array.0.as_mut_ptr(), 64)).collect();
        #[allow(unsafe_code, reason = "runs generated code")]
        // SAFETY: each slot has an array of the size of a vector.
        let stop = unsafe { routine.run(table.as_mut_ptr().cast(), 0, &mut 0) };
        assert_eq!(stop, Stop::Exit(0));
        found.extend(&memory[types.len()].0[..count * output.byte_width()]);
    }
    Some(found)
}

/// Compares both forms of an op; whether it has both.
fn check(kind: &OpKind, types: &[ElementType], result: ElementType) -> bool {
    check_with(kind, types, result, 7)
}

/// The same on the numbers of a seed.
fn check_with(kind: &OpKind, types: &[ElementType], result: ElementType, seed: u64) -> bool {
    let Some(steps) = lower_at::<Avx2>(kind, types, result) else { return false };
    let mut random = Random(seed);
    let mut operands: Vec<Vec<u8>> = types.iter().map(|&element| elements(&mut random, wide(element))).collect();
    if *kind == OpKind::Select || types[0] == ElementType::Pred {
        operands[0].iter_mut().for_each(|byte| *byte &= 1);
    }
    let types: Vec<_> = types.iter().map(|&element| wide(element)).collect();
    check_steps(kind.name(), &steps, &types, &operands)
}

/// Compares both forms of some steps; whether all have both.
fn check_steps(name: &str, steps: &Steps, types: &[ElementType], operands: &[Vec<u8>]) -> bool {
    let mut has_both = false;
    for isa in Isa::all().filter(|isa| isa.is_present()) {
        let outputs = steps.iter().map(|step| step.function.output);
        let Some(found) = by_generated_code(steps, types, operands, isa) else { return false };
        let all: Vec<ElementType> = types.iter().copied().chain(outputs).collect();
        if all.iter().copied().any(is_wide) && !all.into_iter().any(is_quad) {
            let block = by_block(steps, types, operands, isa);
            assert!(block.is_some_and(|block| block == found), "{name} in blocks, of {types:?} on {isa:?}");
        }
        has_both = true;
        let expected = by_tiles(steps, operands);
        let output = steps.last().map_or(types[0], |step| step.function.output);
        let size = output.byte_width();
        for (index, (found, expected)) in found.chunks(size).zip(expected.chunks(size)).enumerate() {
            let is_nan = |bytes: &[u8]| match output.real() {
                ElementType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
                ElementType::F64 => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
                _ => false,
            };
            let part = output.real().byte_width();
            let mut parts = found.chunks(part).zip(expected.chunks(part));
            let args: Vec<_> = operands
                .iter()
                .zip(types)
                .map(|(bytes, ty)| &bytes[index * ty.byte_width()..][..ty.byte_width()])
                .collect();
            assert!(
                parts.all(|(found, expected)| found == expected || is_nan(found) && is_nan(expected)),
                "{name} of {types:?} to {output} on {isa:?}: {found:x?}, expected {expected:x?}, of {args:x?}"
            );
        }
    }
    has_both
}

#[test]
fn generated_code_gives_the_bits_of_functions() {
    use ElementType::{BF16, C64, C128, F16, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};
    if !Kernel::is_supported() || !Avx2::is_present() {
        return;
    }
    let types = [F32, BF16, F16, S32, U32, S16, U16, S8, U8, Pred, F64, S64, U64, C64, C128];
    assert!(types.iter().all(|&element| fits_lane(wide(element)) || is_wide(element) || is_quad(element)));
    let mut forms = 0;
    for element in types {
        for &op in UnaryOp::ALL {
            let result = if op == UnaryOp::IsFinite { Pred } else { element };
            forms += usize::from(check(&OpKind::Unary(op), &[element], result));
        }
        for &op in BinaryOp::ALL {
            forms += usize::from(check(&OpKind::Binary(op), &[element; 2], element));
        }
        for &direction in ComparisonDirection::ALL {
            for order in [ComparisonType::NoType, ComparisonType::TotalOrder] {
                forms += usize::from(check(&OpKind::Compare(direction, order), &[element; 2], Pred));
            }
        }
        forms += usize::from(check(&OpKind::Select, &[Pred, element, element], element));
        forms += usize::from(check(&OpKind::Clamp, &[element; 3], element));
        for to in types {
            forms += usize::from(check(&OpKind::Convert, &[element], to));
        }
    }
    assert!(forms > 200, "{forms} ops have both forms");
}

#[test]
fn functions_of_complex_numbers() {
    use ElementType::{C64, C128, F32, F64, Pred};
    if !Kernel::is_supported() || !Avx2::is_present() {
        return;
    }
    for (seed, (number, part)) in (1..20).flat_map(|seed| [(C64, F32), (C128, F64)].map(|types| (seed, types))) {
        for op in [UnaryOp::Real, UnaryOp::Imag, UnaryOp::Abs] {
            assert!(check_with(&OpKind::Unary(op), &[number], part, seed), "{op:?} of {number}");
        }
        for op in [UnaryOp::Negate, UnaryOp::Conj, UnaryOp::Square] {
            assert!(check_with(&OpKind::Unary(op), &[number], number, seed), "{op:?} of {number}");
        }
        for op in [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply] {
            assert!(check_with(&OpKind::Binary(op), &[number; 2], number, seed), "{op:?} of {number}");
        }
        for direction in [ComparisonDirection::Eq, ComparisonDirection::Ne] {
            let kind = OpKind::Compare(direction, ComparisonType::NoType);
            assert!(check_with(&kind, &[number; 2], Pred, seed), "{direction:?} of {number}");
        }
        assert!(check_with(&OpKind::Complex, &[part; 2], number, seed));
        assert!(check_with(&OpKind::Convert, &[part], number, seed));
        assert!(check_with(&OpKind::Select, &[Pred, number, number], number, seed));
    }
    assert!(check(&OpKind::Unary(UnaryOp::Sign), &[C64], C64));
    assert!(check(&OpKind::Convert, &[C64], C128) && check(&OpKind::Convert, &[C128], C64));
    assert!(check(&OpKind::Unary(UnaryOp::IsFinite), &[C128], Pred));
}

#[test]
fn codes_of_narrow_floats() {
    if !Kernel::is_supported() || !Avx2::is_present() {
        return;
    }
    let mut random = Random(3);
    let floats = elements(&mut random, ElementType::F32);
    for element in [ElementType::BF16, ElementType::F16] {
        let functions = packed(element).expect("it is narrow");
        for (function, operand) in
            [(functions.load, &random.bytes(2 * COUNT)), (functions.store, &floats), (functions.round, &floats)]
        {
            let steps: Steps = smallvec![Step { function, sources: smallvec![Source::Operand(0)] }];
            let operands = std::slice::from_ref(operand);
            assert!(
                check_steps(function.name, &steps, &function.args[..1], operands),
                "{} of {element}",
                function.name
            );
        }
    }
}

#[test]
fn divisions_of_many_numbers() {
    if !Kernel::is_supported() || !Avx2::is_present() {
        return;
    }
    for seed in 1..100 {
        for element in [ElementType::S32, ElementType::U32, ElementType::S16, ElementType::U8] {
            for op in [BinaryOp::Divide, BinaryOp::Remainder] {
                assert!(check_with(&OpKind::Binary(op), &[element; 2], element, seed));
            }
        }
    }
}

#[test]
fn divisions_by_constants() {
    use ElementType::{S8, S16, S32, U8, U16, U32};
    let mut random = Random(11);
    let mut divisors = vec![0, 1, -1, 2, -2, 3, 5, 6, 7, -7, 10, 100, 1000, -4096, 65_537, 1 << 20, (1 << 30) + 1];
    divisors.extend([i32::MAX, i32::MAX - 1, i32::MIN, i32::MIN + 1, -(1 << 30) - 1]);
    divisors.extend(random.bytes(4 * 60).chunks_exact(4).map(|bytes| {
        let word = i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        word >> (bytes[0] % 31)
    }));
    for divisor in divisors {
        for element in [S32, U32, S16, U16, S8, U8] {
            let above = 32 - 8 * element.byte_width() as u32;
            let number = |bits: u32| {
                if element.is_signed() {
                    i64::from((bits << above).cast_signed() >> above)
                } else {
                    i64::from(bits << above >> above)
                }
            };
            let by = number(divisor.cast_unsigned());
            let builder = Builder::new();
            let (x, y) = (builder.load(0, width(element)), builder.constant(by as u32));
            for (index, op) in [BinaryOp::Divide, BinaryOp::Remainder].into_iter().enumerate() {
                let record = super::binary(op, element).expect("it is recorded");
                builder.store(index as u16 + 1, width(element), record(&builder, [x, y, y]));
            }
            let program = builder.build();
            let mut numbers = elements(&mut random, ElementType::S32);
            // Multiples, and their neighbours.
            for (index, word) in numbers.chunks_exact_mut(4).enumerate().filter(|(index, _)| index % 2 == 0) {
                let near = divisor.wrapping_mul(index as i32 * 7919).wrapping_add(index as i32 / 2 % 3 - 1);
                word.copy_from_slice(&near.to_le_bytes());
            }
            for word in numbers.chunks_exact(4) {
                let bits = u32::from_le_bytes(word.try_into().unwrap()) & width(element).bits();
                let x = number(bits);
                let mut found = [0; 2];
                program.interpret(|_| bits.into(), |array, value| found[usize::from(array) - 1] = number(value as u32));
                let expected = [x.checked_div(by).unwrap_or(-1), x.checked_rem(by).unwrap_or(x)];
                assert_eq!(found, expected.map(|x| number(x as u32)), "{x} by {by}, {element}");
            }
        }
    }
}
