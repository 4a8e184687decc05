//! A buffer of a call frame, checked once, before it gets a Rust type.

use std::hint::cold_path;
use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use crate::DType;
use crate::flags::opaque;
use crate::frame::same_dims;

/// Buffers of a higher rank are refused: no host makes them, and a wild rank must not be believed.
const MAX_RANK: u64 = 1024;

/// Buffers of 2^55 elements or more are refused: no memory holds them, and the bits of fewer can be counted.
const SPARE_BITS: u32 = 9;

/// Bits per element by dtype code, so that sizes need no branch; 0 for codes without data.
static BITS: [u8; 256] = {
    let mut bits = [0; 256];
    let mut i = 0;
    while i < DType::ALL.len() {
        bits[DType::ALL[i].code() as usize] = DType::ALL[i].bits() as u8;
        i += 1;
    }
    bits
};

/// A buffer whose description is sound: non-negative dimensions, a size that fits memory, a data pointer.
///
/// Nothing is known yet of its dtype (which may be a code that this version does not know) or its alignment.
#[derive(Clone, Copy, Debug)]
pub struct BufferRef<'f> {
    data: *mut u8,
    dims: &'f [i64],
    len: usize,
    dtype: sys::XLA_FFI_DataType,
    _memory: PhantomData<&'f mut [u8]>,
}

/// Why a buffer's description is unsound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferError {
    /// The pointer to the buffer's description is null.
    Null,
    /// The description is shorter than `XLA_FFI_Buffer`, or has 2^63 bytes and more.
    StructSize,
    /// A negative or absurd rank, or no dimensions where the rank says that there are some.
    BadRank,
    /// A negative dimension.
    NegativeDim,
    /// More bytes than an address space has.
    TooLarge,
    /// A null data pointer with a size above zero.
    NullData,
}

impl BufferError {
    /// The fault, to follow "argument `x`: ".
    pub(crate) const fn message(self) -> &'static str {
        match self {
            BufferError::Null => "the host gave a null buffer description",
            BufferError::StructSize => "the host's buffer description does not have the size of an XLA_FFI_Buffer",
            BufferError::BadRank => "the host gave an impossible rank",
            BufferError::NegativeDim => "the host gave a negative dimension",
            BufferError::TooLarge => "the buffer is larger than memory can be",
            BufferError::NullData => "the host gave no data pointer",
        }
    }
}

impl<'f> BufferRef<'f> {
    /// An empty buffer, to initialise arrays of buffers with.
    pub(crate) const EMPTY: BufferRef<'static> =
        BufferRef { data: std::ptr::null_mut(), dims: &[], len: 0, dtype: 0, _memory: PhantomData };

