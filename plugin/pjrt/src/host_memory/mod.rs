//! Host memory that a client lends for a transfer.
//!
//! The addresses and strides are the client's; this module is where they become Rust.

mod lent;
mod strided;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub use lent::LentMemory;
use strided::{Strided, copy};

use crate::{ElementType, Error, Event, Layout, Promise, Result};

/// A tensor in host memory that a device reads: elements at any distances, also negative ones.
///
/// Elements smaller than a byte take a byte each.
pub struct HostSource<'a> {
    data: *const u8,
    element_type: ElementType,
    shape: Shape,
    byte_strides: Vec<i64>,
    /// There if the client leaves the memory alone until told.
    lease: Option<Arc<Lease>>,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: the memory is only read, and the client keeps it unchanged for `'a`.
unsafe impl Send for HostSource<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostSource<'_> {}

/// Dimensions whose product is known to fit.
#[derive(Clone)]
struct Shape {
    dims: Vec<i64>,
    bytes: usize,
}

impl Shape {
    fn new(element_type: ElementType, dims: &[i64]) -> Result<Shape> {
        let product = dims.iter().try_fold(element_type.host_size() as i64, |product, &dim| match dim {
            0.. => product.checked_mul(dim),
            _ => None,
        });
        let bytes = product.and_then(|bytes| isize::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| {
            Error::invalid_argument(format!(
                "invalid dimensions {dims:?}: one is negative, or the array is larger than memory can be"
            ))
        })?;
        Ok(Shape { dims: dims.to_vec(), bytes: bytes as usize })
    }
}

/// Tells the client that its memory is no longer used when the last holder is gone.
struct Lease(Option<Promise>);

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(promise) = self.0.take() {
            promise.complete(Ok(()));
        }
    }
}

impl<'a> HostSource<'a> {
    /// The tensor at `data`. With `lease`, it may be kept; the returned event completes when its last holder is gone.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for impossible dimensions and counts of strides that differ from that of dimensions.
    ///
    /// # Safety
    /// All elements are readable and unchanged for `'a`, and with `lease` until the event completes.
    pub(crate) unsafe fn from_raw(
        data: *const u8,
        element_type: ElementType,
        dims: &[i64],
        byte_strides: Option<&[i64]>,
        lease: bool,
    ) -> Result<(HostSource<'a>, Event)> {
        let shape = Shape::new(element_type, dims)?;
        let byte_strides = match byte_strides {
            Some(strides) if strides.len() != dims.len() => {
                return Err(Error::invalid_argument(format!(
                    "expected {} byte strides, one for each of the dimensions {dims:?}; got {}",
                    dims.len(),
                    strides.len()
                )));
            }
            Some(strides) => strides.to_vec(),
            None => Layout::row_major(dims.len()).byte_strides(dims, element_type.host_size())?,
        };
        if data.is_null() && shape.bytes != 0 {
            return Err(Error::invalid_argument("the host buffer is null, but the array is not empty"));
        }
        let (lease, event) = if lease {
            let (promise, event) = Event::pending();
            (Some(Arc::new(Lease(Some(promise)))), event)
        } else {
            (None, Event::ready())
        };
        Ok((HostSource { data, element_type, shape, byte_strides, lease, memory: PhantomData }, event))
    }

    /// A dense tensor.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if `bytes` has another length.
    pub fn from_bytes(bytes: &'a [u8], element_type: ElementType, dims: &[i64]) -> Result<HostSource<'a>> {
        // SAFETY: the slice is readable and unchanged for `'a`; its length is checked before anybody reads.
        let (source, _) = unsafe { HostSource::from_raw(bytes.as_ptr(), element_type, dims, None, false) }?;
        if source.len() != bytes.len() {
            let message = format!("{element_type}{dims:?} takes {} bytes, got {}", source.len(), bytes.len());
            return Err(Error::invalid_argument(message));
        }
        Ok(source)
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The dimensions; none is negative.
    pub fn dims(&self) -> &[i64] {
        &self.shape.dims
    }

    /// The distance in bytes of neighbours along each dimension.
    pub fn byte_strides(&self) -> &[i64] {
        &self.byte_strides
    }

    /// Bytes of all elements together.
    #[allow(clippy::len_without_is_empty, reason = "a size in bytes")]
    pub fn len(&self) -> usize {
        self.shape.bytes
    }

    /// The bytes, if the elements lie in row-major order without gaps.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        let mut expected = self.element_type.host_size() as i64;
        let dense = self.shape.bytes == 0
            || self.shape.dims.iter().zip(&self.byte_strides).rev().all(|(&dim, &stride)| {
                let fits = dim == 1 || stride == expected;
                expected *= dim;
                fits
            });
        if self.shape.bytes == 0 {
            return Some(&[]);
        }
        // SAFETY: the elements, which are readable, make up exactly these bytes.
        dense.then(|| unsafe { std::slice::from_raw_parts(self.data, self.shape.bytes) })
    }

    /// Copies all elements into `out` in row-major order.
    ///
    /// # Panics
    /// If `out` is not [`len`](HostSource::len) bytes long.
    pub fn copy_to(&self, out: &mut [u8]) {
        assert_eq!(out.len(), self.len(), "the copy takes as many bytes as the source has");
        let size = self.element_type.host_size();
        let strides = Layout::row_major(self.shape.dims.len()).byte_strides(&self.shape.dims, size);
        self.copy_strided(out, &strides.expect("row-major has strides"));
    }

    /// Copies all elements into `out` in the order of `layout`.
    ///
    /// # Errors
    /// If `layout` does not fit, or has tiles.
    ///
    /// # Panics
    /// If `out` is not [`len`](HostSource::len) bytes long.
    pub fn copy_to_layout(&self, out: &mut [u8], layout: &Layout) -> Result<()> {
        assert_eq!(out.len(), self.len(), "the copy takes as many bytes as the source has");
        let strides = layout.byte_strides(&self.shape.dims, self.element_type.host_size())?;
        self.copy_strided(out, &strides);
        Ok(())
    }

    fn copy_strided(&self, out: &mut [u8], strides: &[i64]) {
        // SAFETY: the source's elements are readable, and the strides are dense, so they stay within `out`, whose
        // length was checked.
        unsafe {
            copy(
                &self.shape.dims,
                self.element_type.host_size(),
                Strided { data: self.data, byte_strides: &self.byte_strides },
                Strided { data: out.as_mut_ptr(), byte_strides: strides },
            );
        }
    }

    /// The same tensor for as long as the caller wants, if the client agreed to leave it unchanged until it is told; it
    /// is told when the result is dropped. Otherwise the source comes back.
    ///
    /// # Errors
    /// The source itself.
    pub fn keep(self) -> Result<HostSource<'static>, HostSource<'a>> {
        let HostSource { data, element_type, shape, byte_strides, lease, .. } = self;
        let memory = PhantomData;
        match lease {
            lease @ Some(_) => Ok(HostSource { data, element_type, shape, byte_strides, lease, memory }),
            None => Err(HostSource { data, element_type, shape, byte_strides, lease, memory: PhantomData }),
        }
    }
}

impl fmt::Debug for HostSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSource")
            .field("element_type", &self.element_type)
            .field("dims", &self.shape.dims)
            .field("byte_strides", &self.byte_strides)
            .finish_non_exhaustive()
    }
}

