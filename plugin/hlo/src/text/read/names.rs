//! The names of ops: those of other dialects that mean the same, and those that are not supported.

use crate::Error;
use crate::lower::{self, Lower};

/// Ops of other names.
const SYNONYMS: &[(&str, &str)] =
    &[("call", "func.call"), ("chlo.tan", "stablehlo.tan"), ("sdy.reshard", "sdy.sharding_constraint")];

/// The name under which the op is known here.
pub(in crate::text) fn canonical_name(name: &str) -> Result<&'static str, Error> {
    if let Some(&(_, name)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == name) {
        return Ok(name);
    }
    if let Some((name, _)) = lower::find(name) {
        return Ok(name);
    }
    if let Some(error) = why_no_program(name) {
        return Err(error);
    }
    let (dialect, stem) = name.split_once('.').unwrap_or(("", name));
    Err(Error::unsupported(match dialect {
        "sdy" => "this op of Shardy is not supported",
        "stablehlo" | "chlo" => lower::why_unsupported(stem).unwrap_or("the op is not known"),
        "func" => "the op is not known",
        _ => "ops of this dialect are not supported",
    }))
}

/// Why text with this op is in another format than StableHLO, if it is.
pub(in crate::text) fn why_no_program(name: &str) -> Option<Error> {
    Some(Error::unsupported(match name.split_once('.')?.0 {
        "mhlo" => "this is MHLO text, which is not supported; convert it to StableHLO (--hlo-legalize-to-stablehlo)",
        "vhlo" => {
            "this is VHLO text, which is not supported; send it as bytecode, or convert it to StableHLO \
             (--vhlo-legalize-to-stablehlo)"
        }
        _ => return None,
    }))
}

/// Attributes of an op that change nothing of its results here.
pub(super) fn ignored(name: &str, lower: Lower) -> &'static [&'static str] {
    match (name, lower) {
        // How precise the result must be: all functions here are precise.
        (_, Lower::Unary(_)) => &["result_accuracy"],
        ("func.call", _) => &["arg_attrs", "res_attrs", "no_inline"],
        ("stablehlo.dynamic_broadcast_in_dim", _) => &["known_expanding_dimensions", "known_nonexpanding_dimensions"],
        ("stablehlo.dynamic_conv", _) => &["padding"],
        // The kernel is always stable.
        ("chlo.top_k", _) => &["is_stable"],
        _ if name.starts_with("chlo.broadcast_") => &["broadcast_dimensions"],
        _ => &[],
    }
}
