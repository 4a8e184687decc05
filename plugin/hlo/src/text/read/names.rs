//! The names of ops, and why some are not supported.

use crate::Error;
use crate::ops::{self, OpDef};

/// The op of this name.
pub(in crate::text) fn find(name: &str) -> Result<&'static OpDef, Error> {
    if let Some(def) = ops::find(name) {
        return Ok(def);
    }
    if let Some(error) = why_no_program(name) {
        return Err(error);
    }
    let (dialect, stem) = name.split_once('.').unwrap_or(("", name));
    Err(Error::unsupported(match dialect {
        "sdy" => "this op of Shardy is not supported",
        "stablehlo" | "chlo" => ops::why_unsupported(stem).unwrap_or("unknown op"),
        "func" => "unknown op",
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
