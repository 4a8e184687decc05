//! A planned call as C structs.

use std::ffi::c_void;
use std::ptr;

use oxcall::DType;
use oxcall::host::HostVersion;
use xla_ffi_sys::xla_ffi as sys;

use crate::heap::Heap;
use crate::plan::{Api, Attrs, Buffer, Data, Extension, Frame, List, Text, Value};

/// Most bytes that one operand takes.
const MOST: usize = 1 << 16;

/// An operand's memory.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) data: *mut u8,
    pub(crate) len: usize,
}

/// What a frame was made of.
pub(crate) struct Built {
    pub(crate) frame: *mut sys::XLA_FFI_CallFrame,
    pub(crate) args: Vec<Memory>,
    pub(crate) has_api: bool,
    /// Whether the handler can make an error.
    pub(crate) has_errors: bool,
}

impl Frame {
    /// The frame, with its context.
    pub(crate) fn build(&self, heap: &mut Heap, ctx: *mut sys::XLA_FFI_InvokeContext) -> Built {
        let mut operands = Vec::new();
        let args = self.args.build(heap, &mut operands);
        let num_args = operands.len();
        let rets = self.rets.build(heap, &mut operands);
        let (api, has_errors) = self.api(heap);
        let frame = sys::XLA_FFI_CallFrame {
            struct_size: self.struct_size,
            extension_start: extensions(&self.extensions, heap),
            api,
            ctx: if self.has_context { ctx } else { ptr::null_mut() },
            stage: self.stage,
            args,
            // Arguments and results differ in a field's name only.
            rets: sys::XLA_FFI_Rets {
                struct_size: rets.struct_size,
                extension_start: rets.extension_start,
                size: rets.size,
                types: rets.types,
                rets: rets.args,
            },
            attrs: self.attrs.build(heap),
            future: ptr::null_mut(),
        };
        // Honest frames have a future behind the size that they state.
        let whole = self.struct_size >= sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize;
        let frame = heap.claimed(frame, if whole { size_of::<sys::XLA_FFI_CallFrame>() } else { self.struct_size });
        operands.truncate(num_args);
        Built { frame, args: operands, has_api: !api.is_null(), has_errors }
    }

    fn api(&self, heap: &mut Heap) -> (*const sys::XLA_FFI_Api, bool) {
        let whole = HostVersion::ALL[self.version].api();
        match self.api {
            Api::Null => (ptr::null(), false),
            Api::Whole => (whole, true),
            Api::Damaged { absent, struct_size } => {
                // Hosts before jaxlib 0.6 state 88 bytes and have more.
                let honest = size_of::<sys::XLA_FFI_Api>();
                let claimed = if struct_size == 88 { honest } else { struct_size };
                // SAFETY: the table is a plain struct.
                let copy = unsafe { ptr::read(whole) };
                let table = heap.claimed(copy, claimed);
                // SAFETY: the first field is there.
                unsafe { table.cast::<usize>().write(struct_size) };
                for slot in (0..20).filter(|slot| absent & (1 << slot) != 0) {
                    let offset = 48 + 8 * slot;
                    if offset + 8 <= claimed.clamp(8, honest) {
                        // SAFETY: inside the copy; slots are nullable.
                        unsafe { table.byte_add(offset).cast::<usize>().write(0) };
                    }
                }
                (table, struct_size >= 56 && absent & 1 == 0)
            }
        }
    }
}

fn extensions(plans: &[Extension], heap: &mut Heap) -> *mut sys::XLA_FFI_InternalExtension {
    let mut next = ptr::null_mut();
    for plan in plans.iter().rev() {
        let metadata = plan.metadata.map_or(ptr::null_mut(), |size| {
            let metadata = sys::XLA_FFI_Metadata { struct_size: size, ..Default::default() };
            // The state's type is behind the size that hosts state.
            heap.claimed(metadata, if size == 36 { size_of::<sys::XLA_FFI_Metadata>() } else { size })
        });
        let base = sys::XLA_FFI_InternalExtension { struct_size: plan.struct_size, type_: plan.kind, next };
        let extension = sys::XLA_FFI_Metadata_Extension { extension_base: base, metadata };
        // Size, kind and next are what makes it an extension.
        next = heap.claimed(extension, plan.struct_size.max(24)).cast();
    }
    next
}

impl List {
    fn build(&self, heap: &mut Heap, operands: &mut Vec<Memory>) -> sys::XLA_FFI_Args {
        let types: Vec<u32> = self.buffers.iter().map(|buffer| buffer.code).collect();
        let buffers: Vec<*mut c_void> = self.buffers.iter().map(|buffer| buffer.build(heap, operands)).collect();
        let types = if self.null_types { ptr::null_mut() } else { heap.slice(&types) };
        let args = if self.null_buffers { ptr::null_mut() } else { heap.slice(&buffers) };
        let size = self.size.unwrap_or(self.buffers.len() as i64);
        sys::XLA_FFI_Args { struct_size: self.struct_size, extension_start: ptr::null_mut(), size, types, args }
    }
}

