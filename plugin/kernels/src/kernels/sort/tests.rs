use oxcall_hlo::ElementType::*;
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, OpKind, TensorType, UnaryOp, ValueId,
};

use crate::element::{bf16, f16};
use crate::kernels::testing::{Body, Random, Single, bytes, elements, indices, ravel, ty};

/// A sort of operands of one shape, without its comparator.
fn sort_op(types: &[ElementType], dims: &[usize], dim: usize) -> Single {
    let types: Vec<TensorType> = types.iter().map(|&element| ty(element, dims)).collect();
    Single::new(OpKind::Sort { dim, stable: true }, &types, &types)
}

fn params(types: &[ElementType]) -> Vec<ElementType> {
    types.iter().flat_map(|&element| [element; 2]).collect()
}

fn compare(
    body: &mut Body<'_>,
    direction: ComparisonDirection,
    kind: ComparisonType,
    a: ValueId,
    b: ValueId,
) -> ValueId {
    body.op(OpKind::Compare(direction, kind), &[a, b], Pred)
}

/// JAX's normalisation of a float before a comparison: zeros without signs, NaNs all the same.
fn canonical(body: &mut Body<'_>, x: ValueId, element: ElementType) -> ValueId {
    let constant = |body: &mut Body<'_>, value: f32| {
        let data = match element {
            F16 => bytes(&[f16::from_f32(value)]),
            BF16 => bytes(&[bf16::from_f32(value)]),
            F64 => bytes(&[f64::from(value)]),
            _ => bytes(&[value]),
        };
        body.op(OpKind::Constant(Literal::dense(ty(element, &[]), data)), &[], element)
    };
    let (zero, other_zero, nan) = (constant(body, 0.0), constant(body, 0.0), constant(body, f32::NAN));
    let is_zero = compare(body, ComparisonDirection::Eq, ComparisonType::Float, x, zero);
    let without_sign = body.op(OpKind::Select, &[is_zero, other_zero, x], element);
    let is_nan = compare(body, ComparisonDirection::Ne, ComparisonType::Float, x, x);
    body.op(OpKind::Select, &[is_nan, nan, without_sign], element)
}

/// Sorts by JAX's comparator with `keys` keys.
fn jax_sort(types: &[ElementType], keys: usize, dims: &[usize], dim: usize) -> Single {
    sort_op(types, dims, dim).region(&params(types), |body| {
        let mut sides: Vec<(ValueId, ValueId, ComparisonType)> = Vec::new();
        for (index, &element) in types[..keys].iter().enumerate() {
            let (a, b) = (body.params[2 * index], body.params[2 * index + 1]);
            if element.is_float() {
                sides.push((canonical(body, a, element), canonical(body, b, element), ComparisonType::TotalOrder));
            } else if element.is_complex() {
                for part in [UnaryOp::Real, UnaryOp::Imag] {
                    let real = element.real();
                    let [a, b] = [a, b].map(|x| body.op(OpKind::Unary(part), &[x], real));
                    sides.push((canonical(body, a, real), canonical(body, b, real), ComparisonType::TotalOrder));
                }
            } else {
                sides.push((a, b, ComparisonType::NoType));
            }
        }
        let (a, b, kind) = sides.pop().expect("a key");
        let mut result = compare(body, ComparisonDirection::Lt, kind, a, b);
        while let Some((a, b, kind)) = sides.pop() {
            let less = compare(body, ComparisonDirection::Lt, kind, a, b);
            let equal = compare(body, ComparisonDirection::Eq, kind, a, b);
            let both = body.op(OpKind::Binary(BinaryOp::And), &[equal, result], Pred);
            result = body.op(OpKind::Binary(BinaryOp::Or), &[less, both], Pred);
        }
        vec![result]
    })
}

/// Floats with duplicates, zeros of both signs, NaNs of both signs, and infinities.
fn awkward(random: &mut Random) -> f64 {
    match random.below(12) {
        0 => 0.0,
        1 => -0.0,
        2 => f64::NAN,
        3 => -f64::NAN,
        4 => f64::INFINITY,
        5 => f64::NEG_INFINITY,
        6 => random.below(4) as f64,
        _ => random.float() * 100.0,
    }
}

