//! Huge pages for large results, whose memory a host has often just mapped: a fault for each 2 MB, not for each 4 kB.

/// From this size on, at least one huge page lies within a result, wherever it begins.
const LARGE: usize = 4 << 20;

/// Asks the system to map results by huge pages, where they are not mapped yet.
pub(crate) fn prefer_huge<T>(results: &[&mut [T]]) {
    results.iter().filter(|result| size_of_val(&***result) >= LARGE).for_each(|result| advise(result));
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise<T>(result: &[T]) {
    use std::ffi::{c_int, c_void};

    const PAGE: usize = 4096;
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }
    let begin = result.as_ptr().cast::<u8>();
    let skipped = begin.align_offset(PAGE);
    let len = (size_of_val(result) - skipped) / PAGE * PAGE;
    // SAFETY: memory of the result alone, whose contents the advice does not change. Where pages have another size, or
    // huge ones are off, the system refuses, which changes nothing.
    unsafe { madvise(begin.wrapping_add(skipped).cast_mut().cast(), len, MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise<T>(_: &[T]) {}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn large_results_get_huge_pages() {
        let mut result = vec![0u8; 4 * LARGE];
        prefer_huge(&[&mut result[..]]);
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        // Of a mapping: its addresses in the first line, its flags in the last.
        let middle = result.as_ptr() as usize + 2 * LARGE;
        let is_around = |line: &str| {
            let ends = line.split(' ').next()?.split_once('-')?;
            let [begin, end] = [ends.0, ends.1].map(|end| usize::from_str_radix(end, 16).ok());
            Some((begin?..end?).contains(&middle))
        };
        let around = smaps.lines().skip_while(|line| is_around(line) != Some(true));
        let flags = around.into_iter().find(|line| line.starts_with("VmFlags:")).unwrap();
        let has_huge_pages = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert_eq!(flags.split(' ').any(|flag| flag == "hg"), has_huge_pages, "{flags}");
    }
}
