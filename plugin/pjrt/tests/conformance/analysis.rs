//! Numbers about programs and memories. Frameworks do not clear what they pass, so every field has to be written.

use xla_ffi_sys::pjrt::{
    PJRT_Device_MemoryStats_Args, PJRT_Executable_GetCompiledMemoryStats_Args, PJRT_NamedValue_kFloat,
};
use xla_ffi_sys::pjrt_later::{PJRT_Device_MemoryStats_Args_Later, PJRT_Executable_GetCompiledMemoryStats_Args_Later};

use crate::common::client::{Plugin, elements, text};

/// What uninitialised memory looks like on a bad day.
const GARBAGE: i64 = 0x5a5a_5a5a_5a5a_5a5a;

#[test]
fn memory_of_a_device() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let device = client.devices()[0];
    let _buffer = client.put(&[1, 2, 3, 4], device);
    let mut args = PJRT_Device_MemoryStats_Args_Later {
        base: PJRT_Device_MemoryStats_Args {
            struct_size: size_of::<PJRT_Device_MemoryStats_Args_Later>(),
            device,
            peak_bytes_in_use: GARBAGE,
            peak_bytes_in_use_is_set: true,
            bytes_limit: GARBAGE,
            peak_pool_bytes: GARBAGE,
            peak_pool_bytes_is_set: true,
            ..Default::default()
        },
        peak_allocated_bytes: GARBAGE,
        peak_allocated_bytes_is_set: true,
    };
    // SAFETY: the args are complete.
    plugin.check(unsafe { plugin.api.base.PJRT_Device_MemoryStats.unwrap()((&raw mut args).cast()) }).unwrap();
    let base = &args.base;
    assert!(base.bytes_in_use >= 16, "{}", base.bytes_in_use);
    for (set, value) in [
        (base.peak_bytes_in_use_is_set, base.peak_bytes_in_use),
        (base.num_allocs_is_set, base.num_allocs),
        (base.bytes_limit_is_set, base.bytes_limit),
        (base.peak_pool_bytes_is_set, base.peak_pool_bytes),
        (args.peak_allocated_bytes_is_set, args.peak_allocated_bytes),
    ] {
        assert!(if set { value != GARBAGE } else { value == 0 });
    }
}

#[test]
fn memory_of_a_program() {
    let plugin = Plugin::get();
    let executable = plugin.client().compile(plugin.programs.increment_donated).executable();
    let mut args = PJRT_Executable_GetCompiledMemoryStats_Args_Later {
        base: PJRT_Executable_GetCompiledMemoryStats_Args {
            struct_size: size_of::<PJRT_Executable_GetCompiledMemoryStats_Args_Later>(),
            executable: executable.raw,
            generated_code_size_in_bytes: GARBAGE,
            temp_size_in_bytes: GARBAGE,
            host_generated_code_size_in_bytes: GARBAGE,
            host_argument_size_in_bytes: GARBAGE,
            host_output_size_in_bytes: GARBAGE,
            host_alias_size_in_bytes: GARBAGE,
            host_temp_size_in_bytes: GARBAGE,
            peak_memory_in_bytes: GARBAGE,
            total_size_in_bytes: GARBAGE,
            ..Default::default()
        },
        total_allocation_bytes: GARBAGE,
        indefinite_allocations: GARBAGE,
        peak_unpadded_heap_bytes: GARBAGE,
    };
    // SAFETY: the args are complete.
    plugin
        .check(unsafe { plugin.api.base.PJRT_Executable_GetCompiledMemoryStats.unwrap()((&raw mut args).cast()) })
        .unwrap();
    let base = &args.base;
    assert_eq!((base.argument_size_in_bytes, base.output_size_in_bytes, base.alias_size_in_bytes), (16, 16, 16));
    for value in [
        base.generated_code_size_in_bytes,
        base.temp_size_in_bytes,
        base.host_generated_code_size_in_bytes,
        base.host_argument_size_in_bytes,
        base.host_output_size_in_bytes,
        base.host_alias_size_in_bytes,
        base.host_temp_size_in_bytes,
        base.peak_memory_in_bytes,
        base.total_size_in_bytes,
        args.total_allocation_bytes,
        args.indefinite_allocations,
        args.peak_unpadded_heap_bytes,
    ] {
        assert_ne!(value, GARBAGE);
    }
}

#[test]
fn cost() {
    let plugin = Plugin::get();
    let executable = plugin.client().compile(plugin.programs.increment).executable();
    let slot = plugin.api.base.PJRT_Executable_GetCostAnalysis;
    let ask = || plugin.call(slot, |args| args.executable = executable.raw).unwrap();
    let args = ask();
    let costs = elements(args.properties, args.num_properties);
    let flops = costs.iter().find(|cost| text(cost.name, cost.name_size) == "flops").expect("flops are counted");
    assert_eq!(flops.type_, PJRT_NamedValue_kFloat);
    // SAFETY: the type says which field is there.
    assert!(unsafe { flops.__bindgen_anon_1.float_value } >= 4.0);
    assert_eq!(ask().properties, args.properties);
}
