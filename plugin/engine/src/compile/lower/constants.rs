//! Constants, created once, at compile time.

use std::sync::Arc;

use oxcall::Error;
use oxcall_hlo::Literal;
use oxcall_kernels::memory::{Allocator, Buffer};

/// A buffer with the elements of `literal`.
pub(crate) fn materialise(allocator: &Arc<Allocator>, literal: &Literal) -> Result<Buffer, Error> {
    let Some(element) = literal.splat_element() else { return Buffer::copy_of(allocator, literal.data()) };
    let mut buffer = Buffer::allocate(allocator, literal.ty().byte_size())?;
    oxcall_kernels::kernels::fill::fill(buffer.as_bytes_mut(), element);
    Ok(buffer)
}
