//! Gathers and scatters by index vectors whose components are arrays of their own, against the definition.

use oxcall_hlo::{GatherDims, ScatterDims};

use super::*;

/// An array that is indexed along some dimensions, component by component.
struct Case {
    dims: &'static [usize],
    /// The dimension that each component indexes.
    map: &'static [usize],
    /// The shape of the components, and the place of index vectors among its dimensions.
    indices: &'static [usize],
    vector: usize,
}

const CASES: &[Case] = &[
    Case { dims: &[5, 7], map: &[0, 1], indices: &[100], vector: 1 },
    Case { dims: &[5, 7], map: &[1, 0], indices: &[64], vector: 0 },
    Case { dims: &[1, 1], map: &[0, 1], indices: &[65], vector: 1 },
    Case { dims: &[40, 30], map: &[0, 1], indices: &[3, 701], vector: 2 },
    Case { dims: &[4, 3, 5], map: &[2, 0, 1], indices: &[9, 11], vector: 1 },
    // Rows, rows of columns, and parts between others.
    Case { dims: &[5, 7, 3], map: &[0, 1], indices: &[300], vector: 1 },
    Case { dims: &[3, 5, 7], map: &[2, 1], indices: &[70], vector: 1 },
    Case { dims: &[2, 5, 7, 3], map: &[1, 2], indices: &[8, 8], vector: 2 },
    // These stay as they are: few, and dimensions that are apart.
    Case { dims: &[5, 7], map: &[0, 1], indices: &[9], vector: 1 },
    Case { dims: &[5, 2, 7], map: &[0, 2], indices: &[100], vector: 1 },
];

impl Case {
    fn count(dims: &[usize]) -> usize {
        dims.iter().product()
    }

    fn is_flat(&self) -> bool {
        let first = self.map.iter().min().unwrap();
        let mut map = self.map.to_vec();
        map.sort_unstable();
        map.into_iter().eq(*first..first + self.map.len()) && Case::count(self.indices) >= 64
    }

    /// The dimensions that are not indexed.
    fn rest(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| !self.map.contains(dim)).collect()
    }

    /// The shape of slices, and of windows: index vectors before the dimensions of a slice.
    fn result(&self) -> Vec<usize> {
        self.indices.iter().copied().chain(self.rest().into_iter().map(|dim| self.dims[dim])).collect()
    }

    /// Components, some of them out of bounds.
    fn components(&self) -> Vec<Vec<i64>> {
        let component =
            |at: usize| (0..Case::count(self.indices) as i64).map(|i| (i * (7 + 4 * at as i64)) % 11 - 2).collect();
        (0..self.map.len()).map(component).collect()
    }

    /// The index vectors, of components that are parameters.
    fn vectors(&self, f: &mut FuncBuilder, element: ElementType) -> ValueId {
        let mut dims = self.indices.to_vec();
        dims.insert(self.vector, 1);
        let parts: Vec<ValueId> = (0..self.map.len())
            .map(|_| {
                let component = f.param(TensorType::new(element, self.indices.iter().copied()));
                f.typed(OpKind::Reshape, [component], TensorType::new(element, dims.iter().copied())).unwrap()
            })
            .collect();
        f.op(OpKind::Concatenate { dim: self.vector }, parts).unwrap()
    }

    /// The element of the array for each element of slices; `None` for those of vectors out of bounds, where they are
    /// not moved.
    fn places(&self, element: ElementType, clamps: bool) -> Vec<Option<usize>> {
        let number = |number: i64| if element == ElementType::U32 { i64::from(number as u32) } else { number };
        let components: Vec<Vec<i64>> =
            self.components().into_iter().map(|numbers| numbers.into_iter().map(number).collect()).collect();
        let rest = self.rest();
        let slice: usize = rest.iter().map(|&dim| self.dims[dim]).product();
        let stride = |dim: usize| Case::count(&self.dims[dim + 1..]);
        let place = |index: usize| {
            let (vector, mut at) = (index / slice, index % slice);
            let mut place = 0;
            for &dim in rest.iter().rev() {
                place += at % self.dims[dim] * stride(dim);
                at /= self.dims[dim];
            }
            for (component, &dim) in components.iter().zip(self.map) {
                let inside = component[vector].clamp(0, self.dims[dim] as i64 - 1);
                if inside != component[vector] && !clamps {
                    return None;
                }
                place += inside as usize * stride(dim);
            }
            Some(place)
        };
        (0..Case::count(self.indices) * slice).map(place).collect()
    }
}

