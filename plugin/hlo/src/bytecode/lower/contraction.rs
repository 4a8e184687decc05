//! Dot products, and the legacy ops that are written with them.

use super::super::op::OpReader;
use crate::{BinaryOp, DotAlgorithm, DotDims, Error, Literal, Op, OpKind, Region, TensorType};

pub(super) fn dot_general(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: op.sizes("lhs_batching_dimensions")?,
        rhs_batching: op.sizes("rhs_batching_dimensions")?,
        lhs_contracting: op.sizes("lhs_contracting_dimensions")?,
        rhs_contracting: op.sizes("rhs_contracting_dimensions")?,
        precision: op.precision()?,
        algorithm: algorithm(op)?,
    }))
}

/// The algorithm, which the second version has; there its types are `none` if it is not given.
fn algorithm(op: &OpReader<'_, '_, '_>) -> Result<Option<DotAlgorithm>, Error> {
    let Some(accumulation) = op.optional("accumulation_type")? else { return Ok(None) };
    if accumulation.is_none_type()? {
        return Ok(None);
    }
    let integer = |name| op.attribute(name)?.integer();
    Ok(Some(DotAlgorithm {
        lhs_precision: op.attribute("lhs_precision_type")?.element_or_tf32()?,
        rhs_precision: op.attribute("rhs_precision_type")?.element_or_tf32()?,
        accumulation: accumulation.element_or_tf32()?,
        lhs_components: integer("lhs_component_count")?,
        rhs_components: integer("rhs_component_count")?,
        primitive_operations: integer("num_primitive_operations")?,
        allow_imprecise_accumulation: op.bool("allow_imprecise_accumulation")?,
    }))
}

/// The legacy dot: the last dimension of the left operand with the first of the right one.
pub(super) fn dot(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let last = op.operand_type(0)?.rank().checked_sub(1);
    let last = last.ok_or_else(|| Error::invalid("operand 0 is a scalar"))?;
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: Vec::new(),
        rhs_batching: Vec::new(),
        lhs_contracting: vec![last],
        rhs_contracting: vec![0],
        precision: op.precision()?,
        algorithm: None,
    }))
}

/// Labels of dimensions, each at most once.
fn labels(text: &[u8], rank: usize) -> Result<&[u8], Error> {
    let spelled = || String::from_utf8_lossy(text).into_owned();
    if !text.iter().all(u8::is_ascii_alphabetic) {
        return Err(Error::unsupported(format!("`{}` in an einsum: only letters are supported", spelled())));
    }
    if text.len() != rank {
        return Err(Error::invalid(format!("`{}` in an einsum for a tensor of rank {rank}", spelled())));
    }
    if text.iter().enumerate().any(|(index, label)| text[..index].contains(label)) {
        return Err(Error::unsupported(format!("`{}` in an einsum: diagonals are not supported", spelled())));
    }
    Ok(text)
}

/// Splits in two at `separator`.
fn split<'t>(text: &'t [u8], separator: &[u8]) -> Result<(&'t [u8], &'t [u8]), Error> {
    let at = text.windows(separator.len()).position(|window| window == separator);
    let at = at.ok_or_else(|| {
        let (text, separator) = (String::from_utf8_lossy(text), String::from_utf8_lossy(separator));
        Error::invalid(format!("attribute `einsum_config`: no `{separator}` in `{text}`"))
    })?;
    Ok((&text[..at], &text[at + separator.len()..]))
}

/// The position of each label of `wanted` in `labels`.
fn positions(labels: &[u8], wanted: &[u8]) -> Result<Vec<usize>, Error> {
    let position = |label: &u8| {
        let found = labels.iter().position(|each| each == label);
        found.ok_or_else(|| Error::invalid(format!("`{}` of an einsum's result is in no operand", char::from(*label))))
    };
    wanted.iter().map(position).collect()
}

