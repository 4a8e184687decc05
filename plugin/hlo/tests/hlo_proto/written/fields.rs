//! The fields of instructions.

use oxcall_proto::Message;

use super::{instruction, numbers, program, write};

/// Programs of three parameters and one op, whose result is of type `result`.
fn op(result: &str, line: &str) -> Vec<u8> {
    let (f, i) = ("tensor<2x3xf32>", "tensor<2x3xi32>");
    write(&program(
        &format!("(%arg0: {f}, %arg1: {i}, %arg2: tensor<f32>) -> {result}"),
        &format!("    %0 = {line}\n    return %0 : {result}"),
    ))
}

/// Integers of messages as text, the first three fields of each.
fn triples(messages: &[Message]) -> Vec<[i64; 3]> {
    messages.iter().map(|message| [1, 2, 3].map(|number| message.int(number).unwrap())).collect()
}

#[test]
fn dimensions() {
    let file = op("tensor<2x3xi32>", "stablehlo.iota dim = 1 : tensor<2x3xi32>");
    assert_eq!(instruction(&file, "iota").ints(14).unwrap(), [1]);
}

#[test]
fn slices_and_paddings() {
    let file = op("tensor<1x2xf32>", "stablehlo.slice %arg0 [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>");
    assert_eq!(triples(&instruction(&file, "slice").messages(17).unwrap()), [[1, 2, 1], [0, 3, 2]]);
    let file = op(
        "tensor<3x10xf32>",
        "\"stablehlo.pad\"(%arg0, %arg2) <{edge_padding_low = array<i64: -1, 2>, edge_padding_high = array<i64: 2, 3>, \
         interior_padding = array<i64: 0, 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x10xf32>",
    );
    let config = instruction(&file, "pad").message(21).unwrap().unwrap();
    assert_eq!(triples(&config.messages(1).unwrap()), [[-1, 2, 0], [2, 3, 1]]);
}

#[test]
fn comparisons_have_an_order_if_they_say_so() {
    let compare = |order: &str| {
        op(
            "tensor<2x3xi1>",
            &format!(
                "stablehlo.compare LT, %arg0, %arg0{order} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>"
            ),
        )
    };
    for (order, written) in [("", ""), (", FLOAT", "FLOAT"), (", TOTALORDER", "TOTALORDER")] {
        let file = compare(order);
        let compare = instruction(&file, "compare");
        assert_eq!((compare.text(63).unwrap(), compare.text(72).unwrap()), ("LT", written));
    }
}

#[test]
fn dot_products() {
    let file = op(
        "tensor<2x2xf32>",
        "stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> \
         tensor<2x2xf32>",
    );
    let dims = instruction(&file, "dot").message(30).unwrap().unwrap();
    assert_eq!([1, 2, 3, 4].map(|number| numbers(&dims.ints(number).unwrap())), ["1", "1", "", ""]);
    let file = op(
        "tensor<3xf32>",
        "stablehlo.dot_general %arg0, %arg0, batching_dims = [1] x [1], contracting_dims = [0] x [0] : \
         (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>",
    );
    let dims = instruction(&file, "dot").message(30).unwrap().unwrap();
    assert_eq!([1, 2, 3, 4].map(|number| numbers(&dims.ints(number).unwrap())), ["0", "0", "1", "1"]);
}

#[test]
fn groups_and_pairs_of_devices() {
    let gather = |more: &str| {
        op(
            "tensor<2x6xf32>",
            &format!(
                "\"stablehlo.all_gather\"(%arg0) <{{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> \
                 : tensor<2x2xi64>{more}}}> : (tensor<2x3xf32>) -> tensor<2x6xf32>"
            ),
        )
    };
    let groups = |file: &[u8]| {
        let gather = instruction(file, "all-gather");
        let groups = gather.messages(49).unwrap();
        assert_eq!(groups.iter().map(|group| group.ints(1).unwrap()).collect::<Vec<_>>(), [[0, 2], [1, 3]]);
        (gather.ints(14).unwrap(), gather.int(26).unwrap(), gather.bool(71).unwrap())
    };
    assert_eq!(groups(&gather("")), (vec![1], 0, false));
    let channel = ", channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids";
    assert_eq!(groups(&gather(channel)), (vec![1], 5, true));

    let file = op(
        "tensor<2x3xf32>",
        "\"stablehlo.collective_permute\"(%arg0) <{source_target_pairs = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>, \
         channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    );
    let permute = instruction(&file, "collective-permute");
    let pairs = permute.messages(52).unwrap();
    let pairs: Vec<_> = pairs.iter().map(|pair| [1, 2].map(|number| pair.int(number).unwrap())).collect();
    assert_eq!((pairs, permute.int(26).unwrap()), (vec![[0, 3], [2, 1]], 6));
}

#[test]
fn custom_calls_say_how_they_are_called() {
    let call = |more: &str| {
        op(
            "tensor<2x3xf32>",
            &format!("stablehlo.custom_call @target(%arg0) {{{more}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
        )
    };
    for (more, version, side_effect, config) in [
        ("api_version = 2 : i32, backend_config = \"text\"", 2, false, "text"),
        ("api_version = 1 : i32, has_side_effect = true", 1, true, ""),
        ("api_version = 4 : i32, backend_config = {axis = 1 : i64}", 4, false, "{axis = 1 : i64}"),
    ] {
        let file = call(more);
        let call = instruction(&file, "custom-call");
        assert_eq!((call.text(28).unwrap(), call.text(43).unwrap()), ("target", config));
        assert_eq!((call.int(77).unwrap(), call.bool(65).unwrap()), (version, side_effect));
    }
}

/// An op that HLO has not is a custom call with its name and attributes.
#[test]
fn ops_that_hlo_lacks_are_custom_calls() {
    let file = op(
        "tensor<2x2x3xf32>",
        "stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<2x2x3xf32>",
    );
    assert_eq!(instruction(&file, "broadcast").ints(14).unwrap(), [1, 2]);
    let one = program(
        "(%arg0: tensor<1x3xf32>) -> tensor<2x3xf32>",
        "    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>",
    );
    let file = write(&one);
    let call = instruction(&file, "custom-call");
    assert_eq!(call.text(28).unwrap(), "stablehlo.broadcast_in_dim");
    assert_eq!(call.text(43).unwrap(), "{broadcast_dimensions = array<i64: 0, 1>}");
    assert!(call.ints(14).unwrap().is_empty());
}

#[test]
fn names_of_the_trace() {
    let file = op("tensor<2x3xf32>", "stablehlo.negate %arg0 : tensor<2x3xf32> loc(\"jit(f)/neg\")");
    let metadata = instruction(&file, "negate").message(7).unwrap().unwrap();
    assert_eq!(metadata.text(2).unwrap(), "jit(f)/neg");
    let file = op("tensor<2x3xf32>", "stablehlo.negate %arg0 : tensor<2x3xf32>");
    assert!(instruction(&file, "negate").message(7).unwrap().is_none());
}
