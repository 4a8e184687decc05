//! Scans of CHLO: loops over the slices of arrays.
//!
//! They arrive as composites with their body as a region. The decompositions that jaxlib writes beside them ignore
//! `is_reverse`.

use oxcall_hlo::{
    Attribute, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, Op, OpKind, Region, TensorType,
    Type, ValueId,
};

/// The attributes of a scan.
struct Scan {
    dimension: usize,
    is_reverse: bool,
    inputs: usize,
    outputs: usize,
    /// The number of slices.
    steps: usize,
}

/// Appends the loop of a composite to `done`, and returns its results; `None` if it is not a scan, or not a valid one.
/// `values` are the types of the function's values.
pub(super) fn expand(op: &Op, values: &mut Vec<Type>, done: &mut Vec<Op>) -> Option<Vec<ValueId>> {
    let scan = Scan::from_op(op, values)?;
    let mut ops = Ops { values, done: std::mem::take(done), location: op.location };
    let results = scan.expand(op, &mut ops);
    *done = ops.done;
    Some(results)
}

/// The two numbers of an attribute that divides operands or results.
fn segments(attributes: &[(String, Attribute)], name: &str) -> Option<[usize; 2]> {
    let sizes: Vec<i64> = match attribute(attributes, name)? {
        Attribute::DenseArray(sizes) | Attribute::Dense(sizes) if sizes.ty().checked_count() == Some(2) => {
            sizes.integers()?.collect()
        }
        _ => return None,
    };
    let &[first, second] = &sizes[..] else { return None };
    Some([usize::try_from(first).ok()?, usize::try_from(second).ok()?])
}

fn attribute<'a>(attributes: &'a [(String, Attribute)], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|(each, _)| each == name).map(|(_, value)| value)
}

impl Scan {
    fn from_op(op: &Op, values: &[Type]) -> Option<Scan> {
        let OpKind::Composite { name, attributes, .. } = &op.kind else { return None };
        let ([region], "chlo.scan") = (&op.regions[..], &name[..]) else { return None };
        let dimension = usize::try_from(attribute(attributes, "dimension")?.as_integer()?).ok()?;
        let is_reverse = match attribute(attributes, "is_reverse") {
            None => false,
            Some(Attribute::Bool(is_reverse)) => *is_reverse,
            Some(Attribute::Integer(is_reverse, _)) => *is_reverse != 0,
            Some(_) => return None,
        };
        let [inputs, carries] = segments(attributes, "operandSegmentSizes")?;
        let [outputs, carried] = segments(attributes, "resultSegmentSizes")?;
        let counts = [op.operands.len(), region.params.len(), op.results.len(), region.results.len()];
        if carries != carried || counts != [inputs + carries, inputs + carries, outputs + carries, outputs + carries] {
            return None;
        }
        let ty = |value: ValueId| values[value.0 as usize].tensor();
        let wholes = op.operands[..inputs].iter().chain(&op.results[..outputs]);
        let parts = region.params[..inputs].iter().chain(&region.results[..outputs]);
        let mut steps = None;
        for (&whole, &part) in wholes.zip(parts) {
            let (whole, part) = (ty(whole)?, ty(part)?);
            let size = *whole.dims.get(dimension)?;
            let mut dims = whole.dims.clone();
            dims.remove(dimension);
            let fits = *part == TensorType::new(whole.element, dims) && *steps.get_or_insert(size) == size;
            if !fits {
                return None;
            }
        }
        let carried = [&op.operands[inputs..], &region.params[inputs..], &region.results[outputs..]];
        let same = |index: usize| {
            let result = ty(op.results[outputs + index]);
            result.is_some() && carried.iter().all(|values| ty(values[index]) == result)
        };
        let steps = steps.filter(|_| (0..carries).all(same))?;
        Some(Scan { dimension, is_reverse, inputs, outputs, steps })
    }

