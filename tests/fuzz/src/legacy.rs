//! Call descriptors of the legacy API, damaged.

use std::ffi::{c_char, c_void};
use std::ptr;

use arbitrary::{Result, Unstructured};
use oxcall::descriptor::{Handler, Legacy};
use oxcall::legacy::CallBuffers;

use crate::heap::Heap;

/// Largest buffer for which memory is found.
const MOST: usize = 1 << 16;

/// A status of the host, as libstdc++ lays it out.
#[repr(C)]
#[derive(Default)]
struct Status {
    text: usize,
    len: usize,
    local: [u64; 2],
    engaged: u8,
}

impl Drop for Status {
    fn drop(&mut self) {
        #[cfg(feature = "libfuzzer")]
        if self.engaged != 0 && self.text != (&raw const self.local).addr() {
            unsafe extern "C" {
                /// `operator delete(void*)`.
                fn _ZdlPv(data: *mut c_void);
            }
            // SAFETY: the SDK has it from `operator new`, which is there since the fuzzer is in C++.
            unsafe { _ZdlPv(ptr::with_exposed_provenance_mut(self.text)) };
        }
    }
}

/// Writes a descriptor, damages it, and calls with it.
pub(crate) fn fuzz(input: &mut Unstructured<'_>) -> Result<()> {
    let legacy: Vec<&'static Handler> =
        crate::ops::ALL.into_iter().filter(|handler| handler.legacy.is_some()).collect();
    let handler = *input.choose(&legacy)?;
    let mut bytes = if input.ratio(1, 10)? { input.bytes(input.len().min(300))?.to_vec() } else { descriptor(input)? };
    for _ in 0..*input.choose(&[0, 0, 1, 1, 2, 4])? {
        if bytes.is_empty() {
            break;
        }
        let at = input.choose_index(bytes.len())?;
        match input.int_in_range(0..=3)? {
            0 => bytes[at] = input.arbitrary()?,
            1 => bytes[at] = *input.choose(&[0, 1, 2, 4, 8, 0x7f, 0x80, 0xff])?,
            2 => bytes.truncate(at),
            _ => bytes.insert(at, input.arbitrary()?),
        }
    }
    if input.arbitrary()? && bytes.len() >= 8 {
        // With a length that is true the damage is found further on.
        let len = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&len.to_le_bytes());
    }
    call(handler, &bytes, input.arbitrary()?);
    Ok(())
}

fn call(handler: &'static Handler, bytes: &[u8], as_operand: bool) {
    let heap = &mut Heap::default();
    let opaque = heap.slice(bytes);
    let buffers = CallBuffers::of(bytes).ok();
    let sizes = buffers.iter().flat_map(|buffers| buffers.operands.iter().chain(&buffers.results));
    if sizes.into_iter().any(|size| *size > MOST) {
        return;
    }
    let (mut ins, mut outs) = (Vec::new(), Vec::new());
    if let Some(buffers) = &buffers {
        if buffers.descriptor_is_operand {
            ins.push(opaque.cast::<c_void>().cast_const());
        }
        ins.extend(buffers.operands.iter().map(|size| heap.bytes(*size).cast::<c_void>().cast_const()));
        outs.extend(buffers.results.iter().map(|size| heap.bytes(*size).cast::<c_void>()));
    }
    let Some(Legacy { cpu_v2, cpu_v3, gpu_v2, .. }) = handler.legacy else { return };
    let (mut status, tuple) = (Status::default(), buffers.as_ref().is_none_or(|buffers| buffers.results_are_tuple));
    let status: *mut c_void = (&raw mut status).cast();
    let all: Vec<*mut c_void> = ins.iter().map(|data| data.cast_mut()).chain(outs.iter().copied()).collect();
    let out = if tuple { heap.slice(&outs).cast() } else { outs.first().copied().unwrap_or(ptr::null_mut()) };
    let ins = if buffers.is_some() { heap.slice(&ins) } else { ptr::null_mut() };
    let opaque: *const c_char = opaque.cast();
    // SAFETY: the buffers are those that the descriptor states; without a sound one, none are touched.
    crate::quietly(|| unsafe {
        if handler.platform != oxcall::descriptor::HOST {
            gpu_v2(ptr::null_mut(), heap.slice(&all), opaque, bytes.len(), status);
        } else if as_operand && buffers.is_some_and(|buffers| buffers.descriptor_is_operand) {
            cpu_v2(out, ins, status);
        } else {
            cpu_v3(out, ins, opaque, bytes.len(), status);
        }
    });
    assert!(heap.is_intact(), "{}: memory beside a block was written", handler.name);
}

/// A descriptor as `docs/legacy-encoding.md` says.
fn descriptor(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let (operands, results) = (input.int_in_range(0..=4)?, input.int_in_range(0..=2)?);
    let attrs = input.int_in_range(0..=3)?;
    let mut body = Vec::new();
    for _ in 0..operands + results {
        buffer(input, &mut body)?;
    }
    let mut names = ["eps", "flag", "k", "rest"].into_iter();
    for _ in 0..attrs {
        attr(input, names.next().unwrap_or("z"), &mut body, 2)?;
    }
    let tuple = u32::from(results != 1 || input.ratio(1, 8)?);
    let flags = tuple | (u32::from(input.arbitrary::<bool>()?) << 1);
    let mut bytes = b"OXC1".to_vec();
    for word in [24 + body.len() as u32, operands, results, attrs, flags] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(body);
    Ok(bytes)
}

fn buffer(input: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let dtype = if input.ratio(2, 3)? { 11 } else { input.int_in_range(0..=34)? };
    let rank = input.int_in_range(0..=3)?;
    out.extend([dtype, 0, 0, 0]);
    out.extend(u32::to_le_bytes(rank));
    for _ in 0..rank {
        let dim: i64 = *input.choose(&[0, 1, 2, 3, 4, 2, 3, 1 << 40, -1, i64::MAX])?;
        out.extend(dim.to_le_bytes());
    }
    Ok(())
}

fn attr(input: &mut Unstructured<'_>, name: &str, out: &mut Vec<u8>, depth: u32) -> Result<()> {
    let pad = |out: &mut Vec<u8>| out.resize(out.len().next_multiple_of(8), 0);
    let kind = input.int_in_range(1..=if depth > 0 { 4 } else { 1 })?;
    let count: u64 = match kind {
        3 => 1,
        _ => input.int_in_range(0..=2)?,
    };
    let dtype = if matches!(kind, 1 | 3) { *input.choose(&[11u8, 5, 1, 12, 6])? } else { 0 };
    out.extend([kind, dtype, 0, 0]);
    out.extend((name.len() as u32).to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(name.as_bytes());
    pad(out);
    match kind {
        2 => {
            for name in ["a", "b"].into_iter().take(count as usize) {
                attr(input, name, out, depth - 1)?;
            }
        }
        4 => out.extend(vec![b'x'; count as usize]),
        _ => {
            let size = oxcall::DType::from_code(dtype.into()).and_then(|dtype| dtype.size_in_bytes(count as usize));
            out.extend(vec![0; size.unwrap_or(0)]);
        }
    }
    pad(out);
    Ok(())
}
