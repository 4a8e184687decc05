//! Errors that handlers return: a status code and a message.

use std::fmt;

use xla_ffi_sys::xla_ffi as sys;

/// A result whose error is an oxcall [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($variant:ident = $code:ident, $ctor:ident, $doc:literal;)*) => {
        /// The status codes of the XLA FFI, which are those of `absl::Status`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $variant = sys::$code as u8,)*
        }

        impl Code {
            /// Every code; `OK` is not one, since an error cannot hold it.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The code of an ABI number; `None` for `OK` and unknown numbers.
            pub const fn from_code(code: sys::XLA_FFI_Error_Code) -> Option<Code> {
                match code {
                    $(sys::$code => Some(Code::$variant),)*
                    _ => None,
                }
            }
        }

        impl Error {
            $(
                #[doc = concat!("An error with [`Code::", stringify!($variant), "`]: ", $doc)]
                #[cold]
                pub fn $ctor(message: impl Into<String>) -> Error {
                    Error::new(Code::$variant, message)
                }
            )*
        }
    };
}

codes! {
    Cancelled = XLA_FFI_Error_Code_CANCELLED, cancelled, "the operation was cancelled.";
    Unknown = XLA_FFI_Error_Code_UNKNOWN, unknown, "an unknown error.";
    InvalidArgument = XLA_FFI_Error_Code_INVALID_ARGUMENT, invalid_argument, "the caller gave a wrong argument.";
    DeadlineExceeded = XLA_FFI_Error_Code_DEADLINE_EXCEEDED, deadline_exceeded, "the time was up.";
    NotFound = XLA_FFI_Error_Code_NOT_FOUND, not_found, "something asked for does not exist.";
    AlreadyExists = XLA_FFI_Error_Code_ALREADY_EXISTS, already_exists, "something to be made exists already.";
    PermissionDenied = XLA_FFI_Error_Code_PERMISSION_DENIED, permission_denied, "the caller may not do this.";
    ResourceExhausted = XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, resource_exhausted, "memory or a quota is used up.";
    FailedPrecondition = XLA_FFI_Error_Code_FAILED_PRECONDITION, failed_precondition,
        "the system is not in the state that the operation needs.";
    Aborted = XLA_FFI_Error_Code_ABORTED, aborted, "the operation was aborted.";
    OutOfRange = XLA_FFI_Error_Code_OUT_OF_RANGE, out_of_range, "an index or a value is past its range.";
    Unimplemented = XLA_FFI_Error_Code_UNIMPLEMENTED, unimplemented, "this is not implemented or supported.";
    Internal = XLA_FFI_Error_Code_INTERNAL, internal, "an invariant is broken; also used for panics.";
    Unavailable = XLA_FFI_Error_Code_UNAVAILABLE, unavailable, "a service is not available now.";
    DataLoss = XLA_FFI_Error_Code_DATA_LOSS, data_loss, "data was lost or is corrupt.";
    Unauthenticated = XLA_FFI_Error_Code_UNAUTHENTICATED, unauthenticated, "the caller did not say who it is.";
}

/// An error with a status code and a message; in Python it becomes a `jax.errors.JaxRuntimeError` that begins with
/// the code's name.
///
/// Any [`std::error::Error`] converts into one with [`Code::Internal`] and its source chain, so `?` works in
/// handlers. One pointer wide, so that a `Result<(), Error>` travels in a register.
///
/// ```
/// use oxcall::{Code, Error, Result};
///
/// fn port(text: &str) -> Result<u16> {
///     Ok(text.parse::<u16>()?)
/// }
///
/// let error = port("x").unwrap_err().context("port").with_code(Code::InvalidArgument);
/// assert_eq!(error.message(), "port: invalid digit found in string");
/// assert_eq!(Error::not_found("no such key").code(), Code::NotFound);
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    verbatim: bool,
}

impl Error {
    /// An error with `code` and `message`.
    ///
    /// The ABI carries messages as C strings: an embedded NUL is shown as `\0`.
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error(Box::new(Inner { code, message: message.into(), verbatim: false }))
    }

    /// The status code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// This error with another status code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Error {
        self.0.code = code;
        self
    }

    /// This error with `context` and a colon before its message.
    #[must_use]
    #[cold]
    pub fn context(mut self, context: impl fmt::Display) -> Error {
        if !self.0.verbatim {
            self.0.message = format!("{context}: {}", self.0.message);
        }
        self
    }

    /// This error with the text that a function makes of its message, unless it is [`verbatim`](Error::verbatim).
    #[cfg(feature = "torch")]
    #[cold]
    pub(crate) fn reworded(mut self, reword: impl FnOnce(&str) -> String) -> Error {
        if !self.0.verbatim {
            self.0.message = reword(&self.0.message);
        }
        self
    }

    /// This error with its message as it is: no [`context`](Error::context), such as an op's name, comes before it.
    ///
    /// ```
    /// use oxcall::Error;
    /// let error = Error::internal("as another library has it").verbatim();
    /// assert_eq!(error.context("op").message(), "as another library has it");
    /// ```
    #[must_use]
    pub fn verbatim(mut self) -> Error {
        self.0.verbatim = true;
        self
    }
}

impl<E: std::error::Error> From<E> for Error {
    #[cold]
    fn from(error: E) -> Error {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Error::internal(message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.code, self.0.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn sixteen_codes_round_trip() {
        assert_eq!(Code::ALL.len(), 16);
        for &code in Code::ALL {
            assert_eq!(Code::from_code(code as u32), Some(code));
        }
        assert_eq!(Code::from_code(0), None);
        assert_eq!(Code::from_code(17), None);
    }

    #[test]
    fn source_chain_is_kept() {
        let error: Error = Outer("x".parse::<i32>().unwrap_err()).into();
        assert_eq!(error.code(), Code::Internal);
        assert_eq!(error.message(), "outer: invalid digit found in string");
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
