//! Layouts as callers read them: the extension, and the arrays of the older form.

use xla_ffi_sys::pjrt::{
    PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout__bindgen_ty_1, PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
    PJRT_Buffer_MemoryLayout_Tiled, PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE, PJRT_Buffer_MemoryLayout_Type_Tiled,
    PJRT_Layouts_MemoryLayout, PJRT_Layouts_MemoryLayout_Destroy_Args, PJRT_Layouts_MemoryLayout_Serialize_Args,
    PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args, PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args,
    PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args, PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args,
};
use xla_ffi_sys::pjrt_later::PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args;

use super::buffer_object::BufferObject;
use super::client_object::ClientHandle;
use super::executable_object::ExecutableHandle;
use super::limits;
use super::raw::{Object, Pointers, array, object, release};
use super::serialize::Serialized;
use super::slot::slot;
use super::topology::TopologyObject;
use crate::{ElementType, Layout};

// SAFETY: pointers to layouts are made of `Layout` only.
unsafe impl Object for Layout {
    type Raw = PJRT_Layouts_MemoryLayout;
}

/// Layouts that a caller may point to.
pub(super) struct Layouts {
    pointers: Pointers<PJRT_Layouts_MemoryLayout>,
    /// The targets of `pointers`.
    _layouts: Vec<Layout>,
}

impl FromIterator<Layout> for Layouts {
    fn from_iter<I: IntoIterator<Item = Layout>>(layouts: I) -> Layouts {
        let layouts: Vec<Layout> = layouts.into_iter().collect();
        Layouts { pointers: layouts.iter().map(Object::as_raw).collect(), _layouts: layouts }
    }
}

/// A layout as flat arrays.
pub(super) struct LayoutArrays {
    minor_to_major: Vec<i64>,
    tile_dims: Vec<i64>,
    tile_dim_sizes: Vec<usize>,
}

impl LayoutArrays {
    pub(super) fn new(layout: &Layout) -> LayoutArrays {
        LayoutArrays {
            minor_to_major: layout.minor_to_major.clone(),
            tile_dims: layout.tiles.concat(),
            tile_dim_sizes: layout.tiles.iter().map(Vec::len).collect(),
        }
    }

    /// The C struct, which points into this one.
    pub(super) fn raw(&self) -> PJRT_Buffer_MemoryLayout {
        let tiled = PJRT_Buffer_MemoryLayout_Tiled {
            struct_size: PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE as usize,
            extension_start: std::ptr::null_mut(),
            minor_to_major: self.minor_to_major.as_ptr(),
            minor_to_major_size: self.minor_to_major.len(),
            tile_dims: self.tile_dims.as_ptr(),
            tile_dim_sizes: self.tile_dim_sizes.as_ptr(),
            num_tiles: self.tile_dim_sizes.len(),
        };
        PJRT_Buffer_MemoryLayout {
            struct_size: PJRT_Buffer_MemoryLayout_STRUCT_SIZE as usize,
            extension_start: std::ptr::null_mut(),
            __bindgen_anon_1: PJRT_Buffer_MemoryLayout__bindgen_ty_1 { tiled },
            type_: PJRT_Buffer_MemoryLayout_Type_Tiled,
        }
    }
}

slot! {
    /// `PJRT_Layouts_MemoryLayout_Destroy`.
    fn destroy(args: PJRT_Layouts_MemoryLayout_Destroy_Args) {
        release::<Layout>((*args).layout);
        Ok(())
    }

    /// `PJRT_Layouts_MemoryLayout_Serialize`: as XLA's text.
    fn serialize(args: PJRT_Layouts_MemoryLayout_Serialize_Args) {
        let layout: &Layout = object("layout", (*args).layout)?;
        let serialized = Serialized::new(layout.to_string().into_bytes());
        (*args).serialized_bytes = serialized.bytes;
        (*args).serialized_bytes_size = serialized.size;
        (*args).serialized_layout = serialized.holder;
        (*args).serialized_layout_deleter = serialized.deleter;
        Ok(())
    }

    /// `PJRT_Layouts_PJRT_Client_GetDefaultLayout`.
    fn of_client<P>(args: PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args) {
        let ClientHandle::<P>(_) = object("client", (*args).client)?;
        let dims = array("dims", (*args).dims, (*args).num_dims, limits::RANK)?;
        (*args).layout = P::default_layout(ElementType((*args).type_), dims).into_raw();
        Ok(())
    }

    /// `PJRT_Layouts_PJRT_Buffer_MemoryLayout`.
    fn of_buffer<P>(args: PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).layout = buffer.shape.layout.clone().into_raw();
        Ok(())
    }

    /// `PJRT_Layouts_PJRT_Topology_GetDefaultLayout`.
    fn of_topology<P>(args: PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args) {
        let _: &TopologyObject = object("topology", (*args).topology_description)?;
        let dims = array("dims", (*args).dims, (*args).num_dims, limits::RANK)?;
        (*args).layout = P::default_layout(ElementType((*args).type_), dims).into_raw();
        Ok(())
    }

    /// `PJRT_Layouts_PJRT_Executable_GetOutputLayouts`.
    fn of_outputs<P>(args: PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_outputs = shared.output_layouts.pointers.len();
        (*args).layouts = shared.output_layouts.pointers.as_ptr().cast_mut();
        Ok(())
    }

    /// `PJRT_Layouts_PJRT_Executable_GetParameterLayouts`.
    fn of_parameters<P>(args: PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_parameters = shared.parameter_layouts.pointers.len();
        (*args).layouts = shared.parameter_layouts.pointers.as_ptr().cast_mut();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::raw;

    #[test]
    fn arrays_read_back() {
        for layout in [
            Layout::row_major(0),
            Layout { minor_to_major: vec![0, 2, 1], tiles: vec![] },
            Layout { minor_to_major: vec![1, 0], tiles: vec![vec![8, 128], vec![2, 1]] },
        ] {
            let arrays = LayoutArrays::new(&layout);
            let c = arrays.raw();
            // SAFETY: the struct points into `arrays`.
            assert_eq!(unsafe { raw::layout(&raw const c, layout.minor_to_major.len()) }.unwrap(), Some(layout));
        }
        // SAFETY: null is no layout.
        assert_eq!(unsafe { raw::layout(std::ptr::null(), 3) }.unwrap(), None);
    }
}
