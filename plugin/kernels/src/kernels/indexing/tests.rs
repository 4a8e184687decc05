use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, GatherDims, OpKind, ScatterDims, TensorType, WindowDim,
};

use crate::kernels::testing::{Random, Single, bytes, elements, indices, ravel, ty};

/// Random dimension numbers, which gather and scatter share, with shapes that they fit.
struct Numbers {
    operand: Vec<usize>,
    indices: Vec<usize>,
    /// Of gather's result, and scatter's updates.
    slices: Vec<usize>,
    sizes: Vec<usize>,
    offset_dims: Vec<usize>,
    collapsed: Vec<usize>,
    operand_batching: Vec<usize>,
    indices_batching: Vec<usize>,
    component_dims: Vec<usize>,
    vector_dim: usize,
}

impl Numbers {
    fn random(random: &mut Random) -> Numbers {
        let operand = random.shape(1 + random.0 as usize % 4);
        let order = random.permutation(operand.len());
        let batching = random.below(operand.len().min(2) + 1).min(operand.len() - 1);
        let (operand_batching, rest) = order.split_at(batching);
        let components = random.below(rest.len() + 1);
        let component_dims = rest[..components].to_vec();
        let (mut sizes, mut collapsed) = (operand.clone(), Vec::new());
        let mut operand_batching = operand_batching.to_vec();
        operand_batching.sort();
        operand_batching.iter().for_each(|&dim| sizes[dim] = operand[dim].min(1));
        for &dim in rest {
            sizes[dim] = random.below(operand[dim] + 1);
            if operand[dim] > 0 && random.below(2) == 0 {
                sizes[dim] = 1;
                collapsed.push(dim);
            }
        }
        collapsed.sort();
        // Dimensions of the indices: some of their own, those of batching, and the vectors.
        let mut index_dims: Vec<(usize, Option<usize>)> =
            (0..random.below(3)).map(|_| (random.shape(1)[0], None)).collect();
        for &dim in &operand_batching {
            index_dims.insert(random.below(index_dims.len() + 1), (operand[dim], Some(dim)));
        }
        let indices_batching = operand_batching
            .iter()
            .map(|dim| index_dims.iter().position(|each| each.1 == Some(*dim)).expect("inserted"))
            .collect::<Vec<_>>();
        let mut vector_dim = index_dims.len();
        let mut indices: Vec<usize> = index_dims.iter().map(|each| each.0).collect();
        let mut indices_batching = indices_batching;
        if components != 1 || random.below(2) == 0 {
            vector_dim = random.below(indices.len() + 1);
            indices.insert(vector_dim, components);
            indices_batching.iter_mut().filter(|dim| **dim >= vector_dim).for_each(|dim| *dim += 1);
        }
        // Dimensions of slices among those of the index vectors, in order.
        let kept: Vec<usize> = (0..operand.len())
            .filter(|dim| !collapsed.contains(dim) && !operand_batching.contains(dim))
            .map(|dim| sizes[dim])
            .collect();
        let rank = kept.len() + index_dims.len();
        let mut offset_dims = random.permutation(rank)[..kept.len()].to_vec();
        if random.below(2) == 0 {
            offset_dims = (index_dims.len()..rank).collect();
        }
        offset_dims.sort();
        let (mut kept, mut batch) = (kept.into_iter(), index_dims.iter().map(|each| each.0));
        let slices = (0..rank)
            .map(|dim| if offset_dims.contains(&dim) { kept.next() } else { batch.next() }.expect("as many"))
            .collect();
        Numbers {
            operand,
            indices,
            slices,
            sizes,
            offset_dims,
            collapsed,
            operand_batching,
            indices_batching,
            component_dims,
            vector_dim,
        }
    }

