//! Collectives of programs that all of their processes run. Expected values come from the StableHLO specification, or
//! are sums that the tests compute themselves.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{Module, parse_text, verify};

use crate::{Argument, Buffer, Engine, EngineOptions, ExecuteOptions, Launch, ProcessGrid, Program};

pub(super) fn engine() -> Arc<Engine> {
    let collective_timeout = Some(Duration::from_millis(200));
    Engine::new(EngineOptions { num_threads: 2, collective_timeout, ..EngineOptions::default() })
}

fn compile(engine: &Arc<Engine>, replicas: usize, partitions: usize, text: &str) -> Result<Program, Error> {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    engine.compile_for(module, ProcessGrid { replicas, partitions })
}

pub(super) fn argument<T: Pod>(engine: &Engine, values: &[T]) -> Argument {
    Argument::from(Buffer::copy_of(engine.allocator(), bytemuck::cast_slice(values)).unwrap())
}

pub(super) fn values<T: Pod>(buffer: &Buffer) -> Vec<T> {
    buffer.as_bytes().chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

type Outcome = Result<Vec<Buffer>, Error>;

/// Runs all processes, each with its own arguments, and waits for all of them.
pub(super) fn run_all(
    program: &Program,
    launch: Launch,
    mut arguments: impl FnMut(usize) -> Vec<Argument>,
) -> Vec<Outcome> {
    let (sender, receiver) = mpsc::channel();
    let mut count = 0;
    for (index, process) in program.processes().into_iter().enumerate() {
        let sender = sender.clone();
        let options = ExecuteOptions { launch, ..ExecuteOptions::default() };
        process.execute(arguments(index), &options, move |outcome| sender.send((index, outcome)).unwrap());
        count += 1;
    }
    collect(&receiver, count)
}

fn collect(receiver: &mpsc::Receiver<(usize, Outcome)>, count: usize) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = (0..count).map(|_| None).collect();
    for _ in 0..count {
        let (index, outcome) = receiver.recv_timeout(Duration::from_secs(20)).expect("no process hangs");
        outcomes[index] = Some(outcome);
    }
    outcomes.into_iter().map(Option::unwrap).collect()
}

/// The first result of each process; computed twice, on this thread and on others.
fn results<T: Pod + PartialEq + std::fmt::Debug>(
    grid: (usize, usize),
    text: &str,
    input: impl Fn(usize) -> Vec<T>,
) -> Vec<Vec<T>> {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    results_of(&engine(), module, ProcessGrid { replicas: grid.0, partitions: grid.1 }, input)
}

/// The results of a verified module.
pub(super) fn results_of<T: Pod + PartialEq + std::fmt::Debug>(
    engine: &Arc<Engine>,
    module: Module,
    grid: ProcessGrid,
    input: impl Fn(usize) -> Vec<T>,
) -> Vec<Vec<T>> {
    let program = engine.compile_for(module, grid).unwrap_or_else(|error| panic!("{error}"));
    let run = |launch| -> Vec<Vec<T>> {
        let outcomes = run_all(&program, launch, |index| vec![argument(engine, &input(index))]);
        outcomes.into_iter().map(|outcome| values(&outcome.unwrap()[0])).collect()
    };
    let here = run(Launch::Inline);
    assert_eq!(run(Launch::Elsewhere), here);
    assert_eq!(run(Launch::Auto), here);
    here
}

/// A program of one parameter and one op in generic form.
fn program(from: &str, to: &str, op: &str) -> String {
    format!("func.func @main(%x: {from}) -> {to} {{\n  %0 = {op} : ({from}) -> {to}\n  return %0 : {to}\n}}")
}

/// The region of a reduction by `op`.
pub(super) fn region(op: &str, element: &str) -> String {
    format!(
        "({{\n^bb0(%a: tensor<{element}>, %b: tensor<{element}>):\n  %s = {op} %a, %b : tensor<{element}>\n  \
         stablehlo.return %s : tensor<{element}>\n}})"
    )
}

fn all_reduce(attributes: &str, op: &str, element: &str) -> String {
    let ty = format!("tensor<2x{element}>");
    program(&ty, &ty, &format!("\"stablehlo.all_reduce\"(%x) <{{{attributes}}}> {}", region(op, element)))
}

/// The sum of each process's group, computed from groups of processes.
fn sums(groups: &[&[usize]], count: usize) -> Vec<Vec<f32>> {
    let mut sums = vec![Vec::new(); count];
    for group in groups {
        for &process in *group {
            sums[process] =
                vec![group.iter().map(|&p| (p + 1) as f32).sum(), group.iter().map(|&p| (p * p) as f32).sum()];
        }
    }
    sums
}

