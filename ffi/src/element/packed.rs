//! Elements that share bytes.
//!
//! Element 0 is in the low bits of byte 0, and the unused high bits of the last byte are unspecified: measured on
//! jaxlib 0.10.2, CPU, for `s4`, `u4`, `s2`, `u2` and `f4e2m1fn`, in arguments and results. `s1` and `u1` are taken to
//! follow the same order: no jax can pass them yet (0.10.2 confuses them with `pred` or refuses them).

use super::*;

/// An element of 1, 2 or 4 bits, packed into bytes from the low bits up.
///
/// [`Element::store`] changes only the element's own bits. It reads the byte first, so the memory must be initialised.
pub trait Packed: Element {
    /// Elements in a byte.
    const PER_BYTE: usize;

    /// The value of an element's bits. Bits above the element's are ignored.
    fn from_bits(bits: u8) -> Self;

    /// The element's bits; those above are zero.
    fn to_bits(self) -> u8;
}

macro_rules! packed {
    ($($name:ident)*) => {$(
        // SAFETY: the layout is the one that the module's documentation says, with `DTYPE.bits()` bits an element.
        unsafe impl Element for $name {
            const DTYPE: DType = DType::$name;
            const ALIGN: usize = 1;

            #[inline]
            unsafe fn load(base: *const u8, index: usize) -> Self {
                // SAFETY: the caller guarantees an element at `index`, so its byte is in the buffer.
                let byte = unsafe { base.add(index / Self::PER_BYTE).read() };
                Self::from_bits(byte >> (index % Self::PER_BYTE * Self::DTYPE.bits()))
            }

            #[inline]
            unsafe fn store(base: *mut u8, index: usize, value: Self) {
                let shift = index % Self::PER_BYTE * Self::DTYPE.bits();
                let mask = u8::MAX >> (8 - Self::DTYPE.bits()) << shift;
                // SAFETY: the caller guarantees an element at `index`, so its byte is in the buffer.
                let byte = unsafe { base.add(index / Self::PER_BYTE) };
                // SAFETY: the byte is initialised, and nobody else uses it meanwhile.
                unsafe { byte.write(byte.read() & !mask | value.to_bits() << shift) }
            }
        }
    )*};
}

packed! { S1 S2 S4 U1 U2 U4 F4E2M1FN }

macro_rules! packed_integers {
    ($($name:ident)*) => {$(
        impl Packed for $name {
            const PER_BYTE: usize = 8 / Self::DTYPE.bits();

            #[inline]
            fn from_bits(bits: u8) -> Self {
                Self::wrapping(bits as _)
            }

            #[inline]
            fn to_bits(self) -> u8 {
                self.get() as u8 & (u8::MAX >> (8 - Self::DTYPE.bits()))
            }
        }
    )*};
}

packed_integers! { S1 S2 S4 U1 U2 U4 }

impl Packed for F4E2M1FN {
    const PER_BYTE: usize = 2;

    #[inline]
    fn from_bits(bits: u8) -> Self {
        F4E2M1FN::from_bits(bits)
    }

    #[inline]
    fn to_bits(self) -> u8 {
        self.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `values` into memory of ones and reads them back.
    fn round_trip<T: Packed>(values: &[T]) -> Vec<u8> {
        let mut bytes = vec![0xff; T::DTYPE.size_in_bytes(values.len()).unwrap()];
        for (index, &value) in values.iter().enumerate() {
            // SAFETY: `bytes` holds `values.len()` elements, and is borrowed mutably.
            unsafe { T::store(bytes.as_mut_ptr(), index, value) };
        }
        for (index, value) in values.iter().enumerate() {
            // SAFETY: as above.
            let loaded = unsafe { T::load(bytes.as_ptr(), index) };
            assert_eq!(loaded.to_bits(), value.to_bits(), "{} at {index} of {}", T::DTYPE, values.len());
        }
        bytes
    }

    fn codes_of_all_lengths<T: Packed>() {
        assert_eq!(T::PER_BYTE * T::DTYPE.bits(), 8);
        for len in 0..=33 {
            // Neighbours differ, and elements at the same place of different bytes do.
            let values: Vec<T> = (0..len).map(|i| T::from_bits((i * 7 + i / 5) as u8)).collect();
            let bytes = round_trip(&values);
            let used = len % T::PER_BYTE * T::DTYPE.bits();
            if used != 0 {
                assert_eq!(bytes.last().unwrap() >> used, 0xff >> used, "store touched bits past the last element");
            }
        }
    }

    #[test]
    fn packed_elements_round_trip() {
        codes_of_all_lengths::<S1>();
        codes_of_all_lengths::<S2>();
        codes_of_all_lengths::<S4>();
        codes_of_all_lengths::<U1>();
        codes_of_all_lengths::<U2>();
        codes_of_all_lengths::<U4>();
        codes_of_all_lengths::<F4E2M1FN>();
    }

    /// The bytes that a handler in XLA:CPU (jaxlib 0.10.2) was given for these values, unused bits set to one.
    #[test]
    fn bit_order_is_that_of_xla() {
        let s4 = [1, 2, 3, 4, -1].map(|v| S4::new(v).unwrap());
        assert_eq!(round_trip(&s4), [0x21, 0x43, 0xff]);
        let u4 = [1, 2, 3, 15, 7].map(|v| U4::new(v).unwrap());
        assert_eq!(round_trip(&u4), [0x21, 0xf3, 0xf7]);
        let s2 = [1, -2, -1, 0, 1].map(|v| S2::new(v).unwrap());
        assert_eq!(round_trip(&s2), [0b00_11_10_01, 0b11_11_11_01]);
        let u2 = [1, 2, 3, 0, 1].map(|v| U2::new(v).unwrap());
        assert_eq!(round_trip(&u2), [0b00_11_10_01, 0b11_11_11_01]);
        let f4 = [0.5, 1.0, 1.5, -6.0, 2.0].map(F4E2M1FN::from_f32);
        assert_eq!(round_trip(&f4), [0x21, 0xf3, 0xf4]);
    }
}
