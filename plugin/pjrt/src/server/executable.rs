//! `PJRT_Executable` and `PJRT_LoadedExecutable`, but for execution.

use oxcall_proto::{Reader, Writer};
use xla_ffi_sys::pjrt::{
    PJRT_Client_Compile_Args, PJRT_Compile_Args, PJRT_Executable_DeserializeAndLoad_Args, PJRT_Executable_Destroy_Args,
    PJRT_Executable_Fingerprint_Args, PJRT_Executable_GetCompileOptions_Args,
    PJRT_Executable_GetCompiledMemoryStats_Args, PJRT_Executable_GetCostAnalysis_Args, PJRT_Executable_Name_Args,
    PJRT_Executable_NumOutputs_Args, PJRT_Executable_NumPartitions_Args, PJRT_Executable_NumReplicas_Args,
    PJRT_Executable_OptimizedProgram_Args, PJRT_Executable_OutputDimensions_Args,
    PJRT_Executable_OutputElementTypes_Args, PJRT_Executable_OutputMemoryKinds_Args, PJRT_Executable_Serialize_Args,
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args, PJRT_LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable_Delete_Args, PJRT_LoadedExecutable_Destroy_Args, PJRT_LoadedExecutable_Fingerprint_Args,
    PJRT_LoadedExecutable_GetDeviceAssignment_Args, PJRT_LoadedExecutable_GetExecutable_Args,
    PJRT_LoadedExecutable_IsDeleted_Args, PJRT_Program,
};
use xla_ffi_sys::pjrt_later::{
    PJRT_Executable_DeserializeAndLoad_Args_Later, PJRT_Executable_GetCompiledMemoryStats_Args_Later,
    PJRT_Executable_ParameterMemoryKinds_Args, PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args,
};

use super::client_object::{ClientHandle, ClientObject};
use super::executable_object::{ExecutableHandle, ExecutableObject, LoadedObject, once};
use super::limits;
use super::named_values::NamedValues;
use super::raw::{Object, bytes, object, release, text};
use super::serialize::Serialized;
use super::slot::slot;
use super::topology::TopologyObject;
use crate::options::invalid;
use crate::{Client, CompileOptions, Error, Executable, Platform, Program, Result};

/// Reads options; errors are in XLA's words.
fn parse_options(function: &str, bytes: &[u8]) -> Result<CompileOptions> {
    CompileOptions::parse(bytes)
        .map_err(|error| error.context(format!("{function}: failed to deserialize CompileOptionsProto")))
}

/// The platform's bytes with what tells where they belong.
fn pack<P: Platform>(shared: &ExecutableObject<P>) -> Result<Vec<u8>> {
    let mut writer = Writer::default();
    writer.bytes(1, P::name().as_bytes());
    writer.bytes(2, P::version().as_bytes());
    writer.bytes(3, &shared.options);
    writer.bytes(4, &shared.executable.serialize()?);
    Ok(writer.finish())
}

/// The options and the platform's bytes of what [`pack`] made.
fn unpack<P: Platform>(packed: &[u8]) -> Result<(&[u8], &[u8])> {
    let malformed = |error| invalid(Error::from(error)).context("serialized executable");
    let mut fields = [&[][..]; 4];
    let mut reader = Reader::new(packed);
    while let Some((number, field)) = reader.field().map_err(malformed)? {
        if let Some(slot) = fields.get_mut(number as usize - 1) {
            *slot = field.bytes().map_err(malformed)?;
        }
    }
    let [name, version, options, code] = fields;
    if (name, version) != (P::name().as_bytes(), P::version().as_bytes()) {
        return Err(Error::invalid_argument(format!(
            "the serialized executable is for platform '{}', version '{}'; this is '{}', version '{}': compile the \
             program again",
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(version),
            P::name(),
            P::version()
        )));
    }
    Ok((options, code))
}

