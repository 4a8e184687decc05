//! Values of the function that is being read, and their names.

use std::collections::HashMap;

use super::given::{Given, Use};
use super::lexer::Kind;
use super::{Error, Parser};
use crate::ops::Constants;
use crate::{Type, ValueId};

/// The values of a function by name. Names are dropped when their region ends.
#[derive(Debug, Default)]
pub(super) struct Values<'a> {
    types: Vec<Type>,
    /// What may give shapes to dynamic ops.
    pub(super) constants: Constants,
    /// For each name, the first value and how many there are: `%0:2`.
    names: HashMap<&'a str, (u32, usize)>,
    /// The names in order of definition.
    order: Vec<&'a str>,
}

impl<'a> Values<'a> {
    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> &Type {
        &self.types[value.0 as usize]
    }

    /// The types of all values.
    pub(super) fn into_types(self) -> Vec<Type> {
        self.types
    }

    /// A mark for [`leave_region`](Values::leave_region).
    pub(super) fn enter_region(&self) -> usize {
        self.order.len()
    }

    /// Drops the names that were defined since `mark`.
    pub(super) fn leave_region(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.names.remove(name);
        }
    }

    /// A new value without a name.
    pub(super) fn add(&mut self, ty: Type) -> Option<ValueId> {
        let id = u32::try_from(self.types.len()).ok()?;
        self.types.push(ty);
        Some(ValueId(id))
    }
}

impl<'a> Parser<'a> {
    /// New values without a name.
    pub(super) fn add_values(&mut self, types: impl IntoIterator<Item = Type>) -> Result<Vec<ValueId>, Error> {
        types.into_iter().map(|ty| self.add_value(ty)).collect()
    }

    /// A new value without a name.
    pub(super) fn add_value(&mut self, ty: Type) -> Result<ValueId, Error> {
        self.values.add(ty).ok_or_else(|| self.tokens.error("the function has more than 2^32 values"))
    }

    /// New values that share a name, which stands at byte `at`.
    pub(super) fn define(&mut self, name: &'a str, at: usize, types: Vec<Type>) -> Result<Vec<ValueId>, Error> {
        let values = self.add_values(types)?;
        self.name_values(name, at, &values)?;
        Ok(values)
    }

    /// Gives a name to consecutive values.
    pub(super) fn name_values(&mut self, name: &'a str, at: usize, values: &[ValueId]) -> Result<(), Error> {
        let Some(first) = values.first() else {
            return Err(self.tokens.error_at(at, format!("{name} cannot name a result: the op has none")));
        };
        if self.values.names.insert(name, (first.0, values.len())).is_some() {
            return Err(self.tokens.error_at(at, format!("the value {name} is defined twice")));
        }
        self.values.order.push(name);
        Ok(())
    }

    /// Takes the use of a value: `%0` or `%0#1`.
    pub(super) fn operand(&mut self) -> Result<Use, Error> {
        let at = self.tokens.start();
        let name = self.tokens.take(Kind::Value, "a value, such as `%0`")?;
        let result = match self.tokens.kind() {
            Kind::Hash => {
                let index = self.tokens.bump()?;
                let parsed = index[1..].parse::<usize>();
                Some(parsed.map_err(|_| self.tokens.error_at(at, format!("{name}{index} is not a result's number")))?)
            }
            _ => None,
        };
        let Some(&(first, count)) = self.values.names.get(name) else {
            let message = format!("the value {name} is used before its definition");
            return Err(self.tokens.error_at(at, message));
        };
        let index = result.unwrap_or(0);
        if index >= count {
            return Err(self.tokens.error_at(at, format!("{name}#{index} is used, but {name} has {count} results")));
        }
        Ok(Use { value: ValueId(first + index as u32), at })
    }

    /// Takes uses of values with commas between; none if the token is not a value. A comma that no value follows stays.
    pub(super) fn operands(&mut self) -> Result<Vec<Use>, Error> {
        let mut uses = Vec::new();
        while self.tokens.kind() == Kind::Value {
            uses.push(self.operand()?);
            let comma = self.tokens.start();
            if !self.tokens.eat(",")? {
                break;
            }
            if self.tokens.kind() != Kind::Value {
                self.tokens.seek(comma)?;
                break;
            }
        }
        Ok(uses)
    }

    /// Checks that operands have the types that the op says.
    pub(super) fn check_operands(&self, op: &Given<'a>, types: &[Type]) -> Result<(), Error> {
        if types.len() != op.operands.len() {
            let message = format!(
                "expected a type for each operand, got {} operands and {} types",
                op.operands.len(),
                types.len()
            );
            return Err(self.tokens.error_at(op.at, message));
        }
        self.check_uses(op, |index| &types[index])
    }

    /// Checks that operands have the types that `ty` gives.
    pub(super) fn check_uses<'t>(&self, op: &Given<'a>, ty: impl Fn(usize) -> &'t Type) -> Result<(), Error> {
        op.operands.iter().enumerate().try_for_each(|(index, each)| self.check_use(*each, ty(index)))
    }

    /// Checks that an operand has the type `ty`.
    pub(super) fn check_use(&self, operand: Use, ty: &Type) -> Result<(), Error> {
        let defined = self.values.ty(operand.value);
        if defined == ty {
            return Ok(());
        }
        Err(self
            .tokens
            .error_at(operand.at, format!("the operand must have the type of its definition, {defined}, got {ty}")))
    }
}
