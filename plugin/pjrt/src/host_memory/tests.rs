use oxcall_element::DType;

use super::*;

/// Copies by indices, one element at a time.
fn gather(data: &[u8], start: i64, dims: &[i64], strides: &[i64], size: usize) -> Vec<u8> {
    let count: i64 = dims.iter().product();
    let mut out = Vec::new();
    for mut linear in 0..count {
        let mut at = start;
        for (dim, stride) in dims.iter().zip(strides).rev() {
            at += linear % dim * stride;
            linear /= dim;
        }
        out.extend_from_slice(&data[at as usize..at as usize + size]);
    }
    out
}

fn check(dtype: DType, start: i64, dims: &[i64], strides: &[i64]) {
    let element_type = ElementType::new(dtype);
    let data: Vec<u8> = (0..40_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let origin = data.as_ptr().wrapping_add(start as usize);
    // SAFETY: the strides of the callers stay within `data`.
    let (source, done) = unsafe { HostSource::from_raw(origin, element_type, dims, Some(strides), false) }.unwrap();
    assert!(done.is_ready());
    let mut out = vec![0; source.len()];
    source.copy_to(&mut out);
    let expected = gather(&data, start, dims, strides, element_type.host_size());
    assert_eq!(out, expected, "{element_type} {dims:?} {strides:?}");
    assert!(source.as_bytes().is_none_or(|bytes| bytes == expected));

    let layout = Layout { minor_to_major: (0..dims.len() as i64).collect(), tiles: vec![] };
    let mut column_major = vec![0; source.len()];
    source.copy_to_layout(&mut column_major, &layout).unwrap();
    let mut back = vec![0u8; source.len()];
    let row_major = Layout::row_major(dims.len());
    // SAFETY: `back` outlives the destination.
    let mut destination =
        unsafe { HostDestination::from_raw(back.as_mut_ptr(), back.len(), element_type, dims, &row_major) }.unwrap();
    destination.write_layout(&column_major, &layout).unwrap();
    assert_eq!(back, expected, "{element_type} {dims:?}: back from column-major");
}

#[test]
fn any_strides() {
    if cfg!(miri) {
        // Every path, without the many elements.
        check(DType::F32, 400, &[5, 7], &[28, -4]);
        check(DType::F64, 0, &[3, 4, 5], &[8, 0, 24]);
        check(DType::S4, 0, &[3, 5, 3], &[1, 3, 15]);
        check(DType::BF16, 1, &[6, 1, 5], &[10, 77, 2]);
        return;
    }
    check(DType::F32, 0, &[5, 7], &[28, 4]);
    check(DType::F32, 0, &[5, 7], &[4, 20]);
    check(DType::F32, 0, &[70, 45], &[4, 280]);
    check(DType::F32, 3, &[70, 45], &[4, 280]);
    check(DType::F32, 400, &[5, 7], &[-28, 4]);
    check(DType::F32, 400, &[5, 7], &[28, -4]);
    check(DType::F64, 0, &[3, 4, 5], &[16, 48, 192]);
    check(DType::F64, 0, &[3, 4, 5], &[8, 0, 24]);
    check(DType::U8, 9, &[11, 13, 3], &[39, 3, 1]);
    check(DType::S4, 0, &[11, 13, 3], &[1, 11, 143]);
    check(DType::C128, 0, &[4, 3], &[16, 64]);
    check(DType::BF16, 1, &[6, 1, 5], &[10, 77, 2]);
    check(DType::S16, 8, &[], &[]);
    check(DType::S16, 8, &[0, 4], &[0, 0]);
    check(DType::S32, 0, &[6, 10, 8], &[320, 32, 4]);
    check(DType::S32, 0, &[6, 10, 8], &[640, 64, 4]);
}

#[test]
fn dense_sources_are_slices() {
    let bytes = [1u8, 2, 3, 4, 5, 6];
    let source = HostSource::from_bytes(&bytes, ElementType::new(DType::U8), &[2, 3]).unwrap();
    assert_eq!(source.as_bytes(), Some(&bytes[..]));
    assert!(HostSource::from_bytes(&bytes, ElementType::new(DType::U16), &[2, 3]).is_err());
    assert!(HostSource::from_bytes(&bytes, ElementType::new(DType::U8), &[-2, -3]).is_err());
    assert!(HostSource::from_bytes(&bytes, ElementType::new(DType::U8), &[i64::MAX, i64::MAX]).is_err());
    assert!(source.keep().is_err());
}

#[test]
fn a_kept_source_tells_when_it_is_dropped() {
    static BYTES: [u8; 4] = [0; 4];
    // SAFETY: the memory is static and never changes.
    let (source, done) =
        unsafe { HostSource::from_raw(BYTES.as_ptr(), ElementType::new(DType::U8), &[4], None, true) }.unwrap();
    let kept = source.keep().unwrap();
    assert!(!done.is_ready());
    drop(kept);
    done.wait().unwrap();
}

#[test]
fn small_destinations_are_refused() {
    let mut bytes = [0u8; 7];
    let layout = Layout::row_major(1);
    let (doubles, nibbles) = (ElementType::new(DType::F64), ElementType::new(DType::S4));
    // SAFETY: `bytes` outlives the call.
    assert!(unsafe { HostDestination::from_raw(bytes.as_mut_ptr(), 7, doubles, &[1], &layout) }.is_err());
    assert_eq!(HostDestination::size_of(nibbles, &[3, 5]).unwrap(), 15);
    assert!(HostDestination::size_of(nibbles, &[3, -5]).is_err());
}
