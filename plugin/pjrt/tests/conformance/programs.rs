//! Compilation, and what programs say of themselves.

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Plugin, elements, int_option, options, text};

#[test]
fn compile() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    let executable = loaded.executable();
    let api = &plugin.api.base;
    let raw = executable.raw;
    let name = plugin.call(api.PJRT_Executable_Name, |args| args.executable = raw).unwrap();
    assert!(text(name.executable_name, name.executable_name_size).contains("increment"));
    assert_eq!(plugin.call(api.PJRT_Executable_NumReplicas, |args| args.executable = raw).unwrap().num_replicas, 1);
    assert_eq!(plugin.call(api.PJRT_Executable_NumPartitions, |args| args.executable = raw).unwrap().num_partitions, 1);
    assert_eq!(plugin.call(api.PJRT_Executable_NumOutputs, |args| args.executable = raw).unwrap().num_outputs, 1);
    plugin.call(api.PJRT_Executable_SizeOfGeneratedCodeInBytes, |args| args.executable = raw).unwrap();
    let types = plugin.call(api.PJRT_Executable_OutputElementTypes, |args| args.executable = raw).unwrap();
    assert_eq!(elements(types.output_types.cast_const(), types.num_output_types), [PJRT_Buffer_Type_S32]);
    let dims = plugin.call(api.PJRT_Executable_OutputDimensions, |args| args.executable = raw).unwrap();
    assert_eq!(elements(dims.dim_sizes, dims.num_outputs), [1]);
    assert_eq!(elements(dims.dims, 1), [4]);
    let kinds = plugin.call(api.PJRT_Executable_OutputMemoryKinds, |args| args.executable = raw).unwrap();
    let kind = (elements(kinds.memory_kinds, 1)[0], elements(kinds.memory_kind_sizes, kinds.num_outputs)[0]);
    assert!(!text(kind.0, kind.1).is_empty());
    let slot = plugin.api.PJRT_Executable_ParameterMemoryKinds;
    assert_eq!(plugin.call(slot, |args| args.executable = raw).unwrap().num_parameters, 1);
    assert_eq!(loaded.devices(), client.devices()[..1]);
    assert_eq!(loaded.logical_ids(), [(0, 0)]);
}

#[test]
fn invalid_options() {
    let plugin = Plugin::get();
    let failed = plugin.client().compile_as(plugin.programs.format, plugin.programs.increment, b"invalid options");
    let phrase = "PJRT_Client_Compile: failed to deserialize CompileOptionsProto";
    failed.err().unwrap().expect(Code::InvalidArgument, phrase);
}

#[test]
fn invalid_format() {
    let plugin = Plugin::get();
    let failed = plugin.client().compile_as("invalid", plugin.programs.increment, &options(1));
    failed.err().unwrap().expect(Code::InvalidArgument, "Unknown program format 'invalid'.");
}

#[test]
fn nonsense_is_an_error() {
    let plugin = Plugin::get();
    let failed = plugin.client().compile_as(plugin.programs.format, "this is no program", &options(1));
    assert!(failed.err().unwrap().message.len() > 10);
}

/// XLA's own tests of compilation send text of MHLO, the predecessor of StableHLO, and an HLO proto.
#[test]
fn formats_of_xlas_own_tests() {
    let plugin = Plugin::get();
    if plugin.programs.format != "mlir" {
        return;
    }
    let mhlo = "module { func.func @main(%arg0: tensor<4xi32>) -> tensor<4xi32> {
      %0 = \"mhlo.copy\"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
      %1 = mhlo.constant dense<1> : tensor<4xi32>
      %2 = mhlo.add %0, %1 : tensor<4xi32>
      func.return %2 : tensor<4xi32>
    } }";
    let client = plugin.client();
    for (format, code, named) in [("mlir", mhlo, "MHLO"), ("hlo", "\x0a\x04main", "entry computation")] {
        let failed = client.compile_as(format, code, &options(1)).err().expect("an error");
        assert!(failed.message.contains(named), "{failed:?}");
    }
    let tuple_of_three = include_bytes!("../../../hlo/tests/hlo_proto/corpus/c_api_test.pb");
    let loaded = client.compile_as("hlo", tuple_of_three, &options(1)).expect("the program compiles");
    let executable = loaded.executable();
    let slot = plugin.api.base.PJRT_Executable_NumOutputs;
    let args = plugin.call(slot, |args| args.executable = executable.raw).unwrap();
    assert_eq!(args.num_outputs, 3);
}

