//! An encoder of call descriptors.

use crate::DType;
use crate::host::AttrValue;

/// What to encode.
#[derive(Clone, Default)]
pub(super) struct Descriptor {
    operands: Vec<(DType, Vec<i64>)>,
    results: Vec<(DType, Vec<i64>)>,
    attrs: Vec<(String, AttrValue)>,
    is_operand: bool,
}

impl Descriptor {
    pub(super) fn operand(mut self, dtype: DType, dims: &[i64]) -> Self {
        self.operands.push((dtype, dims.to_vec()));
        self
    }

    pub(super) fn result(mut self, dtype: DType, dims: &[i64]) -> Self {
        self.results.push((dtype, dims.to_vec()));
        self
    }

    /// Attributes must be added in the order of their names.
    pub(super) fn attr(mut self, name: &str, value: impl Into<AttrValue>) -> Self {
        self.attrs.push((name.to_owned(), value.into()));
        self
    }

    /// The descriptor is the first operand.
    pub(super) fn leading(mut self) -> Self {
        self.is_operand = true;
        self
    }

    /// The bytes, aligned as operands are.
    pub(super) fn encode(&self) -> Bytes {
        let flags = u32::from(self.results.len() != 1) | u32::from(self.is_operand) << 1;
        let mut bytes = b"OXC1\0\0\0\0".to_vec();
        for number in [self.operands.len() as u32, self.results.len() as u32, self.attrs.len() as u32, flags] {
            bytes.extend(number.to_le_bytes());
        }
        for (dtype, dims) in self.operands.iter().chain(&self.results) {
            bytes.extend([*dtype as u8, 0, 0, 0]);
            bytes.extend((dims.len() as u32).to_le_bytes());
            dims.iter().for_each(|dim| bytes.extend(dim.to_le_bytes()));
        }
        attrs(&mut bytes, &self.attrs);
        let len = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&len.to_le_bytes());
        Bytes::new(&bytes)
    }
}

/// Bytes on an 8-byte boundary.
pub(super) struct Bytes(Vec<u64>);

impl Bytes {
    pub(super) fn new(bytes: &[u8]) -> Bytes {
        assert_eq!(bytes.len() % 8, 0);
        Bytes(bytes.as_chunks::<8>().0.iter().map(|&chunk| u64::from_ne_bytes(chunk)).collect())
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: integers have no padding.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 8) }
    }
}

fn attrs(bytes: &mut Vec<u8>, entries: &[(String, AttrValue)]) {
    for (name, value) in entries {
        let (kind, dtype, count, payload) = match value {
            AttrValue::Array(dtype, count, data) => (1, *dtype as u8, *count, data.to_vec()),
            AttrValue::Dict(entries) => (2, 0, entries.len(), Vec::new()),
            AttrValue::Scalar(dtype, data) => (3, *dtype as u8, 1, data.to_vec()),
            AttrValue::String(text) => (4, 0, text.len(), text.clone().into_bytes()),
        };
        bytes.extend([kind, dtype, 0, 0]);
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend((count as u64).to_le_bytes());
        bytes.extend(name.as_bytes());
        pad(bytes);
        bytes.extend(payload);
        pad(bytes);
        if let AttrValue::Dict(entries) = value {
            attrs(bytes, entries);
        }
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}
