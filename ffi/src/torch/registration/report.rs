//! The report on a library's operations in torch, as JSON.

use serde_json::{Value, json};

use super::{Overload, outcome, planned};
use crate::descriptor::Handler;
use crate::loaded;
use crate::registry::registry;
use crate::torch::dispatch_key::dispatch_key;
use crate::torch::libtorch::shim::{Absent, Shim};

/// The operator of each operation, or the reason why it has none; registers operations that are not registered yet.
pub(crate) fn report() -> Value {
    let shim = Shim::get();
    let version = shim.as_ref().ok().map(|shim| {
        let (major, minor, patch) = shim.version;
        format!("{major}.{minor}.{patch}")
    });
    let ops = registry().handlers().iter().map(|handler| op(handler, shim));
    json!({
        "torch": version,
        "reason": shim.err().map(Absent::message),
        "library": loaded::own_path(),
        "ops": ops.collect::<Vec<_>>(),
    })
}

fn op(handler: &'static Handler, shim: Result<&'static Shim, Absent>) -> Value {
    let mut op = json!({
        "op": handler.name,
        "platform": handler.platform,
        "key": dispatch_key(handler),
        "name": null,
        "wanted": null,
        "overloads": [],
        "left_out": null,
    });
    let outcome = match shim {
        Ok(shim) => outcome(shim, handler),
        Err(_) => planned(handler),
    };
    match outcome {
        Some(Ok(registered)) => {
            op["name"] = registered.name.into();
            let overload = |overload: &Overload| {
                json!({
                    "overload": overload.name,
                    "schema": overload.schema,
                    "arguments": overload.arguments,
                    "left_out": overload.left_out,
                })
            };
            op["overloads"] = registered.overloads.iter().map(overload).collect();
        }
        Some(Err(reason)) => {
            op["left_out"] = reason.into();
            op["wanted"] = planned(handler).and_then(Result::ok).map(|planned| planned.name).into();
        }
        None if shim.is_ok() => op["left_out"] = "its crate keeps its operations out of torch".into(),
        None => {}
    }
    op
}
