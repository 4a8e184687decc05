//! The four element types of LAPACK.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::Neg;

use faer::traits::ComplexField;
use num_complex::Complex;
use num_traits::{Float, NumAssign};

/// `f32`, `f64`, or a complex number of these.
pub trait Scalar:
    ComplexField<Real = <Self as Scalar>::Part> + NumAssign + Neg<Output = Self> + Sum + Copy + Debug + Send + Sync
{
    /// The type of the real part.
    type Part: Real;

    /// The complex conjugate.
    fn conj(self) -> Self;
    /// The real part.
    fn re(self) -> Self::Part;
    /// The imaginary part.
    fn im(self) -> Self::Part;
    /// The number with these parts; a real type ignores the imaginary one.
    fn new(re: Self::Part, im: Self::Part) -> Self;

    /// A real number.
    fn real(re: Self::Part) -> Self {
        Self::new(re, <Self::Part as num_traits::Zero>::zero())
    }

    /// The absolute value.
    fn modulus(self) -> Self::Part {
        self.re().hypot(self.im())
    }

    /// The sum of the absolute values of both parts.
    fn abs1(self) -> Self::Part {
        Float::abs(self.re()) + Float::abs(self.im())
    }

    /// The quotient, which overflows or vanishes only if the result does.
    fn divided_by(self, divisor: Self) -> Self {
        // In units of the larger part.
        let size = Float::max(Float::abs(divisor.re()), Float::abs(divisor.im()));
        let (c, d) = (divisor.re() / size, divisor.im() / size);
        let (a, b) = (self.re() / size, self.im() / size);
        let norm = c * c + d * d;
        Self::new((a * c + b * d) / norm, (b * c - a * d) / norm)
    }

    /// `self + a * b`; the product of `f32` is exact.
    fn plus_product(self, a: Self, b: Self) -> Self {
        self + a * b
    }

    /// The same numbers, if they are real.
    fn reals(_: &[Self]) -> Option<&[Self::Part]> {
        None
    }

    /// The same, to change them.
    fn reals_mut(_: &mut [Self]) -> Option<&mut [Self::Part]> {
        None
    }

    /// Whether it is neither infinite nor NaN.
    fn finite(self) -> bool {
        Float::is_finite(self.re()) && Float::is_finite(self.im())
    }
}

/// `f32` or `f64`.
pub trait Real: Scalar<Part = Self> + Float {
    /// The nearest number.
    fn of(x: f64) -> Self;
}

macro_rules! scalars {
    ($($real:ty, $product:ty;)*) => {$(
        impl Scalar for $real {
            type Part = $real;
            fn conj(self) -> $real { self }
            fn re(self) -> $real { self }
            fn im(self) -> $real { 0.0 }
            fn new(re: $real, _: $real) -> $real { re }
            fn modulus(self) -> $real { self.abs() }
            fn divided_by(self, divisor: $real) -> $real { self / divisor }
            fn reals(numbers: &[$real]) -> Option<&[$real]> { Some(numbers) }
            fn reals_mut(numbers: &mut [$real]) -> Option<&mut [$real]> { Some(numbers) }
            fn plus_product(self, a: $real, b: $real) -> $real {
                (<$product>::from(self) + <$product>::from(a) * <$product>::from(b)) as $real
            }
        }

        impl Real for $real {
            fn of(x: f64) -> $real { x as $real }
        }

        impl Scalar for Complex<$real> {
            type Part = $real;
            fn conj(self) -> Self { Complex::new(self.re, -self.im) }
            fn re(self) -> $real { self.re }
            fn im(self) -> $real { self.im }
            fn new(re: $real, im: $real) -> Self { Complex::new(re, im) }
        }
    )*};
}

scalars! {
    f32, f64;
    f64, f64;
}