fn numbered(process: usize) -> Vec<f32> {
    vec![(process + 1) as f32, (process * process) as f32]
}

const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";

#[test]
fn groups_in_every_numbering_mode() {
    let reduce = |grid: (usize, usize), attributes: &str| {
        results(grid, &all_reduce(attributes, "stablehlo.add", "f32"), numbered)
    };
    let groups = |list: &str, ty: &str| format!("replica_groups = dense<{list}> : tensor<{ty}xi64>");
    // Four replicas in pairs, and in unequal groups.
    let pairs = groups("[[0, 2], [1, 3]]", "2x2");
    assert_eq!(reduce((4, 1), &pairs), sums(&[&[0, 2], &[1, 3]], 4));
    let uneven = groups("[[0, 1, 3], [2, -1, -1]]", "2x3");
    assert_eq!(reduce((4, 1), &uneven), sums(&[&[0, 1, 3], &[2]], 4));
    // Without groups, all processes meet.
    let none = groups("", "0x0");
    assert_eq!(reduce((3, 1), &none), sums(&[&[0, 1, 2]], 3));
    // Replicas of each partition: process = 2 * replica + partition.
    assert_eq!(reduce((2, 2), &groups("[[0, 1]]", "1x2")), sums(&[&[0, 2], &[1, 3]], 4));
    // Replicas of all partitions.
    let both = format!("{CHANNEL}, {}", groups("[[0], [1]]", "2x1"));
    assert_eq!(reduce((2, 2), &both), sums(&[&[0, 1], &[2, 3]], 4));
    // Devices.
    let devices = format!("{CHANNEL}, use_global_device_ids, {}", groups("[[0, 3], [1, 2]]", "2x2"));
    assert_eq!(reduce((2, 2), &devices), sums(&[&[0, 3], &[1, 2]], 4));
    assert_eq!(reduce((1, 4), &devices), sums(&[&[0, 3], &[1, 2]], 4));
}

#[test]
fn partitions_of_each_replica() {
    let text = program(
        "tensor<2xf32>",
        "tensor<2xf32>",
        &format!(
            "\"stablehlo.collective_permute\"(%x) <{{{CHANNEL}, \
             source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}}>"
        ),
    );
    let zeros = vec![0.0, 0.0];
    assert_eq!(results((2, 2), &text, numbered), [zeros.clone(), numbered(0), zeros, numbered(2)]);
}

#[test]
fn all_gather_in_the_order_of_the_group() {
    let gather = |dim: usize, to: &str, groups: &str| {
        let op = format!(
            "\"stablehlo.all_gather\"(%x) <{{all_gather_dim = {dim} : i64, \
             replica_groups = dense<{groups}> : tensor<1x2xi64>}}>"
        );
        let input = |process: usize| (0..4).map(|i| (10 * process + i) as i32).collect::<Vec<_>>();
        results((2, 1), &program("tensor<2x2xi32>", to, &op), input)
    };
    assert_eq!(gather(0, "tensor<4x2xi32>", "[[0, 1]]"), [[0, 1, 2, 3, 10, 11, 12, 13]; 2]);
    assert_eq!(gather(1, "tensor<2x4xi32>", "[[0, 1]]"), [[0, 1, 10, 11, 2, 3, 12, 13]; 2]);
    assert_eq!(gather(1, "tensor<2x4xi32>", "[[1, 0]]"), [[10, 11, 0, 1, 12, 13, 2, 3]; 2]);
}

#[test]
fn reduce_scatter_gives_parts() {
    let scatter = |dim: usize, to: &str| {
        let op = format!(
            "\"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = {dim} : i64, \
             replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> {}",
            region("stablehlo.add", "i64")
        );
        let input = |process: usize| (0..8).map(|i| (100 * process + i) as i64).collect::<Vec<_>>();
        results((2, 1), &program("tensor<2x4xi64>", to, &op), input)
    };
    assert_eq!(scatter(1, "tensor<2x2xi64>"), [[100, 102, 108, 110], [104, 106, 112, 114]]);
    assert_eq!(scatter(0, "tensor<1x4xi64>"), [[100, 102, 104, 106], [108, 110, 112, 114]]);
}

