//! Why an attribute's value is refused.

use std::fmt;

/// A mistake in an attribute's value; the code that reads the attribute adds the operation's and the attribute's name.
pub struct AttrError(Box<Inner>);

struct Inner {
    path: String,
    message: String,
}

impl AttrError {
    /// An error that says "expected `expected`, got `got`".
    #[cold]
    pub fn expected(expected: impl fmt::Display, got: impl fmt::Display) -> AttrError {
        AttrError::message(format!("expected {expected}, got {got}"))
    }

    /// An error with this text.
    #[cold]
    pub fn message(message: impl Into<String>) -> AttrError {
        AttrError(Box::new(Inner { path: String::new(), message: message.into() }))
    }

    /// The error of a struct's field: adds the field's name in front of the path.
    #[must_use]
    #[cold]
    pub fn in_field(mut self, field: &str) -> AttrError {
        self.0.path = format!(".{field}{}", self.0.path);
        self
    }

    /// The error of an array's element: adds the index in front of the path.
    #[must_use]
    #[cold]
    pub fn at_index(mut self, index: usize) -> AttrError {
        self.0.path = format!("[{index}]{}", self.0.path);
        self
    }

    /// The path from the attribute to the wrong value, as `.field[2]`, empty for the attribute itself.
    pub(crate) fn path(&self) -> &str {
        &self.0.path
    }
}

impl fmt::Display for AttrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for AttrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.path, self.0.message)
    }
}
