//! The attributes of a call: scalars on the stack, all others on the heap.

use std::ffi::c_void;
use std::ptr;

use smallvec::SmallVec;
use xla_ffi_sys::xla_ffi as sys;

use crate::descriptor::AttrParam;
use crate::host::{Arena, AttrValue};
use crate::torch::libtorch::handles::Str;
use crate::{DType, Result, attr};

/// The number of attributes up to which no heap is needed.
const INLINE: usize = 8;

/// Names of an operation's attributes, in the C layout.
pub(crate) struct AttrNames {
    // Not boxed slices: moving a `Box` ends the validity of pointers into it.
    spans: Vec<sys::XLA_FFI_ByteSpan>,
    pointers: Vec<*const sys::XLA_FFI_ByteSpan>,
}

// SAFETY: constant once made; the pointers refer to the spans, and the spans to static text.
unsafe impl Send for AttrNames {}
// SAFETY: as above.
unsafe impl Sync for AttrNames {}

impl AttrNames {
    pub(crate) fn new(attrs: &'static [AttrParam]) -> AttrNames {
        let span = |attr: &AttrParam| sys::XLA_FFI_ByteSpan { ptr: attr.name.as_ptr().cast(), len: attr.name.len() };
        let spans: Vec<_> = attrs.iter().map(span).collect();
        let first = spans.as_ptr();
        let pointers = (0..spans.len()).map(|i| first.wrapping_add(i)).collect();
        AttrNames { spans, pointers }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The names, in the form of a call frame.
    pub(crate) fn as_ptr(&self) -> *mut *mut sys::XLA_FFI_ByteSpan {
        self.pointers.as_ptr().cast_mut().cast()
    }
}

/// A scalar and the C struct that points to it.
#[derive(Clone, Copy)]
struct Cell {
    scalar: sys::XLA_FFI_Scalar,
    bits: u64,
}

const EMPTY: Cell = Cell { scalar: sys::XLA_FFI_Scalar { dtype: 0, value: ptr::null_mut() }, bits: 0 };

/// The kind of an absent attribute: decoding treats it like one that is not in the list.
const ABSENT: sys::XLA_FFI_AttrType = 0;

/// A string or a list, used in place, and the C struct that points to it.
enum Held {
    Text(Str, sys::XLA_FFI_ByteSpan),
    Numbers(Vec<u64>, sys::XLA_FFI_Array),
}

/// The attributes of one call, each at its index in the operation's list.
#[derive(Default)]
pub(crate) struct CallAttrs {
    kinds: SmallVec<[sys::XLA_FFI_AttrType; INLINE]>,
    cells: SmallVec<[Cell; INLINE]>,
    values: SmallVec<[*mut c_void; INLINE]>,
    /// Strings and lists, by index.
    held: SmallVec<[(usize, Held); 3]>,
    /// Structs, by index.
    others: Vec<(usize, AttrValue)>,
    arena: Option<Arena>,
}

impl CallAttrs {
    /// Attributes that are all still absent.
    #[inline]
    pub(crate) fn prepare(&mut self, len: usize) {
        self.kinds.resize(len, ABSENT);
        self.cells.resize(len, EMPTY);
        self.values.resize(len, ptr::null_mut());
    }

    /// Gives an attribute a scalar value.
    #[inline]
    pub(crate) fn set_scalar(&mut self, index: usize, dtype: sys::XLA_FFI_DataType, bits: u64) {
        self.kinds[index] = sys::XLA_FFI_AttrType_SCALAR;
        self.cells[index] = Cell { scalar: sys::XLA_FFI_Scalar { dtype, value: ptr::null_mut() }, bits };
    }

    /// Gives an attribute a string.
    pub(crate) fn set_text(&mut self, index: usize, text: Str) -> Result<()> {
        let bytes = text.bytes()?;
        let span = sys::XLA_FFI_ByteSpan { ptr: bytes.as_ptr().cast(), len: bytes.len() };
        self.kinds[index] = sys::XLA_FFI_AttrType_STRING;
        self.held.push((index, Held::Text(text, span)));
        Ok(())
    }

    /// Gives an attribute a list of numbers of a dtype; the bits of each number are in a `u64`.
    pub(crate) fn set_numbers(&mut self, index: usize, dtype: DType, mut bits: Vec<u64>) {
        let size = bits.len();
        if dtype == DType::Pred {
            // One byte each.
            let bytes: Vec<u8> = bits.iter().map(|bits| u8::from(bits & 0xff != 0)).collect();
            let word = |bytes: &[u8]| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                u64::from_ne_bytes(word)
            };
            bits = bytes.chunks(8).map(word).collect();
        }
        let array = sys::XLA_FFI_Array { dtype: dtype.code(), size, data: ptr::null_mut() };
        self.kinds[index] = sys::XLA_FFI_AttrType_ARRAY;
        self.held.push((index, Held::Numbers(bits, array)));
    }

