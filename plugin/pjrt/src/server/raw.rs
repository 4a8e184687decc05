//! Pointers of the C API as Rust, and back.

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use xla_ffi_sys::pjrt::{PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout_Type_Tiled};

use super::limits;
use crate::{Error, Layout, Result};

/// An object behind a pointer of the C API.
///
/// # Safety
/// Every pointer to `Raw` that the server hands out points to a `Self`.
pub(super) unsafe trait Object: Sized {
    /// The opaque type of the C header.
    type Raw;

    /// The pointer to this object.
    fn as_raw(&self) -> *mut Self::Raw {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// A new object for the caller, which returns it to [`release`].
    fn into_raw(self) -> *mut Self::Raw {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// The object behind a pointer.
///
/// # Safety
/// `raw` is null, or came from [`Object::as_raw`] or [`Object::into_raw`] and is alive for `'a`.
pub(super) unsafe fn object<'a, T: Object>(what: &str, raw: *const T::Raw) -> Result<&'a T> {
    // SAFETY: by the contracts of this function and of `Object`.
    unsafe { raw.cast::<T>().as_ref() }.ok_or_else(|| null(what))
}

#[cold]
pub(super) fn null(what: &str) -> Error {
    Error::invalid_argument(format!("{what} is null"))
}

/// Destroys an object; null is allowed. A panic of its drop stops here: most functions that destroy may not fail.
///
/// # Safety
/// `raw` is null, or came from [`Object::into_raw`], and is not used afterwards.
pub(super) unsafe fn release<T: Object>(raw: *mut T::Raw) {
    if raw.is_null() {
        return;
    }
    // SAFETY: by the contract above it is a box of a `T`.
    let owned = unsafe { Box::from_raw(raw.cast::<T>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(owned))) {
        std::mem::forget(payload);
    }
}

/// The elements of a C array, at most `most`. An empty array may be null.
///
/// # Errors
/// `INVALID_ARGUMENT` for more elements, for a null pointer with a count, and for an address that is not aligned:
/// nothing is read then.
///
/// # Safety
/// A pointer that is not null points to `len` elements that stay unchanged for `'a`, if `len` is not above `most`.
pub(super) unsafe fn array<'a, T>(what: &str, data: *const T, len: usize, most: usize) -> Result<&'a [T]> {
    if len > most || len > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(too_many(what, len, most));
    }
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::invalid_argument(format!("{what} is null, but its count is {len}"))),
        (false, _) if !data.is_aligned() => {
            let message = format!("{what} at {data:p} is not aligned to {} bytes", align_of::<T>());
            Err(Error::invalid_argument(message))
        }
        // SAFETY: by the contract above.
        (false, _) => Ok(unsafe { slice::from_raw_parts(data, len) }),
    }
}

#[cold]
fn too_many(what: &str, len: usize, most: usize) -> Error {
    Error::invalid_argument(format!("{what} has {len} elements; at most {most} are allowed"))
}

/// The bytes of a C array of characters.
///
/// # Safety
/// As for [`array()`].
pub(super) unsafe fn bytes<'a>(what: &str, data: *const c_char, len: usize, most: usize) -> Result<&'a [u8]> {
    // SAFETY: passed on from the caller; characters are bytes.
    unsafe { array(what, data.cast::<u8>(), len, most) }
}

/// The text of a C array of characters.
///
/// # Safety
/// As for [`array()`].
pub(super) unsafe fn text<'a>(what: &str, data: *const c_char, len: usize, most: usize) -> Result<&'a str> {
    // SAFETY: passed on from the caller.
    let bytes = unsafe { bytes(what, data, len, most) }?;
    std::str::from_utf8(bytes).map_err(|_| Error::invalid_argument(format!("{what} is not valid UTF-8")))
}

/// The layout that a caller describes for an array of `rank` dimensions; `None` for null.
///
/// # Safety
/// `raw` is null or points to a struct whose arrays are as long as it says, within the limits.
pub(super) unsafe fn layout(raw: *const PJRT_Buffer_MemoryLayout, rank: usize) -> Result<Option<Layout>> {
    if raw.is_null() {
        return Ok(None);
    }
    // SAFETY: by the contract above; the type says which of the union's structs is there.
    unsafe {
        if (*raw).type_ != PJRT_Buffer_MemoryLayout_Type_Tiled {
            return Err(Error::unimplemented("layouts of the type Strides are not supported; pass a tiled layout"));
        }
        let tiled = &(*raw).__bindgen_anon_1.tiled;
        if tiled.minor_to_major_size != rank {
            let message = format!("the layout has {} dimensions, but the array has {rank}", tiled.minor_to_major_size);
            return Err(Error::invalid_argument(message));
        }
        let minor_to_major = array("minor_to_major", tiled.minor_to_major, rank, rank)?.to_vec();
        let sizes = array("tile_dim_sizes", tiled.tile_dim_sizes, tiled.num_tiles, limits::TILES)?;
        if let Some(&size) = sizes.iter().find(|&&size| size > limits::RANK) {
            return Err(too_many("a tile of tile_dims", size, limits::RANK));
        }
        let count = sizes.iter().sum();
        let mut dims = array("tile_dims", tiled.tile_dims, count, count)?;
        let mut tiles = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (tile, rest) = dims.split_at(size);
            tiles.push(tile.to_vec());
            dims = rest;
        }
        Ok(Some(Layout { minor_to_major, tiles }))
    }
}

/// A count that the C API has as `int`.
pub(super) fn c_count(what: &str, count: c_int) -> Result<usize> {
    usize::try_from(count).map_err(|_| Error::invalid_argument(format!("{what} is negative: {count}")))
}

/// Pointers that a caller may read for as long as their owner lives.
#[derive(Debug)]
pub(super) struct Pointers<T>(Vec<*mut T>);

// SAFETY: the pointers are only handed out; what they point to is shared between threads by its own means.
unsafe impl<T> Send for Pointers<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Pointers<T> {}

impl<T> FromIterator<*mut T> for Pointers<T> {
    fn from_iter<I: IntoIterator<Item = *mut T>>(pointers: I) -> Pointers<T> {
        Pointers(pointers.into_iter().collect())
    }
}

impl<T> Pointers<T> {
    pub(super) fn as_ptr(&self) -> *const *mut T {
        self.0.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// A list of texts, or of other bytes, as the C API has it: pointers beside lengths.
#[derive(Debug)]
pub(super) struct Texts {
    pointers: Pointers<c_char>,
    sizes: Vec<usize>,
    _texts: Vec<Vec<u8>>,
}

impl<T: Into<Vec<u8>>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Texts {
        let texts: Vec<Vec<u8>> = texts.into_iter().map(Into::into).collect();
        Texts {
            pointers: texts.iter().map(|text| text.as_ptr().cast_mut().cast()).collect(),
            sizes: texts.iter().map(Vec::len).collect(),
            _texts: texts,
        }
    }
}

impl Texts {
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn pointers(&self) -> *const *const c_char {
        self.pointers.as_ptr().cast()
    }

    pub(super) fn sizes(&self) -> *const usize {
        self.sizes.as_ptr()
    }
}
