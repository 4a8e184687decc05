//! The kernels of a project that `oxcall new --cuda` makes, beside its functions for the CPU.

use oxcall::prelude::*;

use crate::fake::fake;
use crate::gallery::check;

// Formatted as users format their crates.
#[rustfmt::skip]
#[path = "../../../../python/oxcall/src/oxcall/_templates/cuda/lib.rs"]
mod template;

#[test]
fn rows_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    for shape in [[1, 1], [3, 7], [2, 300], [0, 4], [4, 0]] {
        for (name, operands) in [("log_softmax", 1), ("log_softmax_vjp", 2)] {
            // The gradient is a difference, which loses digits where its parts are large.
            check::<f32>(fake, name, operands, shape, 4e-5);
            check::<f64>(fake, name, operands, shape, 1e-12);
            check::<f16>(fake, name, operands, shape, 4e-3);
            check::<bf16>(fake, name, operands, shape, 2e-2);
        }
    }
}
