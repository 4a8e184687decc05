//! Elements of less than a byte that share bytes in buffers of custom calls, the first in the low bits.

use oxcall::Error;
use oxcall_hlo::TensorType;
use oxcall_kernels::kernel::{Context, Inputs, Kernel, Outputs};
use oxcall_kernels::pool::Cost;

/// From a byte for each element to shared bytes, where elements of `bits` bits share any.
pub(super) fn pack(ty: &TensorType, bits: usize) -> Option<Box<dyn Kernel>> {
    let pack = match bits {
        1 => pack_1,
        2 => pack_2,
        4 => pack_4,
        _ => return None,
    };
    (ty.count() > 0).then(|| Box::new(Pack { pack, count: ty.count() }) as Box<dyn Kernel>)
}

/// From shared bytes to a byte for each element, where elements of `bits` bits share any.
pub(super) fn unpack(ty: &TensorType, bits: usize) -> Option<Box<dyn Kernel>> {
    let unpack = match bits {
        1 => unpack_1,
        2 => unpack_2,
        4 => unpack_4,
        _ => return None,
    };
    let sign = if ty.element.is_signed() { 1 << (bits - 1) } else { 0 };
    (ty.count() > 0).then(|| Box::new(Unpack { unpack, sign, count: ty.count() }) as Box<dyn Kernel>)
}

/// A loop for each size of elements: of loops over words of constant shifts, the compiler makes vectors.
macro_rules! loops {
    ($($pack:ident $unpack:ident: $bits:literal bits, $word:ident for a byte;)*) => {$(
        fn $pack(packed: &mut [u8], elements: &[u8]) {
            const COUNT: usize = size_of::<$word>();
            let byte = |elements: [u8; COUNT]| {
                let (word, mask) = ($word::from_le_bytes(elements), u8::MAX >> (8 - $bits));
                let bits = |index: usize| (word >> (index * (8 - $bits))) as u8 & (mask << (index * $bits));
                (0..COUNT).fold(0, |byte, index| byte | bits(index))
            };
            let (whole, rest) = elements.as_chunks();
            for (packed, elements) in packed.iter_mut().zip(whole) {
                *packed = byte(*elements);
            }
            if let Some(packed) = packed.get_mut(whole.len()) {
                let mut elements = [0; COUNT];
                elements[..rest.len()].copy_from_slice(rest);
                *packed = byte(elements);
            }
        }

        fn $unpack(elements: &mut [u8], packed: &[u8], sign: u8) {
            const COUNT: usize = size_of::<$word>();
            // Its sign is extended by flipping the bit and subtracting it.
            let element =
                |packed: u8, index: usize| ((packed >> (index * $bits) & (u8::MAX >> (8 - $bits))) ^ sign).wrapping_sub(sign);
            let bytes = |packed: u8| std::array::from_fn::<u8, COUNT, _>(|index| element(packed, index));
            let (whole, rest) = elements.as_chunks_mut();
            for (elements, packed) in whole.iter_mut().zip(packed) {
                *elements = bytes(*packed);
            }
            if let Some(packed) = packed.get(whole.len()) {
                rest.copy_from_slice(&bytes(*packed)[..rest.len()]);
            }
        }
    )*};
}

loops! {
    pack_1 unpack_1: 1 bits, u64 for a byte;
    pack_2 unpack_2: 2 bits, u32 for a byte;
    pack_4 unpack_4: 4 bits, u16 for a byte;
}

fn cost(count: usize) -> Cost {
    Cost { flops: count as f64, bytes: count as f64 * 1.5 }
}

struct Pack {
    pack: fn(&mut [u8], &[u8]),
    count: usize,
}

impl Kernel for Pack {
    fn name(&self) -> String {
        "pack".to_owned()
    }

    fn cost(&self) -> Cost {
        cost(self.count)
    }

    fn run(&self, _: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        (self.pack)(outputs.take::<u8>(0), inputs.get::<u8>(0));
        Ok(())
    }
}

struct Unpack {
    unpack: fn(&mut [u8], &[u8], u8),
    /// The bit that has the sign of an element, which the bits above it repeat; 0 for unsigned ones.
    sign: u8,
    count: usize,
}

impl Kernel for Unpack {
    fn name(&self) -> String {
        "unpack".to_owned()
    }

    fn cost(&self) -> Cost {
        cost(self.count)
    }

    fn run(&self, _: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        (self.unpack)(outputs.take::<u8>(0), inputs.get::<u8>(0), self.sign);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bits: usize, pack: fn(&mut [u8], &[u8]), unpack: fn(&mut [u8], &[u8], u8)) {
        let share = 8 / bits;
        for count in [1, share - 1, share, share + 1, 1000, 1003] {
            // Bits above those of the element are the sign's, and not packed.
            let elements: Vec<u8> = (0..count).map(|i| (i * 7 % 251) as u8).collect();
            let mut packed = vec![0; count.div_ceil(share)];
            pack(&mut packed, &elements);
            let low = |element: u8| element & (u8::MAX >> (8 - bits));
            for (index, element) in elements.iter().enumerate() {
                assert_eq!(low(packed[index / share] >> (index % share * bits)), low(*element), "{bits} {count}");
            }
            let unused = (count % share) * bits;
            assert!(unused == 0 || packed[count / share] >> unused == 0, "{bits} {count}");
            for is_signed in [false, true] {
                let mut found = vec![0; count];
                unpack(&mut found, &packed, if is_signed { 1 << (bits - 1) } else { 0 });
                let extended = |element: u8| ((element << (8 - bits)) as i8 >> (8 - bits)) as u8;
                let expected = |element: &u8| if is_signed { extended(*element) } else { low(*element) };
                assert_eq!(found, elements.iter().map(expected).collect::<Vec<_>>(), "{bits} {count}");
            }
        }
    }

    #[test]
    fn elements_keep_their_bits() {
        check(1, pack_1, unpack_1);
        check(2, pack_2, unpack_2);
        check(4, pack_4, unpack_4);
    }
}
