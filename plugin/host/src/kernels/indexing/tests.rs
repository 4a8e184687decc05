use oxcall_hlo::{ElementType, GatherDims, OpKind, TensorType};

use crate::kernels::testing::{Random, Single, indices, ravel, ty};

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
