//! A compiled program, with all that callers may point to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use xla_ffi_sys::pjrt::{PJRT_Buffer_Type, PJRT_Device, PJRT_Executable, PJRT_LoadedExecutable};
use xla_ffi_sys::pjrt_later::PJRT_LogicalDeviceIds;

use super::client_object::ClientObject;
use super::layouts::Layouts;
use super::named_values::NamedValues;
use super::raw::{Object, Pointers, Texts};
use crate::{Client, CompileOptions, Error, Executable, OpSharding, Platform, Result, TensorSpec};

/// The programs of a platform.
pub(super) type ExecutableOf<P> = <<P as Platform>::Client as Client>::Executable;

/// A program, shared by its handles.
pub(super) struct ExecutableObject<P: Platform> {
    pub(super) owner: Arc<ClientObject<P>>,
    pub(super) executable: ExecutableOf<P>,
    /// The serialized `CompileOptionsProto`.
    pub(super) options: Vec<u8>,
    /// Whether each parameter is donated.
    pub(super) donated: Vec<bool>,
    pub(super) output_types: Vec<PJRT_Buffer_Type>,
    /// The dimensions of all results one after the other.
    pub(super) output_dims: Vec<i64>,
    pub(super) output_ranks: Vec<usize>,
    pub(super) output_kinds: Texts,
    pub(super) parameter_kinds: Texts,
    pub(super) output_layouts: Layouts,
    pub(super) parameter_layouts: Layouts,
    /// Serialized `OpSharding`s, if the program has several partitions.
    pub(super) parameter_shardings: Option<Texts>,
    pub(super) output_shardings: Option<Texts>,
    pub(super) program: OnceLock<(String, Vec<u8>)>,
    pub(super) fingerprint: OnceLock<Vec<u8>>,
    pub(super) cost_analysis: OnceLock<NamedValues>,
}

/// The object behind a `PJRT_Executable`.
pub(super) struct ExecutableHandle<P: Platform>(pub(super) Arc<ExecutableObject<P>>);

// SAFETY: pointers to executables are made of `ExecutableHandle` only.
unsafe impl<P: Platform> Object for ExecutableHandle<P> {
    type Raw = PJRT_Executable;
}

/// The object behind a `PJRT_LoadedExecutable`.
pub(super) struct LoadedObject<P: Platform> {
    pub(super) shared: Arc<ExecutableObject<P>>,
    deleted: AtomicBool,
    /// The addressable devices, as places in the client's list, in the order of the assignment.
    pub(super) devices: Vec<usize>,
    pub(super) device_pointers: Pointers<PJRT_Device>,
    pub(super) logical_ids: Vec<PJRT_LogicalDeviceIds>,
}

// SAFETY: pointers to loaded executables are made of `LoadedObject` only.
unsafe impl<P: Platform> Object for LoadedObject<P> {
    type Raw = PJRT_LoadedExecutable;
}

impl<P: Platform> LoadedObject<P> {
    pub(super) fn new(
        owner: &Arc<ClientObject<P>>,
        executable: ExecutableOf<P>,
        options: &CompileOptions,
    ) -> Result<LoadedObject<P>> {
        let assignment = executable.device_assignment();
        let (mut devices, mut logical_ids) = (Vec::new(), Vec::new());
        for (index, &id) in assignment.devices.iter().enumerate() {
            let device = owner.device(id)?;
            if device.addressable {
                let (replica, partition) = assignment.logical_ids(index);
                devices.push(device.index);
                logical_ids.push(PJRT_LogicalDeviceIds { replica: replica as i32, partition: partition as i32 });
            }
        }
        let (parameters, outputs) = (executable.parameters(), executable.outputs());
        let kinds = |specs: &[TensorSpec]| specs.iter().map(|spec| spec.memory_kind.clone()).collect::<Texts>();
        let layouts = |specs: &[TensorSpec]| specs.iter().map(|spec| spec.shape.layout.clone()).collect::<Layouts>();
        let shardings = |shardings: Option<&[OpSharding]>| Some(shardings?.iter().map(OpSharding::serialize).collect());
        let mut donated = vec![false; parameters.len()];
        executable.donated_parameters().iter().for_each(|&index| donated[index] = true);
        let shared = Arc::new(ExecutableObject {
            donated,
            output_types: outputs.iter().map(|spec| spec.shape.element_type.0).collect(),
            output_dims: outputs.iter().flat_map(|spec| spec.shape.dims.iter().copied()).collect(),
            output_ranks: outputs.iter().map(|spec| spec.shape.dims.len()).collect(),
            output_kinds: kinds(outputs),
            parameter_kinds: kinds(parameters),
            output_layouts: layouts(outputs),
            parameter_layouts: layouts(parameters),
            parameter_shardings: shardings(executable.parameter_shardings()),
            output_shardings: shardings(executable.output_shardings()),
            owner: owner.clone(),
            executable,
            options: options.bytes.clone(),
            program: OnceLock::new(),
            fingerprint: OnceLock::new(),
            cost_analysis: OnceLock::new(),
        });
        Ok(LoadedObject {
            device_pointers: devices.iter().map(|&place| owner.devices[place].as_raw()).collect(),
            shared,
            deleted: AtomicBool::new(false),
            devices,
            logical_ids,
        })
    }

    pub(super) fn delete(&self) {
        self.deleted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If the program was deleted.
    pub(super) fn check_alive(&self) -> Result<()> {
        if self.is_deleted() {
            return Err(Error::invalid_argument("Execute() called on deleted executable"));
        }
        Ok(())
    }
}

/// A value that is made once, if that succeeds.
pub(super) fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let made = make()?;
        // Another thread may have been faster; what callers point to must not change.
        let _ = cell.set(made);
    }
    Ok(cell.get().expect("was just set"))
}