/// JAX's order of floats.
fn canonical_order(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// For each result, the place in the operand from which it comes: a stable sort of each row by `order` of places.
fn expected_places(dims: &[usize], dim: usize, order: impl Fn(usize, usize) -> std::cmp::Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..dims.iter().product()).collect();
    for index in indices(dims).filter(|index| index[dim] == 0) {
        let at = |i: usize| {
            let mut index = index.clone();
            index[dim] = i;
            ravel(&index, dims)
        };
        let mut row: Vec<usize> = (0..dims[dim]).map(at).collect();
        row.sort_by(|&a, &b| order(a, b));
        row.into_iter().enumerate().for_each(|(i, from)| places[at(i)] = from);
    }
    places
}

fn take(operand: &[u8], width: usize, places: &[usize]) -> Vec<u8> {
    places.iter().flat_map(|&place| operand[place * width..][..width].to_vec()).collect()
}

fn float_bytes(element: ElementType, values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&x| match element {
            F16 => bytes(&[f16::from_f64(x)]),
            BF16 => bytes(&[bf16::from_f64(x)]),
            F64 => bytes(&[x]),
            _ => bytes(&[x as f32]),
        })
        .collect()
}

/// The values that are compared, after rounding to the type.
fn float_values(element: ElementType, data: &[u8]) -> Vec<f64> {
    match element {
        F16 => elements::<f16>(data).into_iter().map(f64::from).collect(),
        BF16 => elements::<bf16>(data).into_iter().map(f64::from).collect(),
        F64 => elements(data),
        _ => elements::<f32>(data).into_iter().map(f64::from).collect(),
    }
}

#[test]
fn sorts_floats_as_jax_does() {
    let random = &mut Random(11);
    for round in 0..60 {
        let mut dims = random.shape(1 + round % 3);
        if round >= 56 {
            dims = vec![2, 5000];
        }
        let dim = random.below(dims.len());
        let dim = if round >= 56 { 1 } else { dim };
        let element = [F32, F64, F16, BF16][round % 4];
        let values: Vec<f64> = (0..dims.iter().product()).map(|_| awkward(random)).collect();
        let data = float_bytes(element, &values);
        let values = float_values(element, &data);
        let places = expected_places(&dims, dim, |a, b| canonical_order(values[a], values[b]));
        let width = element.byte_width();
        // Alone, and with positions that follow.
        let sorted = jax_sort(&[element], 1, &dims, dim).run(std::slice::from_ref(&data));
        assert_eq!(sorted[0], take(&data, width, &places), "{element} {dims:?} {dim}");
        let iota = bytes(&(0..values.len() as i32).collect::<Vec<_>>());
        let sorted = jax_sort(&[element, S32], 1, &dims, dim).run(&[data.clone(), iota]);
        assert_eq!(elements::<i32>(&sorted[1]), places.iter().map(|&place| place as i32).collect::<Vec<_>>());
        assert_eq!(sorted[0], take(&data, width, &places));
    }
}

#[test]
fn sorts_by_several_keys() {
    let random = &mut Random(12);
    for round in 0..30 {
        let dims = random.shape(1 + round % 2);
        let dim = random.below(dims.len());
        let count: usize = dims.iter().product();
        let first: Vec<u8> = (0..count).map(|_| random.below(4) as u8).collect();
        let second: Vec<f32> = (0..count).map(|_| (awkward(random) as f32 / 30.0).round()).collect();
        let third: Vec<i64> = (0..count).map(|_| random.between(-2, 2)).collect();
        let places = expected_places(&dims, dim, |a, b| {
            let floats = canonical_order(second[a].into(), second[b].into());
            first[a].cmp(&first[b]).then(floats).then(third[a].cmp(&third[b]))
        });
        let types = [U8, F32, S64, U16];
        let payload: Vec<u16> = (0..count as u16).collect();
        let operands = [bytes(&first), bytes(&second), bytes(&third), bytes(&payload)];
        let sorted = jax_sort(&types, 3, &dims, dim).run(&operands);
        for ((sorted, operand), element) in sorted.iter().zip(&operands).zip(types) {
            assert_eq!(*sorted, take(operand, element.byte_width(), &places), "{element} {dims:?} {dim}");
        }
    }
}

