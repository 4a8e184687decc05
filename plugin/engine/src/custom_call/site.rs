//! Custom calls of a program.

use std::sync::Arc;

use oxcall::Error;
use oxcall::descriptor::{RawHandler, Stage};
use oxcall::host::{self, CallFrame, Future, HostVersion, InvokeContext, StageState};
use oxcall_hlo::{CustomCall, TensorType};
use oxcall_kernels::memory::RawBuffer;
use oxcall_kernels::pool::Cost;

use super::legacy::{Legacy, Pointers};
use super::typed::Typed;
use super::{Contexts, Host, target};

/// A custom call of a program.
pub(crate) struct CallSite {
    target: String,
    kind: Kind,
    cost: Cost,
    /// The call frame, which equal calls share: an execution makes only one call at a time.
    frame: u32,
}

enum Kind {
    Typed(Box<Typed>),
    Legacy(Legacy),
}

/// The state of a call in one execution.
pub(crate) enum CallState {
    Typed(TypedState),
    Legacy(Pointers),
}

/// All data that a typed call needs, in one place.
pub(crate) struct TypedState {
    frame: CallFrame,
    execute: RawHandler,
}

impl TypedState {
    /// Runs the execute stage on buffers at these addresses. If it returns a future, the call completes with it.
    ///
    /// # Errors
    /// Those of the handler.
    ///
    /// # Safety
    /// As for [`CallSite::run`].
    pub(crate) unsafe fn execute(
        &mut self,
        context: &InvokeContext,
        inputs: impl Iterator<Item = *mut u8>,
        outputs: impl Iterator<Item = *mut u8>,
    ) -> Result<Option<Future>, Error> {
        inputs.enumerate().for_each(|(index, data)| self.frame.set_arg_data(index, data.cast()));
        outputs.enumerate().for_each(|(index, data)| self.frame.set_ret_data(index, data.cast()));
        // SAFETY: a registered handler obeys the contract; the caller guarantees the rest.
        unsafe { host::call(self.execute, &mut self.frame, context, Stage::Execute) }
    }
}

impl CallSite {
    /// Finds the target of a call, and instantiates it. The buffers of tuples are given one by one; `None` is a token.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown target; those of the handler.
    pub(crate) fn new(
        host: &Host,
        call: &CustomCall,
        operands: &[Option<&TensorType>],
        results: &[Option<&TensorType>],
        tuple: bool,
        frame: u32,
    ) -> Result<CallSite, Error> {
        let (target, kind) = match call.typed_attributes() {
            Some(attributes) => {
                let op = target::op(&call.target);
                (op, Typed::new(host, op, attributes, operands, results).map(|typed| Kind::Typed(Box::new(typed))))
            }
            None => (call.target.as_str(), Legacy::new(host, call, tuple).map(Kind::Legacy)),
        };
        let kind = kind.map_err(|error| named(target, error))?;
        Ok(CallSite { target: target.to_owned(), kind, cost: estimate(operands, results), frame })
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The index of its call frame.
    pub(crate) fn frame(&self) -> u32 {
        self.frame
    }

    pub(crate) fn cost(&self) -> Cost {
        self.cost
    }

    /// The host version for which the handler was made.
    pub(super) fn version(&self) -> HostVersion {
        match &self.kind {
            Kind::Typed(typed) => typed.version,
            Kind::Legacy(_) => HostVersion::default(),
        }
    }

    /// The state of a handler with stages.
    pub(super) fn stages(&self) -> Option<&Arc<StageState>> {
        match &self.kind {
            Kind::Typed(typed) => typed.stages.as_ref(),
            Kind::Legacy(_) => None,
        }
    }

    pub(crate) fn has_stage(&self, stage: Stage) -> bool {
        match &self.kind {
            Kind::Typed(typed) => typed.handler(stage).is_some(),
            Kind::Legacy(_) => stage == Stage::Execute,
        }
    }

    /// The state for a new execution.
    pub(crate) fn state(&self) -> CallState {
        match &self.kind {
            Kind::Typed(typed) => CallState::Typed(TypedState { frame: typed.frame(), execute: typed.execute() }),
            Kind::Legacy(_) => CallState::Legacy(Pointers::default()),
        }
    }

    /// Adds the target's name to an error of the handler; handlers that are linked in name themselves.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match &self.kind {
            Kind::Typed(typed) if typed.is_linked() => error,
            _ => named(&self.target, error),
        }
    }

    /// Runs a stage. If it returns a future, the stage completes with it; pass its error to
    /// [`explain`](CallSite::explain).
    ///
    /// # Errors
    /// Those of the handler.
    ///
    /// # Safety
    /// `state` and `contexts` belong to one execution, and `index` is the call's. The buffers have the sizes that the
    /// program gives them, and are valid until the call completes; meanwhile nothing else writes the inputs or uses the
    /// outputs.
    pub(crate) unsafe fn run(
        &self,
        state: &mut CallState,
        contexts: &Contexts,
        index: u32,
        stage: Stage,
        inputs: &[RawBuffer],
        outputs: &[RawBuffer],
    ) -> Result<Option<Future>, Error> {
        let outcome = match (&self.kind, state) {
            // SAFETY: as the caller guarantees; the user data belongs to an execution, whose caller vouches for it.
            (Kind::Typed(typed), CallState::Typed(TypedState { frame, .. })) => unsafe {
                typed.call(frame, contexts.of(index), stage, inputs, outputs)
            },
            (Kind::Legacy(legacy), CallState::Legacy(pointers)) => {
                // SAFETY: as the caller guarantees.
                unsafe { legacy.call(pointers, inputs, outputs) }.map(|()| None)
            }
            _ => unreachable!("the state was made by this call"),
        };
        outcome.map_err(|error| self.explain(error))
    }
}

/// Adds the target's name to an error: handlers of other SDKs do not name themselves.
#[cold]
fn named(target: &str, error: Error) -> Error {
    if error.message().contains(target) { error } else { error.context(format_args!("custom call to {target}")) }
}

/// An estimate, since the work of a handler is unknown. Most slow handlers work on matrices, so the time grows with the
/// power 3/2 of the number of elements.
fn estimate(operands: &[Option<&TensorType>], results: &[Option<&TensorType>]) -> Cost {
    let tensors = || operands.iter().chain(results).flatten();
    let largest = tensors().map(|ty| ty.count()).max().unwrap_or(0) as f64;
    Cost { flops: largest.powf(1.5), bytes: tensors().map(|ty| ty.byte_size() as f64).sum() }
}