/// The legacy Einstein sum of two operands: a dot product, then a transposition.
pub(super) fn einsum(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let config = op.attribute("einsum_config")?.string()?;
    let (operands, result) = split(config, b"->")?;
    let (lhs, rhs) = split(operands, b",")?;
    let (lhs_type, rhs_type, ty) = (op.operand_type(0)?, op.operand_type(1)?, op.result_type()?.clone());
    let (lhs, rhs) = (labels(lhs, lhs_type.rank())?, labels(rhs, rhs_type.rank())?);
    let result = labels(result, ty.rank())?;

    let shared = |keep: bool| lhs.iter().copied().filter(move |l| rhs.contains(l) && result.contains(l) == keep);
    let (batching, contracting): (Vec<u8>, Vec<u8>) = (shared(true).collect(), shared(false).collect());
    let free = |own: &[u8], other: &[u8]| own.iter().copied().filter(|l| !other.contains(l)).collect::<Vec<u8>>();
    let (lhs_free, rhs_free) = (free(lhs, rhs), free(rhs, lhs));
    let natural = [&batching[..], &lhs_free, &rhs_free].concat();
    if natural.len() != result.len() {
        return Err(Error::unsupported("an einsum that sums over a dimension of one operand is not supported"));
    }
    let permutation = positions(&natural, result)?;
    let dims = DotDims {
        lhs_batching: positions(lhs, &batching)?,
        rhs_batching: positions(rhs, &batching)?,
        lhs_contracting: positions(lhs, &contracting)?,
        rhs_contracting: positions(rhs, &contracting)?,
        precision: Vec::new(),
        algorithm: None,
    };
    transposed(op, OpKind::DotGeneral(dims), Vec::new(), permutation, &ty)
}

/// The legacy Einstein sum of one operand: a sum, then a transposition.
pub(super) fn unary_einsum(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let config = op.attribute("einsum_config")?.string()?;
    let (operand, result) = split(config, b"->")?;
    // A comma in front stands for an operand of ones.
    let operand = operand.strip_prefix(b",").unwrap_or(operand);
    let (operand_type, ty) = (op.operand_type(0)?, op.result_type()?.clone());
    let (operand, result) = (labels(operand, operand_type.rank())?, labels(result, ty.rank())?);
    let summed = (0..operand.len()).filter(|&dim| !result.contains(&operand[dim])).collect::<Vec<_>>();
    let kept = operand.iter().copied().filter(|label| result.contains(label)).collect::<Vec<_>>();
    let permutation = positions(&kept, result)?;
    if summed.is_empty() {
        return Ok(OpKind::Transpose { permutation });
    }
    let zero = Literal::splat(TensorType::scalar(ty.element), vec![0; ty.element.byte_width()]);
    let init = op.emit(OpKind::Constant(zero), Vec::new(), TensorType::scalar(ty.element), Vec::new());
    op.op.operands.push(init);
    let body = sum_region(op, &ty);
    transposed(op, OpKind::Reduce { dims: summed }, vec![body], permutation, &ty)
}

/// The body of a sum.
fn sum_region(op: &mut OpReader<'_, '_, '_>, ty: &TensorType) -> Region {
    let [left, right, sum] = [(); 3].map(|()| op.values.add(TensorType::scalar(ty.element).into()));
    let add = Op {
        kind: OpKind::Binary(BinaryOp::Add),
        operands: vec![left, right],
        results: vec![sum],
        regions: Vec::new(),
        location: op.location(),
    };
    Region { params: vec![left, right], ops: vec![add], results: vec![sum] }
}

/// `kind` of the operands, transposed so that dimension `i` of the result is `permutation[i]` of what `kind` gives.
fn transposed(
    op: &mut OpReader<'_, '_, '_>,
    kind: OpKind,
    regions: Vec<Region>,
    permutation: Vec<usize>,
    ty: &TensorType,
) -> Result<OpKind, Error> {
    if permutation.is_sorted() {
        op.op.regions = regions;
        return Ok(kind);
    }
    let mut dims = ty.dims.clone();
    for (&from, &size) in permutation.iter().zip(&ty.dims) {
        dims[from] = size;
    }
    let operands = std::mem::take(&mut op.op.operands);
    let value = op.emit(kind, operands, TensorType::new(ty.element, dims), regions);
    op.op.operands = vec![value];
    Ok(OpKind::Transpose { permutation })
}