    /// The start of the slice, and the index in it, that `index` of the slices belongs to, by the specification.
    fn start_and_offset(&self, index: &[usize], index_values: &[i64]) -> (Vec<i64>, Vec<usize>) {
        let batch: Vec<usize> =
            (0..index.len()).filter(|dim| !self.offset_dims.contains(dim)).map(|dim| index[dim]).collect();
        let mut start = vec![0; self.operand.len()];
        let has_vectors = self.vector_dim < self.indices.len();
        let at = |component: usize| {
            let mut at = batch.clone();
            if has_vectors {
                at.insert(self.vector_dim, component);
            }
            at
        };
        for (component, &dim) in self.component_dims.iter().enumerate() {
            start[dim] = index_values[ravel(&at(component), &self.indices)];
        }
        for (&dim, &index_dim) in self.operand_batching.iter().zip(&self.indices_batching) {
            start[dim] = at(0)[index_dim] as i64;
        }
        let mut offset = vec![0; self.operand.len()];
        let kept =
            (0..self.operand.len()).filter(|dim| !self.collapsed.contains(dim) && !self.operand_batching.contains(dim));
        kept.zip(&self.offset_dims).for_each(|(dim, &result_dim)| offset[dim] = index[result_dim]);
        (start, offset)
    }

    /// Indices in bounds and out, as `element`, and their values.
    fn index_values(&self, element: ElementType, random: &mut Random) -> (Vec<u8>, Vec<i64>) {
        let mut all = Vec::new();
        let values = (0..self.indices.iter().product::<usize>())
            .map(|_| {
                let value = match random.below(12) {
                    0 if element.is_unsigned() => 100,
                    0 => -1,
                    1 => 100,
                    _ => random.below(9) as i64,
                };
                all.extend_from_slice(&value.to_le_bytes()[..element.byte_width()]);
                value
            })
            .collect();
        (all, values)
    }
}

const INDEX_TYPES: [ElementType; 8] = [
    ElementType::S32,
    ElementType::S64,
    ElementType::U32,
    ElementType::U8,
    ElementType::S8,
    ElementType::U64,
    ElementType::S16,
    ElementType::U16,
];

fn gather_op(numbers: &Numbers) -> OpKind {
    OpKind::Gather {
        dims: GatherDims {
            offset_dims: numbers.offset_dims.clone(),
            collapsed_slice_dims: numbers.collapsed.clone(),
            operand_batching_dims: numbers.operand_batching.clone(),
            start_indices_batching_dims: numbers.indices_batching.clone(),
            start_index_map: numbers.component_dims.clone(),
            index_vector_dim: numbers.vector_dim,
        },
        slice_sizes: numbers.sizes.clone(),
        indices_are_sorted: false,
    }
}

#[test]
fn gathers() {
    let random = &mut Random(7);
    let widths = [ElementType::U8, ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::C128];
    for round in 0..400 {
        let numbers = Numbers::random(random);
        let (element, index_element) = (widths[round % 5], INDEX_TYPES[round % 8]);
        let operand = random.bytes(ty(element, &numbers.operand).byte_size());
        let (index_bytes, values) = numbers.index_values(index_element, random);
        let types: [TensorType; 2] = [ty(element, &numbers.operand), ty(index_element, &numbers.indices)];
        let kind = gather_op(&numbers);
        let message = format!("{kind:?} {types:?}");
        let actual = Single::new(kind, &types, &[ty(element, &numbers.slices)]).run(&[operand.clone(), index_bytes]);
        let width = element.byte_width();
        let mut expected = Vec::new();
        for index in indices(&numbers.slices) {
            let (start, offset) = numbers.start_and_offset(&index, &values);
            let at = |dim: usize| {
                let last = (numbers.operand[dim] - numbers.sizes[dim]) as i64;
                start[dim].clamp(0, last) as usize + offset[dim]
            };
            let place = ravel(&(0..start.len()).map(at).collect::<Vec<_>>(), &numbers.operand);
            expected.extend_from_slice(&operand[place * width..][..width]);
        }
        assert!(actual[0] == expected, "{message}");
    }
}

