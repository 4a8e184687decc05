//! Dot products, and the legacy ops that are written with them.

use super::attributes::Attributes;
use super::source::Source;
use super::value::{Field, Value};
use crate::{BinaryOp, DotAlgorithm, DotDims, ElementType, Error, Literal, Op, OpKind, Region, TensorType};

pub(super) fn dot_general(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: op.sizes_or("lhs_batching_dimensions", Vec::new)?,
        rhs_batching: op.sizes_or("rhs_batching_dimensions", Vec::new)?,
        lhs_contracting: op.sizes_or("lhs_contracting_dimensions", Vec::new)?,
        rhs_contracting: op.sizes_or("rhs_contracting_dimensions", Vec::new)?,
        precision: op.precisions("precision_config")?,
        algorithm: algorithm(op)?,
    }))
}

pub(super) fn write_dot_general(out: &mut Attributes<'_>, dims: &DotDims) {
    let lists: &[(_, &[usize])] = &[
        ("lhs_batching_dimensions", &dims.lhs_batching),
        ("rhs_batching_dimensions", &dims.rhs_batching),
        ("lhs_contracting_dimensions", &dims.lhs_contracting),
        ("rhs_contracting_dimensions", &dims.rhs_contracting),
    ];
    out.dims("dot_dimension_numbers", "dot", lists, None);
    out.precisions("precision_config", &dims.precision);
    if let Some(algorithm) = &dims.algorithm {
        write_algorithm(out, algorithm);
    }
}

/// The algorithm, if it is given.
fn algorithm(op: &mut dyn Source) -> Result<Option<DotAlgorithm>, Error> {
    let Some(accumulation) = op.element_or_tf32("accumulation_type")? else { return Ok(None) };
    Ok(Some(DotAlgorithm {
        lhs_precision: op.required_element_or_tf32("lhs_precision_type")?,
        rhs_precision: op.required_element_or_tf32("rhs_precision_type")?,
        accumulation,
        lhs_components: op.integer_or("lhs_component_count", 0)?,
        rhs_components: op.integer_or("rhs_component_count", 0)?,
        primitive_operations: op.integer_or("num_primitive_operations", 0)?,
        allow_imprecise_accumulation: op.flag("allow_imprecise_accumulation")?,
    }))
}

fn write_algorithm(out: &mut Attributes<'_>, algorithm: &DotAlgorithm) {
    let precision = |ty: Option<ElementType>| Field::Word(ty.map_or("tf32", ElementType::name));
    let fields = vec![
        ("lhs_precision_type", precision(algorithm.lhs_precision)),
        ("rhs_precision_type", precision(algorithm.rhs_precision)),
        ("accumulation_type", precision(algorithm.accumulation)),
        ("lhs_component_count", Field::Int(algorithm.lhs_components)),
        ("rhs_component_count", Field::Int(algorithm.rhs_components)),
        ("num_primitive_operations", Field::Int(algorithm.primitive_operations)),
        (
            "allow_imprecise_accumulation",
            Field::Word(if algorithm.allow_imprecise_accumulation { "true" } else { "false" }),
        ),
    ];
    out.set("algorithm", Value::Struct("dot_algorithm", fields));
}

/// The legacy dot: the last dimension of the left operand with the first of the right one.
pub(super) fn dot(op: &mut dyn Source) -> Result<OpKind, Error> {
    let last = op.operand_type(0)?.rank().checked_sub(1);
    let last = last.ok_or_else(|| Error::invalid("operand 0 must have at least one dimension, got a scalar"))?;
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: Vec::new(),
        rhs_batching: Vec::new(),
        lhs_contracting: vec![last],
        rhs_contracting: vec![0],
        precision: op.precisions("precision_config")?,
        algorithm: None,
    }))
}

/// Labels of dimensions, each at most once.
fn labels(text: &[u8], rank: usize) -> Result<&[u8], Error> {
    let spelled = || String::from_utf8_lossy(text).into_owned();
    if !text.iter().all(u8::is_ascii_alphabetic) {
        return Err(Error::unsupported(format!(
            "einsum_config: only letters are supported as labels, got `{}`",
            spelled()
        )));
    }
    if text.len() != rank {
        return Err(Error::invalid(format!(
            "einsum_config: expected {rank} labels, one for each dimension, got `{}`",
            spelled()
        )));
    }
    if text.iter().enumerate().any(|(index, label)| text[..index].contains(label)) {
        return Err(Error::unsupported(format!("einsum_config: diagonals are not supported, got `{}`", spelled())));
    }
    Ok(text)
}

