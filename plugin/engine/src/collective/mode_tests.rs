//! Every collective in every mode of the specification ("Process grouping"): which processes meet, by the op's channel
//! and `use_global_device_ids`. Programs are read as StableHLO and as HLO protos, and run both by separate processes
//! and in manual computations.

use oxcall_hlo::{Module, parse_text, read_hlo_proto_with_config, verify, write_hlo_proto};

use super::tests::{argument, engine, region, results_of, run_all, values};
use crate::{Launch, ProcessGrid, ShardingOptions};

/// The meaning of the ids in an op's groups.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    CrossReplica,
    CrossPartition,
    CrossReplicaAndPartition,
    FlattenedIds,
}

use Mode::{CrossPartition, CrossReplica, CrossReplicaAndPartition, FlattenedIds};

/// An op by name, its modes, and whether HLO has it.
struct Case {
    name: &'static str,
    modes: &'static [Mode],
    is_in_hlo: bool,
}

const REDUCTION_MODES: &[Mode] = &[CrossReplica, CrossReplicaAndPartition, FlattenedIds];
const MOVEMENT_MODES: &[Mode] = &[CrossReplica, CrossPartition];

const CASES: [Case; 7] = [
    Case { name: "all_gather", modes: REDUCTION_MODES, is_in_hlo: true },
    Case { name: "all_reduce", modes: REDUCTION_MODES, is_in_hlo: true },
    Case { name: "reduce_scatter", modes: REDUCTION_MODES, is_in_hlo: true },
    Case { name: "collective_reduce", modes: REDUCTION_MODES, is_in_hlo: false },
    Case { name: "all_to_all", modes: MOVEMENT_MODES, is_in_hlo: true },
    Case { name: "collective_broadcast", modes: MOVEMENT_MODES, is_in_hlo: true },
    Case { name: "collective_permute", modes: MOVEMENT_MODES, is_in_hlo: true },
];

