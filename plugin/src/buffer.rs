//! Buffers of the plugin's devices.

use std::sync::{Arc, OnceLock};

use oxcall_hlo::{ElementType as Hlo, TensorType};
use oxcall_host::{Buffer, passes::Edge};
use oxcall_pjrt::{DeviceId, ElementType, Error, Event, HostDestination, Layout, MemoryId, Promise, Result};

use crate::elements;

/// A tensor, which may not be there yet.
#[derive(Debug)]
pub(crate) struct CpuBuffer {
    element: ElementType,
    dims: Vec<i64>,
    /// `None` if it is row-major.
    layout: Option<Layout>,
    bytes: usize,
    device: DeviceId,
    memory: MemoryId,
    contents: Contents,
}

/// Memory that is filled in once, before `ready` completes without an error.
#[derive(Debug, Clone)]
pub(crate) struct Contents {
    ready: Event,
    cell: Arc<OnceLock<Arc<Buffer>>>,
}

/// What fills in [`Contents`]; if it is dropped, they are an error.
#[derive(Debug)]
pub(crate) struct Filler {
    promise: Promise,
    cell: Arc<OnceLock<Arc<Buffer>>>,
}

impl Contents {
    /// Contents that are there.
    pub(crate) fn ready(buffer: Buffer) -> Contents {
        Contents { ready: Event::ready(), cell: Arc::new(OnceLock::from(Arc::new(buffer))) }
    }

    /// Contents that never will be there.
    pub(crate) fn failed(error: Error) -> Contents {
        Contents { ready: Event::failed(error), cell: Arc::default() }
    }

    /// Contents to come.
    pub(crate) fn pending() -> (Filler, Contents) {
        let (promise, ready) = Event::pending();
        let cell = Arc::<OnceLock<_>>::default();
        (Filler { promise, cell: cell.clone() }, Contents { ready, cell })
    }

    /// Completes when the memory is there, or with the error because of which it never will be.
    pub(crate) fn event(&self) -> &Event {
        &self.ready
    }

    /// [`get`](Contents::get), for a holder that gives its own share up.
    pub(crate) fn take(self) -> Result<Arc<Buffer>> {
        match Arc::try_unwrap(self.cell) {
            Ok(cell) => cell.into_inner().ok_or_else(not_ready),
            Err(cell) => cell.get().cloned().ok_or_else(not_ready),
        }
    }

    /// The memory, once [`event`](Contents::event) completed without an error.
    pub(crate) fn get(&self) -> Result<Arc<Buffer>> {
        self.cell.get().cloned().ok_or_else(not_ready)
    }
}

fn not_ready() -> Error {
    Error::failed_precondition("the buffer is not ready")
}

impl Filler {
    /// Fills in the memory, or says why there is none.
    pub(crate) fn fill(self, contents: Result<Buffer>) {
        self.promise.complete(contents.map(|buffer| {
            let _ = self.cell.set(Arc::new(buffer));
        }));
    }
}

impl CpuBuffer {
    /// A buffer of a program's type; `None` is a token.
    ///
    /// # Errors
    /// UNIMPLEMENTED for types that the PJRT C API lacks.
    pub(crate) fn new(
        ty: Option<&TensorType>,
        device: DeviceId,
        memory: MemoryId,
        contents: Contents,
    ) -> Result<CpuBuffer> {
        let (element, dims, bytes) = match ty {
            Some(ty) => (element_type(ty.element)?, ty.dims.iter().map(|&dim| dim as i64).collect(), ty.byte_size()),
            None => (ElementType::TOKEN, Vec::new(), 0),
        };
        Ok(CpuBuffer { element, dims, layout: None, bytes, device, memory, contents })
    }

    /// The same with its elements in the order of `layout`, if there is one, which fits the dimensions.
    pub(crate) fn with_layout(self, layout: Option<Layout>) -> CpuBuffer {
        CpuBuffer { layout, ..self }
    }

    /// The same contents as a buffer of another device or memory.
    pub(crate) fn elsewhere(&self, device: DeviceId, memory: MemoryId) -> CpuBuffer {
        let (dims, layout, contents) = (self.dims.clone(), self.layout.clone(), self.contents.clone());
        CpuBuffer { dims, layout, contents, device, memory, ..*self }
    }

    /// Whether it can be this parameter of a program.
    pub(crate) fn is_of(&self, edge: &Edge) -> bool {
        edge.ty.tensor().map_or(self.element == ElementType::TOKEN, |ty| {
            elements::to_pjrt(ty.element) == Some(self.element)
                && self.dims.iter().copied().eq(ty.dims.iter().map(|&dim| dim as i64))
                && self.layout == layout(edge)
        })
    }

    /// The contents.
    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The contents of a buffer that nobody else has.
    pub(crate) fn into_contents(self) -> Contents {
        self.contents
    }
}

/// The layout of a program's parameter or result; `None` if it is row-major.
pub(crate) fn layout(edge: &Edge) -> Option<Layout> {
    let major_to_minor = edge.major_to_minor.as_ref()?;
    Some(Layout { minor_to_major: major_to_minor.iter().rev().map(|&dim| dim as i64).collect(), tiles: Vec::new() })
}

/// The type of buffers with elements of a program's type.
///
/// # Errors
/// UNIMPLEMENTED where there is none.
pub(crate) fn element_type(element: Hlo) -> Result<ElementType> {
    elements::to_pjrt(element)
        .ok_or_else(|| Error::unimplemented(format!("{element} exists inside programs only: it has no buffers")))
}

/// The type in programs of a buffer with these elements and dimensions, none of which is negative.
///
/// # Errors
/// UNIMPLEMENTED for elements that programs do not have.
pub(crate) fn tensor_type(element: ElementType, dims: &[i64]) -> Result<TensorType> {
    let hlo = elements::to_hlo(element)
        .ok_or_else(|| Error::unimplemented(format!("buffers of {element} are not supported")))?;
    Ok(TensorType::new(hlo, dims.iter().map(|&dim| dim as usize)))
}

impl oxcall_pjrt::Buffer for CpuBuffer {
    fn element_type(&self) -> ElementType {
        self.element
    }

    fn dims(&self) -> &[i64] {
        &self.dims
    }

    fn layout(&self) -> Layout {
        self.layout.clone().unwrap_or_else(|| Layout::row_major(self.dims.len()))
    }

    fn device(&self) -> DeviceId {
        self.device
    }

    fn memory(&self) -> MemoryId {
        self.memory
    }

    fn size_in_bytes(&self) -> Result<usize> {
        Ok(self.bytes)
    }

    fn ready_event(&self) -> Event {
        self.contents.ready.clone()
    }

    fn copy_to_host(&self, mut destination: HostDestination) -> Event {
        Event::completed(self.contents.get().and_then(|buffer| match &self.layout {
            Some(layout) => destination.write_layout(buffer.as_bytes(), layout),
            None => {
                destination.write(buffer.as_bytes());
                Ok(())
            }
        }))
    }

    fn is_on_cpu(&self) -> bool {
        true
    }

    fn address(&self) -> Result<usize> {
        Ok(self.contents.get()?.as_ptr().addr())
    }
}
