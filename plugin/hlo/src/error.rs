//! Errors of reading and verifying programs.

/// What kind of mistake an [`Error`] is about; a server maps it to a status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes or the text are not a program, or the program breaks a rule of StableHLO.
    Invalid,
    /// The program may be right, but uses what is not supported.
    Unsupported,
    /// The program asks for more memory than a reader grants an input of its size.
    TooLarge,
}

/// Why a program was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Error {
    /// The kind of mistake.
    pub kind: ErrorKind,
    /// What is wrong, without the op and the location.
    pub message: String,
    /// The op that it is about, as `stablehlo.add`.
    pub op: Option<String>,
    /// Where the op comes from: source location of the program, or place in the input.
    pub location: Option<String>,
}

impl Error {
    /// An error of `kind`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), op: None, location: None }
    }

    /// The program is not valid.
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Invalid, message)
    }

    /// The program uses what is not supported.
    pub fn unsupported(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unsupported, message)
    }

    /// Names the op, unless a deeper caller has.
    #[must_use]
    pub fn in_op(mut self, op: impl Into<String>) -> Error {
        self.op.get_or_insert_with(|| op.into());
        self
    }

    /// Gives the location, unless a deeper caller has.
    #[must_use]
    pub fn at(mut self, location: impl Into<String>) -> Error {
        self.location.get_or_insert_with(|| location.into());
        self
    }

    fn text(&self) -> String {
        let op = self.op.as_ref().map(|op| format!("{op}: ")).unwrap_or_default();
        let location = self.location.as_ref().map(|at| format!(" (at {at})")).unwrap_or_default();
        format!("{op}{}{location}", self.message)
    }
}
