//! Functions of Python that are told of shardings while a program is compiled.

use std::sync::Arc;
use std::time::Instant;

use oxcall::host::AlignedBytes;
use oxcall::sync::Mutex;
use oxcall::{DType, Error, Result};
use oxcall_hlo::{Attribute, CustomCall};
use oxcall_pjrt::{Event, OpSharding};

use super::queue::{Answer, Call, Described, Memory, Pending, queue};
use super::{watch, without_gil};

/// Calls the function that `call` names with the sharding of its operand, as a serialized `OpSharding`.
///
/// # Errors
/// The error that the function raises.
pub(crate) fn inspected(call: &CustomCall, sharding: &OpSharding) -> Result<()> {
    let callback = callback_of(call).ok_or_else(|| {
        Error::invalid_argument(format!(
            "custom call to {}: the attribute `callback` must be the number of a function",
            call.target
        ))
    })?;
    let proto = sharding.serialize();
    let mut bytes = AlignedBytes::filled(proto.len(), 0);
    bytes.copy_from_slice(&proto);
    let memory = Memory::Owned(Box::new(bytes));
    let operand = Described { dtype: DType::U8, dims: vec![proto.len() as i64], memory };
    let call = Call { number: 0, callback, device: 0, operands: vec![operand], results: Vec::new() };
    let answer = Arc::<Mutex<Option<Answer>>>::default();
    let (promise, answered) = Event::pending();
    let complete = Box::new(move || promise.complete(Ok(())));
    let deadline = watch::limit().map(|limit| Instant::now() + limit);
    queue().push(call, Pending { callback, answer: Arc::clone(&answer), complete, deadline, era: None });
    without_gil(|| answered.wait())?;
    let answer = answer.lock().take();
    answer.unwrap_or_else(|| Err(Error::internal("a host callback completed without an answer"))).map(|_| ())
}

/// The number of the function that a custom call names.
fn callback_of(call: &CustomCall) -> Option<u64> {
    let Attribute::Dictionary(attributes) = call.typed_attributes()? else { return None };
    let (_, number) = attributes.iter().find(|(name, _)| name == "callback")?;
    u64::try_from(number.as_integer()?).ok()
}
