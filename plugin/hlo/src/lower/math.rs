//! Transforms, decompositions, normalisation and random numbers.

use super::Source;
use crate::{Error, FftType, OpKind, RngAlgorithm, RngDistribution, Transpose};

pub(super) fn fft(op: &mut dyn Source) -> Result<OpKind, Error> {
    let fft_type = op.choice("fft_type", FftType::from_name)?;
    Ok(OpKind::Fft { fft_type, lengths: op.sizes("fft_length")? })
}

pub(super) fn cholesky(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Cholesky { lower: op.flag("lower")? })
}

pub(super) fn triangular_solve(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::TriangularSolve {
        left_side: op.flag("left_side")?,
        lower: op.flag("lower")?,
        unit_diagonal: op.flag("unit_diagonal")?,
        transpose: op.choice("transpose_a", Transpose::from_name)?,
    })
}

pub(super) fn rng(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Rng(op.choice("rng_distribution", RngDistribution::from_name)?))
}

pub(super) fn rng_bit_generator(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::RngBitGenerator(op.choice("rng_algorithm", RngAlgorithm::from_name)?))
}

pub(super) fn batch_norm_inference(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormInference { epsilon, feature })
}

pub(super) fn batch_norm_training(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormTraining { epsilon, feature })
}

pub(super) fn batch_norm_grad(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormGrad { epsilon, feature })
}

/// Epsilon and feature dimension.
fn batch_norm(op: &mut dyn Source) -> Result<(f32, usize), Error> {
    Ok((op.required_float("epsilon")? as f32, op.size("feature_index")?))
}
