use oxcall::prelude::*;

// One cotangent for each operand.
#[pointwise(vjp = product_vjp)]
fn product<T: Real>(x: T, y: T) -> T {
    x * y
}

fn product_vjp<T: Real>(_x: T, y: T, dout: T) -> T {
    y * dout
}

// The attributes come last.
#[pointwise(vjp = scaled_vjp)]
fn scaled<T: Real>(x: T, #[attr] by: f64) -> T {
    x * by
}

fn scaled_vjp<T: Real>(_x: T, by: f64, dout: T) -> T {
    dout * by
}

fn main() {}
