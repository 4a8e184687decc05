//! The operators of types of real numbers that follow from those between two of one type.

/// Implements operators with `f64`, and those that assign, for a type with the given parameters.
macro_rules! operators {
    ([$($params:tt)*] $ty:ty) => {
        operators!(@ [$($params)*] $ty, Add add AddAssign add_assign);
        operators!(@ [$($params)*] $ty, Sub sub SubAssign sub_assign);
        operators!(@ [$($params)*] $ty, Mul mul MulAssign mul_assign);
        operators!(@ [$($params)*] $ty, Div div DivAssign div_assign);
    };
    (@ [$($params:tt)*] $ty:ty, $op:ident $method:ident $assign:ident $assign_method:ident) => {
        impl<$($params)*> std::ops::$op<f64> for $ty {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                std::ops::$op::<$ty>::$method(self, <$ty>::from(other))
            }
        }
        impl<$($params)*> std::ops::$assign for $ty {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = std::ops::$op::<$ty>::$method(*self, other);
            }
        }
    };
}
pub(super) use operators;
