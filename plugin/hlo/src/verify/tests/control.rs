use super::*;
use crate::{Alias, Attribute, CustomCall, CustomCallApiVersion, FuncId};

#[test]
fn loops() {
    let body = "f32, 2xi8 -> f32, 2xi8";
    takes(OpKind::While, "f32, 2xi8 -> f32, 2xi8", &["f32, 2xi8 -> i1", body]);
    takes(OpKind::While, "token -> token", &["token -> i1", "token -> token"]);
    refuses(
        OpKind::While,
        "f32, 2xi8 -> f32, 2xi8",
        &["f32 -> i1", body],
        "the parameters of cond must have the types of operand, (tensor<f32>, tensor<2xi8>), got (tensor<f32>)",
    );
    refuses(
        OpKind::While,
        "f32, 2xi8 -> f32, 2xi8",
        &["f32, 2xi8 -> i8", body],
        "cond must return one tensor<i1>, got (tensor<i8>)",
    );
    refuses(
        OpKind::While,
        "f32 -> f32",
        &["f32 -> i1", "f32 -> f64"],
        "the results of body must have the types of operand",
    );
    refuses(OpKind::While, "f32 -> f32", &["f32 -> i1"], "expected 2 regions, got 1");
}

#[test]
fn branches() {
    takes(OpKind::If, "i1 -> f32, token", &["-> f32, token", "-> f32, token"]);
    refuses(OpKind::If, "i8 -> f32", &["-> f32", "-> f32"], "pred must be a tensor of boolean type");
    refuses(OpKind::If, "1xi1 -> f32", &["-> f32", "-> f32"], "pred must be a scalar, got tensor<1xi1>");
    refuses(OpKind::If, "i1 -> f32", &["-> f32"], "expected 2 regions, got 1");
    refuses(
        OpKind::If,
        "i1 -> f32",
        &["-> f32", "-> f64"],
        "branches must return the same types, got (tensor<f32>) and (tensor<f64>)",
    );
    takes(OpKind::Case, "i32 -> f32", &["-> f32"]);
    takes(OpKind::Case, "i32 -> f32", &["-> f32", "-> f32", "-> f32"]);
    refuses(OpKind::Case, "i32 -> f32", &[], "expected at least one branch, got none");
    refuses(OpKind::Case, "i64 -> f32", &["-> f32"], "index must be a tensor<i32>, got tensor<i64>");
    refuses(OpKind::Case, "i32 -> f32", &["f32 -> f32"], "branches must have no parameters, got (tensor<f32>)");
}

#[test]
fn calls() {
    let composite = OpKind::Composite { name: "a.b".into(), attributes: vec![], decomposition: FuncId(1), version: 1 };
    for kind in [OpKind::Call(FuncId(1)), composite] {
        takes(kind.clone(), "f32, i32 -> i32", &["f32, i32 -> i32"]);
        refuses(
            kind.clone(),
            "f32 -> i32",
            &["f32, i32 -> i32"],
            "the operands must have the types of the parameters of the function, (tensor<f32>, tensor<i32>), got (tensor<f32>)",
        );
        gives_other(kind, "f32 -> i32", &["f32 -> f32"]);
    }
}

fn custom_call(change: impl FnOnce(&mut CustomCall)) -> OpKind {
    let mut call = CustomCall {
        target: "f".into(),
        has_side_effect: false,
        backend_config: Attribute::Unit,
        attributes: vec![],
        api_version: CustomCallApiVersion::TypedFfi,
        operand_layouts: None,
        result_layouts: None,
        aliases: vec![],
        called_computations: vec![],
    };
    change(&mut call);
    OpKind::CustomCall(Box::new(call))
}

fn alias(output: &[usize], operand: usize, path: &[usize]) -> impl FnOnce(&mut CustomCall) {
    let alias = Alias { output: output.to_vec(), operand, operand_path: path.to_vec() };
    |call| call.aliases = vec![alias]
}

