//! The names of functions, which are used before the functions are read.

use std::collections::HashMap;

use super::convert;
use crate::{Error, Func, FuncId, LocationId, Op, OpKind, Region};

/// A function that is named, read or not.
#[derive(Debug)]
struct Symbol<'a> {
    name: &'a [u8],
    /// The op and location that first named it.
    user: Option<(&'static str, LocationId)>,
    /// Where it comes in the module.
    position: Option<u32>,
}

/// The functions of a module. While it is read, a [`FuncId`] is the number of the symbol.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    numbers: HashMap<&'a [u8], u32>,
    symbols: Vec<Symbol<'a>>,
    funcs: Vec<Func>,
}

impl<'a> Symbols<'a> {
    fn number(&mut self, name: &'a [u8], user: Option<(&'static str, LocationId)>) -> u32 {
        let next = self.symbols.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.symbols.push(Symbol { name, user, position: None });
        }
        number
    }

    /// The function called `name`, which an op uses.
    pub(super) fn used(&mut self, name: &'a [u8], op: &'static str, location: LocationId) -> FuncId {
        FuncId(self.number(name, Some((op, location))))
    }

    /// Adds the function called `name`.
    pub(super) fn define(&mut self, name: &'a [u8], func: Func) -> Result<(), Error> {
        let number = self.number(name, None);
        let position = &mut self.symbols[number as usize].position;
        if position.is_some() {
            return Err(Error::invalid(format!("the function `{}` is defined twice", func.name)));
        }
        *position = Some(self.funcs.len() as u32);
        self.funcs.push(func);
        Ok(())
    }

    /// The functions, calls among them resolved. The error comes with the location of the op it is about.
    pub(super) fn finish(self) -> Result<Vec<Func>, (Error, LocationId)> {
        let mut positions = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            positions.push(symbol.position.ok_or_else(|| {
                let (op, location) = symbol.user.unwrap_or(("func.func", LocationId::UNKNOWN));
                let name = convert::text(symbol.name).unwrap_or_else(|error| error.message);
                (Error::invalid(format!("the function `{name}` is not defined")).in_op(op), location)
            })?);
        }
        let mut funcs = self.funcs;
        let in_order = positions.iter().enumerate().all(|(number, &position)| number as u32 == position);
        if !in_order {
            funcs.iter_mut().for_each(|func| resolve(&mut func.body, &positions));
        }
        Ok(funcs)
    }
}

/// Replaces the numbers of symbols by positions in the module. Regions nest no deeper than the reader allows.
fn resolve(region: &mut Region, positions: &[u32]) {
    let resolve_one = |id: &mut FuncId| *id = FuncId(positions[id.0 as usize]);
    for Op { kind, regions, .. } in &mut region.ops {
        match kind {
            OpKind::Call(callee) => resolve_one(callee),
            OpKind::Composite { decomposition, .. } => resolve_one(decomposition),
            OpKind::CustomCall(call) => call.called_computations.iter_mut().for_each(resolve_one),
            _ => {}
        }
        regions.iter_mut().for_each(|region| resolve(region, positions));
    }
}
