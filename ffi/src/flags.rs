//! Checks of several conditions by one branch, where that takes as few instructions as a branch for each.
//!
//! LLVM splits such checks into branches again, unless it cannot see them.

/// Whether any of these numbers is not 0.
#[inline(always)]
pub(crate) fn any_set(numbers: impl IntoIterator<Item = u64>) -> bool {
    opaque(numbers.into_iter().fold(0, |all, number| all | number)) != 0
}

/// Whether any of these addresses is null.
#[inline(always)]
pub(crate) fn any_null(addresses: impl IntoIterator<Item = usize>) -> bool {
    if cfg!(target_arch = "x86_64") {
        // Below 0 is null, or an address that only the kernel can have; elsewhere, tags may be there.
        (opaque(addresses.into_iter().fold(0, |all, address| all | address.wrapping_sub(1) as u64)) as i64) < 0
    } else {
        addresses.into_iter().any(|address| address == 0)
    }
}

/// The same number, of which LLVM knows nothing.
#[inline(always)]
pub(crate) fn opaque(number: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut number = number;
        // SAFETY: no instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    number
}

#[cfg(test)]
mod tests {
    use super::{any_null, any_set};

    #[test]
    fn each_place_counts() {
        for at in 0..3 {
            let with =
                |usual: usize, value: usize| std::array::from_fn::<_, 3, _>(|i| if i == at { value } else { usual });
            for value in [1, 1 << 31, 1 << 32, 1 << 63] {
                assert!(any_set(with(0, value).map(|value| value as u64)), "{value}");
            }
            assert!(any_null(with(8, 0)));
        }
        assert!(!any_set([0; 3]));
        assert!(!any_null([1, 8, usize::MAX >> 1]));
    }
}