/// Splits in two at `separator`.
fn split<'t>(text: &'t [u8], separator: &[u8]) -> Result<(&'t [u8], &'t [u8]), Error> {
    let at = text.windows(separator.len()).position(|window| window == separator);
    let at = at.ok_or_else(|| {
        let (text, separator) = (String::from_utf8_lossy(text), String::from_utf8_lossy(separator));
        Error::invalid(format!("einsum_config: expected `{separator}` in `{text}`"))
    })?;
    Ok((&text[..at], &text[at + separator.len()..]))
}

/// The position of each label of `wanted` in `labels`.
fn positions(labels: &[u8], wanted: &[u8]) -> Result<Vec<usize>, Error> {
    let position = |label: &u8| {
        let found = labels.iter().position(|each| each == label);
        found.ok_or_else(|| {
            Error::invalid(format!(
                "einsum_config: the label `{}` of the result must be in an operand",
                char::from(*label)
            ))
        })
    };
    wanted.iter().map(position).collect()
}

/// The legacy Einstein sum of two operands: a dot product, then a transposition.
pub(super) fn einsum(op: &mut dyn Source) -> Result<OpKind, Error> {
    let config = op.required_text("einsum_config")?;
    let (operands, result) = split(config.as_bytes(), b"->")?;
    let (lhs, rhs) = split(operands, b",")?;
    let ty = op.result_type()?.clone();
    let (lhs, rhs) = (labels(lhs, op.operand_type(0)?.rank())?, labels(rhs, op.operand_type(1)?.rank())?);
    let result = labels(result, ty.rank())?;

    let shared = |keep: bool| lhs.iter().copied().filter(move |l| rhs.contains(l) && result.contains(l) == keep);
    let (batching, contracting): (Vec<u8>, Vec<u8>) = (shared(true).collect(), shared(false).collect());
    let free = |own: &[u8], other: &[u8]| own.iter().copied().filter(|l| !other.contains(l)).collect::<Vec<u8>>();
    let (lhs_free, rhs_free) = (free(lhs, rhs), free(rhs, lhs));
    let natural = [&batching[..], &lhs_free, &rhs_free].concat();
    if natural.len() != result.len() {
        return Err(Error::unsupported("einsum_config: sums over a dimension of one operand are not supported"));
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
pub(super) fn unary_einsum(op: &mut dyn Source) -> Result<OpKind, Error> {
    let config = op.required_text("einsum_config")?;
    let (operand, result) = split(config.as_bytes(), b"->")?;
    // A comma in front stands for an operand of ones.
    let operand = operand.strip_prefix(b",").unwrap_or(operand);
    let ty = op.result_type()?.clone();
    let (operand, result) = (labels(operand, op.operand_type(0)?.rank())?, labels(result, ty.rank())?);
    let summed = (0..operand.len()).filter(|&dim| !result.contains(&operand[dim])).collect::<Vec<_>>();
    let kept = operand.iter().copied().filter(|label| result.contains(label)).collect::<Vec<_>>();
    let permutation = positions(&kept, result)?;
    if summed.is_empty() {
        return Ok(OpKind::Transpose { permutation });
    }
    let zero = Literal::splat(TensorType::scalar(ty.element), vec![0; ty.element.byte_width()]);
    let init = op.emit(OpKind::Constant(zero), Vec::new(), TensorType::scalar(ty.element), Vec::new())?;
    op.op().operands.push(init);
    let body = sum_region(op, &ty)?;
    transposed(op, OpKind::Reduce { dims: summed }, vec![body], permutation, &ty)
}

/// The body of a sum.
fn sum_region(op: &mut dyn Source, ty: &TensorType) -> Result<Region, Error> {
    let mut value = || op.add_value(TensorType::scalar(ty.element));
    let (left, right, sum) = (value()?, value()?, value()?);
    let add = Op {
        kind: OpKind::Binary(BinaryOp::Add),
        operands: vec![left, right],
        results: vec![sum],
        regions: Vec::new(),
        location: op.op().location,
    };
    Ok(Region { params: vec![left, right], ops: vec![add], results: vec![sum] })
}

/// `kind` of the operands, transposed so that dimension `i` of the result is `permutation[i]` of what `kind` gives.
fn transposed(
    op: &mut dyn Source,
    kind: OpKind,
    regions: Vec<Region>,
    permutation: Vec<usize>,
    ty: &TensorType,
) -> Result<OpKind, Error> {
    if permutation.is_sorted() {
        op.op().regions = regions;
        return Ok(kind);
    }
    let mut dims = ty.dims.clone();
    for (&from, &size) in permutation.iter().zip(&ty.dims) {
        dims[from] = size;
    }
    let operands = std::mem::take(&mut op.op().operands);
    let value = op.emit(kind, operands, TensorType::new(ty.element, dims), regions)?;
    op.op().operands = vec![value];
    Ok(OpKind::Transpose { permutation })
}
