//! The contexts that handlers receive.

use std::ffi::c_void;
use std::sync::Arc;

use oxcall::descriptor::Stage;
use oxcall::host::{HostVersion, InvokeContext};

use super::{CallSite, Host};

/// User data of an execution, which handlers find by type id.
#[derive(Debug, Clone, Copy)]
pub struct UserData {
    type_id: i64,
    data: *mut c_void,
}

// SAFETY: `new` requires data that any thread may use.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// The data of a registered type.
    ///
    /// # Safety
    /// It has the type that handlers expect for this id, may be used on any thread, and outlives the execution that
    /// gets it.
    pub unsafe fn new(type_id: i64, data: *mut c_void) -> UserData {
        UserData { type_id, data }
    }
}

/// The properties of an execution that its handlers may query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExecutionInfo<'a> {
    pub(crate) run_id: i64,
    pub(crate) device_ordinal: i32,
    pub(crate) user_data: &'a [UserData],
}

/// The contexts for the calls of one execution: one for each instantiated state, and one for each version of the
/// interface that other handlers use.
pub(crate) struct Contexts {
    list: Vec<InvokeContext>,
    of_site: Vec<u32>,
    /// The device for whose next execution they may be reused.
    device: Option<i32>,
}

impl Contexts {
    pub(crate) fn new() -> Contexts {
        Contexts { list: Vec::new(), of_site: Vec::new(), device: None }
    }

    /// Prepares them for another execution.
    pub(crate) fn renew(&mut self, host: &Host, sites: &[CallSite], info: &ExecutionInfo<'_>) {
        if self.device == Some(info.device_ordinal) && info.user_data.is_empty() {
            self.list.iter_mut().for_each(|context| context.renew(info.run_id));
            return;
        }
        self.list.clear();
        self.of_site.clear();
        let mut shared: Vec<(HostVersion, u32)> = Vec::new();
        for site in sites {
            let version = site.version();
            let state = site.stages();
            let known = shared.iter().find(|(of, _)| state.is_none() && *of == version).map(|(_, index)| *index);
            let index = known.unwrap_or_else(|| {
                self.list.push(build(host, version, info, state.cloned()));
                let index = self.list.len() as u32 - 1;
                if state.is_none() {
                    shared.push((version, index));
                }
                index
            });
            self.of_site.push(index);
        }
        self.device = info.user_data.is_empty().then_some(info.device_ordinal);
    }

    /// Drops the references of the last execution.
    pub(crate) fn finish(&mut self) {
        match self.device {
            Some(_) => self.list.iter_mut().for_each(|context| context.renew(0)),
            None => self.list.clear(),
        }
    }

    pub(crate) fn of(&self, site: u32) -> &InvokeContext {
        &self.list[self.of_site[site as usize] as usize]
    }
}

/// A context of one version; `state` comes from the instantiate stage.
pub(super) fn build(
    host: &Host,
    version: HostVersion,
    info: &ExecutionInfo<'_>,
    state: Option<Arc<oxcall::host::StageState>>,
) -> InvokeContext {
    let mut builder = InvokeContext::builder()
        .version(version)
        .run_id(info.run_id)
        .device_ordinal(info.device_ordinal)
        .pool(Arc::clone(&host.tasks))
        .scratch(Arc::clone(&host.scratch));
    for user_data in info.user_data {
        builder = builder.user_data(user_data.type_id, user_data.data);
    }
    match state {
        Some(state) => builder.state(Stage::Instantiate, state).build(),
        None => builder.build(),
    }
}
