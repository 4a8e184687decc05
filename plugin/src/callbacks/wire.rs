//! Descriptions of calls for Python, and elements in the form that NumPy has them in.

use std::borrow::Cow;

use oxcall::DType;
use oxcall::host::AlignedBytes;
use oxcall_hlo::ElementType;

use super::queue::{Described, Item, Memory};

/// The head of an item.
const RELEASE: i64 = 0;
const CALL: i64 = 1;

/// The number of words that describe an item, which are written if `words` has room for them. Memory that is described
/// belongs to the reader, who gives it back by its handle; an item without room is returned.
///
/// A call is `[1, call, function, device, operands, results]`, and for each buffer
/// `[dtype, handle, address, bytes, rank, dims...]`; a function that is to be forgotten is `[0, function]`.
pub(crate) fn describe(item: Item, words: &mut [i64]) -> (usize, Option<Item>) {
    let needed = match &item {
        Item::Release(_) => 2,
        Item::Call(call) => {
            6 + call.operands.iter().chain(&call.results).map(|each| 5 + each.dims.len()).sum::<usize>()
        }
    };
    if needed > words.len() {
        return (needed, Some(item));
    }
    let mut rest = words.iter_mut();
    let mut write = |word: i64| {
        if let Some(place) = rest.next() {
            *place = word;
        }
    };
    match item {
        Item::Release(function) => [RELEASE, function as i64].into_iter().for_each(write),
        Item::Call(call) => {
            let (operands, results) = (call.operands.len() as i64, call.results.len() as i64);
            let head = [CALL, call.number as i64, call.callback as i64, i64::from(call.device), operands, results];
            head.into_iter().for_each(&mut write);
            for Described { dtype, dims, memory } in call.operands.into_iter().chain(call.results) {
                let (handle, address, len) = match memory {
                    Memory::Owned(bytes) => {
                        let (address, len) = (bytes.as_ptr().expose_provenance(), bytes.len());
                        (Box::into_raw(bytes).expose_provenance(), address, len)
                    }
                    Memory::InPlace(address, len) => (0, address, len),
                    Memory::Later => (0, 0, 0),
                };
                let head = [dtype.code() as i64, handle as i64, address as i64, len as i64, dims.len() as i64];
                head.into_iter().chain(dims).for_each(&mut write);
            }
        }
    }
    (needed, None)
}

/// Bits of elements that share bytes.
fn narrow_bits(dtype: DType) -> Option<u32> {
    dtype.is_packed().then_some(dtype.bits() as u32)
}

/// A copy of `count` elements with a byte for each of those that share bytes.
pub(super) fn unpack(dtype: DType, count: usize, bytes: &[u8]) -> AlignedBytes {
    let Some(bits) = narrow_bits(dtype) else {
        let mut copy = AlignedBytes::filled(bytes.len(), 0);
        copy.copy_from_slice(bytes);
        return copy;
    };
    let per_byte = 8 / bits as usize;
    let signed = ElementType::from_dtype(dtype).is_some_and(ElementType::is_signed);
    let mut elements = AlignedBytes::filled(count, 0);
    for (index, element) in elements.iter_mut().enumerate() {
        let high = bytes[index / per_byte] << (8 - bits - bits * (index % per_byte) as u32);
        *element = if signed { (high.cast_signed() >> (8 - bits)).cast_unsigned() } else { high >> (8 - bits) };
    }
    elements
}

/// The reverse of [`unpack`].
pub(super) fn pack(dtype: DType, elements: &[u8]) -> Cow<'_, [u8]> {
    let Some(bits) = narrow_bits(dtype) else { return Cow::Borrowed(elements) };
    let per_byte = 8 / bits as usize;
    let join = |elements: &[u8]| {
        let mask = u8::MAX >> (8 - bits);
        elements.iter().rev().fold(0u8, |byte, element| byte << bits | element & mask)
    };
    Cow::Owned(elements.chunks(per_byte).map(join).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callbacks::queue::Call;

    #[test]
    fn elements_that_share_bytes_have_bytes_of_their_own_in_python() {
        for (dtype, packed, elements) in [
            (DType::S4, &[0x21u8, 0xF8, 0x07][..], &[1u8, 2, 0xF8, 0xFF, 7][..]),
            (DType::U4, &[0x21, 0xF8], &[1, 2, 8, 15]),
            (DType::S2, &[0b1110_0100], &[0, 1, 0xFE, 0xFF]),
            (DType::U2, &[0b1110_0100, 0b01], &[0, 1, 2, 3, 1]),
            (DType::F32, &[1, 2, 3, 4], &[1, 2, 3, 4]),
            (DType::S4, &[], &[]),
        ] {
            let count = if dtype == DType::F32 { 1 } else { elements.len() };
            assert_eq!(&*unpack(dtype, count, packed), elements, "{dtype}");
            assert_eq!(&*pack(dtype, elements), packed, "{dtype}");
        }
    }

    #[test]
    fn items_are_written_whole_or_given_back() {
        let buffer = |memory| Described { dtype: DType::S32, dims: vec![2, 3], memory };
        let call = Call {
            number: 5,
            callback: 6,
            device: 7,
            operands: vec![buffer(Memory::InPlace(4096, 24))],
            results: vec![buffer(Memory::Later)],
        };
        let mut words = [0; 20];
        let (needed, refused) = describe(Item::Call(call), &mut words[..19]);
        assert_eq!((needed, words), (20, [0; 20]));
        let (needed, refused) = describe(refused.expect("it has no room"), &mut words);
        assert!(needed == 20 && refused.is_none());
        let dtype = i64::from(DType::S32.code());
        assert_eq!(words, [1, 5, 6, 7, 1, 1, dtype, 0, 4096, 24, 2, 2, 3, dtype, 0, 0, 0, 2, 2, 3]);
        assert_eq!(describe(Item::Release(9), &mut words).0, 2);
        assert_eq!(words[..2], [0, 9]);
    }
}
