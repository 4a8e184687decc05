//! Constant tensors out of the bytes that bytecode holds.

use std::sync::Arc;

use crate::{ElementType, Literal, TensorType};

/// The constant of type `ty` that `blob` holds: all elements, or the one of a splat.
pub(super) fn from_blob(ty: &TensorType, blob: &[u8]) -> Result<Literal, String> {
    let count = ty.count();
    let width = ty.element.byte_width();
    if ty.element == ElementType::Pred && count > 1 {
        if let [byte @ (0 | 0xff)] = blob {
            return Ok(Literal::splat(ty.clone(), [byte & 1]));
        }
        // Some early writers did not pack.
        if blob.len() == count.div_ceil(8) && blob.len() != count {
            let bits = (0..count).map(|index| blob[index / 8] >> (index % 8) & 1);
            return Ok(Literal::dense(ty.clone(), bits.collect::<Vec<u8>>()));
        }
    }
    // A single element is a splat too, as it is in MLIR.
    if blob.len() == width && count > 0 {
        return Ok(Literal::splat(ty.clone(), normalised(ty.element, blob)));
    }
    // Nothing, of which the writer may still give the one value that all elements would have.
    if count == 0 && (blob.is_empty() || blob.len() == width) {
        return Ok(from_elements(ty, &[]));
    }
    if blob.len() != ty.byte_size() {
        return Err(format!("{} bytes for a constant {ty}", blob.len()));
    }
    Ok(from_elements(ty, blob))
}

/// The constant of type `ty` with these elements, of which there are as many as it has.
pub(super) fn from_elements(ty: &TensorType, bytes: &[u8]) -> Literal {
    Literal::dense(ty.clone(), normalised(ty.element, bytes))
}

/// The elements as literals hold them: booleans 0 or 1, narrow integers extended to their byte.
fn normalised(element: ElementType, bytes: &[u8]) -> Arc<[u8]> {
    let unused = 8u32.saturating_sub(element.bits() as u32);
    if unused == 0 {
        bytes.into()
    } else if element == ElementType::Pred {
        bytes.iter().map(|&byte| u8::from(byte != 0)).collect()
    } else if element.is_signed() {
        bytes.iter().map(|byte| ((byte << unused) as i8 >> unused) as u8).collect()
    } else {
        bytes.iter().map(|byte| byte & (0xff >> unused)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::from_blob;
    use crate::{ElementType, TensorType};

    #[test]
    fn booleans_are_unpacked() {
        let ty = TensorType::new(ElementType::Pred, [10]);
        let literal = from_blob(&ty, &[0b1000_0001, 0b10]).unwrap();
        assert_eq!(&**literal.data(), [1, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
        assert_eq!(from_blob(&ty, &[0xff]).unwrap().splat_element(), Some(&[1][..]));
        assert_eq!(from_blob(&ty, &[0; 10]).unwrap().data().len(), 10);
        assert!(from_blob(&ty, &[0; 3]).is_err());
        let empty = TensorType::new(ElementType::F32, [3, 0]);
        assert_eq!(from_blob(&empty, &[0; 4]).unwrap(), from_blob(&empty, &[]).unwrap());
        assert!(from_blob(&empty, &[0; 5]).is_err());
        let scalar = TensorType::scalar(ElementType::Pred);
        assert_eq!(&**from_blob(&scalar, &[0xff]).unwrap().data(), [1]);
    }

    #[test]
    fn narrow_integers_are_extended() {
        let signed = from_blob(&TensorType::new(ElementType::S4, [3]), &[0x0f, 0x08, 0x07]).unwrap();
        assert_eq!(signed.integers().unwrap().collect::<Vec<_>>(), [-1, -8, 7]);
        let unsigned = from_blob(&TensorType::new(ElementType::U4, [2]), &[0xff, 0x01]).unwrap();
        assert_eq!(unsigned.integers().unwrap().collect::<Vec<_>>(), [15, 1]);
    }

    #[test]
    fn huge_splats_stay_small() {
        let ty = TensorType::new(ElementType::F32, [1 << 40]);
        assert_eq!(from_blob(&ty, &[0, 0, 128, 63]).unwrap().data().len(), 4);
    }
}
