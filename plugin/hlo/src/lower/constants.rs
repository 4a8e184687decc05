//! Constants that give shapes.

use std::collections::HashMap;

use crate::{Literal, ValueId};

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
