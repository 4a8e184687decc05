//! The operators of types of real numbers that follow from those between two of one type.

/// Implements `Ring`, operators with `f64`, and those that assign, for a type of real numbers with given parameters.
macro_rules! operators {
    ([$($params:tt)*] $ty:ty) => {
        operators!(assign [$($params)*] $ty: Add add AddAssign add_assign);
        operators!(assign [$($params)*] $ty: Sub sub SubAssign sub_assign);
        operators!(assign [$($params)*] $ty: Mul mul MulAssign mul_assign);
        operators!(assign [$($params)*] $ty: Div div DivAssign div_assign);
        operators!(f64 [$($params)*] $ty);

        impl<$($params)*> $crate::real::Ring for $ty {
            #[inline(always)]
            fn int(value: i32) -> Self {
                <$ty>::from(f64::from(value))
            }
        }
    };
    (f64 [$($params:tt)*] $ty:ty) => {
        operators!(f64 [$($params)*] $ty: Add add AddAssign add_assign);
        operators!(f64 [$($params)*] $ty: Sub sub SubAssign sub_assign);
        operators!(f64 [$($params)*] $ty: Mul mul MulAssign mul_assign);
        operators!(f64 [$($params)*] $ty: Div div DivAssign div_assign);
    };
    (f64 [$($params:tt)*] $ty:ty: $op:ident $method:ident $assign:ident $assign_method:ident) => {
        impl<$($params)*> std::ops::$op<f64> for $ty {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                std::ops::$op::<$ty>::$method(self, <$ty>::from(other))
            }
        }

        impl<$($params)*> std::ops::$assign<f64> for $ty {
            #[inline(always)]
            fn $assign_method(&mut self, other: f64) {
                *self = std::ops::$op::<$ty>::$method(*self, <$ty>::from(other));
            }
        }
    };
    (assign [$($params:tt)*] $ty:ty: $op:ident $method:ident $assign:ident $assign_method:ident) => {
        impl<$($params)*> std::ops::$assign for $ty {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = std::ops::$op::<$ty>::$method(*self, other);
            }
        }
    };
}
pub(super) use operators;
