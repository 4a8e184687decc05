//! The call descriptor, decoded: `docs/legacy-encoding.md`.
//!
//! It comes from outside, so that every length is checked against the bytes that are there before anything is
//! allocated for it.

use crate::host::{AlignedBytes, AttrValue, array_bytes};
use crate::{DType, Error, Result};

/// The first bytes; the digit is the version of the encoding.
pub(super) const MAGIC: [u8; 4] = *b"OXC1";

const RESULTS_ARE_TUPLE: u32 = 1;
const DESCRIPTOR_IS_OPERAND: u32 = 2;

/// Deepest nesting of dictionaries: they are decoded recursively, on the stack of a host's thread.
const MAX_DEPTH: usize = 32;

/// `XLA_FFI_AttrType`.
const ARRAY: u8 = 1;
const DICTIONARY: u8 = 2;
const SCALAR: u8 = 3;
const STRING: u8 = 4;

/// The facts of a call that a legacy host does not pass.
#[derive(Debug, PartialEq)]
pub(super) struct CallDescriptor {
    /// Operands, without the descriptor itself.
    pub(super) operands: Vec<BufferType>,
    pub(super) results: Vec<BufferType>,
    pub(super) attrs: Vec<(String, AttrValue)>,
    /// Whether a CPU host gives an array of result pointers.
    pub(super) results_are_tuple: bool,
    /// Whether the descriptor is the first operand, before the others.
    pub(super) descriptor_is_operand: bool,
}

/// Dtype and shape of a buffer.
#[derive(Debug, PartialEq)]
pub(super) struct BufferType {
    pub(super) dtype: DType,
    pub(super) dims: Vec<i64>,
    pub(super) size_in_bytes: usize,
}

impl CallDescriptor {
    /// Decodes a descriptor that takes all of `bytes`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, with what is wrong and at which byte.
    pub(super) fn decode(bytes: &[u8]) -> Result<CallDescriptor> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.array("the magic")? != MAGIC {
            return Err(reader.wrong("it does not begin with `OXC1`"));
        }
        let total = reader.u32("the length")?;
        if total as usize != bytes.len() {
            return Err(reader.wrong(format_args!("it states a length of {total} bytes, but has {}", bytes.len())));
        }
        let operands = reader.u32("the number of operands")?;
        let results = reader.u32("the number of results")?;
        let attrs = reader.u32("the number of attributes")?;
        let flags = reader.u32("the flags")?;
        if flags & !(RESULTS_ARE_TUPLE | DESCRIPTOR_IS_OPERAND) != 0 {
            return Err(reader.wrong(format_args!("unknown flags {flags:#x}")));
        }
        let descriptor = CallDescriptor {
            operands: reader.buffers(operands)?,
            results: reader.buffers(results)?,
            attrs: reader.attrs(attrs.into(), 0)?,
            results_are_tuple: flags & RESULTS_ARE_TUPLE != 0,
            descriptor_is_operand: flags & DESCRIPTOR_IS_OPERAND != 0,
        };
        if reader.at != bytes.len() {
            return Err(reader.wrong("bytes follow the last attribute"));
        }
        if !descriptor.results_are_tuple && descriptor.results.len() != 1 {
            return Err(reader.wrong(format_args!("{results} results are not flagged as a tuple")));
        }
        Ok(descriptor)
    }
}

