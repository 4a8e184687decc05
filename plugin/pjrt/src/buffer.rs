//! The interface of a device's buffers.

use std::sync::Arc;

use crate::{DeviceId, ElementType, Event, HostDestination, Layout, MemoryId, Result};

/// The shape of a tensor, as XLA has it. All buffers of one parameter or result can share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The type of the elements.
    pub element_type: ElementType,
    /// The dimensions, with the bounds of those that are dynamic.
    pub dims: Vec<i64>,
    /// The dynamic dimensions, in order: they may be smaller than [`dims`](Shape::dims) says.
    pub dynamic_dims: Vec<usize>,
    /// The order of the elements in the device's memory.
    pub layout: Layout,
}

/// A tensor in the memory of a device. It is freed when it is dropped.
///
/// The server keeps buffers in an `Arc`, and drops its own when a client deletes or donates one; executions that began
/// before keep theirs. Shape and places never change.
pub trait Buffer: Send + Sync + 'static {
    /// The shape.
    fn shape(&self) -> &Arc<Shape>;

    /// The dimensions as they are. Called after [`ready_event`](Buffer::ready_event) completed without an error.
    ///
    /// # Errors
    /// If they are not known.
    fn unpadded_dims(&self) -> Result<Vec<i64>> {
        Ok(self.shape().dims.clone())
    }

    /// The device that it belongs to.
    fn device(&self) -> DeviceId;

    /// The memory where it lies.
    fn memory(&self) -> MemoryId;

    /// Bytes that it takes in the device's memory.
    ///
    /// # Errors
    /// If that is not known.
    fn size_in_bytes(&self) -> Result<usize>;

    /// Completes when the contents are ready, or with the error that keeps them from becoming ready.
    fn ready_event(&self) -> Event;

    /// Copies the contents to the host, without the padding of dynamic dimensions. Called only after
    /// [`ready_event`](Buffer::ready_event) completed without an error.
    ///
    /// The copy is over when the returned event completes; `destination` may be kept until then, and must be dropped
    /// before.
    fn copy_to_host(&self, destination: HostDestination) -> Event;

    /// Whether the host can read the contents at [`address`](Buffer::address).
    fn is_on_cpu(&self) -> bool {
        false
    }

    /// Where the contents lie: a host's address if [`is_on_cpu`](Buffer::is_on_cpu), otherwise whatever the device's
    /// libraries take for one. Called after [`ready_event`](Buffer::ready_event) completed, and valid until the buffer
    /// is dropped.
    ///
    /// # Errors
    /// If there is no such thing.
    fn address(&self) -> Result<usize> {
        Err(crate::Error::unimplemented("buffers of this platform have no address"))
    }
}