#[test]
fn custom_calls() {
    takes(custom_call(|_| ()), "f32, token -> token, 2xi4", &[]);
    takes(custom_call(|call| call.operand_layouts = Some(vec![vec![0, 1], vec![]])), "2x3xf32, token -> f32", &[]);
    takes(custom_call(|call| call.result_layouts = Some(vec![vec![0, 1], vec![]])), "-> (2x3xf32; token)", &[]);
    refuses(
        custom_call(|call| call.operand_layouts = Some(vec![vec![]])),
        "-> f32",
        &[],
        "operand_layouts must have an entry for each operand, got 1 for 0",
    );
    refuses(
        custom_call(|call| call.result_layouts = Some(vec![vec![1, 1]])),
        "-> 2x3xf32",
        &[],
        "result_layouts must be permutations of the dimensions, got [1, 1] for tensor<2x3xf32>",
    );
    takes(custom_call(alias(&[], 1, &[])), "i8, 2xf32 -> 2xf32", &[]);
    takes(custom_call(alias(&[1], 0, &[0])), "(i8; f32) -> f32, i8", &[]);
    takes(custom_call(alias(&[1, 0], 0, &[])), "i8 -> (f32; (i8; f32))", &[]);
    refuses(
        custom_call(alias(&[], 1, &[])),
        "i8, 2xf32 -> 3xf32",
        &[],
        "output_operand_aliases needs equal types, got operand 1 of type tensor<2xf32> and output [] of type tensor<3xf32>",
    );
    refuses(custom_call(alias(&[], 2, &[])), "i8, 2xf32 -> 3xf32", &[], "does not exist");
    refuses(custom_call(alias(&[0], 1, &[])), "i8, 3xf32 -> 3xf32", &[], "does not exist");
    refuses(custom_call(|_| ()), "-> f32", &["-> f32"], "expected 0 regions, got 1");
}

#[test]
fn tuples_and_tokens() {
    takes(OpKind::Tuple, "f32, token -> (f32; token)", &[]);
    takes(OpKind::Tuple, "-> ()", &[]);
    gives_other(OpKind::Tuple, "f32 -> (f64)", &[]);
    refuses(OpKind::Tuple, "f32 -> (f32)", &["-> f32"], "expected 0 regions, got 1");
    takes(OpKind::GetTupleElement { index: 1 }, "(f32; token) -> token", &[]);
    refuses(
        OpKind::GetTupleElement { index: 2 },
        "(f32; token) -> token",
        &[],
        "index = 2 must be less than the size of operand, tuple<tensor<f32>, !stablehlo.token>",
    );
    refuses(OpKind::GetTupleElement { index: 0 }, "f32 -> f32", &[], "operand must be a tuple, got tensor<f32>");
    takes(OpKind::OptimizationBarrier, "f32, token -> f32, token", &[]);
    gives_other(OpKind::OptimizationBarrier, "f32 -> f64", &[]);
    refuses(OpKind::OptimizationBarrier, "f32 -> f32", &["-> f32"], "expected 0 regions, got 1");
    takes(OpKind::AfterAll, "token, token -> token", &[]);
    takes(OpKind::AfterAll, "-> token", &[]);
    refuses(OpKind::AfterAll, "f32 -> token", &[], "inputs must be tokens, got tensor<f32>");
    for kind in [OpKind::PartitionId, OpKind::ReplicaId] {
        takes(kind.clone(), "-> ui32", &[]);
        refuses(kind, "f32 -> ui32", &[], "expected 0 operands, got 1");
    }
}

#[test]
fn futures() {
    takes(OpKind::AsyncStart, "2xf32 -> future(4xf32)", &["2xf32 -> 4xf32"]);
    takes(OpKind::AsyncStart, "2xf32, i8 -> future(4xf32; i8)", &["2xf32, i8 -> 4xf32, i8"]);
    takes(OpKind::AsyncDone, "future(4xf32) -> 4xf32", &[]);
    takes(OpKind::AsyncDone, "future(4xf32; i8) -> 4xf32, i8", &[]);
    refuses(
        OpKind::AsyncStart,
        "2xf32 -> future(2xf32)",
        &["4xf32 -> 2xf32"],
        "the region must take the operands, (tensor<2xf32>), got (tensor<4xf32>)",
    );
    refuses(OpKind::AsyncStart, "2xf32 -> future(2xf32)", &[], "expected 1 regions, got 0");
    gives_other(OpKind::AsyncStart, "2xf32 -> future(2xf32)", &["2xf32 -> 4xf32"]);
    refuses(OpKind::AsyncDone, "2xf32 -> 2xf32", &[], "operand must be a future, got tensor<2xf32>");
    gives_other(OpKind::AsyncDone, "future(4xf32) -> 2xf32", &[]);
}
