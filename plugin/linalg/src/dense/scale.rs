//! Units in which squares and products of a matrix's elements are numbers.
//!
//! The algorithms of eigenvalues and singular values take squares of elements, which overflow, or vanish, long before
//! the elements do. So matrices of very large or very small elements are computed in units of a power of two, as
//! LAPACK's drivers do.

use num_traits::{Float, One};

use crate::scalar::{Real, Scalar};

/// The power of two with which the elements of a matrix are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale(i32);

impl Scale {
    /// The scale for these elements: it makes the largest of them about 1, unless products of three are numbers anyway.
    pub fn of<T: Scalar>(elements: &[T]) -> Scale {
        let largest = elements.iter().fold(<T::Part as num_traits::Zero>::zero(), |most, x| {
            Float::max(most, Float::max(Float::abs(x.re()), Float::abs(x.im())))
        });
        let exponent = exponent(largest);
        Scale(if exponent.abs() > exponent_of_largest::<T::Part>() / 3 { -exponent } else { 0 })
    }

    /// Multiplies `elements` with it.
    pub fn apply<T: Scalar>(self, elements: &mut [T]) {
        multiply(elements, self.0);
    }

    /// Divides `elements` by it.
    pub fn undo<T: Scalar>(self, elements: &mut [T]) {
        multiply(elements, -self.0);
    }
}

fn exponent_of_largest<R: Real>() -> i32 {
    exponent(<R as Float>::max_value())
}

/// The exponent of 2 in `x`; 0 of what has none.
fn exponent<R: Real>(x: R) -> i32 {
    num_traits::ToPrimitive::to_i32(&Float::floor(Float::log2(x))).unwrap_or(0)
}

fn multiply<T: Scalar>(elements: &mut [T], exponent: i32) {
    if exponent == 0 {
        return;
    }
    // In two steps, since the power itself may be none of the type's.
    let two = T::Part::one() + T::Part::one();
    let (half, rest) = (Float::powi(two, exponent / 2), Float::powi(two, exponent - exponent / 2));
    elements.iter_mut().for_each(|x| *x = T::new(x.re() * half * rest, x.im() * half * rest));
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::Scale;

    #[test]
    fn usual_elements_stay() {
        for x in [0.0f32, 1.0, 1e12, 1e-12, f32::INFINITY, f32::NAN] {
            assert_eq!(Scale::of(&[0.0, x]), Scale(0), "{x}");
        }
    }

    #[test]
    fn others_become_about_one_and_come_back() {
        for x in [1e-40f32, 1e-30, 3e38] {
            let mut elements = [Complex::new(x / 8.0, -x), Complex::new(x / 16.0, 0.0)];
            let (scale, before) = (Scale::of(&elements), elements);
            scale.apply(&mut elements);
            assert!((0.5..4.0).contains(&-elements[0].im), "{x}: {elements:?}");
            scale.undo(&mut elements);
            assert_eq!(elements, before);
        }
        let mut elements = [5e-324f64];
        Scale::of(&elements).apply(&mut elements);
        assert_eq!(elements, [1.0]);
    }
}
