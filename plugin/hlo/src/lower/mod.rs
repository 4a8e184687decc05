//! The meaning of ops: from an op's attributes, wherever they come from, to its [`OpKind`].
//!
//! Readers say what an op has ([`Source`]). The meaning of attributes, and the expression of legacy and dynamic ops by
//! others, stand here for all of them.

mod call;
mod chlo;
mod collective;
mod constants;
mod contraction;
mod dynamic;
mod elementwise;
mod indexing;
mod math;
mod shape;
mod sharding;
mod source;
mod started;
mod window;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use self::constants::Constants;
pub(crate) use self::source::{Source, rows, sizes};
use crate::{BinaryOp, Error, OpKind, UnaryOp};

/// How an op of the IR is made.
#[derive(Clone, Copy)]
pub(crate) enum Lower {
    /// An element-wise function of one operand.
    Unary(UnaryOp),
    /// An element-wise function of two operands.
    Binary(BinaryOp),
    /// What the function says.
    Read(fn(&mut dyn Source) -> Result<OpKind, Error>),
}

impl Lower {
    /// The kind of the op, whose operands and regions may be changed, and before which others may be added.
    pub(crate) fn kind(self, op: &mut dyn Source) -> Result<OpKind, Error> {
        match self {
            Lower::Unary(unary) => Ok(OpKind::Unary(unary)),
            Lower::Binary(binary) => Ok(OpKind::Binary(binary)),
            Lower::Read(read) => read(op),
        }
    }
}

/// The op of this name, as `stablehlo.add`, and the name.
pub(crate) fn find(name: &str) -> Option<(&'static str, Lower)> {
    static TABLE: LazyLock<HashMap<&str, Lower>> = LazyLock::new(|| {
        let unary = UnaryOp::ALL.iter().map(|&op| (op.name(), Lower::Unary(op)));
        let binary = BinaryOp::ALL.iter().map(|&op| (op.name(), Lower::Binary(op)));
        unary.chain(binary).chain(OPS.iter().copied()).collect()
    });
    TABLE.get_key_value(name).map(|(&name, &lower)| (name, lower))
}

/// Makes the table: name, and what the op becomes.
macro_rules! ops {
    ($($name:literal $function:expr;)*) => {
        const OPS: &[(&str, Lower)] = &[$(($name, Lower::Read($function)),)*];
    };
}

/// An op without attributes that matter.
macro_rules! plain {
    ($kind:expr) => {
        |_| Ok($kind)
    };
}

