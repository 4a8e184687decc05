//! Errors and panics: what a caller in Python sees of them.
//!
//! An [`Error`] has one of sixteen status codes and a message, and arrives as `jax.errors.JaxRuntimeError` with the
//! text `CODE: op: message`. A panic becomes `INTERNAL`, with its message and place; the process lives on.

use oxcall::AttrEnum;
use oxcall::prelude::*;

macro_rules! statuses {
    ($($variant:ident),*) => {
        /// A status code, named in Python in lower case: `"invalid_argument"`.
        #[derive(AttrEnum, Clone, Copy, Debug)]
        #[expect(missing_docs, reason = "the variants are those of `Code`")]
        pub enum Status {
            $($variant),*
        }

        impl From<Status> for Code {
            fn from(status: Status) -> Code {
                match status {
                    $(Status::$variant => Code::$variant),*
                }
            }
        }
    };
}
statuses!(
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated
);

/// Copies `x`, or fails if any element is negative, with the given status and message.
///
/// # Errors
/// As the caller asked for.
#[custom_call]
pub fn fail(
    #[attr(default = Status::InvalidArgument)] status: Status,
    #[attr(default = "an element is negative")] message: &str,
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] mut y: Out<f32>,
) -> Result<()> {
    if x.iter().any(|&x| x < 0.0) {
        return Err(Error::new(status.into(), message));
    }
    y.copy_from_slice(&x);
    Ok(())
}

/// How [`panics`](fn@panics) panics.
#[derive(AttrEnum, Clone, Copy, Debug)]
pub enum PanicKind {
    /// With a literal: the payload is a `&str`.
    Str,
    /// With a formatted message: the payload is a `String`.
    Formatted,
    /// With a payload of another type, which has no text.
    Payload,
    /// By an index past the end.
    Index,
}

/// Panics in the given way if any element of `x` is negative, otherwise copies `x`.
#[custom_call]
pub fn panics(#[attr] kind: PanicKind, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    let negative = x.iter().position(|&x| x < 0.0);
    match (negative, kind) {
        (None, _) => y.copy_from_slice(&x),
        (Some(_), PanicKind::Str) => panic!("a negative element"),
        (Some(i), PanicKind::Formatted) => panic!("element {i} is negative"),
        (Some(i), PanicKind::Payload) => std::panic::panic_any(i),
        (Some(i), PanicKind::Index) => y[i] = x[x.len() + i],
    }
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn fails_with_every_status() {
        for &code in Code::ALL {
            // The variants' names in lower case: InvalidArgument is invalid_argument.
            let name = format!("{code:?}").chars().fold(String::new(), |mut name, c| {
                if c.is_uppercase() && !name.is_empty() {
                    name.push('_');
                }
                name.extend(c.to_lowercase());
                name
            });
            let run = call::<fail>().arg([1f32, -1.0]).attr("status", name).attr("message", "as told");
            let error = run.run().unwrap_err();
            assert_eq!((error.code(), error.message()), (code, "fail: as told"));
        }
        assert_eq!(call::<fail>().arg([1f32]).run().unwrap().get::<f32>(0)[[0]], 1.0);
    }

    #[test]
    fn panics_become_errors() {
        for (kind, text) in [
            ("str", "a negative element"),
            ("formatted", "element 1 is negative"),
            ("payload", "not a string"),
            ("index", "the len is 2 but the index is 3"),
        ] {
            let error = call::<panics>().arg([0f32, -1.0]).attr("kind", kind).run().unwrap_err();
            assert_eq!(error.code(), Code::Internal);
            assert!(error.message().starts_with("panics: panicked at ") && error.message().contains(text), "{error}");
        }
        assert_eq!(call::<panics>().arg([1f32]).attr("kind", "str").run().unwrap().get::<f32>(0)[[0]], 1.0);
    }
}