#[test]
fn gathers_rows_on_several_threads() {
    let numbers = Numbers {
        operand: vec![1000, 64],
        indices: vec![20_000],
        slices: vec![20_000, 64],
        sizes: vec![1, 64],
        offset_dims: vec![1],
        collapsed: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        component_dims: vec![0],
        vector_dim: 1,
    };
    let random = &mut Random(8);
    let operand = random.bytes(4 * 64_000);
    let rows: Vec<i32> = (0..20_000).map(|_| random.below(1000) as i32).collect();
    let op = Single::new(
        gather_op(&numbers),
        &[ty(ElementType::F32, &numbers.operand), ty(ElementType::S32, &numbers.indices)],
        &[ty(ElementType::F32, &numbers.slices)],
    );
    let result = op.run(&[operand.clone(), bytemuck::cast_slice(&rows).to_vec()]).remove(0);
    for (row, &from) in result.chunks_exact(256).zip(&rows) {
        assert_eq!(row, &operand[from as usize * 256..][..256]);
    }
}

/// A scatter of one input, without its body.
fn scatter_op(numbers: &Numbers, element: ElementType, index_element: ElementType) -> Single {
    let kind = OpKind::Scatter {
        dims: ScatterDims {
            update_window_dims: numbers.offset_dims.clone(),
            inserted_window_dims: numbers.collapsed.clone(),
            input_batching_dims: numbers.operand_batching.clone(),
            scatter_indices_batching_dims: numbers.indices_batching.clone(),
            scatter_dims_to_operand_dims: numbers.component_dims.clone(),
            index_vector_dim: numbers.vector_dim,
        },
        indices_are_sorted: false,
        unique_indices: false,
    };
    let operands = [ty(element, &numbers.operand), ty(index_element, &numbers.indices), ty(element, &numbers.slices)];
    Single::new(kind, &operands, &[ty(element, &numbers.operand)])
}

#[test]
fn scatters() {
    let random = &mut Random(41);
    for round in 0..400 {
        let numbers = Numbers::random(random);
        let index_element = INDEX_TYPES[round % 8];
        let input: Vec<i32> = (0..numbers.operand.iter().product()).map(|_| random.number() as i32).collect();
        let updates: Vec<i32> = (0..numbers.slices.iter().product()).map(|_| random.number() as i32).collect();
        let (index_bytes, values) = numbers.index_values(index_element, random);
        let op = scatter_op(&numbers, ElementType::S32, index_element);
        type Function = fn(i32, i32) -> i32;
        let (op, function): (Single, Function) = match round % 4 {
            0 => (op.binary_region(BinaryOp::Add, ElementType::S32), |a, b| a.wrapping_add(b)),
            1 => (op.binary_region(BinaryOp::Maximum, ElementType::S32), |a, b| a.max(b)),
            2 => (op.region(&[ElementType::S32; 2], |body| vec![body.params[1]]), |_, b| b),
            _ => (op.binary_region(BinaryOp::Subtract, ElementType::S32), |a, b| a.wrapping_sub(b)),
        };
        let mut expected = input.clone();
        for (index, &update) in indices(&numbers.slices).zip(&updates) {
            let (start, offset) = numbers.start_and_offset(&index, &values);
            let is_inside =
                |dim: usize| (0..=numbers.operand[dim] as i64 - numbers.sizes[dim] as i64).contains(&start[dim]);
            if (0..start.len()).all(is_inside) {
                let place: Vec<usize> = (0..start.len()).map(|dim| start[dim] as usize + offset[dim]).collect();
                let element = &mut expected[ravel(&place, &numbers.operand)];
                *element = function(*element, update);
            }
        }
        let actual = op.run(&[bytes(&input), index_bytes, bytes(&updates)]);
        assert!(elements::<i32>(&actual[0]) == expected, "{:?}", op.op.kind);
    }
}