    fn expand(&self, op: &Op, ops: &mut Ops<'_>) -> Vec<ValueId> {
        let results: Vec<Type> = op.results[..self.outputs].iter().map(|&value| ops.ty(value)).collect();
        let outputs: Vec<ValueId> = results
            .iter()
            .map(|ty| {
                let ty = ty.tensor().expect("checked above");
                ops.constant(ty.clone(), vec![0; ty.element.byte_width()])
            })
            .collect();
        let inits = &op.operands[self.inputs..];
        if self.steps == 0 {
            return [&outputs[..], inits].concat();
        }
        let zero = ops.number(0);
        let operands = [&[zero], inits, &outputs[..]].concat();
        let types: Vec<Type> = operands.iter().map(|&value| ops.ty(value)).collect();
        let outer = std::mem::take(&mut ops.done);
        let condition = {
            let params: Vec<ValueId> = types.iter().map(|ty| ops.value(ty.clone())).collect();
            let limit = ops.number(self.steps as i64);
            let kind = OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed);
            let goes_on = ops.emit(kind, vec![params[0], limit], TensorType::scalar(ElementType::Pred));
            Region { params, ops: std::mem::take(&mut ops.done), results: vec![goes_on] }
        };
        let body = self.body(op, &results, zero, ops);
        ops.done = outer;
        let all: Vec<ValueId> = types.into_iter().map(|ty| ops.value(ty)).collect();
        ops.done.push(Op {
            kind: OpKind::While,
            operands,
            results: all.clone(),
            regions: vec![condition, body],
            location: op.location,
        });
        let (carries, outputs) = all[1..].split_at(inits.len());
        [outputs, carries].concat()
    }

    /// The composite's region between slices and updates.
    fn body(&self, op: &Op, outputs: &[Type], zero: ValueId, ops: &mut Ops<'_>) -> Region {
        let region = &op.regions[0];
        let counter = TensorType::scalar(ElementType::S64);
        let index = ops.value(counter.clone().into());
        let arrays: Vec<ValueId> = outputs.iter().map(|ty| ops.value(ty.clone())).collect();
        let at = if self.is_reverse {
            let last = ops.number(self.steps as i64 - 1);
            ops.emit(OpKind::Binary(BinaryOp::Subtract), vec![last, index], counter.clone())
        } else {
            index
        };
        let starts = |rank: usize| (0..rank).map(move |dim| if dim == self.dimension { at } else { zero });
        let slice_of = |ty: &TensorType| {
            let mut slice = ty.clone();
            slice.dims[self.dimension] = 1;
            slice
        };
        for (&input, &param) in op.operands[..self.inputs].iter().zip(&region.params) {
            let slice = slice_of(ops.ty(input).tensor().expect("checked above"));
            let operands = std::iter::once(input).chain(starts(slice.rank())).collect();
            let kind = OpKind::DynamicSlice { sizes: slice.dims.to_vec() };
            let slice = ops.emit(kind, operands, slice);
            ops.push(OpKind::Reshape, vec![slice], param);
        }
        ops.done.extend(region.ops.iter().cloned());
        let mut updated = Vec::with_capacity(self.outputs);
        for ((&part, &array), ty) in region.results.iter().zip(&arrays).zip(outputs) {
            let ty = ty.tensor().expect("checked above");
            let slice = ops.emit(OpKind::Reshape, vec![part], slice_of(ty));
            let operands = [array, slice].into_iter().chain(starts(ty.rank())).collect();
            updated.push(ops.emit(OpKind::DynamicUpdateSlice, operands, ty.clone()));
        }
        let one = ops.number(1);
        let next = ops.emit(OpKind::Binary(BinaryOp::Add), vec![index, one], counter);
        Region {
            params: [&[index], &region.params[self.inputs..], &arrays[..]].concat(),
            ops: std::mem::take(&mut ops.done),
            results: [&[next], &region.results[self.outputs..], &updated[..]].concat(),
        }
    }
}

/// A list of ops under construction.
struct Ops<'v> {
    values: &'v mut Vec<Type>,
    done: Vec<Op>,
    location: oxcall_hlo::LocationId,
}

impl Ops<'_> {
    fn ty(&self, value: ValueId) -> Type {
        self.values[value.0 as usize].clone()
    }

    fn value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("the growth of programs is limited"));
        self.values.push(ty);
        id
    }

    fn push(&mut self, kind: OpKind, operands: Vec<ValueId>, result: ValueId) {
        self.done.push(Op { kind, operands, results: vec![result], regions: Vec::new(), location: self.location });
    }

    fn emit(&mut self, kind: OpKind, operands: Vec<ValueId>, ty: TensorType) -> ValueId {
        let result = self.value(ty.into());
        self.push(kind, operands, result);
        result
    }

    fn constant(&mut self, ty: TensorType, element: Vec<u8>) -> ValueId {
        self.emit(OpKind::Constant(Literal::splat(ty.clone(), element)), Vec::new(), ty)
    }

    fn number(&mut self, number: i64) -> ValueId {
        self.constant(TensorType::scalar(ElementType::S64), number.to_le_bytes().to_vec())
    }
}