ops! {
    "chlo.broadcast_add" chlo::broadcasting;
    "chlo.broadcast_and" chlo::broadcasting;
    "chlo.broadcast_atan2" chlo::broadcasting;
    "chlo.broadcast_compare" chlo::broadcast_compare;
    "chlo.broadcast_complex" chlo::broadcast_complex;
    "chlo.broadcast_divide" chlo::broadcasting;
    "chlo.broadcast_maximum" chlo::broadcasting;
    "chlo.broadcast_minimum" chlo::broadcasting;
    "chlo.broadcast_multiply" chlo::broadcasting;
    "chlo.broadcast_next_after" chlo::broadcasting;
    "chlo.broadcast_or" chlo::broadcasting;
    "chlo.broadcast_polygamma" chlo::broadcasting;
    "chlo.broadcast_power" chlo::broadcasting;
    "chlo.broadcast_remainder" chlo::broadcasting;
    "chlo.broadcast_select" chlo::broadcast_select;
    "chlo.broadcast_shift_left" chlo::broadcasting;
    "chlo.broadcast_shift_right_arithmetic" chlo::broadcasting;
    "chlo.broadcast_shift_right_logical" chlo::broadcasting;
    "chlo.broadcast_subtract" chlo::broadcasting;
    "chlo.broadcast_xor" chlo::broadcasting;
    "chlo.broadcast_zeta" chlo::broadcasting;
    "chlo.constant" elementwise::constant;
    "chlo.constant_like" chlo::constant_like;
    "chlo.top_k" chlo::top_k;
    "func.call" call::call;
    "sdy.manual_computation" sharding::manual_computation;
    "sdy.sharding_constraint" sharding::constraint;
    "sdy.sharding_group" sharding::group;
    "stablehlo.after_all" plain!(OpKind::AfterAll);
    "stablehlo.all_gather" collective::all_gather;
    "stablehlo.all_reduce" collective::all_reduce;
    "stablehlo.all_to_all" collective::all_to_all;
    "stablehlo.async_done" plain!(OpKind::AsyncDone);
    "stablehlo.async_start" plain!(OpKind::AsyncStart);
    "stablehlo.batch_norm_grad" math::batch_norm_grad;
    "stablehlo.batch_norm_inference" math::batch_norm_inference;
    "stablehlo.batch_norm_training" math::batch_norm_training;
    "stablehlo.bitcast_convert" plain!(OpKind::BitcastConvert);
    "stablehlo.broadcast" shape::broadcast;
    "stablehlo.broadcast_in_dim" shape::broadcast_in_dim;
    "stablehlo.case" plain!(OpKind::Case);
    "stablehlo.cholesky" math::cholesky;
    "stablehlo.clamp" plain!(OpKind::Clamp);
    "stablehlo.collective_broadcast" collective::broadcast;
    "stablehlo.collective_permute" collective::permute;
    "stablehlo.collective_reduce" collective::reduce;
    "stablehlo.compare" elementwise::compare;
    "stablehlo.complex" plain!(OpKind::Complex);
    "stablehlo.composite" call::composite;
    "stablehlo.concatenate" shape::concatenate;
    "stablehlo.constant" elementwise::constant;
    "stablehlo.convert" plain!(OpKind::Convert);
    "stablehlo.convolution" window::convolution;
    "stablehlo.create_token" plain!(OpKind::AfterAll);
    "stablehlo.custom_call" call::custom_call;
    "stablehlo.dot" contraction::dot;
    "stablehlo.dot_general" contraction::dot_general;
    "stablehlo.dynamic_broadcast_in_dim" dynamic::broadcast_in_dim;
    "stablehlo.dynamic_conv" dynamic::convolution;
    "stablehlo.dynamic_gather" dynamic::gather;
    "stablehlo.dynamic_iota" dynamic::iota;
    "stablehlo.dynamic_pad" dynamic::pad;
    "stablehlo.dynamic_reshape" dynamic::reshape;
    "stablehlo.dynamic_slice" shape::dynamic_slice;
    "stablehlo.dynamic_update_slice" plain!(OpKind::DynamicUpdateSlice);
    "stablehlo.einsum" contraction::einsum;
    "stablehlo.fft" math::fft;
    "stablehlo.gather" indexing::gather;
    "stablehlo.get_dimension_size" shape::get_dimension_size;
    "stablehlo.get_tuple_element" call::get_tuple_element;
    "stablehlo.if" plain!(OpKind::If);
    "stablehlo.iota" elementwise::iota;
    "stablehlo.map" elementwise::map;
    "stablehlo.optimization_barrier" plain!(OpKind::OptimizationBarrier);
    "stablehlo.pad" shape::pad;
    "stablehlo.partition_id" plain!(OpKind::PartitionId);
    "stablehlo.real_dynamic_slice" dynamic::slice;
    "stablehlo.reduce" window::reduce;
    "stablehlo.reduce_precision" elementwise::reduce_precision;
    "stablehlo.reduce_scatter" collective::reduce_scatter;
    "stablehlo.reduce_window" window::reduce_window;
    "stablehlo.replica_id" plain!(OpKind::ReplicaId);
    "stablehlo.reshape" plain!(OpKind::Reshape);
    "stablehlo.reverse" shape::reverse;
    "stablehlo.rng" math::rng;
    "stablehlo.rng_bit_generator" math::rng_bit_generator;
    "stablehlo.scatter" indexing::scatter;
    "stablehlo.select" plain!(OpKind::Select);
    "stablehlo.select_and_scatter" window::select_and_scatter;
    "stablehlo.set_dimension_size" dynamic::set_dimension_size;
    "stablehlo.slice" shape::slice;
    "stablehlo.sort" indexing::sort;
    "stablehlo.torch_index_select" indexing::torch_index_select;
    "stablehlo.transpose" shape::transpose;
    "stablehlo.triangular_solve" math::triangular_solve;
    "stablehlo.tuple" plain!(OpKind::Tuple);
    "stablehlo.unary_einsum" contraction::unary_einsum;
    "stablehlo.while" plain!(OpKind::While);
}

/// Why the op of this name (without its dialect) is not supported, if it is known.
pub(crate) fn why_unsupported(name: &str) -> Option<&'static str> {
    Some(match name {
        "cross-replica-sum" => "sums over replicas are written with all_reduce",
        // Of HLO protos.
        "async_done" | "async_start" | "async_update" => "asynchronous ops of HLO are not supported",
        "infeed" | "outfeed" => "infeed and outfeed are not supported",
        "recv" | "send" => "sending to and receiving from the host or other devices is not supported",
        "uniform_dequantize" | "uniform_quantize" => "quantised types are not supported",
        "compute_reshape_shape" | "cstr_reshapable" => "dynamic shapes are not supported",
        "trace" => "tracing ops are not supported",
        _ => return None,
    })
}