    /// Reads and checks a buffer's description, in messages' detail.
    ///
    /// # Safety
    /// `raw` is null, or points to a `struct_size` that covers as many bytes as it says; from an
    /// `XLA_FFI_Buffer` on, its `dims` point to `rank` integers and `data` to the bytes that dtype and dims imply,
    /// all of which stay as they are during `'f`.
    pub(crate) unsafe fn read(raw: *const sys::XLA_FFI_Buffer) -> Result<BufferRef<'f>, BufferError> {
        // SAFETY: as the caller guarantees.
        let (dtype, data, dims) = unsafe { head(raw)? };
        // Starting from 2^9 makes the check for overflow the check for 2^55.
        let mut scaled = 1usize << SPARE_BITS;
        for &dim in dims {
            if dim < 0 {
                return Err(BufferError::NegativeDim);
            }
            scaled = match scaled.checked_mul(dim as usize) {
                Some(scaled) => scaled,
                None => return Err(BufferError::TooLarge),
            };
        }
        let len = scaled >> SPARE_BITS;
        if data.is_null() && len > 0 && dtype != DType::Token.code() {
            return Err(BufferError::NullData);
        }
        Ok(BufferRef { data, dims, len, dtype, _memory: PhantomData })
    }

    /// Buffers of equal dimensions, at least `LEAST`, on the way of every call: `None` if one is unsound or has not
    /// those of the first, and [`read`](Self::read) says why.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of each; the descriptions are whole, and there is one.
    #[inline(always)]
    pub(crate) unsafe fn alike<const LEAST: usize, const N: usize>(
        raw: [*const sys::XLA_FFI_Buffer; N],
    ) -> Option<[BufferRef<'f>; N]> {
        const { assert!(N > 0) };
        // SAFETY: as the caller guarantees.
        let (dims, len) =
            unsafe { if LEAST <= 1 && (*raw[0]).rank == 1 { equal_lines(&raw)? } else { equal_shapes::<LEAST>(&raw) } };
        // In one place for both ways, which LLVM would give a flag to tell them apart.
        if opaque(len as u64) >> (u64::BITS - SPARE_BITS) != 0 {
            return None;
        }
        // SAFETY: where there are fewer, the number was too large. The pattern's check asks again.
        unsafe { std::hint::assert_unchecked(dims.len() >= LEAST) };
        let mut buffers = [BufferRef { dims, len, ..BufferRef::EMPTY }; N];
        for (buffer, raw) in buffers.iter_mut().zip(raw) {
            // SAFETY: as the caller guarantees.
            unsafe { (buffer.data, buffer.dtype) = ((*raw).data.cast(), (*raw).dtype) };
            if buffer.data.is_null() {
                // No call, which would have to keep all other buffers.
                cold_path();
                if len > 0 && buffer.dtype != DType::Token.code() {
                    return None;
                }
            }
        }
        Some(buffers)
    }

    /// The data pointer; may be null for an empty buffer.
    #[inline(always)]
    pub fn data(&self) -> *mut u8 {
        self.data
    }

    /// The dimensions, major to minor; all non-negative.
    #[inline(always)]
    pub fn dims(&self) -> &'f [i64] {
        self.dims
    }

    /// The number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes, packed types rounded up; 0 for dtypes that this version does not know.
    #[inline(always)]
    pub fn size_in_bytes(&self) -> usize {
        (self.len * usize::from(BITS[self.dtype as usize & 255])).div_ceil(8)
    }

    /// The dtype's ABI code, which may be unknown to this version.
    #[inline(always)]
    pub fn dtype_code(&self) -> sys::XLA_FFI_DataType {
        self.dtype
    }

    /// Returns whether the buffer's dtype is `dtype`.
    #[inline(always)]
    pub fn is(&self, dtype: DType) -> bool {
        self.dtype == dtype.code()
    }

    /// As [`is`](Self::is), by a branch that is not merged with those for other dtypes into a table of jumps.
    #[inline(always)]
    pub fn is_alone(&self, dtype: DType) -> bool {
        let is = opaque(self.dtype.into()) == u64::from(dtype.code());
        if is {
            // SAFETY: `opaque` gives the same number.
            unsafe { std::hint::assert_unchecked(self.dtype == dtype.code()) };
        }
        is
    }

    /// The dimensions as sizes.
    #[inline(always)]
    pub fn shape(&self) -> &'f [usize] {
        const { assert!(size_of::<usize>() == size_of::<i64>(), "oxcall supports 64-bit targets") };
        // SAFETY: same size and alignment, and no dimension is negative.
        unsafe { std::slice::from_raw_parts(self.dims.as_ptr().cast(), self.dims.len()) }
    }

    /// First address and number of bytes.
    pub(crate) fn extent(&self) -> (usize, usize) {
        (self.data.addr(), self.size_in_bytes())
    }

    /// The same buffer with its dimensions elsewhere.
    pub(crate) fn with_dims<'g>(self, dims: &'g [i64]) -> BufferRef<'g> {
        BufferRef { data: self.data, dims, len: self.len, dtype: self.dtype, _memory: PhantomData }
    }
}

/// The dimensions and the number of elements of buffers, if all have those of the first, which has rank 1. The number
/// may be too large, or that of a negative dimension.
///
/// # Safety
/// As for [`BufferRef::alike`].
#[inline(always)]
unsafe fn equal_lines<'f>(raw: &[*const sys::XLA_FFI_Buffer]) -> Option<(&'f [i64], usize)> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let first = (*raw[0]).dims;
        for raw in raw {
            if (**raw).rank != 1 || (**raw).dims.is_null() || *(**raw).dims != *first {
                return None;
            }
        }
        Some((std::slice::from_raw_parts(first, 1), *first as usize))
    }
}

/// As [`equal_lines`], for any rank; the number is too large where dimensions differ, are unsound or are too few.
///
/// # Safety
/// As for [`BufferRef::alike`].
#[inline(always)]
unsafe fn equal_shapes<'f, const LEAST: usize>(raw: &[*const sys::XLA_FFI_Buffer]) -> (&'f [i64], usize) {
    const UNSOUND: (&[i64], usize) = (&[], usize::MAX);
    // SAFETY: as the caller guarantees.
    let Some(first) = (unsafe { dims(raw[0]) }) else { return UNSOUND };
    if first.len() < LEAST {
        return UNSOUND;
    }
    // Starting from 2^9 makes the check for overflow the check for 2^55.
    let mut scaled = 1usize << SPARE_BITS;
    for dim in first {
        // A negative dimension is 2^63 or more here, which is an overflow, unless another one was 0.
        let Some(product) = scaled.checked_mul(*dim as usize) else { return UNSOUND };
        scaled = product;
    }
    if scaled == 0 {
        cold_path();
        if first.iter().any(|dim| *dim < 0) {
            return UNSOUND;
        }
    }
    for raw in &raw[1..] {
        // SAFETY: as the caller guarantees.
        if unsafe { dims(*raw) }.is_none_or(|other| !same_dims(first, other)) {
            return UNSOUND;
        }
    }
    (first, scaled >> SPARE_BITS)
}