fn fingerprint<P: Platform>(shared: &ExecutableObject<P>) -> Result<&[u8]> {
    Ok(once(&shared.fingerprint, || shared.executable.fingerprint())?)
}

/// # Safety
/// `program` is null, or what the C header says.
unsafe fn read_program<'a>(program: *const PJRT_Program) -> Result<Program<'a>> {
    // SAFETY: by the contract above.
    unsafe {
        let program = program.as_ref().ok_or_else(|| Error::invalid_argument("program is null"))?;
        Ok(Program {
            format: text("program format", program.format, program.format_size, limits::NAME)?,
            code: bytes("program", program.code, program.code_size, limits::PROGRAM)?,
        })
    }
}

slot! {
    /// `PJRT_Client_Compile`.
    fn compile<P>(args: PJRT_Client_Compile_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let program = read_program((*args).program)?;
        let options = bytes("compile options", (*args).compile_options, (*args).compile_options_size, limits::PROTO)?;
        let options = parse_options("PJRT_Client_Compile", options)?;
        let executable = owner.client.compile(program, &options)?;
        (*args).executable = LoadedObject::new(owner, executable, &options)?.into_raw();
        Ok(())
    }

    /// `PJRT_Compile`: for devices that need not be there.
    fn compile_for_topology<P>(args: PJRT_Compile_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology.cast_mut())?;
        let owner = if (*args).client.is_null() {
            ClientObject::<P>::new(P::client_for(&topology.topology)?)?
        } else {
            let ClientHandle::<P>(owner) = object("client", (*args).client)?;
            owner.clone()
        };
        let program = read_program((*args).program)?;
        let options = bytes("compile options", (*args).compile_options, (*args).compile_options_size, limits::PROTO)?;
        let options = parse_options("PJRT_Compile", options)?;
        let loaded = LoadedObject::new(&owner, owner.client.compile(program, &options)?, &options)?;
        (*args).executable = ExecutableHandle(loaded.shared.clone()).into_raw();
        Ok(())
    }

    /// `PJRT_Executable_DeserializeAndLoad`.
    fn deserialize<P>(args: PJRT_Executable_DeserializeAndLoad_Args as PJRT_Executable_DeserializeAndLoad_Args_Later) {
        let args = &raw mut (*args).base;
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let (data, size) = ((*args).serialized_executable, (*args).serialized_executable_size);
        let packed = bytes("serialized executable", data, size, limits::PROGRAM)?;
        let (options, code) = unpack::<P>(packed)?;
        let (data, size) =
            ((*args).overridden_serialized_compile_options, (*args).overridden_serialized_compile_options_size);
        let options = if data.is_null() { options } else { bytes("compile options", data, size, limits::PROTO)? };
        let options = parse_options("PJRT_Executable_DeserializeAndLoad", options)?;
        let executable = owner.client.deserialize(code, &options)?;
        (*args).loaded_executable = LoadedObject::new(owner, executable, &options)?.into_raw();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_Destroy`.
    fn destroy_loaded<P>(args: PJRT_LoadedExecutable_Destroy_Args) {
        release::<LoadedObject<P>>((*args).executable);
        Ok(())
    }

    /// `PJRT_LoadedExecutable_GetExecutable`.
    fn of_loaded<P>(args: PJRT_LoadedExecutable_GetExecutable_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).loaded_executable)?;
        (*args).executable = ExecutableHandle(loaded.shared.clone()).into_raw();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_AddressableDevices`.
    fn devices<P>(args: PJRT_LoadedExecutable_AddressableDevices_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        (*args).addressable_devices = loaded.device_pointers.as_ptr();
        (*args).num_addressable_devices = loaded.device_pointers.len();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_AddressableDeviceLogicalIds`.
    fn logical_ids<P>(args: PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        (*args).addressable_device_logical_ids = loaded.logical_ids.as_ptr();
        (*args).num_addressable_device_logical_ids = loaded.logical_ids.len();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_GetDeviceAssignment`.
    fn device_assignment<P>(args: PJRT_LoadedExecutable_GetDeviceAssignment_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        let serialized = Serialized::new(loaded.shared.executable.device_assignment().serialize());
        (*args).serialized_bytes = serialized.bytes;
        (*args).serialized_bytes_size = serialized.size;
        (*args).serialized_device_assignment = serialized.holder;
        (*args).serialized_device_assignment_deleter = serialized.deleter;
        Ok(())
    }

    /// `PJRT_LoadedExecutable_Delete`: no more executions. The memory is freed with the last handle.
    fn delete<P>(args: PJRT_LoadedExecutable_Delete_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        loaded.delete();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_IsDeleted`.
    fn is_deleted<P>(args: PJRT_LoadedExecutable_IsDeleted_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        (*args).is_deleted = loaded.is_deleted();
        Ok(())
    }

    /// `PJRT_LoadedExecutable_Fingerprint`.
    fn loaded_fingerprint<P>(args: PJRT_LoadedExecutable_Fingerprint_Args) {
        let loaded: &LoadedObject<P> = object("executable", (*args).executable)?;
        let fingerprint = fingerprint(&loaded.shared)?;
        (*args).executable_fingerprint = fingerprint.as_ptr().cast();
        (*args).executable_fingerprint_size = fingerprint.len();
        Ok(())
    }

    /// `PJRT_Executable_Destroy`.
    fn destroy<P>(args: PJRT_Executable_Destroy_Args) {
        release::<ExecutableHandle<P>>((*args).executable);
        Ok(())
    }

    /// `PJRT_Executable_Name`.
    fn name<P>(args: PJRT_Executable_Name_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let name = shared.executable.name();
        (*args).executable_name = name.as_ptr().cast();
        (*args).executable_name_size = name.len();
        Ok(())
    }

    /// `PJRT_Executable_NumReplicas`.
    fn num_replicas<P>(args: PJRT_Executable_NumReplicas_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_replicas = shared.executable.device_assignment().replicas;
        Ok(())
    }

    /// `PJRT_Executable_NumPartitions`.
    fn num_partitions<P>(args: PJRT_Executable_NumPartitions_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_partitions = shared.executable.device_assignment().partitions;
        Ok(())
    }

    /// `PJRT_Executable_NumOutputs`.
    fn num_outputs<P>(args: PJRT_Executable_NumOutputs_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_outputs = shared.output_types.len();
        Ok(())
    }

    /// `PJRT_Executable_SizeOfGeneratedCodeInBytes`.
    fn code_size<P>(args: PJRT_Executable_SizeOfGeneratedCodeInBytes_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).size_in_bytes = shared.executable.generated_code_size();
        Ok(())
    }

    /// `PJRT_Executable_Fingerprint`.
    fn executable_fingerprint<P>(args: PJRT_Executable_Fingerprint_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let fingerprint = fingerprint(shared)?;
        (*args).executable_fingerprint = fingerprint.as_ptr().cast();
        (*args).executable_fingerprint_size = fingerprint.len();
        Ok(())
    }

    /// `PJRT_Executable_GetCostAnalysis`.
    fn cost_analysis<P>(args: PJRT_Executable_GetCostAnalysis_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let costs = once(&shared.cost_analysis, || shared.executable.cost_analysis().map(NamedValues::new))?;
        (*args).properties = costs.as_ptr();
        (*args).num_properties = costs.len();
        Ok(())
    }

    /// `PJRT_Executable_GetCompiledMemoryStats`. Every field is written: callers do not clear them.
    fn memory_stats<P>(args: PJRT_Executable_GetCompiledMemoryStats_Args as PJRT_Executable_GetCompiledMemoryStats_Args_Later) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).base.executable)?;
        let stats = shared.executable.memory_stats()?;
        let total = stats.argument_size + stats.output_size - stats.alias_size + stats.temp_size;
        let base = &raw mut (*args).base;
        (*base).generated_code_size_in_bytes = stats.generated_code_size;
        (*base).argument_size_in_bytes = stats.argument_size;
        (*base).output_size_in_bytes = stats.output_size;
        (*base).alias_size_in_bytes = stats.alias_size;
        (*base).temp_size_in_bytes = stats.temp_size;
        (*base).host_generated_code_size_in_bytes = 0;
        (*base).host_argument_size_in_bytes = 0;
        (*base).host_output_size_in_bytes = 0;
        (*base).host_alias_size_in_bytes = 0;
        (*base).host_temp_size_in_bytes = 0;
        (*base).peak_memory_in_bytes = total;
        (*base).total_size_in_bytes = total + stats.generated_code_size;
        (*args).total_allocation_bytes = total;
        (*args).indefinite_allocations = 0;
        (*args).peak_unpadded_heap_bytes = total;
        Ok(())
    }

    /// `PJRT_Executable_OutputElementTypes`.
    fn output_types<P>(args: PJRT_Executable_OutputElementTypes_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).output_types = shared.output_types.as_ptr().cast_mut();
        (*args).num_output_types = shared.output_types.len();
        Ok(())
    }

    /// `PJRT_Executable_OutputDimensions`.
    fn output_dims<P>(args: PJRT_Executable_OutputDimensions_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_outputs = shared.output_ranks.len();
        (*args).dims = shared.output_dims.as_ptr();
        (*args).dim_sizes = shared.output_ranks.as_ptr();
        Ok(())
    }

    /// `PJRT_Executable_OutputMemoryKinds`.
    fn output_kinds<P>(args: PJRT_Executable_OutputMemoryKinds_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_outputs = shared.output_ranks.len();
        (*args).memory_kinds = shared.output_kinds.pointers();
        (*args).memory_kind_sizes = shared.output_kinds.sizes();
        Ok(())
    }

    /// `PJRT_Executable_ParameterMemoryKinds`.
    fn parameter_kinds<P>(args: PJRT_Executable_ParameterMemoryKinds_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        (*args).num_parameters = shared.executable.parameters().len();
        (*args).memory_kinds = shared.parameter_kinds.pointers();
        (*args).memory_kind_sizes = shared.parameter_kinds.sizes();
        Ok(())
    }

    /// `PJRT_Executable_OptimizedProgram`: asked for the size first, then for the program.
    fn optimized_program<P>(args: PJRT_Executable_OptimizedProgram_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let out = (*args).program;
        if out.is_null() {
            return Err(Error::invalid_argument("program is null"));
        }
        let (format, code) = once(&shared.program, || shared.executable.optimized_program())?;
        (*out).format = format.as_ptr().cast();
        (*out).format_size = format.len();
        if (*out).code.is_null() {
            (*out).code_size = code.len();
            return Ok(());
        }
        if (*out).code_size < code.len() {
            let message = format!("the program has {} bytes, but `code_size` is {}", code.len(), (*out).code_size);
            return Err(Error::invalid_argument(message));
        }
        (*out).code.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
        Ok(())
    }

    /// `PJRT_Executable_Serialize`.
    fn serialize<P>(args: PJRT_Executable_Serialize_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let serialized = Serialized::new(pack(shared)?);
        (*args).serialized_bytes = serialized.bytes;
        (*args).serialized_bytes_size = serialized.size;
        (*args).serialized_executable = serialized.holder;
        (*args).serialized_executable_deleter = serialized.deleter;
        Ok(())
    }

    /// `PJRT_Executable_GetCompileOptions`.
    fn compile_options<P>(args: PJRT_Executable_GetCompileOptions_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let serialized = Serialized::new(shared.options.clone());
        (*args).serialized_bytes = serialized.bytes;
        (*args).serialized_bytes_size = serialized.size;
        (*args).serialized_compile_options = serialized.holder;
        (*args).serialized_compile_options_deleter = serialized.deleter;
        Ok(())
    }
}
