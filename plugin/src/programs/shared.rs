//! Programs with collectives, shared by all executables that were compiled of the same one.
//!
//! torch_xla runs each device from a thread of its own, and each thread may compile the program that it finds no
//! executable of yet. Devices that run different executables still have to meet.

use std::collections::HashMap;
use std::fmt;

use oxcall::sync::Mutex;
use oxcall_engine::{Program, WeakProgram};
use oxcall_pjrt::DeviceId;

/// The programs of a client that several executables may run.
#[derive(Default)]
pub(crate) struct SharedPrograms(Mutex<HashMap<Key, WeakProgram>>);

/// A program as text, and the devices that it runs on.
type Key = (String, Vec<DeviceId>);

impl SharedPrograms {
    /// The same program for `devices` that was compiled before and is still there; otherwise this one.
    pub(crate) fn share(&self, program: Program, devices: &[DeviceId]) -> Program {
        if devices.len() == 1 || !program.has_collectives() {
            return program;
        }
        let key = (program.identity(), devices.to_vec());
        let mut programs = self.0.lock();
        if let Some(shared) = programs.get(&key).and_then(WeakProgram::upgrade) {
            return shared;
        }
        programs.retain(|_, program| program.upgrade().is_some());
        programs.insert(key, program.downgrade());
        program
    }
}

impl fmt::Debug for SharedPrograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedPrograms").finish_non_exhaustive()
    }
}