    /// Sets an attribute, or the field of one that `path` leads to.
    pub(crate) fn set(&mut self, index: usize, path: &[&'static str], value: AttrValue) {
        let mut value = value;
        let known = self.others.iter().position(|(other, _)| *other == index);
        let Some(known) = known else {
            for name in path.iter().rev() {
                value = AttrValue::Dict(vec![((*name).to_owned(), value)]);
            }
            self.others.push((index, value));
            return;
        };
        let mut place = &mut self.others[known].1;
        for (depth, name) in path.iter().enumerate() {
            let AttrValue::Dict(entries) = place else { return };
            let at = entries.iter().position(|(other, _)| other == name).unwrap_or_else(|| {
                let inner = if depth + 1 == path.len() { 0i64.into() } else { AttrValue::Dict(Vec::new()) };
                entries.push(((*name).to_owned(), inner));
                entries.len() - 1
            });
            place = &mut entries[at].1;
        }
        *place = value;
    }

    /// The C struct. It points into `self`, which must not be moved or changed while the struct is used.
    #[inline]
    pub(crate) fn finish(&mut self, names: &AttrNames) -> sys::XLA_FFI_Attrs {
        if !self.others.is_empty() {
            self.write_others();
        }
        for (index, held) in &mut self.held {
            self.values[*index] = match held {
                Held::Text(_, span) => ptr::from_mut(span).cast(),
                Held::Numbers(bits, array) => {
                    array.data = bits.as_mut_ptr().cast();
                    ptr::from_mut(array).cast()
                }
            };
        }
        for ((kind, cell), value) in self.kinds.iter().zip(&mut self.cells).zip(&mut self.values) {
            if *kind == sys::XLA_FFI_AttrType_SCALAR {
                cell.scalar.value = (&raw mut cell.bits).cast();
                *value = (&raw mut cell.scalar).cast();
            }
        }
        sys::XLA_FFI_Attrs {
            struct_size: sys::XLA_FFI_Attrs_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            size: names.len() as i64,
            types: self.kinds.as_mut_ptr(),
            names: names.as_ptr(),
            attrs: self.values.as_mut_ptr(),
        }
    }

    fn write_others(&mut self) {
        let arena = self.arena.get_or_insert_default();
        for (index, value) in &self.others {
            let (kind, address) = value.write(arena, true);
            if kind == sys::XLA_FFI_AttrType_SCALAR {
                // Kinds distinguish scalars, which are in the cells, from all others; the place of a struct holds a
                // dictionary.
                continue;
            }
            (self.kinds[*index], self.values[*index]) = (kind, address);
        }
    }

    /// The attributes that are present, with their indices; to be called after [`finish`](Self::finish).
    pub(crate) fn given(&self) -> impl Iterator<Item = (usize, attr::Attr<'_>)> {
        let parts = self.kinds.iter().zip(&self.values).enumerate();
        parts.filter(|(_, (kind, _))| **kind != ABSENT).map(|(index, (kind, value))| {
            // SAFETY: the value has this kind, and lives as long as `self`.
            (index, unsafe { attr::Attr::new(*kind, *value) })
        })
    }

    /// A key that is equal for calls with equal attributes.
    pub(crate) fn key(&self) -> AttrKey {
        AttrKey {
            scalars: self
                .kinds
                .iter()
                .zip(&self.cells)
                .map(|(kind, cell)| (*kind, cell.scalar.dtype, cell.bits))
                .collect(),
            held: self.held.iter().map(|(index, held)| (*index, held.bytes())).collect(),
            others: self.others.clone(),
        }
    }
}

impl Held {
    /// Bytes that are equal for equal values of one kind.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Held::Text(text, _) => text.bytes().unwrap_or_default().to_vec(),
            Held::Numbers(bits, array) => {
                let size = (array.size as u64).to_ne_bytes();
                size.into_iter().chain(bits.iter().flat_map(|bits| bits.to_ne_bytes())).collect()
            }
        }
    }
}

/// The values of a call's attributes.
#[derive(Clone, PartialEq)]
pub(crate) struct AttrKey {
    held: Vec<(usize, Vec<u8>)>,
    scalars: Vec<(u32, u32, u64)>,
    others: Vec<(usize, AttrValue)>,
}
