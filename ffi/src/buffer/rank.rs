//! Static and dynamic ranks of buffer types.

use ndarray::{Dim, IntoDimension, IxDyn};

/// A rank known only at the call.
#[derive(Clone, Copy, Debug)]
pub enum Dyn {}

/// A rank known from the type.
#[derive(Clone, Copy, Debug)]
pub enum Rank<const N: usize> {}

/// [`Dyn`] or [`Rank<N>`](Rank) with `N` up to 6.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a rank", note = "use `Dyn`, or `Rank<0>` to `Rank<6>`")]
pub trait Ranked: Sized + 'static {
    /// The rank, where it is static.
    const RANK: Option<usize>;
    /// The type of [`Array::shape`](super::Array::shape): a slice, or an array.
    type Shape<'f>: AsRef<[usize]>;
    /// ndarray's name for this rank.
    type Nd: ndarray::Dimension;

    /// Sizes in this rank's form; their number has been checked.
    #[doc(hidden)]
    fn shape(sizes: &[usize]) -> Self::Shape<'_>;

    /// Sizes in ndarray's form; their number has been checked.
    #[doc(hidden)]
    fn nd(sizes: &[usize]) -> Self::Nd;
}

impl Ranked for Dyn {
    const RANK: Option<usize> = None;
    type Shape<'f> = &'f [usize];
    type Nd = IxDyn;

    #[inline(always)]
    fn shape(sizes: &[usize]) -> &[usize] {
        sizes
    }

    fn nd(sizes: &[usize]) -> IxDyn {
        IxDyn(sizes)
    }
}

macro_rules! ranked {
    ($($n:literal)*) => {$(
        impl Ranked for Rank<$n> {
            const RANK: Option<usize> = Some($n);
            type Shape<'f> = [usize; $n];
            type Nd = Dim<[usize; $n]>;

            #[inline(always)]
            fn shape(sizes: &[usize]) -> [usize; $n] {
                sizes.try_into().expect("the rank was checked when the buffer was decoded")
            }

            #[inline(always)]
            fn nd(sizes: &[usize]) -> Self::Nd {
                Self::shape(sizes).into_dimension()
            }
        }
    )*};
}
ranked!(0 1 2 3 4 5 6);