/// The arguments: an array, components of integers of some type, and updates if there are any.
fn arguments(engine: &Engine, case: &Case, element: ElementType, arrays: &[&[f32]]) -> Vec<Argument> {
    let component = |numbers: Vec<i64>| match element {
        ElementType::S32 | ElementType::U32 => {
            shared(engine, &numbers.into_iter().map(|number| number as i32).collect::<Vec<_>>())
        }
        _ => shared(engine, &numbers),
    };
    let mut all = vec![shared(engine, arrays[0])];
    all.extend(case.components().into_iter().map(component));
    all.extend(arrays[1..].iter().map(|array| shared(engine, array)));
    all
}

const TYPES: [ElementType; 3] = [ElementType::S32, ElementType::U32, ElementType::S64];

#[test]
fn gathers_clamp_each_component() {
    for (case, element) in CASES.iter().flat_map(|case| TYPES.map(|element| (case, element))) {
        let array: Vec<f32> = (0..Case::count(case.dims)).map(|i| i as f32 + 0.5).collect();
        let sizes = (0..case.dims.len()).map(|dim| if case.map.contains(&dim) { 1 } else { case.dims[dim] });
        let mut collapsed = case.map.to_vec();
        collapsed.sort_unstable();
        let dims = GatherDims {
            offset_dims: (case.indices.len()..case.result().len()).collect(),
            collapsed_slice_dims: collapsed,
            operand_batching_dims: Vec::new(),
            start_indices_batching_dims: Vec::new(),
            start_index_map: case.map.to_vec(),
            index_vector_dim: case.vector,
        };
        let module = func(|f| {
            let operand = f.param(f32s(case.dims.iter().copied()));
            let indices = case.vectors(f, element);
            let kind = OpKind::Gather { dims, slice_sizes: sizes.collect(), indices_are_sorted: false };
            Ok(vec![f.op(kind, [operand, indices])?])
        });
        let engine = engine();
        let program = compile(&engine, module);
        assert_eq!(!program.text().contains("concatenate"), case.is_flat(), "{}", program.text());
        let out = program.run(arguments(&engine, case, element, &[&array])).unwrap().remove(0);
        let expected: Vec<f32> = case.places(element, true).into_iter().map(|place| array[place.unwrap()]).collect();
        assert_eq!(values::<f32>(&out), expected, "{:?} {:?}", case.dims, case.map);
    }
}

#[test]
fn scatters_drop_vectors_with_a_component_out_of_bounds() {
    for (case, element) in CASES.iter().flat_map(|case| TYPES.map(|element| (case, element))) {
        let array: Vec<f32> = (0..Case::count(case.dims)).map(|i| i as f32).collect();
        let updates: Vec<f32> = (0..Case::count(&case.result())).map(|i| (i % 13) as f32).collect();
        let mut inserted = case.map.to_vec();
        inserted.sort_unstable();
        let dims = ScatterDims {
            update_window_dims: (case.indices.len()..case.result().len()).collect(),
            inserted_window_dims: inserted,
            input_batching_dims: Vec::new(),
            scatter_indices_batching_dims: Vec::new(),
            scatter_dims_to_operand_dims: case.map.to_vec(),
            index_vector_dim: case.vector,
        };
        let module = func(|f| {
            let operand = f.param(f32s(case.dims.iter().copied()));
            let indices = case.vectors(f, element);
            let updates = f.param(f32s(case.result()));
            let add =
                f.region([f32s([]), f32s([])], |f, params| Ok(vec![f.op(OpKind::Binary(BinaryOp::Add), params)?]))?;
            let kind = OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false };
            f.with_regions(kind, [operand, indices, updates], [add])
        });
        let engine = engine();
        let program = compile(&engine, module);
        assert_eq!(!program.text().contains("concatenate"), case.is_flat(), "{}", program.text());
        let out = program.run(arguments(&engine, case, element, &[&array, &updates])).unwrap().remove(0);
        let mut expected = array;
        for (place, update) in case.places(element, false).into_iter().zip(&updates) {
            if let Some(place) = place {
                expected[place] += update;
            }
        }
        assert_eq!(values::<f32>(&out), expected, "{:?} {:?}", case.dims, case.map);
    }
}

