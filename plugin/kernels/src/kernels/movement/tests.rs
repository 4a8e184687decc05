use oxcall_hlo::{ElementType, OpKind, TensorType};

use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty, unravel};

/// One element type of each width.
const WIDTHS: [ElementType; 5] =
    [ElementType::U8, ElementType::F16, ElementType::F32, ElementType::S64, ElementType::C128];

/// Runs `kind` and compares it with the result whose elements `source` gives, each by an operand and a place in it.
fn check(
    kind: OpKind,
    operands: &[TensorType],
    result: &TensorType,
    random: &mut Random,
    source: impl Fn(&[usize]) -> (usize, usize),
) {
    let inputs: Vec<Vec<u8>> = operands.iter().map(|ty| random.bytes(ty.byte_size())).collect();
    let width = result.element.byte_width();
    let mut expected = Vec::new();
    for index in indices(&result.dims) {
        let (operand, place) = source(&index);
        expected.extend_from_slice(&inputs[operand][place * width..][..width]);
    }
    let message = format!("{kind:?} of {operands:?}");
    let actual = Single::new(kind, operands, std::slice::from_ref(result)).run(&inputs);
    assert!(actual[0] == expected, "{message}");
}

fn check_transpose(element: ElementType, dims: &[usize], permutation: Vec<usize>, random: &mut Random) {
    let result: Vec<usize> = permutation.iter().map(|&dim| dims[dim]).collect();
    let kind = OpKind::Transpose { permutation: permutation.clone() };
    check(kind, &[ty(element, dims)], &ty(element, &result), random, |index| {
        let mut operand = vec![0; dims.len()];
        permutation.iter().zip(index).for_each(|(&dim, &i)| operand[dim] = i);
        (0, ravel(&operand, dims))
    });
}

#[test]
fn transposes() {
    let random = &mut Random(1);
    for round in 0..120 {
        let dims = random.shape(round % 5);
        let permutation = random.permutation(dims.len());
        check_transpose(WIDTHS[round % 5], &dims, permutation, random);
    }
    // Whole tiles, edges, several matrices, columns in between; large enough to be split among threads.
    for element in WIDTHS {
        check_transpose(element, &[67, 131], vec![1, 0], random);
        check_transpose(element, &[5, 40, 3, 33], vec![0, 3, 2, 1], random);
    }
    // Every size around those of tiles: tiles that overlap, and matrices thinner than any.
    for element in WIDTHS {
        for (rows, columns) in (1..20).flat_map(|rows| [1, 3, 4, 7, 8, 15, 16, 17, 33].map(|columns| (rows, columns))) {
            check_transpose(element, &[3, rows, columns], vec![0, 2, 1], random);
        }
    }
    // Few rows or columns, and many of the others: pieces of one matrix, and many matrices.
    for (element, few) in WIDTHS.into_iter().flat_map(|element| (2..=17).map(move |few| (element, few))) {
        for (matrices, many) in [(2, 701), (1, 9000 + few), (33, 64 + few)] {
            check_transpose(element, &[matrices, few, many], vec![0, 2, 1], random);
            check_transpose(element, &[matrices, many, few], vec![0, 2, 1], random);
        }
    }
    check_transpose(ElementType::F32, &[320, 512], vec![1, 0], random);
    check_transpose(ElementType::F32, &[7, 150, 200], vec![0, 2, 1], random);
    check_transpose(ElementType::F32, &[60, 300, 4], vec![1, 0, 2], random);
}

#[test]
fn short_innermost_loops() {
    let random = &mut Random(12);
    for round in 0..200 {
        let mut dims: Vec<usize> = (0..3 + round % 4).map(|_| 1 + random.below(6)).collect();
        // One dimension is longer than a block, or has no part that fits.
        let long = random.below(dims.len());
        dims[long] = [7, 61, 101, 1031][round % 4];
        let permutation = random.permutation(dims.len());
        check_transpose(WIDTHS[round % 5], &dims, permutation, random);
        let kind = OpKind::Reverse { dims: vec![long, dims.len() - 1] };
        let result = ty(WIDTHS[round % 5], &dims);
        check(kind, std::slice::from_ref(&result), &result, random, |index| {
            let flip = |(dim, &i): (usize, &usize)| {
                if dim == long || dim + 1 == dims.len() { dims[dim] - 1 - i } else { i }
            };
            (0, ravel(&index.iter().enumerate().map(flip).collect::<Vec<_>>(), &dims))
        });
    }
    // Blocks of pixels, and images on their sides: more than one thread.
    check_transpose(ElementType::F32, &[2, 32, 32, 4, 4, 4], vec![0, 1, 4, 2, 5, 3], random);
    check_transpose(ElementType::F32, &[2, 224, 224, 3], vec![0, 2, 1, 3], random);
}

