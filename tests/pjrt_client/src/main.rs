//! Drives the plugin's library with the crate `pjrt`, which shares no code with us. Its bindings are of API 0.54.
//!
//! ```text
//! pip install libclang==18.1.1 grpcio-tools        # and PROTOC: a script that runs `python -m grpc_tools.protoc "$@"`
//! LIBCLANG_PATH=.../clang/native PROTOC=... cargo run --release -- target/release/liboxcall_plugin.so
//! ```

use std::env;
use std::process::ExitCode;

use pjrt::{Api, Client, Error, HostBuffer, LoadedExecutable, NamedValue, Program, Result};
use pjrt::ProgramFormat::MLIR;

const INCREMENT: &str = "module @increment {
  func.func public @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %one = stablehlo.constant dense<1.0> : tensor<2x2xf32>
    %y = stablehlo.add %x, %one : tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  }
}";

const DONATED: &str = "module @donated {
  func.func public @main(%x: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2x2xf32>, tensor<f32>) {
    %y = stablehlo.tanh %x : tensor<2x2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
    return %y, %sum : tensor<2x2xf32>, tensor<f32>
  }
}";

fn client(api: &Api, devices: i64) -> Result<Client> {
    Client::builder(api).options(vec![NamedValue::i64("num_devices", devices)]).build()
}

fn matrix(values: [f32; 4]) -> HostBuffer {
    HostBuffer::builder().data(values).dims([2, 2]).build()
}

fn values(buffer: &HostBuffer) -> Vec<f32> {
    match buffer {
        HostBuffer::F32(buffer) => buffer.data().to_vec(),
        other => panic!("not of f32: {other:?}"),
    }
}

fn compile(client: &Client, text: &str) -> Result<LoadedExecutable> {
    LoadedExecutable::builder(client, &Program::new(MLIR, text.as_bytes())).build()
}

/// What the plugin, a client, its devices and memories say.
fn description(api: &Api) -> Result<()> {
    let attributes = api.plugin_attributes();
    for name in ["xla_version", "stablehlo_current_version", "stablehlo_minimum_version"] {
        assert!(attributes.get(name).is_some(), "{name}");
    }
    let client = client(api, 2)?;
    assert_eq!(client.platform_name(), "oxcall");
    assert!(!client.platform_version().is_empty() && client.process_index() == 0);
    assert_eq!((client.devices().len(), client.addressable_devices().len()), (2, 2));
    for (id, device) in client.addressable_devices().iter().enumerate() {
        assert!(device.is_addressable() && device.local_hardware_id() == id as i32);
        let description = device.description();
        assert!(description.id() == id as i32 && !description.debug_string().is_empty());
        let memory = device.default_memory();
        assert!(!memory.kind().is_empty() && memory.addressable_by_devices().len() == 1);
        device.memory_stats()?;
    }
    assert!(client.lookup_device(5).is_err());
    client.default_device_assignment(1, 1)?;
    Ok(())
}

/// To the device and back, and to another device.
fn transfers(api: &Api) -> Result<()> {
    let client = client(api, 2)?;
    let (first, second) = (client.lookup_addressable_device(0)?, client.lookup_addressable_device(1)?);
    let there = matrix([1.0, 2.0, 3.0, 4.0]).copy_to_sync(&first)?;
    assert!(there.dims() == [2, 2] && there.on_device_size() >= 16 && there.is_on_cpu());
    assert_eq!(values(&there.copy_to_host_sync()?), [1.0, 2.0, 3.0, 4.0]);
    let moved = there.copy_to_device_sync(&second)?;
    assert_eq!(values(&moved.copy_to_host_sync()?), [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

/// Compiled, asked about itself, run, stored, loaded, run again.
fn programs(api: &Api) -> Result<()> {
    let client = client(api, 1)?;
    let loaded = compile(&client, INCREMENT)?;
    let executable = loaded.executable();
    assert!(executable.name().contains("increment"));
    assert_eq!((executable.num_replicas(), executable.num_partitions(), executable.num_outputs()), (1, 1, 1));
    assert_eq!(executable.output_dims(), [vec![2, 2]]);
    assert!(!executable.output_memory_kinds().is_empty());
    executable.cost_analysis();
    executable.compiled_memory_stats();
    // Not `optimize`: it passes no program for the text to be written to, which is an error here as it is in XLA.
    let input = matrix([1.0, 2.0, 3.0, 4.0]).copy_to_sync(&client)?;
    let results = loaded.execution(input).run_sync()?;
    assert_eq!(values(&results[0][0].copy_to_host_sync()?), [2.0, 3.0, 4.0, 5.0]);
    let again = client.load_executable(executable.serialize().bytes())?;
    let results = again.execution(matrix([0.0; 4]).copy_to_sync(&client)?).run_sync()?;
    assert_eq!(values(&results[0][0].copy_to_host_sync()?), [1.0; 4]);
    Ok(())
}

/// Two results of one argument, which is given away.
fn donation(api: &Api) -> Result<()> {
    let client = client(api, 1)?;
    let loaded = compile(&client, DONATED)?;
    let results = loaded.execution(matrix([0.0, 0.5, 0.0, 0.5]).copy_to_sync(&client)?).run_sync()?;
    assert_eq!(values(&results[0][1].copy_to_host_sync()?), [1.0]);
    let tanh = values(&results[0][0].copy_to_host_sync()?);
    assert!((tanh[1] - 0.5f32.tanh()).abs() < 1e-6 && tanh[0] == 0.0, "{tanh:?}");
    Ok(())
}

/// Wrong programs, options and arguments are errors, after which the client works.
fn errors(api: &Api) -> Result<()> {
    assert!(Client::builder(api).options(vec![NamedValue::i64("num_devices", 0)]).build().is_err());
    let client = client(api, 1)?;
    for text in ["", "not a program", "module { func.func @main() -> tensor<2xf32> { } }"] {
        let error = compile(&client, text).err().expect("an error");
        assert!(matches!(&error, Error::PjrtError { msg, .. } if !msg.is_empty()), "{error}");
    }
    let loaded = compile(&client, INCREMENT)?;
    assert!(loaded.execution(()).run_sync().is_err());
    programs(api)
}

/// Copies and executions that are awaited.
fn asynchronous(api: &Api) -> Result<()> {
    let client = client(api, 1)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let input = matrix([1.0, 2.0, 3.0, 4.0]).copy_to(&client).await?;
        let results = compile(&client, INCREMENT)?.execution(input).run().await?;
        assert_eq!(values(&results[0][0].copy_to_host().await?), [2.0, 3.0, 4.0, 5.0]);
        Ok(())
    })
}

type Check = fn(&Api) -> Result<()>;

fn main() -> ExitCode {
    let path = env::args().nth(1).expect("usage: pjrt_client <plugin.so>");
    let api = pjrt::plugin(path.as_str()).load().expect("the plugin loads");
    let checks: [(&str, Check); 6] = [
        ("description", description),
        ("transfers", transfers),
        ("programs", programs),
        ("donation", donation),
        ("errors", errors),
        ("asynchronous", asynchronous),
    ];
    let mut failed = 0;
    for (name, check) in checks {
        let result = check(&api);
        println!("{name}: {}", result.as_ref().map_or_else(ToString::to_string, |()| "ok".to_owned()));
        failed += usize::from(result.is_err());
    }
    println!("pjrt {:?}: {} passed, {failed} failed", api.version(), checks.len() - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
