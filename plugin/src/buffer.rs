//! Buffers of the plugin's devices.

use std::fmt;

use oxcall::DType;
use oxcall_engine::IoSpec;
use oxcall_hlo::{ElementType as Hlo, TensorType};
use oxcall_pjrt::{DeviceId, ElementType, Error, Event, HostDestination, Layout, MemoryId, Result, TensorSpec};

use crate::arrays::contents::Contents;
use crate::arrays::unpadded;
use crate::devices::MemoryKind;

/// A tensor, which may not be there yet.
pub(crate) struct CpuBuffer {
    element: ElementType,
    dims: Vec<i64>,
    /// `None` if it is row-major.
    layout: Option<Layout>,
    bytes: usize,
    device: DeviceId,
    memory: MemoryId,
    contents: Contents,
    /// The dynamic dimensions, in order.
    dynamic: Vec<usize>,
    /// Their sizes, scalars of `S32`, which are there when the contents are.
    sizes: Vec<Contents>,
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
            None => (ElementType::new(DType::Token), Vec::new(), 0),
        };
        let (dynamic, sizes) = Default::default();
        Ok(CpuBuffer { element, dims, layout: None, bytes, device, memory, contents, dynamic, sizes })
    }

    /// A buffer for what a program takes or gives, in a memory of `device`.
    pub(crate) fn of_spec(spec: &TensorSpec, device: DeviceId, contents: Contents) -> CpuBuffer {
        let TensorSpec { element_type, dims, layout, memory_kind } = spec;
        let count: i64 = dims.iter().product();
        CpuBuffer {
            element: *element_type,
            dims: dims.clone(),
            layout: (!layout.is_row_major()).then(|| layout.clone()),
            bytes: count as usize * element_type.host_size(),
            device,
            memory: MemoryKind::named(memory_kind).unwrap_or_default().of(device),
            contents,
            dynamic: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// The same with its elements in the order of `layout`, if there is one, which fits the dimensions.
    pub(crate) fn with_layout(self, layout: Option<Layout>) -> CpuBuffer {
        CpuBuffer { layout, ..self }
    }

    /// The same with one more dynamic dimension, after those that it has, and its size.
    pub(crate) fn with_size(mut self, dim: usize, size: Contents) -> CpuBuffer {
        self.dynamic.push(dim);
        self.sizes.push(size);
        self
    }

    /// A buffer like this one with other contents.
    pub(crate) fn with_contents(&self, contents: Contents) -> CpuBuffer {
        CpuBuffer { contents, ..self.elsewhere(self.device, self.memory) }
    }

    /// The same contents as a buffer of another device or memory.
    pub(crate) fn elsewhere(&self, device: DeviceId, memory: MemoryId) -> CpuBuffer {
        CpuBuffer {
            dims: self.dims.clone(),
            layout: self.layout.clone(),
            contents: self.contents.clone(),
            dynamic: self.dynamic.clone(),
            sizes: self.sizes.clone(),
            device,
            memory,
            ..*self
        }
    }

    /// Whether it can be this parameter of a program. JAX gives an array of no booleans for a token.
    pub(crate) fn is_of(&self, spec: &TensorSpec) -> bool {
        let dtypes = (spec.element_type.dtype(), self.element.dtype());
        if dtypes == (Some(DType::Token), Some(DType::Pred)) {
            return self.dims == [0];
        }
        let layout = self.layout.as_ref();
        self.element == spec.element_type
            && self.dims == spec.dims
            && layout.map_or(spec.layout.is_row_major(), |layout| *layout == spec.layout)
    }

    /// The size of a dynamic dimension.
    pub(crate) fn size(&self, dim: usize) -> Option<&Contents> {
        let place = self.dynamic.iter().position(|&each| each == dim)?;
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

/// The type in programs of a buffer with these elements and dimensions, which are not negative.
///
/// # Errors
/// UNIMPLEMENTED for elements that programs do not have.
pub(crate) fn tensor_type(element: ElementType, dims: &[i64]) -> Result<TensorType> {
    let hlo = element
        .dtype()
        .and_then(Hlo::from_dtype)
        .ok_or_else(|| Error::unimplemented(format!("buffers of element type {element} are not supported")))?;
    Ok(TensorType::new(hlo, dims.iter().map(|&dim| dim as usize)))
}

/// The type alone, such as `f32[2, 3]`: messages have it.
impl fmt::Debug for CpuBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element)?;
        for (dim, size) in self.dims.iter().enumerate() {
            let bound = if self.dynamic.contains(&dim) { "<=" } else { "" };
            write!(f, "{}{bound}{size}", if dim == 0 { "" } else { ", " })?;
        }
        f.write_str("]")?;
        self.layout.as_ref().map_or(Ok(()), |layout| write!(f, " in the layout {layout}"))
    }
}

impl oxcall_pjrt::Buffer for CpuBuffer {
    fn element_type(&self) -> ElementType {
        self.element
    }

    fn dims(&self) -> &[i64] {
        &self.dims
    }

    fn dynamic_dims(&self) -> &[usize] {
        &self.dynamic
    }

    fn unpadded_dims(&self) -> Result<Vec<i64>> {
        let mut dims = self.dims.clone();
        for (&dim, size) in self.dynamic.iter().zip(&self.sizes) {
            dims[dim] = i64::from(unpadded::read_size(size)?);
        }
        Ok(dims)
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
        self.contents.event().clone()
    }

    fn copy_to_host(&self, mut destination: HostDestination) -> Event {
        Event::completed(self.contents.get().and_then(|buffer| {
            let dense;
            let bytes = if self.dynamic.is_empty() {
                buffer.as_bytes()
            } else {
                let (layout, unpadded) = (self.layout(), self.unpadded_dims()?);
                dense = unpadded::dense(buffer.as_bytes(), &self.dims, &unpadded, &layout, self.element.host_size())?;
                &dense[..]
            };
            match &self.layout {
                Some(layout) => destination.write_layout(bytes, layout),
                None => {
                    destination.write(bytes);
                    Ok(())
                }
            }
        }))
    }

    fn is_on_cpu(&self) -> bool {
        true
    }

    fn address(&self) -> Result<usize> {
        self.contents.address()
    }
}
