//! Element types: those of programs, and those of the PJRT C API.

use oxcall_hlo::ElementType as Hlo;
use oxcall_pjrt::ElementType as Pjrt;

/// Both, one for one; 6-bit floats exist in programs only.
const PAIRS: [(Hlo, Pjrt); 28] = [
    (Hlo::Pred, Pjrt::PRED),
    (Hlo::S2, Pjrt::S2),
    (Hlo::S4, Pjrt::S4),
    (Hlo::S8, Pjrt::S8),
    (Hlo::S16, Pjrt::S16),
    (Hlo::S32, Pjrt::S32),
    (Hlo::S64, Pjrt::S64),
    (Hlo::U2, Pjrt::U2),
    (Hlo::U4, Pjrt::U4),
    (Hlo::U8, Pjrt::U8),
    (Hlo::U16, Pjrt::U16),
    (Hlo::U32, Pjrt::U32),
    (Hlo::U64, Pjrt::U64),
    (Hlo::F4E2M1FN, Pjrt::F4E2M1FN),
    (Hlo::F8E3M4, Pjrt::F8E3M4),
    (Hlo::F8E4M3, Pjrt::F8E4M3),
    (Hlo::F8E4M3FN, Pjrt::F8E4M3FN),
    (Hlo::F8E4M3FNUZ, Pjrt::F8E4M3FNUZ),
    (Hlo::F8E4M3B11FNUZ, Pjrt::F8E4M3B11FNUZ),
    (Hlo::F8E5M2, Pjrt::F8E5M2),
    (Hlo::F8E5M2FNUZ, Pjrt::F8E5M2FNUZ),
    (Hlo::F8E8M0FNU, Pjrt::F8E8M0FNU),
    (Hlo::F16, Pjrt::F16),
    (Hlo::BF16, Pjrt::BF16),
    (Hlo::F32, Pjrt::F32),
    (Hlo::F64, Pjrt::F64),
    (Hlo::C64, Pjrt::C64),
    (Hlo::C128, Pjrt::C128),
];

/// The type of buffers that hold elements of a program's type; `None` where the PJRT C API has none.
pub(crate) fn to_pjrt(element: Hlo) -> Option<Pjrt> {
    PAIRS.iter().find(|(hlo, _)| *hlo == element).map(|&(_, pjrt)| pjrt)
}

/// The type in programs of a buffer's elements.
pub(crate) fn to_hlo(element: Pjrt) -> Option<Hlo> {
    PAIRS.iter().find(|(_, pjrt)| *pjrt == element).map(|&(hlo, _)| hlo)
}

/// Brings bytes from a host into the engine's form: booleans are 0 or 1, narrow integers have clean upper bits.
pub(crate) fn clean(element: Hlo, bytes: &mut [u8]) {
    let shift = match element {
        Hlo::Pred => return bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0)),
        Hlo::S2 | Hlo::U2 => 6,
        Hlo::S4 | Hlo::U4 | Hlo::F4E2M1FN => 4,
        _ => return,
    };
    for byte in bytes {
        *byte = match element.is_signed() {
            true => ((*byte << shift).cast_signed() >> shift).cast_unsigned(),
            false => *byte << shift >> shift,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_but_six_bit_floats_has_a_pair() {
        let without: Vec<_> = Hlo::ALL.iter().copied().filter(|&element| to_pjrt(element).is_none()).collect();
        assert_eq!(without, [Hlo::F6E2M3FN, Hlo::F6E3M2FN]);
        for (hlo, pjrt) in PAIRS {
            assert_eq!((to_pjrt(hlo), to_hlo(pjrt)), (Some(pjrt), Some(hlo)));
            assert_eq!(hlo.byte_width(), pjrt.host_size(), "{hlo}");
        }
    }

    #[test]
    fn narrow_elements_are_cleaned() {
        let cleaned = |element, mut bytes: [u8; 3]| {
            clean(element, &mut bytes);
            bytes
        };
        assert_eq!(cleaned(Hlo::Pred, [0, 1, 255]), [0, 1, 1]);
        assert_eq!(cleaned(Hlo::S4, [0x0f, 0xff, 0x17]), [0xff, 0xff, 7]);
        assert_eq!(cleaned(Hlo::U2, [0xff, 2, 4]), [3, 2, 0]);
        assert_eq!(cleaned(Hlo::S8, [0x80, 2, 0xff]), [0x80, 2, 0xff]);
    }
}
