//! An operation that is instantiated, as in a compiled program.

use std::fmt;
use std::sync::Arc;

use super::config::Config;
use super::infer::{Known, Results, infer};
use super::{Outputs, Value};
use crate::descriptor::{Handler, RawHandler, Stage};
use crate::host::{self, AttrValue, CallFrame, CallFrameBuilder, InvokeContext, StageState};
use crate::sync::Mutex;
use crate::{DType, Error, Result};

/// An operation with its attributes and the state of its instantiate stage: what a compiled program holds of it.
///
/// It may be run many times and from many threads; each run has its own prepare and initialize states. Made by
/// [`Call::instance`](super::Call::instance).
pub struct Instance {
    pub(super) call: CallSpec,
    state: Arc<StageState>,
}

/// The parts of a call, without its arguments.
pub(super) struct CallSpec {
    pub(super) handler: &'static Handler,
    pub(super) attrs: Vec<(String, AttrValue)>,
    pub(super) rets: Option<Results>,
    pub(super) dtypes: Vec<(String, DType)>,
    pub(super) num_results: Option<usize>,
    /// Pairs of argument and result in the same memory.
    pub(super) aliases: Vec<(usize, usize)>,
    pub(super) config: Config,
}

/// Memory of a call; kept for ever if the call does not end.
struct Run {
    context: InvokeContext,
    frame: CallFrame,
    args: Vec<Value>,
    /// `None` where the result is in an argument's memory.
    rets: Vec<Option<Value>>,
}

/// Runs that timed out: their handlers may still use them, so they are never freed.
static ABANDONED: Mutex<Vec<Run>> = Mutex::new(Vec::new());

impl Instance {
    pub(super) fn new(call: CallSpec) -> Result<Instance> {
        let (handler, version) = (call.handler, call.config.version);
        // SAFETY: the functions of a descriptor are handlers.
        let metadata = unsafe { host::metadata(handler.execute, version) }?;
        host::check_version(version, metadata.version)?;
        let instance = Instance { call, state: Arc::default() };
        if let Some(instantiate) = instance.stage(Stage::Instantiate) {
            // SAFETY: as above.
            unsafe { host::metadata(instantiate, version) }?;
            let mut frame = CallFrameBuilder::new();
            for (name, value) in &instance.call.attrs {
                frame.attr(name, value.clone());
            }
            let context = instance.call.config.context(&instance.state)?;
            let run = Run { context, frame: frame.build(), args: Vec::new(), rets: Vec::new() };
            instance.call_stage(instantiate, Stage::Instantiate, run)?;
        }
        Ok(instance)
    }

    /// The handler of a stage, if there is one and the host runs it.
    fn stage(&self, stage: Stage) -> Option<RawHandler> {
        let stages = self.call.handler.stages.iter();
        stages.filter(|_| !self.call.config.skipped.contains(&stage)).find(|s| s.stage == stage).map(|s| s.handler)
    }

    /// Calls a handler and waits for it. The run comes back unless it timed out.
    fn call_stage(&self, handler: RawHandler, stage: Stage, mut run: Run) -> Result<Run> {
        // SAFETY: the function is a handler; `run` holds all memory of the call, and is kept until the call is done,
        // or for ever.
        let future = unsafe { host::call(handler, &mut run.frame, &run.context, stage) }?;
        let timeout = self.call.config.timeout;
        match future.map_or(Some(Ok(())), |future| future.wait_timeout(timeout)) {
            Some(outcome) => outcome.map(|()| run),
            None => {
                ABANDONED.lock().push(run);
                let name = self.call.handler.name;
                Err(Error::deadline_exceeded(format!("{name}: the future was not completed within {timeout:?}")))
            }
        }
    }

    /// Runs the other stages, in order, with `args`.
    ///
    /// # Errors
    /// The error that a handler returned; `INVALID_ARGUMENT` for an alias of arrays that differ in dtype or shape;
    /// `DEADLINE_EXCEEDED` when a future is not completed in time.
    pub fn run<V: Into<Value>>(&self, args: impl IntoIterator<Item = V>) -> Result<Outputs> {
        self.run_values(args.into_iter().map(Into::into).collect())
    }

    pub(super) fn run_values(&self, args: Vec<Value>) -> Result<Outputs> {
        let mut run = self.prepare_run(args)?;
        for stage in [Stage::Prepare, Stage::Initialize] {
            if let Some(handler) = self.stage(stage) {
                run = self.call_stage(handler, stage, run)?;
            }
        }
        if !self.call.config.skipped.contains(&Stage::Execute) {
            run = self.call_stage(self.call.handler.execute, Stage::Execute, run)?;
        }
        let Run { args, rets, .. } = run;
        let value = |(index, ret): (usize, Option<Value>)| match ret {
            Some(value) => value,
            None => args[self.aliased(index).expect("no memory of its own means an alias")].clone(),
        };
        Ok(Outputs(rets.into_iter().enumerate().map(value).collect()))
    }

    /// The argument whose memory a result shares.
    fn aliased(&self, ret: usize) -> Option<usize> {
        self.call.aliases.iter().find(|(_, aliased)| *aliased == ret).map(|(arg, _)| *arg)
    }

    /// Allocates the results and builds the call frame.
    fn prepare_run(&self, mut args: Vec<Value>) -> Result<Run> {
        let CallSpec { handler, attrs, dtypes, num_results, aliases, config, .. } = &self.call;
        let known = || Known { handler, args: &args, attrs, dtypes, num_results: *num_results };
        let results = self.call.rets.clone().map_or_else(|| infer(&known()), Ok)?;
        for &(arg, ret) in aliases {
            let same = args.get(arg).zip(results.get(ret)).is_some_and(|(a, (dtype, dims))| a.is(*dtype, dims));
            if !same {
                return Err(Error::invalid_argument(format!(
                    "{}: argument {arg} and result {ret} cannot be aliased: both must exist, of one dtype and shape",
                    handler.name
                )));
            }
        }
        let mut frame = CallFrameBuilder::new();
        let mut addresses = Vec::with_capacity(args.len());
        for arg in &mut args {
            addresses.push(arg.as_mut_ptr());
            frame.arg(arg.dtype(), arg.as_mut_ptr(), arg.dims());
        }
        let mut rets = Vec::with_capacity(results.len());
        for (index, (dtype, dims)) in results.iter().enumerate() {
            if let Some(arg) = self.aliased(index) {
                frame.ret(*dtype, addresses[arg], dims);
                rets.push(None);
            } else {
                let mut value = Value::unwritten(*dtype, dims);
                frame.ret(*dtype, value.as_mut_ptr(), dims);
                rets.push(Some(value));
            }
        }
        for (name, value) in attrs {
            frame.attr(name, value.clone());
        }
        Ok(Run { context: config.context(&self.state)?, frame: frame.build(), args, rets })
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("op", &self.call.handler.name).finish_non_exhaustive()
    }
}
