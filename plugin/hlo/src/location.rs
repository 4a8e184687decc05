//! Source locations of ops.

use std::fmt;
use std::sync::Arc;

/// The index of a location in its [`Module`](crate::Module).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocationId(pub u32);

impl LocationId {
    /// Index 0, which every module has: the unknown location.
    pub const UNKNOWN: LocationId = LocationId(0);
}

/// A source location, as MLIR has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// Not known.
    Unknown,
    /// A place in a file.
    File {
        /// The file's name.
        file: Arc<str>,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
    },
    /// A name, such as `jit(f)/add`, around another location.
    Name(Arc<str>, Box<Location>),
    /// A call: callee and caller.
    Call(Box<Location>, Box<Location>),
    /// Several locations.
    Fused(Vec<Location>),
}

impl Location {
    /// The first name that a framework gave; those of HLO instructions begin with `%`.
    pub fn name(&self) -> Option<&str> {
        match self {
            Location::Unknown | Location::File { .. } => None,
            Location::Name(name, inner) if name.starts_with('%') => inner.name(),
            Location::Name(name, _) => Some(name),
            Location::Call(callee, caller) => callee.name().or_else(|| caller.name()),
            Location::Fused(locations) => locations.iter().find_map(Location::name),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Unknown => f.write_str("unknown location"),
            Location::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Location::Name(name, inner) if **inner == Location::Unknown => f.write_str(name),
            Location::Name(name, inner) => write!(f, "{name}, {inner}"),
            Location::Call(callee, caller) => write!(f, "{callee}, called at {caller}"),
            Location::Fused(locations) => {
                for (index, location) in locations.iter().enumerate() {
                    write!(f, "{}{location}", if index == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}