/// Dtype, data and dimensions of a description whose head is sound.
///
/// # Safety
/// As for [`BufferRef::read`].
#[inline(always)]
unsafe fn head<'f>(
    raw: *const sys::XLA_FFI_Buffer,
) -> Result<(sys::XLA_FFI_DataType, *mut u8, &'f [i64]), BufferError> {
    if raw.is_null() {
        return Err(BufferError::Null);
    }
    // SAFETY: non-null, so the struct size can be read.
    let size = unsafe { (*raw).struct_size };
    // Sizes that no struct has are refused as on the way of every call.
    if size < sys::XLA_FFI_Buffer_STRUCT_SIZE as usize || size > isize::MAX as usize {
        return Err(BufferError::StructSize);
    }
    // SAFETY: the struct is whole.
    unsafe { Ok(((*raw).dtype, (*raw).data.cast(), dims(raw).ok_or(BufferError::BadRank)?)) }
}

/// The dimensions, if the rank is possible and there are so many.
///
/// # Safety
/// As for [`BufferRef::read`]; the description is whole.
#[inline(always)]
unsafe fn dims<'f>(raw: *const sys::XLA_FFI_Buffer) -> Option<&'f [i64]> {
    // SAFETY: as the caller guarantees.
    let (rank, mut dims) = unsafe { ((*raw).rank, (*raw).dims.cast_const()) };
    if rank as u64 > MAX_RANK {
        return None;
    }
    // Two branches: both are asked for again where they were one.
    if dims.is_null() {
        cold_path();
        if rank != 0 {
            return None;
        }
        dims = std::ptr::dangling();
    }
    // SAFETY: non-null, and the caller guarantees `rank` integers during 'f.
    Some(unsafe { std::slice::from_raw_parts(dims, rank as usize) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(dtype: DType, dims: &mut [i64], data: *mut u8) -> sys::XLA_FFI_Buffer {
        sys::XLA_FFI_Buffer {
            struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
            dtype: dtype.code(),
            data: data.cast(),
            rank: dims.len() as i64,
            dims: dims.as_mut_ptr(),
            ..Default::default()
        }
    }

    #[test]
    fn sizes_and_faults() {
        let mut data = [0u8; 64];
        let data = data.as_mut_ptr();
        // SAFETY: the descriptions below are whole, and their data is never read.
        let read = |raw: &sys::XLA_FFI_Buffer| unsafe { BufferRef::<'static>::read(raw) };
        let mut dims = [3, 3];
        let ok = read(&describe(DType::S4, &mut dims, data)).unwrap();
        assert_eq!((ok.len(), ok.size_in_bytes(), ok.shape()), (9, 5, [3usize, 3].as_slice()));
        let empty = read(&describe(DType::F32, &mut [0, 7], std::ptr::null_mut())).unwrap();
        assert_eq!((empty.len(), empty.size_in_bytes()), (0, 0));
        let fault = |raw: sys::XLA_FFI_Buffer| read(&raw).unwrap_err();
        assert_eq!(fault(describe(DType::F32, &mut [2, -1], data)), BufferError::NegativeDim);
        assert_eq!(fault(describe(DType::F32, &mut [i64::MAX, 3], data)), BufferError::TooLarge);
        assert_eq!(fault(describe(DType::F64, &mut [i64::MAX / 4], data)), BufferError::TooLarge);
        assert_eq!(fault(describe(DType::F32, &mut [1], std::ptr::null_mut())), BufferError::NullData);
        // Whether a description is sound is decided without the reason, and by other means.
        let extremes = [i64::MIN, -1, 0, 1, 3, 1 << 27, (1 << 55) - 1, 1 << 55, i64::MAX];
        for dims in extremes.iter().flat_map(|&a| extremes.map(|b| [a, b])) {
            for (mut dims, data) in
                [(dims.to_vec(), data), (dims.to_vec(), std::ptr::null_mut()), (vec![dims[0]], data)]
            {
                let raw = describe(DType::F32, &mut dims, data);
                // SAFETY: as above.
                let (read, alike) = (read(&raw), unsafe { BufferRef::<'static>::alike::<0, 1>([&raw const raw]) });
                assert_eq!(read.ok().map(|buffer| buffer.len()), alike.map(|[buffer]| buffer.len()), "{dims:?}");
            }
        }
        let mut raw = describe(DType::F32, &mut [1], data);
        raw.rank = -1;
        assert_eq!(fault(raw), BufferError::BadRank);
        raw.rank = i64::MAX;
        assert_eq!(fault(raw), BufferError::BadRank);
        raw.struct_size = 40;
        assert_eq!(fault(raw), BufferError::StructSize);
        // SAFETY: null is allowed.
        assert_eq!(unsafe { BufferRef::read(std::ptr::null()) }.unwrap_err(), BufferError::Null);
    }
}
