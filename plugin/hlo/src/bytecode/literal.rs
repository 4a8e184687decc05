//! Constant tensors out of the bytes that bytecode holds.

use crate::{ElementType, Literal, TensorType};

/// The constant of type `ty` that `blob` holds: all elements, or the one of a splat.
pub(super) fn from_blob(ty: &TensorType, blob: &[u8]) -> Result<Literal, String> {
    let count = ty.count();
    let width = ty.element.byte_width();
    // Nothing, of which the writer may still give the one value that all elements would have.
    if count == 0 && (blob.is_empty() || blob.len() == width) {
        return Ok(Literal::normalised(ty.clone(), &[]));
    }
    if ty.element == ElementType::Pred {
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
    if blob.len() == width {
        return Ok(Literal::normalised_splat(ty.clone(), blob));
    }
    if blob.len() != ty.byte_size() {
        return Err(format!("a constant {ty} must have {} bytes, got {}", ty.byte_size(), blob.len()));
    }
    Ok(Literal::normalised(ty.clone(), blob))
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