/// Host memory that receives a tensor from a device. Dropping it ends its use.
///
/// Elements smaller than a byte take a byte each.
pub struct HostDestination {
    data: *mut u8,
    element_type: ElementType,
    shape: Shape,
    byte_strides: Vec<i64>,
}

// SAFETY: the memory is exclusively ours until the transfer is over.
unsafe impl Send for HostDestination {}
// SAFETY: shared references give no access to the memory.
unsafe impl Sync for HostDestination {}

impl HostDestination {
    /// The tensor at `data`, dense in the order of `layout`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for impossible dimensions, if the layout does not fit, or if `size` bytes are too few.
    ///
    /// # Safety
    /// `size` bytes at `data` are writable and used by no other code until the value is dropped.
    pub(crate) unsafe fn from_raw(
        data: *mut u8,
        size: usize,
        element_type: ElementType,
        dims: &[i64],
        layout: &Layout,
    ) -> Result<HostDestination> {
        let shape = Shape::new(element_type, dims)?;
        let byte_strides = layout.byte_strides(dims, element_type.host_size())?;
        if size < shape.bytes {
            let message = format!("the host buffer has {size} bytes, but {element_type}{dims:?} takes {}", shape.bytes);
            return Err(Error::invalid_argument(message));
        }
        Ok(HostDestination { data, element_type, shape, byte_strides })
    }

    /// Bytes that a dense tensor takes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for impossible dimensions.
    pub(crate) fn size_of(element_type: ElementType, dims: &[i64]) -> Result<usize> {
        Ok(Shape::new(element_type, dims)?.bytes)
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The dimensions.
    pub fn dims(&self) -> &[i64] {
        &self.shape.dims
    }

    /// Bytes of all elements together.
    #[allow(clippy::len_without_is_empty, reason = "a size in bytes")]
    pub fn len(&self) -> usize {
        self.shape.bytes
    }

    /// Writes all elements, which `bytes` has in row-major order.
    ///
    /// # Panics
    /// If `bytes` is not [`len`](HostDestination::len) bytes long.
    pub fn write(&mut self, bytes: &[u8]) {
        let layout = Layout::row_major(self.shape.dims.len());
        self.write_layout(bytes, &layout).expect("row-major fits everything");
    }

    /// Writes all elements, which `bytes` has in the order of `layout`.
    ///
    /// # Errors
    /// If `layout` does not fit, or has tiles.
    ///
    /// # Panics
    /// If `bytes` is not [`len`](HostDestination::len) bytes long.
    pub fn write_layout(&mut self, bytes: &[u8], layout: &Layout) -> Result<()> {
        assert_eq!(bytes.len(), self.len(), "the source has as many bytes as the destination takes");
        let size = self.element_type.host_size();
        let strides = layout.byte_strides(&self.shape.dims, size)?;
        // SAFETY: both sides are dense, `bytes` has the right length, and as many bytes are writable and exclusively
        // ours.
        unsafe {
            copy(
                &self.shape.dims,
                size,
                Strided { data: bytes.as_ptr(), byte_strides: &strides },
                Strided { data: self.data, byte_strides: &self.byte_strides },
            );
        }
        Ok(())
    }
}

impl fmt::Debug for HostDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostDestination")
            .field("element_type", &self.element_type)
            .field("dims", &self.shape.dims)
            .field("byte_strides", &self.byte_strides)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
