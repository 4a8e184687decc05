//! Fourier transforms, random numbers and batch norms.

use super::signature::{Class, Signature, dimension, ensure, one, same_element, same_type, scalar};
use crate::{ElementType, Error, FftType, RngAlgorithm, RngDistribution, TensorType, Type};

pub(crate) fn fft(cx: Signature<'_>, fft_type: FftType, lengths: &[usize]) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor_of(0, "operand", Class::FloatOrF64Complex)?;
    let real = fft_type == FftType::Rfft;
    ensure!(
        operand.element.is_complex() != real,
        "operand must be {} for an {}, got {operand}",
        if real { "real" } else { "complex" },
        fft_type.name()
    );
    let count = lengths.len();
    ensure!((1..=3).contains(&count), "fft_length must have 1 to 3 entries, got {count}");
    ensure!(
        count <= operand.rank(),
        "fft_length must have at most one entry for each dimension of operand {operand}, got {count}"
    );
    let first = operand.rank() - count;
    let half = lengths[count - 1] / 2 + 1;
    let mut expected = lengths.to_vec();
    if fft_type == FftType::Irfft {
        // Nothing is transformed, whether the dimension counts as the half of no numbers or has none.
        let none = lengths[count - 1] == 0 && operand.dims.last() == Some(&0);
        expected[count - 1] = if none { 0 } else { half };
    }
    ensure!(
        operand.dims[first..] == expected[..],
        "the last dimensions of operand, {operand}, must be {expected:?} for an {} of fft_length {lengths:?}",
        fft_type.name()
    );
    let mut result = operand.clone();
    let last = result.rank() - 1;
    match (fft_type, operand.element) {
        (FftType::Rfft, element) => {
            result.element = if element == ElementType::F32 { ElementType::C64 } else { ElementType::C128 };
            result.dims[last] = if lengths[count - 1] == 0 { 0 } else { half };
        }
        (FftType::Irfft, element) => {
            result.element = element.real();
            result.dims[last] = lengths[count - 1];
        }
        (FftType::Fft | FftType::Ifft, _) => {}
    }
    one(result)
}

pub(crate) fn rng(cx: Signature<'_>, distribution: RngDistribution) -> Result<Vec<Type>, Error> {
    cx.arity(3)?;
    let class = match distribution {
        RngDistribution::Normal => Class::Float,
        RngDistribution::Uniform => Class::Any,
    };
    let (a, b) = (cx.tensor_of(0, "a", class)?, cx.tensor(1, "b")?);
    let shape = cx.tensor_of(2, "shape", Class::Integer)?;
    ensure!(!a.element.is_complex(), "a must not be complex, got {a}");
    scalar(a, "a")?;
    same_type(a, "a", b, "b")?;
    let result = cx.given_result()?;
    ensure!(
        shape.dims.as_slice() == [result.rank()],
        "shape must be a vector with an entry for each dimension of the result, {result}, got {shape}"
    );
    one(result.with_element(a.element))
}

pub(crate) fn rng_bit_generator(cx: Signature<'_>, algorithm: RngAlgorithm) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let state = cx.tensor_of(0, "initial_state", Class::Integer)?;
    let words = match algorithm {
        RngAlgorithm::Default => 1..=usize::MAX,
        RngAlgorithm::ThreeFry => 2..=2,
        RngAlgorithm::Philox => 2..=3,
    };
    let sizes = match algorithm {
        RngAlgorithm::Philox => "2 or 3",
        _ => "2",
    };
    let fits = state.rank() == 1 && state.element.is_unsigned() && words.contains(&state.dims[0]);
    // An implementation-defined state; only known ones are checked.
    let fits = fits && (algorithm == RngAlgorithm::Default || state.element == ElementType::U64);
    ensure!(fits, "initial_state must be a vector of {sizes} ui64 for algorithm {}, got {state}", algorithm.name());
    match cx.results {
        Some([new_state, Type::Tensor(output)]) => {
            let number = output.element.is_integer() || output.element.is_float();
            ensure!(number, "output must be a tensor of integer or floating-point type, got {output}");
            ensure!(
                new_state.tensor() == Some(state),
                "output_state must have the type of initial_state, {state}, got {new_state}"
            );
            Ok(vec![state.clone().into(), output.clone().into()])
        }
        Some(types) => Err(Error::invalid(format!("expected two tensors as results, got {}", types.len()))),
        None => Err(Error::invalid("the types of the results must be given")),
    }
}

/// Checks the operands of a batch norm: the first, and the others, which are vectors of features but where they have
/// its type. The type of features.
fn features(cx: Signature<'_>, feature: usize, names: &[&str], full: &[usize]) -> Result<TensorType, Error> {
    cx.arity(names.len())?;
    let operand = cx.tensor_of(0, names[0], Class::Float)?;
    dimension(feature, "feature_index", operand, names[0])?;
    let features = TensorType::new(operand.element, [operand.dims[feature]]);
    for (index, name) in names.iter().enumerate().skip(1) {
        let ty = cx.tensor(index, name)?;
        if full.contains(&index) {
            same_type(operand, names[0], ty, name)?;
            continue;
        }
        same_element(operand, names[0], ty, name)?;
        ensure!(*ty == features, "{name} must have the type of features of {}, {features}, got {ty}", names[0]);
    }
    Ok(features)
}

pub(crate) fn batch_norm_inference(cx: Signature<'_>, feature: usize) -> Result<Vec<Type>, Error> {
    features(cx, feature, &["operand", "scale", "offset", "mean", "variance"], &[])?;
    Ok(vec![cx.operands[0].clone()])
}

pub(crate) fn batch_norm_training(cx: Signature<'_>, feature: usize) -> Result<Vec<Type>, Error> {
    let features = features(cx, feature, &["operand", "scale", "offset"], &[])?;
    Ok(vec![cx.operands[0].clone(), features.clone().into(), features.into()])
}

pub(crate) fn batch_norm_grad(cx: Signature<'_>, feature: usize) -> Result<Vec<Type>, Error> {
    let features = features(cx, feature, &["operand", "scale", "mean", "variance", "grad_output"], &[4])?;
    Ok(vec![cx.operands[0].clone(), features.clone().into(), features.into()])
}
