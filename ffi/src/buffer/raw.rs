//! A buffer of a call frame, checked once, before it gets a Rust type.

use std::hint::cold_path;
use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use crate::DType;
use crate::flags::any_null;

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
        if data.is_null() {
            cold_path();
            if len > 0 && dtype != DType::Token.code() {
                return Err(BufferError::NullData);
            }
        }
        Ok(BufferRef { data, dims, len, dtype, _memory: PhantomData })
    }

    /// As [`read`](Self::read), on the way of every call: `None` if the description is unsound, and `read` says why.
    ///
    /// # Safety
    /// As for [`read`](Self::read); the description is whole.
    #[inline(always)]
    pub(crate) unsafe fn sound(raw: *const sys::XLA_FFI_Buffer) -> Option<BufferRef<'f>> {
        // SAFETY: as the caller guarantees.
        let (dtype, data, dims) = unsafe { ((*raw).dtype, (*raw).data, dims(raw)?) };
        let mut len = 1;
        if let Some((&first, rest)) = dims.split_first() {
            if first as u64 >> (u64::BITS - SPARE_BITS) != 0 {
                return None;
            }
            len = first as usize;
            if !rest.is_empty() {
                let mut scaled = len << SPARE_BITS;
                for &dim in rest {
                    // A negative dimension is 2^63 or more here, which is an overflow, unless another one was 0.
                    scaled = scaled.checked_mul(dim as usize)?;
                }
                if scaled == 0 {
                    cold_path();
                    if rest.iter().any(|dim| *dim < 0) {
                        return None;
                    }
                }
                len = scaled >> SPARE_BITS;
            }
        }
        if data.is_null() {
            cold_path();
            if len > 0 && dtype != DType::Token.code() {
                return None;
            }
        }
        Some(BufferRef { data: data.cast(), dims, len, dtype, _memory: PhantomData })
    }

    /// As [`read`](Self::read), for a buffer that must have the dimensions of `other`; `None` if it has not, or is
    /// unsound.
    ///
    /// # Safety
    /// As for [`read`](Self::read); the description is whole.
    #[inline(always)]
    pub(crate) unsafe fn read_like(raw: *const sys::XLA_FFI_Buffer, other: &BufferRef<'f>) -> Option<BufferRef<'f>> {
        // SAFETY: as the caller guarantees.
        let (dtype, data, rank, dims) = unsafe { ((*raw).dtype, (*raw).data, (*raw).rank, (*raw).dims) };
        if rank as u64 != other.dims.len() as u64 {
            return None;
        }
        if any_null([data.addr(), dims.addr()]) {
            cold_path();
            if data.is_null() && other.len > 0 && dtype != DType::Token.code() || dims.is_null() && rank != 0 {
                return None;
            }
        }
        // The first one stands alone: a loop would cost more than it where the rank is 1.
        if let Some((first, rest)) = other.dims.split_first() {
            // SAFETY: the caller guarantees `rank` integers, which are as many as the other buffer's.
            if unsafe { *dims } != *first {
                return None;
            }
            if !rest.is_empty() {
                for (i, dim) in rest.iter().enumerate() {
                    // SAFETY: as above.
                    if unsafe { *dims.add(i + 1) } != *dim {
                        return None;
                    }
                }
            }
        }
        // Equal dimensions are as sound as the other buffer's, and make the same length.
        Some(BufferRef { data: data.cast(), dtype, ..*other })
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
                let (read, sound) = (read(&raw), unsafe { BufferRef::<'static>::sound(&raw) });
                assert_eq!(read.ok().map(|buffer| buffer.len()), sound.map(|buffer| buffer.len()), "{dims:?}");
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
