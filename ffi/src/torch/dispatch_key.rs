//! The dispatch keys of operations: torch's names for the selection of a kernel.

use crate::descriptor::{HOST, Handler, Role};

/// The dispatch key of an operation.
pub(crate) fn dispatch_key(handler: &Handler) -> &'static str {
    match handler.platform {
        // Without a tensor argument, torch cannot tell which device's kernel to take.
        HOST if handler.params.iter().all(|param| param.role == Role::Ret) => "CompositeExplicitAutograd",
        HOST => "CPU",
        // PyTorch for ROCm uses the same name.
        "ROCM" => "CUDA",
        other => other,
    }
}
