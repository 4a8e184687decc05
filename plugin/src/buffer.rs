//! Buffers of the plugin's devices.

use std::fmt;
use std::sync::Arc;

use oxcall::DType;
use oxcall_engine::IoSpec;
use oxcall_hlo::ElementType as Hlo;
use oxcall_pjrt::{DeviceId, ElementType, Error, Event, HostDestination, Layout, MemoryId, Result, Shape};

use crate::arrays::contents::Contents;
use crate::arrays::unpadded;

/// A tensor, which may not be there yet.
pub(crate) struct CpuBuffer {
    shape: Arc<Shape>,
    device: DeviceId,
    memory: MemoryId,
    contents: Contents,
    /// The sizes of dynamic dimensions, scalars of `S32`, which are there when the contents are.
    sizes: Vec<Contents>,
}

impl CpuBuffer {
    /// A buffer of this shape, without sizes of dynamic dimensions.
    pub(crate) fn new(shape: Arc<Shape>, device: DeviceId, memory: MemoryId, contents: Contents) -> CpuBuffer {
        CpuBuffer { shape, device, memory, contents, sizes: Vec::new() }
    }

    /// Adds the size of the next dynamic dimension.
    pub(crate) fn push_size(&mut self, size: Contents) {
        self.sizes.push(size);
    }

    /// A buffer like this one with other contents.
    pub(crate) fn with_contents(&self, contents: Contents) -> CpuBuffer {
        CpuBuffer { contents, ..self.elsewhere(self.device, self.memory) }
    }

    /// The same contents as a buffer of another device or memory.
    pub(crate) fn elsewhere(&self, device: DeviceId, memory: MemoryId) -> CpuBuffer {
        CpuBuffer {
            shape: self.shape.clone(),
            contents: self.contents.clone(),
            sizes: self.sizes.clone(),
            device,
            memory,
        }
    }

    /// Whether it can be a parameter of this shape, dynamic dimensions aside. JAX gives an array of no booleans for a
    /// token.
    pub(crate) fn is_of(&self, parameter: &Shape) -> bool {
        let shape = &*self.shape;
        if shape.element_type != parameter.element_type {
            let dtypes = (parameter.element_type.dtype(), shape.element_type.dtype());
            return dtypes == (Some(DType::Token), Some(DType::Pred)) && shape.dims == [0];
        }
        std::ptr::eq(shape, parameter) || (shape.dims == parameter.dims && shape.layout == parameter.layout)
    }

    /// The size of a dynamic dimension.
    pub(crate) fn size(&self, dim: usize) -> Option<&Contents> {
        let place = self.shape.dynamic_dims.iter().position(|&each| each == dim)?;
        self.sizes.get(place)
    }

    /// The contents.
    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The contents of a buffer without other holders.
    pub(crate) fn into_contents(self) -> Contents {
        self.contents
    }
}

/// The layout of a program's parameter or result; `None` if it is row-major.
pub(crate) fn layout(io: &IoSpec) -> Option<Layout> {
    let major_to_minor = io.major_to_minor.as_ref()?;
    Some(Layout { minor_to_major: major_to_minor.iter().rev().map(|&dim| dim as i64).collect(), tiles: Vec::new() })
}

/// The type of buffers with elements of a program's type.
///
/// # Errors
/// UNIMPLEMENTED for element types without buffers.
pub(crate) fn element_type(element: Hlo) -> Result<ElementType> {
    element.dtype().map(ElementType::new).ok_or_else(|| {
        Error::unimplemented(format!(
            "buffers of element type {element} are not supported; the type exists inside programs only"
        ))
    })
}

/// The element type in programs of a buffer with these elements.
///
/// # Errors
/// UNIMPLEMENTED for elements that programs do not have.
pub(crate) fn program_element(element: ElementType) -> Result<Hlo> {
    let unsupported = || Error::unimplemented(format!("buffers of element type {element} are not supported"));
    element.dtype().and_then(Hlo::from_dtype).ok_or_else(unsupported)
}

/// The shape of an array of a client; row-major without a layout.
pub(crate) fn shape(element_type: ElementType, dims: &[i64], layout: Option<&Layout>) -> Arc<Shape> {
    let layout = layout.cloned().unwrap_or_else(|| Layout::row_major(dims.len()));
    Arc::new(Shape { element_type, dims: dims.to_vec(), dynamic_dims: Vec::new(), layout })
}

/// The type alone, such as `f32[2, 3]`: messages have it.
impl fmt::Debug for CpuBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { element_type, dims, dynamic_dims, layout } = &*self.shape;
        write!(f, "{element_type}[")?;
        for (dim, size) in dims.iter().enumerate() {
            let bound = if dynamic_dims.contains(&dim) { "<=" } else { "" };
            write!(f, "{}{bound}{size}", if dim == 0 { "" } else { ", " })?;
        }
        f.write_str("]")?;
        if layout.is_row_major() { Ok(()) } else { write!(f, " in the layout {layout}") }
    }
}

impl oxcall_pjrt::Buffer for CpuBuffer {
    fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    fn unpadded_dims(&self) -> Result<Vec<i64>> {
        let mut dims = self.shape.dims.clone();
        for (&dim, size) in self.shape.dynamic_dims.iter().zip(&self.sizes) {
            dims[dim] = i64::from(unpadded::read_size(size)?);
        }
        Ok(dims)
    }

    fn device(&self) -> DeviceId {
        self.device
    }

    fn memory(&self) -> MemoryId {
        self.memory
    }

    fn size_in_bytes(&self) -> Result<usize> {
        Ok(self.shape.dims.iter().product::<i64>() as usize * self.shape.element_type.host_size())
    }

    fn ready_event(&self) -> Event {
        self.contents.event().clone()
    }

    fn copy_to_host(&self, mut destination: HostDestination) -> Event {
        Event::completed(self.contents.get().and_then(|buffer| {
            let Shape { element_type, dims, dynamic_dims, layout } = &*self.shape;
            let dense;
            let bytes = if dynamic_dims.is_empty() {
                buffer.as_bytes()
            } else {
                let unpadded = self.unpadded_dims()?;
                dense = unpadded::dense(buffer.as_bytes(), dims, &unpadded, layout, element_type.host_size())?;
                &dense[..]
            };
            if layout.is_row_major() {
                destination.write(bytes);
                return Ok(());
            }
            destination.write_layout(bytes, layout)
        }))
    }

    fn is_on_cpu(&self) -> bool {
        true
    }

    fn address(&self) -> Result<usize> {
        self.contents.address()
    }
}