/// Adds `count` rows of `len` floats to some of `rows`, and to some that there are not.
fn check_scatter_of_rows(rows: usize, len: usize, count: usize) {
    let numbers = Numbers {
        operand: vec![rows, len],
        indices: vec![count],
        slices: vec![count, len],
        sizes: vec![1, len],
        offset_dims: vec![1],
        collapsed: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        component_dims: vec![0],
        vector_dim: 1,
    };
    let random = &mut Random(42);
    let op = scatter_op(&numbers, ElementType::F32, ElementType::S32).binary_region(BinaryOp::Add, ElementType::F32);
    let starts: Vec<i32> = (0..count).map(|_| random.between(-1, rows as i64 + 1) as i32).collect();
    let updates: Vec<f32> = (0..len * count).map(|_| random.below(100) as f32).collect();
    let mut expected = vec![1f32; rows * len];
    for (&row, update) in starts.iter().zip(updates.chunks_exact(len)) {
        if (0..rows as i32).contains(&row) {
            let row = &mut expected[row as usize * len..][..len];
            row.iter_mut().zip(update).for_each(|(sum, x)| *sum += x);
        }
    }
    let actual = op.run(&[bytes(&vec![1f32; rows * len]), bytes(&starts), bytes(&updates)]);
    assert!(elements::<f32>(&actual[0]) == expected, "{rows} rows of {len}");
}

#[test]
fn scatters_rows_on_several_threads() {
    check_scatter_of_rows(500, 64, 20_000);
    check_scatter_of_rows(300, 1030, 500);
}

/// Whole blocks of windows and a part of one, whose last windows have none ahead of them.
#[test]
fn scatters_rows_that_are_loaded_ahead() {
    for (rows, len) in [(40_000, 2), (8_000, 17), (2_000, 64), (300, 512), (300, 513)] {
        for count in [1, 5, 256, 300, 777] {
            check_scatter_of_rows(rows, len, count);
        }
    }
}

/// Indices of `count` single elements of a vector of `len`.
fn of_elements(len: usize, count: usize) -> Numbers {
    Numbers {
        operand: vec![len],
        indices: vec![count],
        slices: vec![count],
        sizes: vec![1],
        offset_dims: vec![],
        collapsed: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        component_dims: vec![0],
        vector_dim: 1,
    }
}

#[test]
fn gathers_and_scatters_elements_in_blocks() {
    let random = &mut Random(43);
    // More elements than `u8` and `i8` have indices, and fewer.
    for (round, len) in [300, 200, 1].into_iter().cycle().take(24).enumerate() {
        let (numbers, index_element) = (of_elements(len, 1000), INDEX_TYPES[round % 8]);
        let (index_bytes, indices) = numbers.index_values(index_element, random);
        let operand: Vec<f32> = (0..len).map(|_| random.below(1000) as f32).collect();
        let updates: Vec<f32> = (0..1000).map(|_| random.below(1000) as f32).collect();
        let types = [ty(ElementType::F32, &[len]), ty(index_element, &[1000])];
        let gather = Single::new(gather_op(&numbers), &types, &[ty(ElementType::F32, &[1000])]);
        let gathered = gather.run(&[bytes(&operand), index_bytes.clone()]);
        let clamped = indices.iter().map(|&index| operand[index.clamp(0, len as i64 - 1) as usize]);
        assert!(elements::<f32>(&gathered[0]) == clamped.collect::<Vec<_>>(), "{index_element:?}, {len}");

        let scatter = scatter_op(&numbers, ElementType::F32, index_element);
        let scatter = scatter.binary_region(BinaryOp::Add, ElementType::F32);
        let mut expected = operand.clone();
        for (&index, update) in indices.iter().zip(&updates) {
            if (0..len as i64).contains(&index) {
                expected[index as usize] += update;
            }
        }
        let scattered = scatter.run(&[bytes(&operand), index_bytes, bytes(&updates)]);
        assert!(elements::<f32>(&scattered[0]) == expected, "{index_element:?}, {len}");
    }
}

