//! Copies between tensors of any strides.

/// Elements at an address, and their distances in bytes along each dimension.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a, P> {
    pub(super) data: P,
    pub(super) byte_strides: &'a [i64],
}

/// One loop of a copy.
#[derive(Clone, Copy)]
struct Loop {
    count: i64,
    from: i64,
    to: i64,
}

/// Two loops that walk different sides in order are cut into squares of so many elements, which fit the L1 cache.
const TILE: i64 = 32;

/// Copies `from` to `to`, both of `dims` elements of `size` bytes.
///
/// # Safety
/// Every element of `from` is readable, every one of `to` writable; the two do not overlap, nor do the elements of
/// `to`. No dimension is negative.
pub(super) unsafe fn copy(dims: &[i64], size: usize, from: Strided<'_, *const u8>, to: Strided<'_, *mut u8>) {
    if size == 0 || dims.contains(&0) {
        return;
    }
    let (loops, run) = plan(dims, size as i64, from.byte_strides, to.byte_strides);
    // SAFETY: the loops visit exactly the elements, in runs that are dense on both sides.
    unsafe {
        match run {
            1 => walk::<u8>(&loops, from.data, to.data),
            2 => walk::<u16>(&loops, from.data, to.data),
            4 => walk::<u32>(&loops, from.data, to.data),
            8 => walk::<u64>(&loops, from.data, to.data),
            16 => walk::<u128>(&loops, from.data, to.data),
            _ => walk_runs(&loops, run as usize, from.data, to.data),
        }
    }
}

/// The loops, outermost first, and the bytes that are dense on both sides below them.
fn plan(dims: &[i64], size: i64, from: &[i64], to: &[i64]) -> (Vec<Loop>, i64) {
    let each = dims.iter().zip(from).zip(to);
    let mut loops: Vec<Loop> =
        each.filter(|((count, _), _)| **count != 1).map(|((&count, &from), &to)| Loop { count, from, to }).collect();
    // Writing in order is worth more than reading in order.
    loops.sort_by_key(|each| std::cmp::Reverse(each.to.unsigned_abs()));
    let mut merged: Vec<Loop> = Vec::with_capacity(loops.len());
    for inner in loops {
        match merged.last_mut() {
            Some(outer) if outer.from == inner.from * inner.count && outer.to == inner.to * inner.count => {
                *outer = Loop { count: outer.count * inner.count, ..inner };
            }
            _ => merged.push(inner),
        }
    }
    match merged.pop_if(|inner| inner.from == size && inner.to == size) {
        Some(inner) => (merged, inner.count * size),
        None => (merged, size),
    }
}

/// # Safety
/// As for [`copy`]; an element is a `T`, aligned or not.
unsafe fn walk<T: Copy>(loops: &[Loop], from: *const u8, to: *mut u8) {
    match *loops {
        // SAFETY: one element is left.
        [] => unsafe { to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned()) },
        [outer, inner] if outer.from.unsigned_abs() < inner.from.unsigned_abs() => {
            for row in (0..outer.count).step_by(TILE as usize) {
                for column in (0..inner.count).step_by(TILE as usize) {
                    let cut = |each: Loop, start| Loop { count: TILE.min(each.count - start), ..each };
                    // SAFETY: each square holds other elements of the two loops.
                    unsafe {
                        let from = from.offset((row * outer.from + column * inner.from) as isize);
                        let to = to.offset((row * outer.to + column * inner.to) as isize);
                        rows::<T>(cut(outer, row), cut(inner, column), from, to);
                    }
                }
            }
        }
        [first, ref rest @ ..] => {
            for index in 0..first.count {
                // SAFETY: each index is another element of this loop.
                unsafe {
                    walk::<T>(rest, from.offset((index * first.from) as isize), to.offset((index * first.to) as isize));
                }
            }
        }
    }
}

/// # Safety
/// As for [`walk`].
unsafe fn rows<T: Copy>(outer: Loop, inner: Loop, from: *const u8, to: *mut u8) {
    for row in 0..outer.count {
        for column in 0..inner.count {
            // SAFETY: as for `walk`.
            unsafe {
                let from = from.offset((row * outer.from + column * inner.from) as isize);
                let to = to.offset((row * outer.to + column * inner.to) as isize);
                to.cast::<T>().write_unaligned(from.cast::<T>().read_unaligned());
            }
        }
    }
}

/// # Safety
/// As for [`copy`]; `run` bytes are dense on both sides.
unsafe fn walk_runs(loops: &[Loop], run: usize, from: *const u8, to: *mut u8) {
    match *loops {
        // SAFETY: one run is left, and the sides do not overlap.
        [] => unsafe { to.copy_from_nonoverlapping(from, run) },
        [first, ref rest @ ..] => {
            for index in 0..first.count {
                // SAFETY: each index is another run of this loop.
                unsafe {
                    let to = to.offset((index * first.to) as isize);
                    walk_runs(rest, run, from.offset((index * first.from) as isize), to);
                }
            }
        }
    }
}
