//! Compile options: the protocol buffer that `PJRT_Client_Compile` is given.

use oxcall_pjrt::{Code, CompileOptions};

use crate::memory;

/// Reads options.
pub(crate) fn fuzz(data: &[u8]) -> bool {
    match memory::bounded(data.len(), || CompileOptions::parse(data)) {
        Ok(options) => {
            assert_eq!(options.bytes, data);
            assert!(options.replicas > 0 && options.partitions > 0, "{options:?}");
            if let Some(assignment) = &options.device_assignment {
                let count = assignment.replicas.checked_mul(assignment.partitions);
                assert_eq!(count, Some(assignment.devices.len()), "{assignment:?}");
            }
            true
        }
        Err(error) => {
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
            false
        }
    }
}
