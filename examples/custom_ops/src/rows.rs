//! Functions of rows: reductions along the last axis and what is computed from them, with derivatives of first and
//! second order.
//!
//! Each is the formula alone: batches, blocks, threads, halves, `grad`, `jvp`, `vmap` and sharding follow from
//! `#[rowwise]`.

use oxcall::prelude::*;

/// The cross entropy of labels and the softmax of logits: `sum(labels * (ln(sum(exp(logits))) - logits))`.
#[rowwise]
pub fn softmax_cross_entropy(logits: Row, labels: Row) -> PerRow {
    // Any number may be subtracted from all logits, so that it counts as a constant; with the largest one, `exp` does
    // not overflow.
    let shifted = logits - logits.max().stop_gradient();
    (labels * (shifted.exp().sum().ln() - shifted)).sum()
}

/// Rows with a mean of 0 and a variance of 1, then scaled and moved: `gain * (x - mean) / sqrt(variance + eps) + bias`.
///
/// J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer Normalization" (2016), equation 4.
#[rowwise]
pub fn layer_norm(x: Row, gain: Row, bias: Row, #[attr(default = 1e-5)] eps: f64) -> Row {
    let centred = x - x.mean();
    let variance = (centred * centred).mean();
    (centred / (variance + eps).sqrt()).mul_add(gain, bias)
}

/// The softmax of logits at a temperature of each row, and the logarithm of its normalizer.
#[rowwise]
pub fn tempered_softmax(logits: Row, temperature: PerRow) -> (Row, PerRow) {
    let scaled = logits / temperature;
    let top = scaled.max().stop_gradient();
    let weights = (scaled - top).exp();
    let total = weights.sum();
    (weights / total, total.ln() + top)
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::{Array1, Array2};
    use oxcall::testing::call;

    use super::*;
    use crate::testing::numbers;

    fn array(rows: usize, n: usize, seed: f64) -> Array2<f64> {
        Array2::from_shape_vec((rows, n), numbers::<f64>(rows * n)).unwrap().mapv(|x| x + seed)
    }

    #[track_caller]
    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} {expected}");
        }
    }

    #[test]
    fn cross_entropies_are_those_of_the_formula() {
        for (rows, n) in [(1, 1), (4, 10), (70, 600)] {
            let (logits, labels) = (array(rows, n, 0.0), array(rows, n, 1.0));
            let out = call::<softmax_cross_entropy>().arg(logits.clone()).arg(labels.clone()).run().unwrap();
            let expected = logits.rows().into_iter().zip(labels.rows()).map(|(logits, labels)| {
                let sum = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
                logits.iter().zip(labels).map(|(x, label)| label * (sum - x)).sum()
            });
            close(out.get::<f64>(0).as_slice().unwrap(), &expected.collect::<Vec<f64>>());
        }
        let large = call::<softmax_cross_entropy>().arg([1e30f32, -1e30]).arg([1f32, 0.0]).run().unwrap();
        assert_eq!(large.get::<f32>(0)[[]], 0.0);
    }

    #[test]
    fn layers_are_normalized() {
        let (x, gain, bias) = (array(3, 20, 0.5), array(3, 20, 1.0), array(3, 20, -1.0));
        let out = call::<layer_norm>().arg(x.clone()).arg(gain.clone()).arg(bias.clone()).attr("eps", 1e-3);
        let expected = x.rows().into_iter().flat_map(|row| {
            let mean = row.sum() / 20.0;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20.0;
            row.iter().map(|x| (x - mean) / (variance + 1e-3).sqrt()).collect::<Vec<_>>()
        });
        let expected = expected.zip(&gain).zip(&bias).map(|((x, gain), bias)| x * gain + bias);
        close(out.run().unwrap().get::<f64>(0).as_slice().unwrap(), &expected.collect::<Vec<f64>>());
    }

    #[test]
    fn temperatures_belong_to_rows() {
        let logits = array(2, 6, 0.0);
        let temperature = Array1::from_vec(vec![0.5, 2.0]);
        let out = call::<tempered_softmax>().arg(logits.clone()).arg(temperature.clone()).run().unwrap();
        for (row, logits) in logits.rows().into_iter().enumerate() {
            let sum: f64 = logits.iter().map(|x| (x / temperature[row]).exp()).sum();
            let expected: Vec<f64> = logits.iter().map(|x| (x / temperature[row]).exp() / sum).collect();
            close(out.get::<f64>(0).rows().into_iter().nth(row).unwrap().as_slice().unwrap(), &expected);
            close(&[out.get::<f64>(1)[[row]]], &[sum.ln()]);
        }
    }
}