#[test]
fn all_to_all_along_any_dimensions() {
    let exchange = |split: usize, concat: usize, to: &str| {
        let op = format!(
            "\"stablehlo.all_to_all\"(%x) <{{split_dimension = {split} : i64, concat_dimension = {concat} : i64, \
             split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}>"
        );
        let input = |process: usize| (0..8).map(|i| (10 * process + i) as u8).collect::<Vec<_>>();
        results((2, 1), &program("tensor<2x4xui8>", to, &op), input)
    };
    assert_eq!(exchange(1, 0, "tensor<4x2xui8>"), [[0, 1, 4, 5, 10, 11, 14, 15], [2, 3, 6, 7, 12, 13, 16, 17]]);
    assert_eq!(exchange(0, 1, "tensor<1x8xui8>"), [[0, 1, 2, 3, 10, 11, 12, 13], [4, 5, 6, 7, 14, 15, 16, 17]]);
    assert_eq!(exchange(1, 1, "tensor<2x4xui8>"), [[0, 1, 10, 11, 4, 5, 14, 15], [2, 3, 12, 13, 6, 7, 16, 17]]);
    assert_eq!(exchange(0, 0, "tensor<2x4xui8>"), [[0, 1, 2, 3, 10, 11, 12, 13], [4, 5, 6, 7, 14, 15, 16, 17]]);
}

#[test]
fn operands_are_sent() {
    let send = |name: &str, attributes: &str| {
        let op = format!("\"stablehlo.{name}\"(%x) <{{{attributes}}}>");
        results((4, 1), &program("tensor<2xf32>", "tensor<2xf32>", &op), numbered)
    };
    let zeros = vec![0.0; 2];
    let ring = "source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>";
    assert_eq!(send("collective_permute", ring), [3, 0, 1, 2].map(numbered));
    let some = "source_target_pairs = dense<[[0, 0], [1, 3]]> : tensor<2x2xi64>";
    assert_eq!(send("collective_permute", some), [numbered(0), zeros.clone(), zeros.clone(), numbered(1)]);
    let nobody = "source_target_pairs = dense<> : tensor<0x2xi64>";
    assert_eq!(send("collective_permute", nobody), vec![zeros.clone(); 4]);
    let groups = "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>";
    assert_eq!(send("collective_broadcast", groups), [zeros.clone(), numbered(2), numbered(2), zeros]);
}

#[test]
fn any_body_and_element_type() {
    let groups = "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>";
    let floats = |process: usize| vec![process as f32 - 1.0, 2.0];
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.maximum", "f32"), floats), [[1.0, 2.0]; 3]);
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.multiply", "f32"), floats), [[-0.0, 8.0]; 3]);
    // An unrecognised body runs as a program, in the order of the group.
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.subtract", "f32"), floats), [[-2.0, -2.0]; 3]);
    let flags = |process: usize| vec![u8::from(process == 1), 0];
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.or", "i1"), flags), [[1, 0]; 3]);
    let bytes = |process: usize| vec![100 + process as u8, 1];
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.add", "i8"), bytes), [[47, 3]; 3]);
    let shorts = |process: usize| vec![half::bf16::from_f32(process as f32 + 0.5).to_bits(); 2];
    let sum = half::bf16::from_f32(4.5).to_bits();
    assert_eq!(results((3, 1), &all_reduce(groups, "stablehlo.add", "bf16"), shorts), [[sum; 2]; 3]);
    let complex = |process: usize| vec![process as f64, 1.0, -1.0, 0.5];
    assert_eq!(
        results((3, 1), &all_reduce(groups, "stablehlo.add", "complex<f64>"), complex),
        [[3.0, 3.0, -3.0, 1.5]; 3]
    );
}

#[test]
fn large_operands_are_split_among_threads() {
    let count = 300_001;
    let text = all_reduce("replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>", "stablehlo.add", "f32")
        .replace("tensor<2xf32>", &format!("tensor<{count}xf32>"));
    let input = |process: usize| (0..count).map(|i| (i % 1000 * (process + 1)) as f32).collect::<Vec<_>>();
    let expected: Vec<f32> = (0..count).map(|i| (i % 1000 * 10) as f32).collect();
    for result in results((4, 1), &text, input) {
        assert_eq!(result, expected);
    }
}

