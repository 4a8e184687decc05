//! The state that a failed legacy call leaves: NaN in its results, and the last error.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::status::{Told, set_failure};
use super::wire::BufferType;
use crate::sync::Mutex;
use crate::{DType, Error, panics};

static LAST_ERROR: Mutex<String> = Mutex::new(String::new());

/// The last failure that a host could not be told in full; empty if there is none. Clears it.
pub(crate) fn take_last_error() -> String {
    std::mem::take(&mut *LAST_ERROR.lock())
}

/// A result in memory of the CPU.
pub(super) struct Output {
    dtype: DType,
    size: usize,
    data: *mut c_void,
}

impl Output {
    pub(super) fn new(ty: &BufferType, data: *mut c_void) -> Output {
        Output { dtype: ty.dtype, size: ty.size_in_bytes, data }
    }

    /// NaN in every element; zero where the dtype has none.
    ///
    /// # Safety
    /// The memory is null or as long as the type says, and no other code uses it.
    unsafe fn invalidate(&self) {
        if self.data.is_null() {
            return;
        }
        let pattern = nan(self.dtype);
        for (index, &byte) in pattern.iter().cycle().take(self.size).enumerate() {
            // SAFETY: inside the memory.
            unsafe { self.data.cast::<u8>().add(index).write(byte) };
        }
    }
}

/// The bytes of a quiet NaN, little-endian, to be repeated; zero for dtypes without one. Complex numbers are NaN in
/// both parts.
fn nan(dtype: DType) -> &'static [u8] {
    match dtype {
        DType::F64 | DType::C128 => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
        DType::F32 | DType::C64 => &[0, 0, 0xc0, 0x7f],
        DType::F16 => &[0, 0x7e],
        DType::BF16 => &[0xc0, 0x7f],
        DType::F8E5M2 => &[0x7e],
        DType::F8E3M4 => &[0x78],
        DType::F8E4M3 => &[0x7c],
        DType::F8E4M3FN => &[0x7f],
        DType::F8E4M3B11FNUZ | DType::F8E5M2FNUZ | DType::F8E4M3FNUZ => &[0x80],
        DType::F8E8M0FNU => &[0xff],
        _ => &[0],
    }
}

/// Tells the host by its status. Without one, or if it cannot take the message, tells by the outputs, stderr, and
/// [`take_last_error`].
///
/// # Safety
/// `status` is an `XlaCustomCallStatus` of the host; the outputs are null or as long as their types say, and unused.
pub(super) unsafe fn report(status: Option<NonNull<c_void>>, error: &Error, outputs: &[Output]) {
    // SAFETY: the status is the host's.
    let consequence = match unsafe { set_failure(status, error.message()) } {
        Told::All => return,
        Told::Failed => "the host was only told that the call failed",
        Told::Nothing if outputs.is_empty() => "the host cannot be told: results are undefined",
        Told::Nothing => {
            for output in outputs {
                // SAFETY: as the caller guarantees.
                unsafe { output.invalidate() };
            }
            "the host cannot be told: results are NaN, or zero where there is none"
        }
    };
    let line = error.message().replace(['\n', '\r'], " ");
    panics::tell(format_args!("{line} ({consequence})"));
    *LAST_ERROR.lock() = error.message().to_owned();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::*;

    /// Every element type that has NaNs reads the fill as one, and all others as zero bytes.
    #[test]
    fn fills_are_nan_where_there_is_one() {
        fn filled<T: Element>(is_nan: impl Fn(T) -> bool) -> DType {
            let mut data = [u64::from_ne_bytes([0xA5; 8]); 4];
            let ty = BufferType { dtype: T::DTYPE, dims: vec![2], size_in_bytes: T::DTYPE.size_in_bytes(2).unwrap() };
            let output = Output::new(&ty, data.as_mut_ptr().cast());
            // SAFETY: the memory has 32 bytes, enough for two elements, all of whose values are valid.
            unsafe {
                output.invalidate();
                for index in 0..2 {
                    assert!(is_nan(T::load(data.as_ptr().cast(), index)), "{}", T::DTYPE);
                }
                let end = data.as_ptr().cast::<u8>().add(ty.size_in_bytes);
                assert!(ty.size_in_bytes == 32 || end.read() == 0xA5, "{} is written past its end", T::DTYPE);
            }
            T::DTYPE
        }
        let with_nan = [
            filled::<half::f16>(half::f16::is_nan),
            filled::<half::bf16>(half::bf16::is_nan),
            filled::<f32>(f32::is_nan),
            filled::<f64>(f64::is_nan),
            filled::<num_complex::Complex<f32>>(|v| v.re.is_nan() && v.im.is_nan()),
            filled::<num_complex::Complex<f64>>(|v| v.re.is_nan() && v.im.is_nan()),
            filled::<F8E5M2>(|v| v.to_f32().is_nan()),
            filled::<F8E3M4>(|v| v.to_f32().is_nan()),
            filled::<F8E4M3>(|v| v.to_f32().is_nan()),
            filled::<F8E4M3FN>(|v| v.to_f32().is_nan()),
            filled::<F8E4M3B11FNUZ>(|v| v.to_f32().is_nan()),
            filled::<F8E5M2FNUZ>(|v| v.to_f32().is_nan()),
            filled::<F8E4M3FNUZ>(|v| v.to_f32().is_nan()),
            filled::<F8E8M0FNU>(|v| v.to_f32().is_nan()),
        ];
        for &dtype in DType::ALL {
            let zero = nan(dtype) == [0];
            assert_ne!(zero, with_nan.contains(&dtype), "{dtype}");
        }
    }
}