#[test]
fn sorts_complex_numbers_by_real_then_imaginary_part() {
    let random = &mut Random(13);
    for element in [C64, C128] {
        let parts: Vec<f64> = (0..400).map(|_| (awkward(random) / 40.0).round()).collect();
        let data = float_bytes(element.real(), &parts);
        let places = expected_places(&[200], 0, |a, b| {
            canonical_order(parts[2 * a], parts[2 * b]).then(canonical_order(parts[2 * a + 1], parts[2 * b + 1]))
        });
        let sorted = jax_sort(&[element], 1, &[200], 0).run(std::slice::from_ref(&data));
        assert_eq!(sorted[0], take(&data, element.byte_width(), &places));
    }
}

/// Sorts one operand by `direction`, comparing its elements or, of floats, their total order.
fn plain_sort(element: ElementType, count: usize, direction: ComparisonDirection, kind: ComparisonType) -> Single {
    sort_op(&[element], &[count], 0).region(&[element; 2], |body| {
        let (a, b) = (body.params[0], body.params[1]);
        vec![compare(body, direction, kind, a, b)]
    })
}

#[test]
fn sorts_integers_of_every_type_both_ways() {
    let random = &mut Random(14);
    for element in [Pred, U2, U4, U8, U16, U32, U64, S2, S4, S8, S16, S32, S64] {
        for count in [0, 1, 2, 300, 6000] {
            let values: Vec<i128> = (0..count)
                .map(|_| {
                    let bits = element.bits();
                    let raw = i128::from(random.number() >> (64 - bits));
                    if element.is_signed() { raw - (1 << (bits - 1)) } else { raw }
                })
                .collect();
            let data: Vec<u8> =
                values.iter().flat_map(|value| value.to_le_bytes()[..element.byte_width()].to_vec()).collect();
            for (direction, descending) in [(ComparisonDirection::Lt, false), (ComparisonDirection::Gt, true)] {
                let places = expected_places(&[count], 0, |a, b| {
                    if descending { values[b].cmp(&values[a]) } else { values[a].cmp(&values[b]) }
                });
                let sort = plain_sort(element, count, direction, ComparisonType::NoType);
                let sorted = sort.run(std::slice::from_ref(&data));
                assert_eq!(sorted[0], take(&data, element.byte_width(), &places), "{element} {count}");
            }
        }
    }
}

#[test]
fn total_order_tells_zeros_and_nans_apart() {
    let random = &mut Random(15);
    let values: Vec<f32> = (0..3000).map(|_| awkward(random) as f32).collect();
    let mut ascending = values.clone();
    ascending.sort_by(f32::total_cmp);
    let sort = plain_sort(F32, 3000, ComparisonDirection::Lt, ComparisonType::TotalOrder);
    assert_eq!(sort.run(&[bytes(&values)])[0], bytes(&ascending));
    ascending.reverse();
    let sort = plain_sort(F32, 3000, ComparisonDirection::Gt, ComparisonType::TotalOrder);
    assert_eq!(sort.run(&[bytes(&values)])[0], bytes(&ascending));
}

#[test]
fn any_comparator_sorts_stably() {
    let random = &mut Random(16);
    let dims = [7, 33, 3];
    let values: Vec<i32> = (0..693).map(|_| random.between(-20, 20) as i32).collect();
    // By the absolute value, which is not a key.
    let types = [S32, F64];
    let sort = sort_op(&types, &dims, 1).region(&params(&types), |body| {
        let [a, b] = [body.params[0], body.params[1]].map(|x| body.op(OpKind::Unary(UnaryOp::Abs), &[x], S32));
        vec![compare(body, ComparisonDirection::Lt, ComparisonType::Signed, a, b)]
    });
    let payload: Vec<f64> = (0..693).map(f64::from).collect();
    let places = expected_places(&dims, 1, |a, b| values[a].abs().cmp(&values[b].abs()));
    let sorted = sort.run(&[bytes(&values), bytes(&payload)]);
    assert_eq!(elements::<f64>(&sorted[1]), places.iter().map(|&place| place as f64).collect::<Vec<_>>());
}