#[test]
fn variadic_collectives() {
    let text = format!(
        "func.func @main(%x: tensor<f32>, %y: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {{
          %0:2 = \"stablehlo.all_reduce\"(%x, %y) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> {}
            : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
          return %0#0, %0#1 : tensor<f32>, tensor<2xf32>
        }}",
        region("stablehlo.add", "f32")
    );
    let engine = engine();
    let program = compile(&engine, 2, 1, &text).unwrap();
    let arguments = |index: usize| {
        let x = index as f32;
        vec![argument(&engine, &[x]), argument(&engine, &[x, 10.0])]
    };
    for outcome in run_all(&program, Launch::Auto, arguments) {
        let buffers = outcome.unwrap();
        assert_eq!((values::<f32>(&buffers[0]), values::<f32>(&buffers[1])), (vec![1.0], vec![1.0, 20.0]));
    }
}

#[test]
fn ids_of_processes() {
    let text = "func.func @main(%x: tensor<ui32>) -> tensor<ui32> {
      %r = stablehlo.replica_id : tensor<ui32>
      %p = stablehlo.partition_id : tensor<ui32>
      %ten = stablehlo.constant dense<10> : tensor<ui32>
      %0 = stablehlo.multiply %r, %ten : tensor<ui32>
      %1 = stablehlo.add %0, %p : tensor<ui32>
      %2 = stablehlo.add %1, %x : tensor<ui32>
      return %2 : tensor<ui32>
    }";
    assert_eq!(results((2, 3), text, |_| vec![100u32]), [100, 101, 102, 110, 111, 112].map(|id| vec![id]));
    assert_eq!(results((1, 1), text, |_| vec![100u32]), [[100]]);
    let id = "func.func @main(%x: tensor<ui32>) -> tensor<ui32> {
      %r = stablehlo.replica_id : tensor<ui32>
      return %r : tensor<ui32>
    }";
    assert_eq!(results((2, 1), id, |_| vec![0u32]), [[0], [1]]);
}

/// A loop that sums over all processes `count` times.
fn repeated(count: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
          %zero = stablehlo.constant dense<0> : tensor<ui32>
          %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<ui32>, tensor<2xf32> cond {{
            {count}
            %c = stablehlo.compare LT, %i, %n : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }} do {{
            %one = stablehlo.constant dense<1> : tensor<ui32>
            %j = stablehlo.add %i, %one : tensor<ui32>
            %s = \"stablehlo.all_reduce\"(%y) <{{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}}> {} :
              (tensor<2xf32>) -> tensor<2xf32>
            stablehlo.return %j, %s : tensor<ui32>, tensor<2xf32>
          }}
          return %0#1 : tensor<2xf32>
        }}",
        region("stablehlo.add", "f32")
    )
}

#[test]
fn collectives_in_loops_and_branches() {
    let text = repeated("%n = stablehlo.constant dense<4> : tensor<ui32>");
    assert_eq!(results((3, 1), &text, |_| vec![1.0f32, 2.0]), [[81.0, 162.0]; 3]);
    // Only the processes of one group take the branch with the collective.
    let text = format!(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
          %id = stablehlo.replica_id : tensor<ui32>
          %two = stablehlo.constant dense<2> : tensor<ui32>
          %c = stablehlo.compare LT, %id, %two : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
          %0 = \"stablehlo.if\"(%c) ({{
            %s = \"stablehlo.all_reduce\"(%x) <{{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}}> {} :
              (tensor<2xf32>) -> tensor<2xf32>
            stablehlo.return %s : tensor<2xf32>
          }}, {{
            stablehlo.return %x : tensor<2xf32>
          }}) : (tensor<i1>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }}",
        region("stablehlo.add", "f32")
    );
    let sum = vec![numbered(0)[0] + numbered(1)[0], numbered(0)[1] + numbered(1)[1]];
    assert_eq!(results((3, 1), &text, numbered), [sum.clone(), sum, numbered(2)]);
}

#[test]
fn collectives_that_do_not_match_are_an_error_at_once() {
    let engine = engine();
    // Each process iterates as often as its id says.
    let program = compile(&engine, 3, 1, &repeated("%n = stablehlo.replica_id : tensor<ui32>")).unwrap();
    for launch in [Launch::Inline, Launch::Elsewhere] {
        let mut outcomes = run_all(&program, launch, |_| vec![argument(&engine, &[1.0f32, 2.0])]);
        assert!(outcomes.remove(0).is_ok(), "the first never meets anybody");
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            let text = error.message();
            assert!(text.contains("do not match") && text.contains("replica 0 has ended"), "{text}");
            assert!(text.contains("replica 2 waits in stablehlo.all_reduce"), "{text}");
        }
    }
}

