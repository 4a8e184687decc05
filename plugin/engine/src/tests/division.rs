//! Quotients and remainders by constants, rounded towards zero and down.

use oxcall_hlo::UnaryOp;

use super::*;

/// Numbers of all lengths, as bits: the ends, and the neighbours of multiples.
fn numbers(divisor: i128) -> Vec<i128> {
    let multiples = (-70..70).flat_map(|n: i128| (-1..=1).map(move |by| n * divisor + by));
    let powers = (0..64).flat_map(|power| (-1..=1).flat_map(move |by| [(1 << power) + by, -(1 << power) + by]));
    (-140..300).chain(multiples).chain(powers).collect()
}

/// A number's bits in an element, and the number that they are.
fn element(ty: ElementType, number: i128) -> (Vec<u8>, i128) {
    let above = 128 - 8 * ty.byte_width() as u32;
    let kept = number << above;
    let kept = if ty.is_signed() { kept >> above } else { (kept.cast_unsigned() >> above).cast_signed() };
    (kept.to_le_bytes()[..ty.byte_width()].to_vec(), kept)
}

/// Quotient and remainder, then those of signed integers that jax.numpy rounds down.
fn divisions(ty: ElementType, count: usize, divisor: &[u8]) -> Module {
    func(|f| {
        let ty = TensorType::new(ty, [count]);
        let x = f.param(ty.clone());
        let [zero, divisor] = [vec![0; divisor.len()], divisor.to_vec()].map(|bytes| f.splat(ty.clone(), bytes));
        let one = f.splat(ty.clone(), element(ty.element, 1).0);
        let compare = |direction| OpKind::Compare(direction, ComparisonType::NoType);
        let (less, differs) = (compare(ComparisonDirection::Lt), compare(ComparisonDirection::Ne));
        let quotient = binary(f, BinaryOp::Divide, x, divisor)?;
        let rest = binary(f, BinaryOp::Remainder, x, divisor)?;
        if ty.element.is_unsigned() {
            return Ok(vec![quotient, rest]);
        }
        let is_inexact = f.op(differs.clone(), [rest, zero])?;
        let [own, other] = [x, divisor].map(|value| f.op(OpKind::Unary(UnaryOp::Sign), [value]).unwrap());
        let signs = f.op(differs.clone(), [own, other])?;
        let moves = binary(f, BinaryOp::And, signs, is_inexact)?;
        let lower = binary(f, BinaryOp::Subtract, quotient, one)?;
        let floored = f.op(OpKind::Select, [moves, lower, quotient])?;
        let [own, other] = [rest, divisor].map(|value| f.op(less.clone(), [value, zero]).unwrap());
        let signs = f.op(differs, [own, other])?;
        let moves = binary(f, BinaryOp::And, signs, is_inexact)?;
        let upper = binary(f, BinaryOp::Add, rest, divisor)?;
        let modulus = f.op(OpKind::Select, [moves, upper, rest])?;
        Ok(vec![quotient, rest, floored, modulus])
    })
}

#[test]
fn divisions_by_constants_round_towards_zero_and_down() {
    use ElementType::{S8, S16, S32, S64, U8, U16, U32, U64};
    let divisors =
        [1, 2, 3, 5, 7, 8, 10, 64, 100, 127, 641, 4096, 65_537, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1];
    for ty in [S8, U8, S16, U16, S32, U32, S64, U64] {
        for divisor in divisors.into_iter().flat_map(|size: i128| [size, -size]) {
            let (bits, divisor) = element(ty, divisor);
            if divisor == 0 {
                continue;
            }
            let elements: Vec<_> = numbers(divisor).into_iter().map(|number| element(ty, number)).collect();
            let operand: Vec<u8> = elements.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
            let module = divisions(ty, elements.len(), &bits);
            let results = run(module, &|engine| vec![shared(engine, &operand)]).unwrap();
            for (index, &(_, x)) in elements.iter().enumerate() {
                let floored = x.div_euclid(divisor) - i128::from(divisor < 0 && x.rem_euclid(divisor) != 0);
                let expected = [x / divisor, x % divisor, floored, x - floored * divisor];
                for (which, (result, expected)) in results.iter().zip(expected).enumerate() {
                    let found = &result.as_bytes()[index * bits.len()..][..bits.len()];
                    assert_eq!(found, element(ty, expected).0, "result {which} of {x} by {divisor}, {ty}");
                }
            }
        }
    }
}