#[test]
fn a_comparator_without_order_gives_a_permutation() {
    let random = &mut Random(17);
    let values: Vec<i32> = (0..1000).map(|_| random.below(1000) as i32).collect();
    let sort = sort_op(&[S32], &[1000], 0).region(&[S32; 2], |body| {
        let (a, b) = (body.params[0], body.params[1]);
        vec![compare(body, ComparisonDirection::Ne, ComparisonType::Signed, a, b)]
    });
    let (mut sorted, mut values_sorted) = (elements::<i32>(&sort.run(&[bytes(&values)])[0]), values);
    sorted.sort();
    values_sorted.sort();
    assert_eq!(sorted, values_sorted);
}

#[test]
fn a_long_row_is_sorted_by_several_threads() {
    let random = &mut Random(18);
    let values: Vec<f32> = (0..300_001).map(|_| awkward(random) as f32).collect();
    let sort = jax_sort(&[F32, S32], 1, &[values.len()], 0);
    let operands = [bytes(&values), bytes(&(0..values.len() as i32).collect::<Vec<_>>())];
    assert!(sort.run(&operands) == sort.run_alone(&operands));
    let places = expected_places(&[values.len()], 0, |a, b| canonical_order(values[a].into(), values[b].into()));
    assert!(jax_sort(&[F32], 1, &[values.len()], 0).run(&operands[..1])[0] == take(&operands[0], 4, &places));
}

/// Keys of a long row, whose highest digits differ, differ in few items, or are all the same.
fn long_rows(random: &mut Random) -> Vec<Vec<i32>> {
    let key = |kind: usize, index: usize, random: &mut Random| match kind {
        0 => (random.below(1 << 31) as i32) << 1,
        1 => random.below(1000) as i32,
        2 if random.below(1000) == 0 => i32::MIN,
        2 => random.below(1 << 20) as i32,
        3 => (random.below(3) as i32 - 1) << 28,
        4 => 300_000 - index as i32,
        _ => 7,
    };
    (0..6).map(|kind| (0..110_000).map(|index| key(kind, index, random)).collect()).collect()
}

#[test]
fn long_rows_are_divided_by_the_highest_digit_that_differs() {
    for values in long_rows(&mut Random(7)) {
        let len = values.len();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let sort = |types: &[ElementType]| jax_sort(types, 1, &[len], 0);
        assert!(sort(&[S32]).run(&[bytes(&values)])[0] == bytes(&sorted));
        let wide: Vec<f64> = values.iter().map(|&value| f64::from(value) / 3.0).collect();
        let mut places: Vec<i32> = (0..len as i32).collect();
        let operands = [bytes(&wide), bytes(&places)];
        places.sort_by_key(|&place| values[place as usize]);
        assert!(sort(&[F64, S32]).run(&operands)[1] == bytes(&places));
        // By two keys: equal ones are in the order of the second.
        let second: Vec<i32> = (0..len as i32).map(|place| place * 31 % 64).collect();
        let order = |&place: &i32| (values[place as usize], second[place as usize], place);
        places.sort_by_key(order);
        let operands = [bytes(&values), bytes(&second), bytes(&(0..len as i32).collect::<Vec<_>>())];
        assert!(jax_sort(&[S32; 3], 2, &[len], 0).run(&operands)[2] == bytes(&places));
    }
}

#[test]
fn several_threads_look_for_the_first_of_a_long_row() {
    for values in long_rows(&mut Random(8)) {
        for k in [1, 16, 17, 300] {
            for largest in [true, false] {
                let mut places: Vec<i32> = (0..values.len() as i32).collect();
                places.sort_by_key(|&place| {
                    let value = i64::from(values[place as usize]);
                    if largest { -value } else { value }
                });
                let (_, found) = top_k(S32, &[values.len()], k, largest, &bytes(&values));
                assert_eq!(found, places[..k]);
            }
        }
    }
}

