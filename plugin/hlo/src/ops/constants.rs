//! Constants, and those of them that give shapes.

use std::collections::HashMap;

use super::source::Source;
use crate::{Error, Literal, OpKind, ValueId};

pub(super) fn constant(op: &mut dyn Source) -> Result<OpKind, Error> {
    let literal = op.required_literal("value")?;
    let result = op.result_type()?;
    if result != literal.ty() {
        let message = format!("value must have the type of the result, {result}, got {}", literal.ty());
        return Err(Error::invalid(message));
    }
    Ok(OpKind::Constant(literal))
}

/// Constants of more elements give no shape.
const MAX_ELEMENTS: usize = 64;

/// Small integer constants of a function, which give shapes to dynamic ops.
#[derive(Debug, Default)]
pub(crate) struct Constants(HashMap<ValueId, Literal>);

impl Constants {
    /// Remembers a constant if it may give a shape.
    pub(crate) fn note(&mut self, value: ValueId, literal: &Literal) {
        let ty = literal.ty();
        if ty.element.is_integer() && ty.rank() <= 2 && ty.count() <= MAX_ELEMENTS {
            self.0.insert(value, literal.clone());
        }
    }

    /// The constant that gave the value, if it is remembered.
    pub(crate) fn get(&self, value: ValueId) -> Option<&Literal> {
        self.0.get(&value)
    }
}
