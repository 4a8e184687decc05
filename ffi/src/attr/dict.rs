//! Dictionaries with any entries.

use std::fmt;

use super::{Attr, AttrError, AttrList, FromAttr};
use crate::descriptor::{AttrParam, AttrType};

/// A dictionary attribute, or with `#[attr(rest)]` all attributes that no parameter names.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn area(#[attr(rest)] sizes: Dict<'_>, mut y: ScalarOut<f64>) -> Result<()> {
///     let size = |name: &str| Ok::<f64, Error>(sizes.get(name)?.unwrap_or(1.0));
///     y.set(size("width")? * size("height")?);
///     Ok(())
/// }
/// # let out = oxcall::testing::call::<area>().attr("width", 2.5).attr("height", 2i64).run().unwrap();
/// # assert_eq!(out.get::<f64>(0)[[]], 5.0);
/// ```
#[derive(Clone, Copy)]
pub struct Dict<'f> {
    list: AttrList<'f>,
    /// Attributes that belong to other parameters.
    hidden: &'static [AttrParam],
}

// SAFETY: a shared view of data that does not change while the frame lives.
unsafe impl Send for Dict<'_> {}
// SAFETY: as above.
unsafe impl Sync for Dict<'_> {}

impl<'f> Dict<'f> {
    pub(crate) fn new(list: AttrList<'f>) -> Dict<'f> {
        Dict { list, hidden: &[] }
    }

    /// The entries that no parameter of an operation names.
    pub(crate) fn rest(list: AttrList<'f>, hidden: &'static [AttrParam]) -> Dict<'f> {
        Dict { list, hidden }
    }

    /// The entries, sorted by name if the host sorts them, as XLA does. Names that are not UTF-8 are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&'f str, Attr<'f>)> {
        let Dict { list, hidden } = *self;
        (0..list.len()).filter_map(move |i| {
            let name = std::str::from_utf8(list.name(i)?).ok()?;
            (!hides(hidden, name)).then(|| (name, list.attr(i)))
        })
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The value of a name, converted; `None` if there is no such entry.
    ///
    /// # Errors
    /// If the value cannot be converted; the message names the entry.
    pub fn get<A: FromAttr<'f>>(&self, name: &str) -> crate::Result<Option<A>> {
        match self.attr(name) {
            None => Ok(None),
            Some(attr) => A::from_attr(attr).map(Some).map_err(|error| {
                crate::Error::invalid_argument(format!("attribute `{name}`{}: {error}", error.path()))
            }),
        }
    }

    /// The attribute of a name.
    pub fn attr(&self, name: &str) -> Option<Attr<'f>> {
        if hides(self.hidden, name) { None } else { self.list.find(name) }
    }
}

fn hides(hidden: &[AttrParam], name: &str) -> bool {
    hidden.iter().any(|attr| attr.name == name)
}

impl fmt::Debug for Dict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'f> FromAttr<'f> for Dict<'f> {
    const TYPE: AttrType = AttrType::Dictionary;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        attr.dictionary().ok_or_else(|| AttrError::expected("a dictionary", attr))
    }
}
