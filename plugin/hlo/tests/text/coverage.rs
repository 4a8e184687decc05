//! The corpus has every op.

use std::collections::HashSet;

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, OpKind, Region, UnaryOp};

use super::{parse, pretty_programs};

/// The names of the other ops.
const OTHERS: &str = "stablehlo.constant stablehlo.iota stablehlo.compare stablehlo.select stablehlo.clamp \
    stablehlo.convert stablehlo.bitcast_convert stablehlo.reduce_precision stablehlo.complex \
    stablehlo.broadcast_in_dim stablehlo.reshape stablehlo.transpose stablehlo.slice stablehlo.dynamic_slice \
    stablehlo.dynamic_update_slice stablehlo.pad stablehlo.concatenate stablehlo.reverse stablehlo.gather \
    stablehlo.scatter stablehlo.reduce stablehlo.reduce_window stablehlo.select_and_scatter stablehlo.sort \
    chlo.top_k stablehlo.map stablehlo.dot_general stablehlo.convolution stablehlo.fft stablehlo.cholesky \
    stablehlo.triangular_solve stablehlo.rng stablehlo.rng_bit_generator stablehlo.batch_norm_inference \
    stablehlo.batch_norm_training stablehlo.batch_norm_grad stablehlo.while stablehlo.if stablehlo.case func.call \
    stablehlo.composite stablehlo.custom_call stablehlo.optimization_barrier stablehlo.tuple \
    stablehlo.get_tuple_element stablehlo.after_all stablehlo.get_dimension_size stablehlo.partition_id \
    stablehlo.replica_id";

/// Functions that CHLO has no op for, so that programs have them as composites only.
const COMPOSITES: [&str; 1] = ["chlo.bessel_i0e"];

fn collect(region: &Region, kinds: &mut Vec<OpKind>) {
    for op in &region.ops {
        kinds.push(op.kind.clone());
        op.regions.iter().for_each(|region| collect(region, kinds));
    }
}

#[test]
fn every_op_is_in_a_program() {
    let mut kinds = Vec::new();
    for (name, text) in pretty_programs() {
        parse(&name, &text).funcs.iter().for_each(|func| collect(&func.body, &mut kinds));
    }
    let names: HashSet<&str> = kinds.iter().map(OpKind::name).collect();
    let unary = UnaryOp::ALL.iter().map(|op| op.name()).filter(|name| !COMPOSITES.contains(name));
    let binary = BinaryOp::ALL.iter().map(|op| op.name());
    let missing: Vec<&str> =
        unary.chain(binary).chain(OTHERS.split_whitespace()).filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for direction in ComparisonDirection::ALL {
        assert!(kinds.iter().any(|kind| matches!(kind, OpKind::Compare(each, _) if each == direction)));
    }
    for order in ComparisonType::ALL {
        assert!(kinds.iter().any(|kind| matches!(kind, OpKind::Compare(_, each) if each == order)));
    }
}
