//! Options of one execution.

use std::marker::PhantomData;

use super::{Context, FromContext};
use crate::attr::{AttrList, Dict};
use crate::{Error, Result};

/// The options that the program's caller gave for this execution: a dictionary. Hosts before API 0.5 have none.
#[derive(Clone, Copy, Debug)]
pub struct CustomOptions<'f> {
    dict: Dict<'f>,
    /// Ends with the call: not to be sent to another thread.
    _call: PhantomData<*const ()>,
}

impl<'f> CustomOptions<'f> {
    fn new(list: AttrList<'f>) -> CustomOptions<'f> {
        CustomOptions { dict: Dict::new(list), _call: PhantomData }
    }
}

impl<'f> std::ops::Deref for CustomOptions<'f> {
    type Target = Dict<'f>;

    fn deref(&self) -> &Dict<'f> {
        &self.dict
    }
}

impl<'f> FromContext<'f> for CustomOptions<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        let attrs = context.api.custom_options(context.ctx)?;
        if attrs.is_null() {
            return Ok(CustomOptions::new(AttrList::EMPTY));
        }
        // SAFETY: the host's list, live while the context is.
        match unsafe { AttrList::read_sized(attrs) } {
            Ok(list) => Ok(CustomOptions::new(list)),
            Err(_) => Err(Error::internal("the host's custom options are malformed")),
        }
    }
}
