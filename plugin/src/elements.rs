//! The engine's form of elements.

use oxcall_hlo::ElementType;

/// Brings bytes from a host into the engine's form: booleans are 0 or 1, narrow integers have clean upper bits.
pub(crate) fn clean(element: ElementType, bytes: &mut [u8]) {
    let shift = match element {
        ElementType::Pred => return bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0)),
        ElementType::S2 | ElementType::U2 => 6,
        ElementType::S4 | ElementType::U4 | ElementType::F4E2M1FN => 4,
        _ => return,
    };
    for byte in bytes {
        *byte = if element.is_signed() {
            ((*byte << shift).cast_signed() >> shift).cast_unsigned()
        } else {
            *byte << shift >> shift
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_elements_are_cleaned() {
        let cleaned = |element, mut bytes: [u8; 3]| {
            clean(element, &mut bytes);
            bytes
        };
        assert_eq!(cleaned(ElementType::Pred, [0, 1, 255]), [0, 1, 1]);
        assert_eq!(cleaned(ElementType::S4, [0x0f, 0xff, 0x17]), [0xff, 0xff, 7]);
        assert_eq!(cleaned(ElementType::U2, [0xff, 2, 4]), [3, 2, 0]);
        assert_eq!(cleaned(ElementType::S8, [0x80, 2, 0xff]), [0x80, 2, 0xff]);
    }
}
