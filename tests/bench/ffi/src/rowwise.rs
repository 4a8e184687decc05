//! Functions of rows beside formulas of `jax.numpy`: `cargo xtask bench pointwise`.

use oxcall::prelude::*;

/// The cross entropy of labels and the softmax of logits.
#[rowwise(derivatives = 1)]
fn softmax_cross_entropy(logits: Row, labels: Row) -> PerRow {
    let shifted = logits - logits.max().stop_gradient();
    (labels * (shifted.exp().sum().ln() - shifted)).sum()
}

/// Rows with a mean of 0 and a variance of 1, then scaled and moved.
#[rowwise(derivatives = 1)]
fn layer_norm(x: Row, gain: Row, bias: Row) -> Row {
    let centred = x - x.mean();
    let variance = (centred * centred).mean();
    (centred / (variance + 1e-5).sqrt()).mul_add(gain, bias)
}