#[test]
fn a_process_that_fails_fails_all() {
    let engine = engine();
    let text = all_reduce("replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "stablehlo.add", "f32");
    let program = compile(&engine, 3, 1, &text).unwrap();
    for launch in [Launch::Inline, Launch::Elsewhere] {
        for wrong in 0..3 {
            let arguments = |index| vec![argument(&engine, &vec![1.0f32; if index == wrong { 3 } else { 2 }])];
            for outcome in run_all(&program, launch, arguments) {
                let text = outcome.unwrap_err().to_string();
                assert!(text.contains(&format!("replica {wrong}: argument 0 takes 8 bytes, got 12")), "{text}");
            }
        }
        let outcomes = run_all(&program, launch, |_| vec![argument(&engine, &[1.0f32, 2.0])]);
        assert!(outcomes.iter().all(Result::is_ok), "the program may be run again");
    }
}

/// Runs one process by a separate call.
fn call(
    program: &Program,
    process: usize,
    launch: Option<i64>,
    arguments: Vec<Argument>,
) -> mpsc::Receiver<(usize, Outcome)> {
    let (sender, receiver) = mpsc::channel();
    program.process(process, launch).execute(arguments, &ExecuteOptions::default(), move |outcome| {
        sender.send((0, outcome)).unwrap();
    });
    receiver
}

#[test]
fn calls_of_their_own_meet() {
    let engine = engine();
    let text = all_reduce("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "stablehlo.add", "f32");
    let program = compile(&engine, 2, 1, &text).unwrap();
    let with = |x: f32| vec![argument(&engine, &[x, 1.0])];
    for launch in [None, Some(7), Some(7)] {
        // The first process is one run ahead of the second.
        let ahead = [call(&program, 0, launch, with(1.0)), call(&program, 0, launch.map(|id| id + 1), with(10.0))];
        let behind = [call(&program, 1, launch, with(2.0)), call(&program, 1, launch.map(|id| id + 1), with(20.0))];
        for (receivers, expected) in ahead.into_iter().zip(behind).zip([3.0, 30.0]) {
            for receiver in [receivers.0, receivers.1] {
                assert_eq!(values::<f32>(&collect(&receiver, 1).remove(0).unwrap()[0]), [expected, 2.0]);
            }
        }
    }
}

#[test]
fn a_process_that_never_comes_is_waited_for_so_long() {
    let engine = engine();
    let text = all_reduce("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "stablehlo.add", "f32");
    let program = compile(&engine, 2, 1, &text).unwrap();
    let with = |x: f32| vec![argument(&engine, &[x, 1.0])];
    let started = Instant::now();
    let error = collect(&call(&program, 0, None, with(1.0)), 1).remove(0).unwrap_err();
    assert!(error.message().contains("replica 1, which did not run"), "{error}");
    assert!(started.elapsed() >= Duration::from_millis(200));
    // The next runs of both processes belong together.
    let (first, second) = (call(&program, 0, None, with(1.0)), call(&program, 1, None, with(2.0)));
    for receiver in [first, second] {
        assert_eq!(values::<f32>(&collect(&receiver, 1).remove(0).unwrap()[0]), [3.0, 2.0]);
    }
}

#[test]
fn groups_that_do_not_fit_are_errors_of_compiling() {
    let engine = engine();
    let error = |grid: (usize, usize), attributes: &str| {
        let text = all_reduce(attributes, "stablehlo.add", "f32");
        compile(&engine, grid.0, grid.1, &text).unwrap_err().to_string()
    };
    let text = error((2, 1), "replica_groups = dense<[[0, 5]]> : tensor<1x2xi64>");
    assert!(text.contains("stablehlo.all_reduce: a group names replica 5, but the program has 2 replicas"), "{text}");
    let text = error((3, 1), "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>");
    assert!(text.contains("replica 2 is in no group"), "{text}");
    let gather = program(
        "tensor<2xf32>",
        "tensor<6xf32>",
        "\"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>}>",
    );
    let text = compile(&engine, 2, 1, &gather).unwrap_err().to_string();
    assert!(text.contains("dimension 0 has size 2 per process and 6 per group"), "{text}");
}

#[test]
fn a_program_with_collectives_of_others_cannot_run_by_itself() {
    let engine = engine();
    let text = all_reduce("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", "stablehlo.add", "f32");
    let error = compile(&engine, 2, 1, &text).unwrap().run(vec![argument(&engine, &[1.0f32, 2.0])]).unwrap_err();
    assert!(error.message().contains("run it on all of its devices"), "{error}");
    let alone = "replica_groups = dense<[[0]]> : tensor<1x1xi64>";
    let program = compile(&engine, 1, 1, &all_reduce(alone, "stablehlo.add", "f32")).unwrap();
    assert_eq!(values::<f32>(&program.run(vec![argument(&engine, &[1.0f32, 2.0])]).unwrap()[0]), [1.0, 2.0]);
}

/// A program of two parameters: the operand that is sent or reduced, and the place of the root in its group.
fn with_root(op: &str, groups: &str, region: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xf32>, %root: tensor<1xi32>) -> tensor<2xf32> {{\n  %0 = \"stablehlo.{op}\"(%x, %root) \
         <{{has_dynamic_root, replica_groups = dense<{groups}> : tensor<2x2xi64>}}> {region} : (tensor<2xf32>, \
         tensor<1xi32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>\n}}"
    )
}

/// The results of four replicas, each of which gives the place of its root.
fn rooted(text: &str, root: impl Fn(usize) -> i32) -> Vec<Result<Vec<f32>, Error>> {
    let engine = engine();
    let program = compile(&engine, 4, 1, text).unwrap_or_else(|error| panic!("{error}"));
    let arguments = |index| vec![argument(&engine, &numbered(index)), argument(&engine, &[root(index)])];
    let outcomes = run_all(&program, Launch::Auto, arguments);
    outcomes.into_iter().map(|outcome| outcome.map(|results| values(&results[0]))).collect()
}

#[test]
fn roots_that_the_program_computes() {
    let all = |results: Vec<Result<Vec<f32>, Error>>| results.into_iter().map(Result::unwrap).collect::<Vec<_>>();
    let sent = with_root("collective_broadcast", "[[2, 0], [1, 3]]", "");
    assert_eq!(all(rooted(&sent, |_| 0)), [numbered(2), numbered(1), numbered(2), numbered(1)]);
    assert_eq!(all(rooted(&sent, |_| 1)), [numbered(0), numbered(3), numbered(0), numbered(3)]);
    assert_eq!(all(rooted(&sent, |index| (index % 2) as i32)), [numbered(2), numbered(3), numbered(2), numbered(3)]);
    let reduced = with_root("collective_reduce", "[[2, 0], [1, 3]]", &region("stablehlo.add", "f32"));
    let sums = sums(&[&[0, 2], &[1, 3]], 4);
    let zeros = vec![0.0; 2];
    assert_eq!(all(rooted(&reduced, |_| 1)), [sums[0].clone(), zeros.clone(), zeros.clone(), sums[3].clone()]);
}

#[test]
fn roots_that_no_group_has() {
    let sent = with_root("collective_broadcast", "[[2, 0], [1, 3]]", "");
    for (root, expected) in [(2, "the root of operand 0 is 2; it must be at least 0 and less than 2"), (-1, "is -1")] {
        let outcomes = rooted(&sent, |_| root);
        assert!(outcomes.iter().all(|outcome| outcome.as_ref().unwrap_err().to_string().contains(expected)));
    }
    let outcomes = rooted(&sent, |index| i32::from(index == 2));
    assert!(outcomes[0].as_ref().unwrap_err().to_string().contains("give different roots for operand 0"));
    assert!(outcomes[1].is_ok() || outcomes[1].as_ref().unwrap_err().to_string().contains("different roots"));
}

#[test]
fn the_root_is_the_first_of_its_group() {
    let op = format!(
        "\"stablehlo.collective_reduce\"(%x) <{{replica_groups = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>}}> {}",
        region("stablehlo.maximum", "f32")
    );
    let got = results((4, 1), &program("tensor<2xf32>", "tensor<2xf32>", &op), numbered);
    assert_eq!(got, [vec![0.0, 0.0], numbered(1), numbered(3), vec![0.0, 0.0]]);
}

#[test]
fn groups_that_are_axes_of_a_mesh() {
    let axes = |axis: &str| {
        format!(
            "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = \"x\", size = 2>, \
             <name = \"y\", size = 2>]>, axes = [#stablehlo.axis_ref<name = \"{axis}\">]>"
        )
    };
    let reduce = |attributes: &str| results((4, 1), &all_reduce(attributes, "stablehlo.add", "f32"), numbered);
    assert_eq!(reduce(&axes("x")), sums(&[&[0, 2], &[1, 3]], 4));
    assert_eq!(reduce(&axes("y")), sums(&[&[0, 1], &[2, 3]], 4));
}