#[test]
fn largest_and_smallest_updates_have_the_same_bits_on_several_threads() {
    let (len, count) = (50, 300_000);
    let numbers = of_elements(len, count);
    let random = &mut Random(44);
    let indices: Vec<i32> = (0..count).map(|_| random.between(-2, len as i64 + 1) as i32).collect();
    let updates: Vec<f32> = (0..count).map(|_| random.between(-900, 900) as f32 / 8.0).collect();
    let operand: Vec<f32> = (0..len).map(|_| random.between(-4, 4) as f32).collect();
    for function in [BinaryOp::Maximum, BinaryOp::Minimum] {
        let scatter = scatter_op(&numbers, ElementType::F32, ElementType::S32);
        let scatter = scatter.binary_region(function, ElementType::F32);
        let mut expected = operand.clone();
        for (&index, &update) in indices.iter().zip(&updates).filter(|(index, _)| (0..len as i32).contains(index)) {
            let old = &mut expected[index as usize];
            *old = if function == BinaryOp::Maximum { old.max(update) } else { old.min(update) };
        }
        let operands = [bytes(&operand), bytes(&indices), bytes(&updates)];
        let result = scatter.run(&operands);
        assert_eq!(elements::<f32>(&result[0]), expected);
        assert!(result == scatter.run_alone(&operands));
    }
}

/// Every function of integers of every width, many updates of each element on several threads.
#[test]
fn updates_of_integers_of_every_width_are_exact() {
    type Function = fn(i64, i64) -> i64;
    let functions: [(BinaryOp, Function); 7] = [
        (BinaryOp::Add, |a, b| a.wrapping_add(b)),
        (BinaryOp::Multiply, |a, b| a.wrapping_mul(b)),
        (BinaryOp::Maximum, |a, b| a.max(b)),
        (BinaryOp::Minimum, |a, b| a.min(b)),
        (BinaryOp::And, |a, b| a & b),
        (BinaryOp::Or, |a, b| a | b),
        (BinaryOp::Xor, |a, b| a ^ b),
    ];
    let (len, count) = (40, 60_000);
    let (numbers, random) = (of_elements(len, count), &mut Random(45));
    let indices: Vec<i32> = (0..count).map(|_| random.between(-2, len as i64 + 1) as i32).collect();
    for element in INDEX_TYPES.into_iter().filter(|element| element.byte_width() < 8) {
        let bits = 8 * element.byte_width();
        let cut = |x: i64| if element.is_signed() { x << (64 - bits) >> (64 - bits) } else { x & !(-1 << bits) };
        let encode = |values: &[i64]| -> Vec<u8> {
            values.iter().flat_map(|x| x.to_le_bytes()[..element.byte_width()].to_vec()).collect()
        };
        let operand: Vec<i64> = (0..len).map(|_| cut(random.number() as i64)).collect();
        // Odd ones, so that products do not become zero.
        let updates: Vec<i64> = (0..count).map(|_| cut(random.number() as i64 | 1)).collect();
        for (name, function) in functions {
            let mut expected = operand.clone();
            for (&index, &update) in indices.iter().zip(&updates).filter(|(index, _)| (0..len as i32).contains(index)) {
                let old = &mut expected[index as usize];
                *old = cut(function(*old, update));
            }
            let scatter = scatter_op(&numbers, element, ElementType::S32).binary_region(name, element);
            let operands = [encode(&operand), bytes(&indices), encode(&updates)];
            let result = scatter.run(&operands);
            assert_eq!(result[0], encode(&expected), "{name:?} {element}");
            assert!(result == scatter.run_alone(&operands), "{name:?} {element}");
        }
    }
}

#[test]
fn scatters_several_inputs_at_once() {
    let dims = ScatterDims {
        update_window_dims: vec![],
        inserted_window_dims: vec![0],
        input_batching_dims: vec![],
        scatter_indices_batching_dims: vec![],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
    };
    let kind = OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false };
    use ElementType::{F64, S8, S32};
    let operands = [ty(S8, &[4]), ty(F64, &[4]), ty(S32, &[3, 1]), ty(S8, &[3]), ty(F64, &[3])];
    let op = Single::new(kind, &operands, &operands[..2]).region(&[S8, F64, S8, F64], |body| {
        let [a, x, b, y] = body.params[..] else { unreachable!("four parameters") };
        let sum = body.op(OpKind::Binary(BinaryOp::Add), &[a, b], S8);
        vec![sum, body.op(OpKind::Binary(BinaryOp::Subtract), &[x, y], F64)]
    });
    let inputs = [
        bytes(&[1i8, 2, 3, 4]),
        bytes(&[1f64, 2.0, 3.0, 4.0]),
        bytes(&[2i32, 9, 2]),
        bytes(&[10i8, 20, 30]),
        bytes(&[0.5f64, 1.0, 2.0]),
    ];
    let results = op.run(&inputs);
    assert_eq!(elements::<i8>(&results[0]), [1, 2, 43, 4]);
    assert_eq!(elements::<f64>(&results[1]), [1.0, 2.0, 0.5, 4.0]);
}

