//! Buffers as the server holds them: with their deletion and their external references.

use std::sync::{Arc, OnceLock};

use xla_ffi_sys::pjrt::PJRT_Buffer;

use super::client_object::{ClientObject, Owned};
use super::layouts::LayoutArrays;
use super::raw::Object;
use crate::sync::{Mutex, MutexGuard};
use crate::{Buffer, Client, Error, Event, Platform, Result, Shape};

/// The buffers of a platform.
pub(super) type BufferOf<P> = <<P as Platform>::Client as Client>::Buffer;

/// The object behind a `PJRT_Buffer`. After deletion, every query but those of the contents still works.
pub(super) struct BufferObject<P: Platform> {
    pub(super) owner: Arc<ClientObject<P>>,
    pub(super) shape: Arc<Shape>,
    /// The sizes of dynamic dimensions, read at the first query.
    unpadded: OnceLock<Box<[i64]>>,
    /// Places in the client's lists.
    pub(super) device: usize,
    pub(super) memory: usize,
    pub(super) is_on_cpu: bool,
    pub(super) ready: Event,
    pub(super) layout_arrays: OnceLock<Box<LayoutArrays>>,
    cell: Mutex<Cell<BufferOf<P>>>,
}

// SAFETY: pointers to buffers are made of `BufferObject` only.
unsafe impl<P: Platform> Object for BufferObject<P> {
    type Raw = PJRT_Buffer;
}

impl<P: Platform> Owned<P> for BufferObject<P> {
    fn belongs_to(&self, client: &ClientObject<P>) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.owner), client)
    }

    fn client(&self) -> Option<Arc<ClientObject<P>>> {
        Some(self.owner.clone())
    }

    fn name(&self) -> String {
        format!("the buffer {}{:?}", self.shape.element_type, self.shape.dims)
    }
}

/// The part of a buffer that changes.
pub(super) struct Cell<B> {
    /// `None` after deletion or donation.
    buffer: Option<Arc<B>>,
    external_references: usize,
    /// Keeps the memory for as long as there are external references, also after deletion.
    held: Option<Arc<B>>,
}

impl<B> Cell<B> {
    /// The buffer, if it is not deleted.
    pub(super) fn get(&self) -> Option<&Arc<B>> {
        self.buffer.as_ref()
    }

    /// Whether an external reference reads the memory, which must not be given away then.
    pub(super) fn is_shared(&self) -> bool {
        self.external_references > 0
    }

    /// The buffer, which is deleted from now on.
    pub(super) fn take(&mut self) -> Option<Arc<B>> {
        self.buffer.take()
    }

    /// Adds an external reference.
    pub(super) fn increase(&mut self) -> Result<()> {
        let buffer = self.buffer.as_ref().or(self.held.as_ref());
        let deleted = || Error::invalid_argument("AcquireExternalReference() called on deleted or donated buffer");
        self.held = Some(buffer.ok_or_else(deleted)?.clone());
        self.external_references += 1;
        Ok(())
    }

    /// Removes an external reference; returns the buffer to drop after the lock is released.
    pub(super) fn decrease(&mut self) -> Result<Option<Arc<B>>> {
        let none =
            || Error::invalid_argument("Attempting to decrease reference on a buffer with zero reference count.");
        self.external_references = self.external_references.checked_sub(1).ok_or_else(none)?;
        Ok(if self.external_references == 0 { self.held.take() } else { None })
    }
}

impl<P: Platform> BufferObject<P> {
    /// The places of a buffer's device and memory in the client's lists.
    ///
    /// # Errors
    /// If one of them is not the client's.
    pub(super) fn places(owner: &ClientObject<P>, buffer: &BufferOf<P>) -> Result<(usize, usize)> {
        let device = owner.device(buffer.device())?.index;
        let memory = buffer.memory();
        let memory = owner.memories.iter().position(|known| known.description.id == memory);
        let missing = || Error::internal("the memory of a buffer is not in the topology");
        Ok((device, memory.ok_or_else(missing)?))
    }

    pub(super) fn new(owner: &Arc<ClientObject<P>>, buffer: BufferOf<P>) -> Result<BufferObject<P>> {
        let (device, memory) = BufferObject::<P>::places(owner, &buffer)?;
        Ok(BufferObject {
            owner: owner.clone(),
            shape: buffer.shape().clone(),
            unpadded: OnceLock::new(),
            device,
            memory,
            is_on_cpu: buffer.is_on_cpu(),
            ready: buffer.ready_event(),
            layout_arrays: OnceLock::new(),
            cell: Mutex::new(Cell { buffer: Some(Arc::new(buffer)), external_references: 0, held: None }),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Cell<BufferOf<P>>> {
        self.cell.lock()
    }

    /// The buffer for an operation that XLA calls `what`.
    pub(super) fn get(&self, what: &str) -> Result<Arc<BufferOf<P>>> {
        let deleted = || Error::invalid_argument(format!("{what} called on deleted or donated buffer"));
        self.lock().get().cloned().ok_or_else(deleted)
    }

    /// The dimensions as they are; waits for the contents if some are dynamic.
    pub(super) fn unpadded_dims(&self) -> Result<&[i64]> {
        if self.shape.dynamic_dims.is_empty() {
            return Ok(&self.shape.dims);
        }
        if let Some(dims) = self.unpadded.get() {
            return Ok(dims);
        }
        let buffer = self.get("logical_dimensions()")?;
        P::wait(&self.ready)?;
        let dims = buffer.unpadded_dims()?;
        Ok(self.unpadded.get_or_init(|| dims.into()))
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.lock().get().is_none()
    }

    pub(super) fn delete(&self) {
        // The memory is freed without the lock.
        let buffer = self.lock().take();
        drop(buffer);
    }
}