#[test]
fn transposes_past_the_caches() {
    let random = &mut Random(9);
    // Rows that start at cache lines, and rows that do not.
    for (element, columns) in WIDTHS.into_iter().flat_map(|element| [(element, 256), (element, 258)]) {
        check_transpose(element, &[columns, 1025 / element.byte_width() + 131], vec![1, 0], random);
    }
    // Every size around those of blocks, the last of which overlap those before; matrices in a row.
    for element in WIDTHS {
        let wide = 512 / element.byte_width();
        for (rows, columns) in [(64, wide), (65, wide + 1), (79, wide + 15), (127, 2 * wide - 1), (16, 3 * wide / 2)] {
            check_transpose(element, &[columns, rows], vec![1, 0], random);
        }
        check_transpose(element, &[3, wide + 9, 2, 70], vec![0, 2, 3, 1], random);
    }
}

#[test]
fn slices() {
    let random = &mut Random(2);
    for round in 0..150 {
        let dims = random.shape(round % 5);
        let start: Vec<usize> = dims.iter().map(|&dim| random.below(dim + 1)).collect();
        let limit: Vec<usize> = dims.iter().zip(&start).map(|(&dim, &low)| low + random.below(dim - low + 1)).collect();
        let strides: Vec<usize> = dims.iter().map(|_| [1, 1, 2, 3, 50][random.below(5)]).collect();
        let size = |dim: usize| (limit[dim] - start[dim]).div_ceil(strides[dim]);
        let result: Vec<usize> = (0..dims.len()).map(size).collect();
        let kind = OpKind::Slice { start: start.clone(), limit: limit.clone(), strides: strides.clone() };
        let element = WIDTHS[round % 5];
        check(kind, &[ty(element, &dims)], &ty(element, &result), random, |index| {
            let operand: Vec<usize> = (0..dims.len()).map(|dim| start[dim] + index[dim] * strides[dim]).collect();
            (0, ravel(&operand, &dims))
        });
    }
}

#[test]
fn reverses() {
    let random = &mut Random(3);
    let mut shapes: Vec<Vec<usize>> = (0..100).map(|round| random.shape(round % 5)).collect();
    shapes.push(vec![700, 900]);
    for (round, dims) in shapes.into_iter().enumerate() {
        let reversed: Vec<usize> = (0..dims.len()).filter(|_| random.below(2) == 0).collect();
        let element = WIDTHS[round % 5];
        let kind = OpKind::Reverse { dims: reversed.clone() };
        check(kind, &[ty(element, &dims)], &ty(element, &dims), random, |index| {
            let flip = |(dim, &i): (usize, &usize)| if reversed.contains(&dim) { dims[dim] - 1 - i } else { i };
            (0, ravel(&index.iter().enumerate().map(flip).collect::<Vec<_>>(), &dims))
        });
    }
}

#[test]
fn pads() {
    let random = &mut Random(4);
    for round in 0..200 {
        let dims = random.shape(round % 5);
        let interior: Vec<i64> = dims.iter().map(|_| [0, 0, 0, 1, 3][random.below(5)]).collect();
        let dilated = |dim: usize| if dims[dim] == 0 { 0 } else { (dims[dim] as i64 - 1) * (interior[dim] + 1) + 1 };
        let mut edge = |_: &usize| if random.below(2) == 0 { 0 } else { random.between(-6, 7) };
        let low: Vec<i64> = dims.iter().map(&mut edge).collect();
        let high: Vec<i64> = dims.iter().map(&mut edge).collect();
        let sizes: Vec<i64> = (0..dims.len()).map(|dim| low[dim] + dilated(dim) + high[dim]).collect();
        if sizes.iter().any(|&size| size < 0) {
            continue;
        }
        let result: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
        let element = WIDTHS[round % 5];
        let kind = OpKind::Pad { low: low.clone(), high, interior: interior.clone() };
        check(kind, &[ty(element, &dims), ty(element, &[])], &ty(element, &result), random, |index| {
            let mut operand = Vec::new();
            for (dim, &i) in index.iter().enumerate() {
                let place = i as i64 - low[dim];
                let step = interior[dim] + 1;
                if place < 0 || place % step != 0 || place / step >= dims[dim] as i64 {
                    return (1, 0);
                }
                operand.push((place / step) as usize);
            }
            (0, ravel(&operand, &dims))
        });
    }
}

#[test]
fn concatenates() {
    let random = &mut Random(5);
    for round in 0..100 {
        let mut dims = random.shape(1 + round % 4);
        if round == 99 {
            dims = vec![100_000, 3];
        }
        let dim = random.below(dims.len());
        let operands: Vec<TensorType> = (0..1 + random.below(4))
            .map(|_| {
                let mut operand = dims.clone();
                operand[dim] = random.shape(1)[0];
                ty(WIDTHS[round % 5], &operand)
            })
            .collect();
        dims[dim] = operands.iter().map(|operand| operand.dims[dim]).sum();
        let result = ty(WIDTHS[round % 5], &dims);
        check(OpKind::Concatenate { dim }, &operands, &result, random, |index| {
            let mut index = index.to_vec();
            let mut which = 0;
            while index[dim] >= operands[which].dims[dim] {
                index[dim] -= operands[which].dims[dim];
                which += 1;
            }
            (which, ravel(&index, &operands[which].dims))
        });
    }
}