/// A select-and-scatter of floats whose regions compare by `direction` and combine by `scatter`.
fn select_and_scatter(
    operand: &[usize],
    source: &[usize],
    window: Vec<WindowDim>,
    direction: ComparisonDirection,
    scatter: BinaryOp,
) -> Single {
    let element = ElementType::F32;
    let types = [ty(element, operand), ty(element, source), ty(element, &[])];
    Single::new(OpKind::SelectAndScatter { window }, &types, &[ty(element, operand)])
        .region(&[element; 2], |body| {
            let (a, b) = (body.params[0], body.params[1]);
            let kind = OpKind::Compare(direction, ComparisonType::Float);
            vec![body.op(kind, &[a, b], ElementType::Pred)]
        })
        .binary_region(scatter, element)
}

#[test]
fn selects_and_scatters() {
    let random = &mut Random(43);
    for round in 0..120 {
        let operand: Vec<usize> = random.shape(1 + round % 4).into_iter().map(|dim| dim.min(8)).collect();
        let mut window = Vec::new();
        let mut source = Vec::new();
        for (dim, &size) in operand.iter().enumerate() {
            let plain = dim == 0 && random.below(2) == 0;
            let each = WindowDim {
                size: if plain { 1 } else { 1 + random.below(3) },
                stride: if plain { 1 } else { 1 + random.below(3) },
                padding_low: if plain { 0 } else { random.between(0, 3) },
                padding_high: if plain { 0 } else { random.between(0, 3) },
                base_dilation: 1,
                window_dilation: 1,
                reversal: false,
            };
            let padded = size + (each.padding_low + each.padding_high) as usize;
            source.push(if padded < each.size { 0 } else { (padded - each.size) / each.stride + 1 });
            window.push(each);
        }
        let values: Vec<f32> = (0..operand.iter().product()).map(|_| random.between(-4, 4) as f32).collect();
        let updates: Vec<f32> = (0..source.iter().product()).map(|_| random.between(-9, 9) as f32).collect();
        let (direction, scatter) = [
            (ComparisonDirection::Ge, BinaryOp::Add),
            (ComparisonDirection::Le, BinaryOp::Add),
            (ComparisonDirection::Gt, BinaryOp::Maximum),
        ][round % 3];
        let mut expected = vec![0.5f32; values.len()];
        let sizes: Vec<usize> = window.iter().map(|window| window.size).collect();
        for (index, &update) in indices(&source).zip(&updates) {
            let mut selected: Option<usize> = None;
            for k in indices(&sizes) {
                let at = |dim: usize| {
                    let place = (index[dim] * window[dim].stride + k[dim]) as i64 - window[dim].padding_low;
                    usize::try_from(place).ok().filter(|&place| place < operand[dim])
                };
                let Some(place) = (0..operand.len()).map(at).collect::<Option<Vec<_>>>() else { continue };
                let place = ravel(&place, &operand);
                let keeps = selected.is_some_and(|kept| match direction {
                    ComparisonDirection::Ge => values[kept] >= values[place],
                    ComparisonDirection::Le => values[kept] <= values[place],
                    _ => values[kept] > values[place],
                });
                selected = if keeps { selected } else { Some(place) };
            }
            if let Some(place) = selected {
                let sum = &mut expected[place];
                *sum = if scatter == BinaryOp::Add { *sum + update } else { sum.max(update) };
            }
        }
        let op = select_and_scatter(&operand, &source, window.clone(), direction, scatter);
        let actual = op.run(&[bytes(&values), bytes(&updates), bytes(&[0.5f32])]);
        assert_eq!(elements::<f32>(&actual[0]), expected, "{operand:?} {window:?} {direction:?}");
    }
}
