//! The names of ops: those of other dialects that mean the same, and those that are not supported.

use super::OPS;
use crate::{Error, text::syntax::FORWARD};

/// Ops of other names.
const SYNONYMS: &[(&str, &str)] = &[
    ("call", "func.call"),
    ("mhlo.topk", "chlo.top_k"),
    ("chlo.constant", "stablehlo.constant"),
    ("chlo.tan", "stablehlo.tan"),
    (FORWARD, FORWARD),
];

/// Ops that are known but not supported, and why.
const UNSUPPORTED: &[(&str, &[&str])] = &[
    (
        "programs for several devices are not supported in text",
        &[
            "all_gather",
            "all_reduce",
            "all_to_all",
            "collective_broadcast",
            "collective_permute",
            "cross_replica_sum",
            "reduce_scatter",
            "send",
            "recv",
            "infeed",
            "outfeed",
        ],
    ),
    (
        "ops of dynamic shapes are not supported in text",
        &[
            "compute_reshape_shape",
            "cstr_reshapable",
            "dynamic_broadcast_in_dim",
            "dynamic_conv",
            "dynamic_gather",
            "dynamic_iota",
            "dynamic_pad",
            "dynamic_reshape",
            "real_dynamic_slice",
            "set_dimension_size",
        ],
    ),
    ("this legacy op is not supported in text", &["einsum", "unary_einsum", "torch_index_select"]),
    ("quantized types are not supported", &["uniform_quantize", "uniform_dequantize"]),
];

/// The name under which the op is known here: `mhlo.add` is `stablehlo.add`.
pub(in crate::text) fn canonical_name(name: &str) -> Result<&'static str, Error> {
    let known = |name: &str| OPS.get_key_value(name).map(|(&name, _)| name);
    if let Some(&(_, name)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == name) {
        return Ok(name);
    }
    if let Some(name) = known(name) {
        return Ok(name);
    }
    let (dialect, stem) = name.split_once('.').unwrap_or(("", name));
    if dialect == "mhlo" {
        let found = ["stablehlo", "chlo"].iter().find_map(|dialect| known(&format!("{dialect}.{stem}")));
        if let Some(name) = found {
            return Ok(name);
        }
    }
    if matches!(dialect, "stablehlo" | "mhlo" | "chlo")
        && let Some((why, _)) = UNSUPPORTED.iter().find(|(_, stems)| stems.contains(&stem))
    {
        return Err(Error::unsupported(*why));
    }
    Err(Error::unsupported(match dialect {
        "sdy" => "partitioned programs (the dialect sdy) are not supported in text",
        "stablehlo" | "mhlo" | "chlo" | "func" => "the op is not known",
        _ => "ops of this dialect are not supported",
    }))
}