#[test]
fn reshapes() {
    let random = &mut Random(6);
    for (from, to) in
        [(vec![6, 4], vec![3, 8]), (vec![], vec![1, 1]), (vec![0, 3], vec![0]), (vec![300_000], vec![300, 1000])]
    {
        check(OpKind::Reshape, &[ty(ElementType::F32, &from)], &ty(ElementType::F32, &to), random, |index| {
            (0, ravel(index, &to))
        });
    }
    assert_eq!(unravel(5, &[3, 8]), [0, 5]);
}

#[test]
fn bitcasts_join_and_split_elements() {
    use ElementType::*;
    let run = |from: TensorType, to: TensorType, operand: Vec<u8>| {
        Single::new(OpKind::BitcastConvert, &[from], &[to]).run(&[operand]).remove(0)
    };
    let wide = bytes(&[0x0403_0201u32, 0x0807_0605]);
    assert_eq!(run(ty(U32, &[2]), ty(U8, &[2, 4]), wide.clone()), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        elements::<u32>(&run(ty(U8, &[2, 4]), ty(U32, &[2]), vec![1, 2, 3, 4, 5, 6, 7, 8])),
        [0x0403_0201, 0x0807_0605]
    );
    assert_eq!(run(ty(F32, &[2]), ty(S32, &[2]), wide.clone()), wide);
    // The low half of a byte comes first; signed elements fill their byte with their sign.
    assert_eq!(run(ty(U8, &[2]), ty(U4, &[2, 2]), vec![0x21, 0xF3]), [1, 2, 3, 15]);
    assert_eq!(run(ty(U8, &[1]), ty(S4, &[1, 2]), vec![0x8F]), [0xFF, 0xF8]);
    assert_eq!(run(ty(S4, &[1, 2]), ty(S8, &[1]), vec![0xFF, 0xF8]), [0x8F]);
    assert_eq!(run(ty(S4, &[2]), ty(U4, &[2]), vec![0xFF, 0x07]), [0x0F, 0x07]);
    assert_eq!(run(ty(U2, &[8]), ty(U16, &[]), vec![1, 2, 3, 0, 0, 3, 2, 1]), bytes(&[0b0110_1100_0011_1001u16]));
}

#[test]
fn dynamic_slices_and_their_updates() {
    let random = &mut Random(8);
    let index_types = [ElementType::S32, ElementType::S64, ElementType::U8, ElementType::U64, ElementType::S8];
    for round in 0..150 {
        let dims = random.shape(round % 5);
        let sizes: Vec<usize> = dims.iter().map(|&dim| random.below(dim + 1)).collect();
        let (element, index_element) = (WIDTHS[round % 5], index_types[round / 5 % 5]);
        let operand = random.bytes(ty(element, &dims).byte_size());
        let update = random.bytes(ty(element, &sizes).byte_size());
        let mut starts = Vec::new();
        let mut indices_bytes = Vec::new();
        for (&dim, &size) in dims.iter().zip(&sizes) {
            let start = random.between(if index_element.is_signed() { -3 } else { 0 }, dim as i64 + 3);
            indices_bytes.push(start.to_le_bytes()[..index_element.byte_width()].to_vec());
            starts.push(start.clamp(0, (dim - size) as i64) as usize);
        }
        let place = |index: &[usize]| {
            let index: Vec<usize> = index.iter().zip(&starts).map(|(i, start)| i + start).collect();
            ravel(&index, &dims)
        };
        let width = element.byte_width();
        let (whole, part, index) = (ty(element, &dims), ty(element, &sizes), ty(index_element, &[]));

        let types: Vec<TensorType> = std::iter::once(whole.clone()).chain(dims.iter().map(|_| index.clone())).collect();
        let slice = Single::new(OpKind::DynamicSlice { sizes: sizes.clone() }, &types, std::slice::from_ref(&part));
        let operands: Vec<Vec<u8>> = std::iter::once(operand.clone()).chain(indices_bytes.clone()).collect();
        let expected: Vec<u8> =
            indices(&sizes).flat_map(|index| operand[place(&index) * width..][..width].to_vec()).collect();
        assert_eq!(slice.run(&operands)[0], expected, "{dims:?} {sizes:?} {starts:?}");

        let types: Vec<TensorType> =
            [whole.clone(), part].into_iter().chain(dims.iter().map(|_| index.clone())).collect();
        let replace = Single::new(OpKind::DynamicUpdateSlice, &types, std::slice::from_ref(&whole));
        let operands: Vec<Vec<u8>> = [operand.clone(), update.clone()].into_iter().chain(indices_bytes).collect();
        let mut expected = operand;
        for (index, update) in indices(&sizes).zip(update.chunks_exact(width)) {
            expected[place(&index) * width..][..width].copy_from_slice(update);
        }
        assert_eq!(replace.run(&operands)[0], expected, "{dims:?} {sizes:?} {starts:?}");
    }
}