#[test]
fn device_assignment() {
    let plugin = Plugin::get();
    let client = plugin.client_with(&mut [int_option("num_devices", 3)]).unwrap();
    let program = plugin.programs.increment;
    let Some(loaded) = client.compile_replicas(program, 2) else { return };
    assert_eq!(loaded.devices(), client.devices()[..2]);
    assert_eq!(loaded.logical_ids(), [(0, 0), (1, 0)]);
    let slot = plugin.api.base.PJRT_LoadedExecutable_GetDeviceAssignment;
    let args = plugin.call(slot, |args| args.executable = loaded.raw).unwrap();
    let bytes: Vec<u8> = elements(args.serialized_bytes.cast(), args.serialized_bytes_size);
    // SAFETY: the bytes are given back once.
    unsafe { args.serialized_device_assignment_deleter.unwrap()(args.serialized_device_assignment) };
    // Two replicas, one partition, one list of devices.
    assert_eq!(bytes[..4], [0x08, 2, 0x10, 1]);

    let failed = client.compile_as(plugin.programs.format, program, &options(4));
    failed.err().unwrap().expect(Code::InvalidArgument, "device");
}

#[test]
fn optimized_program_is_asked_for_twice() {
    let plugin = Plugin::get();
    let executable = plugin.client().compile(plugin.programs.increment).executable();
    let mut program = PJRT_Program { struct_size: size_of::<PJRT_Program>(), ..Default::default() };
    let ask = |program: &mut PJRT_Program| {
        plugin.call(plugin.api.base.PJRT_Executable_OptimizedProgram, |args| {
            args.executable = executable.raw;
            args.program = program;
        })
    };
    ask(&mut program).unwrap();
    assert!(program.code_size > 0);
    let format = text(program.format, program.format_size);
    assert!(format == plugin.programs.format || format == "hlo_with_config", "{format}");
    let mut code = vec![0u8; program.code_size];
    program.code = code.as_mut_ptr().cast();
    ask(&mut program).unwrap();
    assert!(code.windows(9).any(|word| word == b"increment"));
    program.code_size -= 1;
    ask(&mut program).err().unwrap().expect(Code::InvalidArgument, "`code_size` is");
}

#[test]
fn fingerprints_tell_programs_apart() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let fingerprint = |code| {
        let (loaded, api) = (client.compile(code), &plugin.api.base);
        let executable = loaded.executable();
        let ours = plugin.call(api.PJRT_Executable_Fingerprint, |args| args.executable = executable.raw).unwrap();
        let ours: Vec<u8> = elements(ours.executable_fingerprint.cast(), ours.executable_fingerprint_size);
        let old = plugin.call(api.PJRT_LoadedExecutable_Fingerprint, |args| args.executable = loaded.raw).unwrap();
        assert_eq!(ours, elements(old.executable_fingerprint.cast::<u8>(), old.executable_fingerprint_size));
        ours
    };
    let programs = plugin.programs;
    assert_eq!(fingerprint(programs.increment), fingerprint(programs.increment));
    assert_ne!(fingerprint(programs.increment), fingerprint(programs.sum));
}

#[test]
fn stored_programs_run() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    let executable = loaded.executable();
    let args = plugin.call(plugin.api.base.PJRT_Executable_Serialize, |args| args.executable = executable.raw).unwrap();
    let stored: Vec<u8> = elements(args.serialized_bytes.cast(), args.serialized_bytes_size);
    // SAFETY: the bytes are given back once.
    unsafe { args.serialized_executable_deleter.unwrap()(args.serialized_executable) };
    drop((loaded, executable));

    let client = plugin.client();
    let loaded = client.deserialize(&stored).unwrap();
    let output = loaded.run(&[&client.put(&[1, 2, 3, 4], client.devices()[0])]).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);

    for end in [0, 1, stored.len() / 2, stored.len() - 1] {
        assert!(client.deserialize(&stored[..end]).is_err(), "{end}");
    }
    client.deserialize(b"nonsense").err().unwrap().expect(Code::InvalidArgument, "");
}

#[test]
fn options_are_kept() {
    let plugin = Plugin::get();
    let executable = plugin.client().compile(plugin.programs.increment).executable();
    let slot = plugin.api.base.PJRT_Executable_GetCompileOptions;
    let args = plugin.call(slot, |args| args.executable = executable.raw).unwrap();
    let bytes: Vec<u8> = elements(args.serialized_bytes.cast(), args.serialized_bytes_size);
    // SAFETY: the bytes are given back once.
    unsafe { args.serialized_compile_options_deleter.unwrap()(args.serialized_compile_options) };
    assert_eq!(bytes, options(1));
}

#[test]
fn deleted_programs_do_not_run() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    assert!(!loaded.is_deleted());
    plugin.call(plugin.api.base.PJRT_LoadedExecutable_Delete, |args| args.executable = loaded.raw).unwrap();
    assert!(loaded.is_deleted());
    assert_eq!(loaded.devices().len(), 1);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    loaded.run(&[&buffer]).err().unwrap().expect(Code::InvalidArgument, "deleted");
}