impl Buffer {
    fn build(&self, heap: &mut Heap, operands: &mut Vec<Memory>) -> *mut c_void {
        let stated = self.rank.unwrap_or(self.dims.as_ref().map_or(0, Vec::len) as i64);
        let dims = self.dims.as_deref().unwrap_or(&[]);
        let len = self.bytes(dims);
        let memory = match self.data {
            _ if len.is_none_or(|len| len > MOST) => Memory { data: ptr::null_mut(), len: 0 },
            Data::Null => Memory { data: ptr::null_mut(), len: 0 },
            Data::Own(offset) => self.own(heap, len.unwrap_or(0), offset),
            Data::Shared { operand, offset } => match operands.get(operand) {
                Some(other) if offset + len.unwrap_or(0) <= other.len => {
                    Memory { data: other.data.wrapping_add(offset), len: len.unwrap_or(0) }
                }
                _ => self.own(heap, len.unwrap_or(0), 0),
            },
        };
        operands.push(memory);
        if self.null {
            return ptr::null_mut();
        }
        let buffer = sys::XLA_FFI_Buffer {
            struct_size: self.struct_size,
            extension_start: ptr::null_mut(),
            dtype: self.dtype,
            data: memory.data.cast(),
            rank: stated,
            dims: self.dims.as_ref().map_or(ptr::null_mut(), |dims| heap.slice(dims)),
        };
        heap.claimed(buffer, self.struct_size).cast()
    }

    /// The bytes that dtype and shape imply; `None` where there is no such array.
    fn bytes(&self, dims: &[i64]) -> Option<usize> {
        let count = dims.iter().try_fold(1usize, |count, &dim| count.checked_mul(usize::try_from(dim).ok()?))?;
        // An unknown dtype has elements of whatever size: none may be read.
        DType::from_code(self.dtype).map_or(Some(0), |dtype| dtype.size_in_bytes(count))
    }

    fn own(&self, heap: &mut Heap, len: usize, offset: usize) -> Memory {
        if len == 0 {
            return Memory { data: heap.bytes(0).wrapping_add(offset), len: 0 };
        }
        let data = heap.bytes(len + offset).wrapping_add(offset);
        let small = self.dtype == DType::Pred.code() && !self.seed.is_multiple_of(8);
        let mut random = self.seed;
        for index in 0..len {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let byte = (random >> 56) as u8;
            // SAFETY: inside the block.
            unsafe { data.add(index).write(if small { byte & 1 } else { byte }) };
        }
        Memory { data, len }
    }
}

impl Attrs {
    fn build(&self, heap: &mut Heap) -> sys::XLA_FFI_Attrs {
        let mut order: Vec<_> = self.entries.iter().collect();
        if self.sorted {
            order.sort_by(|a, b| a.name.bytes().cmp(b.name.bytes()));
        }
        let (mut types, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for attr in order {
            let (kind, value) = match &attr.value {
                Some(value) => value.build(heap),
                None => (sys::XLA_FFI_AttrType_SCALAR, ptr::null_mut()),
            };
            types.push(attr.kind.unwrap_or(kind));
            values.push(value);
            names.push(match &attr.name {
                Text::NullSpan => ptr::null_mut(),
                name => {
                    let span = name.build(heap);
                    heap.value(span)
                }
            });
        }
        let null = |bit: u8| self.nulls & bit != 0;
        sys::XLA_FFI_Attrs {
            struct_size: self.struct_size,
            extension_start: ptr::null_mut(),
            // More than there are would be a lie about memory, unless no memory could hold them.
            size: self.size.unwrap_or(types.len() as i64),
            types: if null(1) { ptr::null_mut() } else { heap.slice(&types) },
            names: if null(2) { ptr::null_mut() } else { heap.slice(&names) },
            attrs: if null(4) { ptr::null_mut() } else { heap.slice(&values) },
        }
    }
}

impl Text {
    fn bytes(&self) -> &[u8] {
        if let Text::Bytes(bytes) = self { bytes } else { &[] }
    }

    fn build(&self, heap: &mut Heap) -> sys::XLA_FFI_ByteSpan {
        match self {
            Text::NullSpan => sys::XLA_FFI_ByteSpan { ptr: ptr::null(), len: 0 },
            Text::NullData(len) => sys::XLA_FFI_ByteSpan { ptr: ptr::null(), len: *len },
            Text::Bytes(bytes) => sys::XLA_FFI_ByteSpan { ptr: heap.slice(bytes).cast(), len: bytes.len() },
        }
    }
}

impl Value {
    fn build(&self, heap: &mut Heap) -> (u32, *mut c_void) {
        match self {
            Value::Scalar { dtype, bytes } => {
                let value = bytes.as_ref().map_or(ptr::null_mut(), |bytes| heap.slice(bytes).cast());
                (sys::XLA_FFI_AttrType_SCALAR, heap.value(sys::XLA_FFI_Scalar { dtype: *dtype, value }).cast())
            }
            Value::Array { dtype, count, size, bytes, offset } => {
                let data = bytes.as_ref().map_or(ptr::null_mut(), |bytes| {
                    let data = heap.bytes(bytes.len() + offset).wrapping_add(*offset);
                    if !bytes.is_empty() {
                        // SAFETY: as many bytes behind the offset.
                        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len()) };
                    }
                    data.cast()
                });
                let array = sys::XLA_FFI_Array { dtype: *dtype, size: size.unwrap_or(*count), data };
                (sys::XLA_FFI_AttrType_ARRAY, heap.value(array).cast())
            }
            Value::String(text) => {
                let span = text.build(heap);
                (sys::XLA_FFI_AttrType_STRING, heap.value(span).cast())
            }
            Value::Dict(attrs) => {
                let claimed = attrs.struct_size;
                let attrs = attrs.build(heap);
                (sys::XLA_FFI_AttrType_DICTIONARY, heap.claimed(attrs, claimed).cast())
            }
        }
    }
}