fn top_k(element: ElementType, dims: &[usize], k: usize, largest: bool, data: &[u8]) -> (Vec<u8>, Vec<i32>) {
    let mut result = dims.to_vec();
    *result.last_mut().expect("a dimension") = k;
    let op = Single::new(OpKind::TopK { k, largest }, &[ty(element, dims)], &[ty(element, &result), ty(S32, &result)]);
    let mut results = op.run(&[data.to_vec()]);
    let indices = elements(&results.pop().expect("indices"));
    (results.remove(0), indices)
}

#[test]
fn top_k_is_the_head_of_a_descending_sort() {
    // The answers of stock JAX on CPUs.
    let values = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3.0, 3.0, 0.0, -0.0];
    assert_eq!(top_k(F32, &[10], 10, true, &bytes(&values)).1, [2, 4, 6, 7, 0, 8, 1, 9, 5, 3]);
    assert_eq!(top_k(S8, &[5], 5, true, &bytes(&[3i8, 1, 3, -5, 7])).1, [4, 0, 2, 1, 3]);
    // 1, -2, 0, NaN, 3 and -infinity.
    let narrow = [0x3C, 0xC0, 0x00, 0x7E, 0x42, 0xFC];
    let head = (vec![0x7E, 0x42, 0x3C, 0x00], vec![3, 4, 0, 2]);
    assert_eq!(top_k(ElementType::F8E5M2, &[6], 4, true, &narrow), head);

    let random = &mut Random(19);
    let shapes = [(vec![3, 50], 7), (vec![2, 2, 9000], 20), (vec![2, 9000], 3), (vec![5, 33], 16), (vec![5, 33], 17)];
    for (dims, k) in shapes.into_iter().chain([(vec![1], 1), (vec![4, 5], 0), (vec![0, 3], 2)]) {
        for largest in [true, false] {
            let values: Vec<f64> = (0..dims.iter().product()).map(|_| awkward(random)).collect();
            let (selected, positions) = top_k(F64, &dims, k, largest, &bytes(&values));
            let len = *dims.last().expect("a dimension");
            for (row, values) in values.chunks_exact(len).enumerate() {
                let mut order: Vec<usize> = (0..len).collect();
                order.sort_by(
                    |&a, &b| {
                        if largest { values[b].total_cmp(&values[a]) } else { values[a].total_cmp(&values[b]) }
                    },
                );
                let head: Vec<i32> = order[..k].iter().map(|&place| place as i32).collect();
                assert_eq!(positions[row * k..][..k], head);
                let expected: Vec<f64> = order[..k].iter().map(|&place| values[place]).collect();
                assert_eq!(selected[row * k * 8..][..k * 8], bytes(&expected));
            }
        }
    }
}

#[test]
fn short_rows_are_sorted_side_by_side() {
    let random = &mut Random(20);
    for len in 2..=34 {
        for (dims, dim) in [(vec![3, len, 70], 1), (vec![133, len], 1), (vec![len, 65], 0), (vec![2, len, 1], 1)] {
            let element = [F32, BF16, F64][len % 3];
            let values: Vec<f64> = (0..dims.iter().product()).map(|_| awkward(random)).collect();
            let data = float_bytes(element, &values);
            let values = float_values(element, &data);
            let places = expected_places(&dims, dim, |a, b| canonical_order(values[a], values[b]));
            let sorted = jax_sort(&[element], 1, &dims, dim).run(std::slice::from_ref(&data));
            assert!(sorted[0] == take(&data, element.byte_width(), &places), "{element} {dims:?} {dim}");
        }
        let values: Vec<i16> = (0..len * 100).map(|_| random.below(60) as i16 - 30).collect();
        let places = expected_places(&[100, len], 1, |a, b| values[b].cmp(&values[a]));
        let sort = sort_op(&[S16], &[100, len], 1).region(&[S16; 2], |body| {
            let (a, b) = (body.params[0], body.params[1]);
            vec![compare(body, ComparisonDirection::Gt, ComparisonType::NoType, a, b)]
        });
        assert!(sort.run(&[bytes(&values)])[0] == take(&bytes(&values), 2, &places), "{len}");
    }
}