/// `searchsorted`: single elements with a dimension of their own, by unsigned indices.
#[test]
fn gathers_of_single_elements_take_indices_of_any_type() {
    let array: Vec<f32> = (0..50).map(|i| i as f32 + 0.5).collect();
    let types = [ElementType::S32, ElementType::U32, ElementType::S64, ElementType::U64];
    for (element, vector, has_dimension) in types.into_iter().flat_map(|ty| {
        [(0, false), (0, true), (2, false), (2, true)].map(|(vector, has_dimension)| (ty, vector, has_dimension))
    }) {
        let numbers = GatherDims {
            offset_dims: if has_dimension { vec![1] } else { Vec::new() },
            collapsed_slice_dims: if has_dimension { Vec::new() } else { vec![0] },
            operand_batching_dims: Vec::new(),
            start_indices_batching_dims: Vec::new(),
            start_index_map: vec![0],
            index_vector_dim: vector,
        };
        let shape = if vector == 0 { [1, 20, 10] } else { [20, 10, 1] };
        let module = func(|f| {
            let operand = f.param(f32s([50]));
            let indices = f.param(TensorType::new(element, shape));
            let kind = OpKind::Gather { dims: numbers, slice_sizes: vec![1], indices_are_sorted: false };
            let taken = f.op(kind, [operand, indices])?;
            Ok(vec![binary(f, BinaryOp::Add, taken, taken)?])
        });
        let engine = engine();
        let program = compile(&engine, module);
        let plan = program.plan().to_string();
        assert!(plan.contains("gather,"), "{element}, {vector}, {has_dimension}: {plan}");
        // The unsigned ones of those below zero are the largest there are.
        let indices: Vec<i64> = (0..200).map(|i| i * 7 % 90 - 20).collect();
        let bytes: Vec<u8> = match element.byte_width() {
            4 => indices.iter().flat_map(|&index| (index as i32).to_le_bytes()).collect(),
            _ => indices.iter().flat_map(|index| index.to_le_bytes()).collect(),
        };
        let place = |index: i64| if index < 0 && !element.is_signed() { 49 } else { index.clamp(0, 49) };
        let expected: Vec<f32> = indices.iter().map(|&index| 2.0 * array[place(index) as usize]).collect();
        let out = program.run(vec![shared(&engine, &array), shared(&engine, &bytes)]).unwrap().remove(0);
        assert_eq!(values::<f32>(&out), expected, "{element}, {vector}, {has_dimension}");
    }
}

/// `take_along_axis`: an element of each row, by an index of its own.
#[test]
fn gathers_from_batches_take_an_element_of_each() {
    // Dimensions of the array, the indexed one, the number of indices in its place, and whether vectors have one.
    let cases: [(&[usize], usize, usize, bool); 7] = [
        (&[64, 9], 1, 9, true),
        (&[64, 9], 1, 40, false),
        (&[9, 64], 0, 30, true),
        (&[4, 9, 50], 1, 3, true),
        (&[4, 9, 50], 2, 7, false),
        (&[700, 1], 1, 3, true),
        // Few stay as they are.
        (&[4, 9], 1, 3, true),
    ];
    for (dims, indexed, count, has_vectors) in cases {
        let mut shape = dims.to_vec();
        shape[indexed] = count;
        let all: usize = shape.iter().product();
        let array: Vec<f32> = (0..dims.iter().product::<usize>()).map(|i| i as f32).collect();
        let indices: Vec<i32> = (0..all as i32).map(|i| i * 7 % 23 - 3).collect();
        let batches: Vec<usize> = (0..dims.len()).filter(|&dim| dim != indexed).collect();
        let numbers = GatherDims {
            offset_dims: Vec::new(),
            collapsed_slice_dims: vec![indexed],
            operand_batching_dims: batches.clone(),
            start_indices_batching_dims: batches,
            start_index_map: vec![indexed],
            index_vector_dim: dims.len(),
        };
        let module = func(|f| {
            let operand = f.param(f32s(dims.iter().copied()));
            let ones = if has_vectors { &[1][..] } else { &[] };
            let ty = TensorType::new(ElementType::S32, shape.iter().chain(ones).copied());
            let indices = f.param(ty);
            let kind = OpKind::Gather { dims: numbers, slice_sizes: vec![1; dims.len()], indices_are_sorted: false };
            Ok(vec![f.op(kind, [operand, indices])?])
        });
        let engine = engine();
        let program = compile(&engine, module);
        assert_eq!(program.text().contains("iota"), all >= 128, "{}", program.text());
        let out = program.run(vec![shared(&engine, &array), shared(&engine, &indices)]).unwrap().remove(0);
        let inner: usize = dims[indexed + 1..].iter().product();
        let place = |(at, &index): (usize, &i32)| {
            let inside = index.clamp(0, dims[indexed] as i32 - 1) as usize;
            let outer = at / inner / count;
            array[(outer * dims[indexed] + inside) * inner + at % inner]
        };
        let expected: Vec<f32> = indices.iter().enumerate().map(place).collect();
        assert_eq!(values::<f32>(&out), expected, "{dims:?} along {indexed}");
    }
}
