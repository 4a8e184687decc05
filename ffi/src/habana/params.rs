//! Parameters that a descriptor fills in for its kernel.

use crate::host::AttrValue;

/// A struct of parameters; `#[derive(UserParams)]` implements it for a struct with named fields.
///
/// The kernel, an operation of the registry, gets each field as the attribute of that name
/// (`#[attr(name = "...")]` on a field gives another). Fields are numbers, `bool`, strings, vectors and arrays of
/// numbers; `Option` of one is an attribute that may be absent.
pub trait UserParams: 'static {
    /// The names of the attributes.
    const NAMES: &'static [&'static str];

    /// The attributes; those that are absent are left out.
    fn into_attributes(self) -> Vec<(&'static str, AttrValue)>;
}