/// A position in the bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    #[cold]
    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        Error::invalid_argument(format!("the call descriptor is damaged before byte {}: {what}", self.at))
    }

    fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        let taken = usize::try_from(len).ok().and_then(|len| left.get(..len));
        let Some(taken) = taken else {
            return Err(self.wrong(format_args!("it ends inside {what}")));
        };
        self.at += taken.len();
        Ok(taken)
    }

    fn zeros(&mut self, len: usize, what: &str) -> Result<()> {
        if self.take(len as u64, what)?.iter().any(|&byte| byte != 0) {
            return Err(self.wrong(format_args!("the padding of {what} is not zero")));
        }
        Ok(())
    }

    /// Bytes, and padding up to the next multiple of 8.
    fn padded(&mut self, len: u64, what: &str) -> Result<&'a [u8]> {
        let taken = self.take(len, what)?;
        self.zeros(taken.len().next_multiple_of(8) - taken.len(), what)?;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }

    fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn dtype(&mut self, code: u8, what: &str) -> Result<DType> {
        DType::from_code(code.into()).ok_or_else(|| {
            self.wrong(format_args!("{what} has data type code {code}, which this version of oxcall does not know"))
        })
    }

    fn buffers(&mut self, count: u32) -> Result<Vec<BufferType>> {
        (0..count).map(|_| self.buffer()).collect()
    }

    fn buffer(&mut self) -> Result<BufferType> {
        let what = "a buffer's type";
        let [code, zeros @ ..] = self.array::<4>(what)?;
        if zeros != [0; 3] {
            return Err(self.wrong(format_args!("the padding of {what} is not zero")));
        }
        let dtype = self.dtype(code, "a buffer")?;
        let rank = self.u32(what)?;
        let (dims, _) = self.take(u64::from(rank) * 8, what)?.as_chunks::<8>();
        let dims: Vec<i64> = dims.iter().map(|&dim| i64::from_le_bytes(dim)).collect();
        // Negative dimensions have no size either.
        let Some(size_in_bytes) = array_bytes(dtype, &dims) else {
            return Err(self.wrong(format_args!("a buffer has shape {dims:?}")));
        };
        Ok(BufferType { dtype, dims, size_in_bytes })
    }

    fn attrs(&mut self, count: u64, depth: usize) -> Result<Vec<(String, AttrValue)>> {
        if depth > MAX_DEPTH {
            return Err(self.wrong(format_args!("dictionaries are nested deeper than {MAX_DEPTH}")));
        }
        let mut attrs: Vec<(String, AttrValue)> = Vec::new();
        for _ in 0..count {
            let attr = self.attr(depth)?;
            if let Some((last, _)) = attrs.last()
                && *last >= attr.0
            {
                return Err(self.wrong(format_args!("attribute {:?} does not sort after {last:?}", attr.0)));
            }
            attrs.push(attr);
        }
        Ok(attrs)
    }

    fn attr(&mut self, depth: usize) -> Result<(String, AttrValue)> {
        let what = "an attribute";
        let [kind, code, zeros @ ..] = self.array::<4>(what)?;
        if zeros != [0; 2] || (code != 0 && matches!(kind, STRING | DICTIONARY)) {
            return Err(self.wrong(format_args!("the padding of {what} is not zero")));
        }
        let name_len = self.u32(what)?;
        let count = u64::from_le_bytes(self.array(what)?);
        let name = self.padded(name_len.into(), "an attribute's name")?;
        let name = self.text(name, "an attribute's name")?;
        let value = match kind {
            ARRAY => {
                let (dtype, bytes) = self.elements(code, count)?;
                AttrValue::Array(dtype, count as usize, bytes)
            }
            SCALAR if count == 1 => {
                let (dtype, bytes) = self.elements(code, count)?;
                AttrValue::Scalar(dtype, bytes)
            }
            STRING => {
                let bytes = self.padded(count, "a string")?;
                AttrValue::String(self.text(bytes, "a string")?)
            }
            DICTIONARY => AttrValue::Dict(self.attrs(count, depth + 1)?),
            SCALAR => return Err(self.wrong(format_args!("scalar {name:?} has {count} elements"))),
            _ => return Err(self.wrong(format_args!("attribute {name:?} is of kind {kind}"))),
        };
        Ok((name, value))
    }

    fn elements(&mut self, code: u8, count: u64) -> Result<(DType, AlignedBytes)> {
        let dtype = self.dtype(code, "an attribute")?;
        let size = usize::try_from(count).ok().and_then(|count| dtype.size_in_bytes(count));
        let Some(size) = size.filter(|_| dtype != DType::Token) else {
            return Err(self.wrong(format_args!("{count} elements of {dtype} in an attribute")));
        };
        let bytes = self.padded(size as u64, "an attribute's elements")?;
        if dtype == DType::Pred && bytes.iter().any(|&byte| byte > 1) {
            return Err(self.wrong("a pred is neither 0 nor 1"));
        }
        let mut aligned = AlignedBytes::filled(size, 0);
        aligned.copy_from_slice(bytes);
        Ok((dtype, aligned))
    }

    fn text(&self, bytes: &[u8], what: &str) -> Result<String> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(self.wrong(format_args!("{what} is not UTF-8"))),
        }
    }
}
