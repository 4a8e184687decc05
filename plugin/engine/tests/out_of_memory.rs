//! Compiling with little memory: it fails as an error, or works. Linux alone limits the address space of a process.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::process::Command;
use std::{env, fs};

use oxcall_engine::{Engine, EngineOptions, SystemAllocator, room_to_read};
use oxcall_hlo::{parse_text, verify};

#[global_allocator]
static MEMORY: SystemAllocator = SystemAllocator;

/// As many ops as this has a program that jobs have been seen to compile.
const OPS: usize = 200_000;

/// Ops in turn of kinds that are fused, that have kernels of their own, and that have constants.
fn program(ops: usize) -> String {
    let mut text = String::from("func.func @main(%0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n");
    for op in 1..=ops {
        let before = op - 1;
        let _ = match op % 3 {
            0 => writeln!(
                text,
                "%{op} = stablehlo.transpose %{before}, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>"
            ),
            1 => writeln!(text, "%{op} = stablehlo.add %{before}, %{before} : tensor<4x4xf32>"),
            _ => writeln!(text, "%{op} = stablehlo.sine %{before} : tensor<4x4xf32>"),
        };
    }
    let _ = write!(text, "return %{ops} : tensor<4x4xf32>\n}}");
    text
}

/// The size of the address space, in bytes.
fn mapped() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').next().unwrap().parse::<usize>().unwrap() * 4096
}

/// Leaves the process so many bytes.
fn limit(room: Option<usize>) {
    let soft = room.map_or(libc::RLIM_INFINITY, |room| (mapped() + room) as u64);
    let limits = libc::rlimit { rlim_cur: soft, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the struct lives as long as the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limits) }, 0);
}

#[test]
#[ignore = "it limits its process: the test below starts one for it"]
fn compile_with_ever_more_room() {
    let engine = Engine::new(EngineOptions { num_threads: 1, ..EngineOptions::default() });
    let text = program(OPS);
    let rooms = [16, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
    for (failures, room_mib) in rooms.into_iter().enumerate() {
        limit(Some(room_mib << 20));
        let outcome = (|| {
            room_to_read(text.len() / 4)?;
            let module = parse_text(&text).map_err(|error| oxcall::Error::internal(error.to_string()))?;
            verify(&module).map_err(|error| oxcall::Error::internal(error.to_string()))?;
            engine.compile(module)
        })();
        limit(None);
        match outcome {
            Ok(_) => {
                println!("after {failures} failures {room_mib} MiB are enough");
                assert!(failures > 0, "there was always enough");
                return;
            }
            Err(error) => assert_eq!(error.code(), oxcall::Code::ResourceExhausted, "{error}"),
        }
    }
    panic!("it fails whatever there is");
}

#[test]
fn compiling_with_little_room_fails_as_an_error() {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "compile_with_ever_more_room", "--ignored", "--nocapture"]);
    let done = command.output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{}\n{out}\n{errors}", done.status);
    assert!(out.contains("MiB are enough"), "{out}");
}
