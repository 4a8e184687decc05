//! Transforms, decompositions, normalisation and random numbers.

use super::super::op::OpReader;
use crate::{Error, FftType, OpKind, RngAlgorithm, RngDistribution, Transpose};

pub(super) fn fft(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let fft_type = op.choice("fft_type", FftType::from_name)?;
    Ok(OpKind::Fft { fft_type, lengths: op.sizes("fft_length")? })
}

pub(super) fn cholesky(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Cholesky { lower: op.bool("lower")? })
}

pub(super) fn triangular_solve(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::TriangularSolve {
        left_side: op.bool("left_side")?,
        lower: op.bool("lower")?,
        unit_diagonal: op.bool("unit_diagonal")?,
        transpose: op.choice("transpose_a", Transpose::from_name)?,
    })
}

pub(super) fn rng(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Rng(op.choice("rng_distribution", RngDistribution::from_name)?))
}

pub(super) fn rng_bit_generator(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::RngBitGenerator(op.choice("rng_algorithm", RngAlgorithm::from_name)?))
}

pub(super) fn batch_norm_inference(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormInference { epsilon, feature })
}

pub(super) fn batch_norm_training(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormTraining { epsilon, feature })
}

pub(super) fn batch_norm_grad(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let (epsilon, feature) = batch_norm(op)?;
    Ok(OpKind::BatchNormGrad { epsilon, feature })
}

/// Epsilon and feature dimension.
fn batch_norm(op: &OpReader<'_, '_, '_>) -> Result<(f32, usize), Error> {
    Ok((op.attribute("epsilon")?.float()? as f32, op.size("feature_index")?))
}
