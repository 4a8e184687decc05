//! The dispatch keys of operations: torch's names for what selects a kernel.

use crate::descriptor::{HOST, Handler, Role};

/// The dispatch key of an operation.
pub(crate) fn dispatch_key(handler: &Handler) -> &'static str {
    match handler.platform {
        // Without a tensor among the arguments nothing tells torch which device's kernel to take.
        HOST if handler.params.iter().all(|param| param.role == Role::Ret) => "CompositeExplicitAutograd",
        HOST => "CPU",
        // PyTorch for ROCm answers to the same name.
        "ROCM" => "CUDA",
        other => other,
    }
}
