//! Functions whose slopes are infinite, NaN or a matter of choice somewhere.

use oxcall::prelude::*;

macro_rules! pointwise {
    ($($name:ident($($operand:ident),*) = $value:expr;)*) => {$(
        #[pointwise]
        fn $name<T: Real>($($operand: T),*) -> T {
            $value
        }
    )*};
}
pointwise! {
    product(x, y) = x * y;
    quotient(x, y) = x / y;
    power(x, y) = x.pow(y);
    root_product(x, y) = x * y.sqrt();
    length(x, y) = x.hypot(y);
    log_add_exp(x, y) = x.log_add_exp(y);
    larger(x, y) = x.maximum(y);
    clamped(x, y) = x.clamp(y, 1.0);
    size(x) = x.abs();
    inverse_cube(x) = x.powi(-3);
    cube_root(x) = x.cbrt();
    area_tangent(x) = x.atanh();
    arc_sine(x) = x.asin();
    arc_cosine(x) = x.acos();
}

#[pointwise]
fn two_results<T: Real>(x: T, y: T) -> (T, T) {
    (x * 3.0, x.sqrt() * y)
}

#[rowwise]
fn row_product(x: Row, y: Row) -> Row {
    x * y.sqrt()
}

#[rowwise]
fn row_quotient(x: Row, y: PerRow) -> PerRow {
    (x / y).sum()
}

#[rowwise]
fn row_max(x: Row) -> PerRow {
    x.max()
}

#[pointwise(derivatives = 0)]
fn constant<T: Real>(x: T) -> T {
    x * 2.0
}

#[pointwise(derivatives = 1)]
fn once<T: Real>(x: T) -> T {
    x * x
}