/// Rows of two ids each, as the mode counts them, and the groups of processes that they mean on a grid of two replicas
/// with two partitions each: process = 2 * replica + partition.
fn meaning(mode: Mode) -> (&'static str, &'static [&'static [usize]]) {
    match mode {
        CrossReplica => ("[[1, 0]]", &[&[2, 0], &[3, 1]]),
        CrossPartition => ("[[1, 0]]", &[&[1, 0], &[3, 2]]),
        CrossReplicaAndPartition => ("[[1, 0]]", &[&[2, 0, 3, 1]]),
        FlattenedIds => ("[[3, 0], [1, 2]]", &[&[3, 0], &[1, 2]]),
    }
}

impl Case {
    /// The op on `%x`, of type `tensor<4xf32>`, for groups of `size` processes, and the number of elements of its
    /// result.
    fn op(&self, mode: Mode, rows: &str, size: usize) -> (String, usize) {
        let count = rows.matches('[').count() - 1;
        let mut attributes = match self.name {
            "collective_permute" => format!("source_target_pairs = dense<{rows}> : tensor<{count}x2xi64>"),
            _ => format!("replica_groups = dense<{rows}> : tensor<{count}x2xi64>"),
        };
        if mode != CrossReplica {
            attributes += ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
        }
        if mode == FlattenedIds {
            attributes += ", use_global_device_ids";
        }
        let (own, result, body) = match self.name {
            "all_gather" => (", all_gather_dim = 0 : i64", 4 * size, false),
            "reduce_scatter" => (", scatter_dimension = 0 : i64", 4 / size, true),
            "all_to_all" => {
                (", split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64", 4, false)
            }
            name => ("", 4, name.ends_with("reduce")),
        };
        let body = if body { region("stablehlo.add", "f32") } else { String::new() };
        let op = format!(
            "\"stablehlo.{}\"(%x) <{{{attributes}{own}}}> {body} : (tensor<4xf32>) -> tensor<{result}xf32>",
            self.name
        );
        (op, result)
    }

    /// The result that the specification gives for the process at `place` of its group, or for a process in no group.
    fn expected(&self, group: Option<(&[usize], usize)>) -> Vec<f32> {
        let zeros = vec![0.0; 4];
        let Some((group, place)) = group else { return zeros };
        let sum: Vec<f32> = (0..4).map(|i| group.iter().map(|&process| operand(process)[i]).sum()).collect();
        let part = 4 / group.len();
        match self.name {
            "all_gather" => group.iter().flat_map(|&process| operand(process)).collect(),
            "all_reduce" => sum,
            "reduce_scatter" => sum[place * part..(place + 1) * part].to_vec(),
            "all_to_all" => {
                group.iter().flat_map(|&process| operand(process)[place * part..(place + 1) * part].to_vec()).collect()
            }
            "collective_broadcast" => operand(group[0]),
            "collective_reduce" if place == 0 => sum,
            "collective_permute" if place == 1 => operand(group[0]),
            _ => zeros,
        }
    }

    /// The results of `count` processes.
    fn results(&self, groups: &[&[usize]], count: usize) -> Vec<Vec<f32>> {
        let group_of = |process| {
            groups.iter().find_map(|group| Some((*group, group.iter().position(|&member| member == process)?)))
        };
        (0..count).map(|process| self.expected(group_of(process))).collect()
    }
}

fn operand(process: usize) -> Vec<f32> {
    (0..4).map(|i| (10 * process + i) as f32).collect()
}

fn read(text: &str) -> Module {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    module
}

/// The same module after a round trip through an HLO proto.
fn through_hlo(module: &Module) -> Module {
    let proto = write_hlo_proto(module).expect("HLO has these ops");
    let module = read_hlo_proto_with_config(&proto).unwrap_or_else(|error| panic!("{error}\n{module}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    module
}

#[test]
fn every_collective_in_every_mode() {
    for case in &CASES {
        for &mode in case.modes {
            let (rows, groups) = meaning(mode);
            let (op, len) = case.op(mode, rows, groups[0].len());
            let module = read(&format!(
                "func.func @main(%x: tensor<4xf32>) -> tensor<{len}xf32> {{\n  %0 = {op}\n  return %0 : \
                 tensor<{len}xf32>\n}}"
            ));
            let expected = case.results(groups, 4);
            let grid = ProcessGrid { replicas: 2, partitions: 2 };
            let proto = case.is_in_hlo.then(|| through_hlo(&module));
            for (format, module) in
                [Some(("StableHLO", module)), proto.map(|proto| ("HLO", proto))].into_iter().flatten()
            {
                let got = results_of(&engine(), module, grid, operand);
                assert_eq!(got, expected, "{} as {format}, {mode:?}", case.name);
            }
        }
    }
}

/// Four partitions of one replica, in a manual computation inside a program of whole arrays.
#[test]
fn every_collective_of_partitions_in_manual_computations() {
    let pairs: &[&[usize]] = &[&[3, 0], &[1, 2]];
    for case in &CASES {
        for &mode in case.modes {
            let (rows, groups): (_, &[&[usize]]) = match mode {
                // Each partition is alone among the replicas.
                CrossReplica => ("[[0]]", &[&[0], &[1], &[2], &[3]]),
                CrossReplicaAndPartition => ("[[0]]", &[&[0, 1, 2, 3]]),
                CrossPartition | FlattenedIds => ("[[3, 0], [1, 2]]", pairs),
            };
            if mode == CrossReplica && matches!(case.name, "all_to_all" | "collective_permute") {
                continue;
            }
            let (op, len) = case.op(mode, rows, groups[0].len());
            let op = op.replace("1x2xi64", "1x1xi64");
            let module = read(&format!(
                "sdy.mesh @mesh = <[\"a\"=4]>
                func.func @main(%whole: tensor<16xf32>) -> tensor<{all}xf32> {{
                  %0 = sdy.manual_computation(%whole) in_shardings=[<@mesh, [{{\"a\"}}]>]
                    out_shardings=[<@mesh, [{{\"a\"}}]>] manual_axes={{\"a\"}} (%x: tensor<4xf32>) {{
                    %1 = {op}
                    sdy.return %1 : tensor<{len}xf32>
                  }} : (tensor<16xf32>) -> tensor<{all}xf32>
                  return %0 : tensor<{all}xf32>
                }}",
                all = 4 * len,
            ));
            let engine = engine();
            let grid = ProcessGrid { replicas: 1, partitions: 4 };
            let compiled = engine.compile_partitioned(module, grid, &ShardingOptions::default());
            let program = compiled.unwrap_or_else(|error| panic!("{} {mode:?}: {error}", case.name)).program;
            let whole: Vec<f32> = (0..4).flat_map(operand).collect();
            let got = program.run(vec![argument(&engine, &whole)]).unwrap();
            assert_eq!(values::<f32>(&got[0]), case.results(groups, 4).concat(), "{}, {mode:?}", case.name);
        }
    }
}

/// Replica ids where partition ids are meant: frameworks easily leave out the channel.
#[test]
fn ids_of_partitions_without_a_channel_are_explained() {
    for case in &CASES {
        let (op, len) = case.op(CrossReplica, "[[0, 1], [2, 3]]", 2);
        let text = format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<{len}xf32> {{\n  %0 = {op}\n  return %0 : tensor<{len}xf32>\n}}"
        );
        let grid = ProcessGrid { replicas: 1, partitions: 4 };
        let error = engine().compile_for(read(&text), grid).unwrap_err().to_string();
        let flag = if case.modes.contains(&FlattenedIds) { " and `use_global_device_ids`" } else { "" };
        let expected = format!(
            "a group names replica 1, but the program has 1 replicas; for groups of its 4 partitions, give the op a channel{flag}"
        );
        assert!(error.contains(&expected), "{}: {error}", case.name);
    }
}

#[test]
fn ids_of_devices_run_by_calls_of_their_own() {
    let (op, _) = CASES[1].op(FlattenedIds, "[[3, 0], [1, 2]]", 2);
    let text =
        format!("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = {op}\n  return %0 : tensor<4xf32>\n}}");
    let engine = engine();
    for grid in [ProcessGrid { replicas: 4, partitions: 1 }, ProcessGrid { replicas: 1, partitions: 4 }] {
        let program = engine.compile_for(read(&text), grid).unwrap();
        let outcomes = run_all(&program, Launch::Auto, |index| vec![argument(&engine, &operand(index))]);
        let got: Vec<Vec<f32>> = outcomes.into_iter().map(|outcome| values(&outcome.unwrap()[0])).collect();
        assert_eq!(got, CASES[1].results(&[&[3, 0], &[1, 2]], 4));
    }
}
