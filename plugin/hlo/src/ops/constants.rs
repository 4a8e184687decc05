//! Constants, and those of them that give shapes.

use std::collections::HashMap;

use super::source::Source;
use crate::{Error, Literal, OpKind, TensorType, ValueId};

pub(super) fn constant(op: &mut dyn Source) -> Result<OpKind, Error> {
    let literal = op.required_literal("value")?;
    constant_of(op.result_type()?, literal)
}

/// The constant, if it has the type of its op's result, which must be static: nothing says other sizes than the bounds.
pub(crate) fn constant_of(result: &TensorType, literal: Literal) -> Result<OpKind, Error> {
    let ty = literal.ty();
    if result != ty {
        return Err(Error::invalid(format!("value must have the type of the result, {result}, got {ty}")));
    }
    if let Some(ty) = [result, ty].into_iter().find(|ty| !ty.dynamic.is_empty()) {
        return Err(Error::invalid(format!("a constant must have a static shape, got {ty}")));
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
