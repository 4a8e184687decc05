//! Loops over a few elements of arrays, written out.

/// Calls `f` with 0 to `N - 1`. Written out, so that the compiler keeps arrays of numbers in registers: it decides that
/// before it unrolls loops.
#[inline(always)]
pub fn unrolled<const N: usize>(mut f: impl FnMut(usize)) {
    macro_rules! steps {
        ($($index:literal)*) => {$(
            if $index < N {
                f($index);
            }
        )*};
    }
    steps!(0 1 2 3 4 5 6 7);
    for index in 8..N {
        f(index);
    }
}
