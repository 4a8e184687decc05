//! Computations per device.

use super::attributes::{axis_names, join};
use super::{Printer, put};
use crate::{Op, OpKind};

impl<'m> Printer<'m> {
    /// `sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg0: type) {...} :
    /// types`.
    pub(super) fn manual_computation(&mut self, op: &'m Op) -> bool {
        let (OpKind::ManualComputation(manual), [body]) = (&op.kind, &*op.regions) else { return false };
        self.out.push_str("sdy.manual_computation(");
        self.values(&op.operands);
        put!(
            self,
            ") in_shardings=[{}] out_shardings=[{}] manual_axes={} (",
            join(&manual.in_shardings),
            join(&manual.out_shardings),
            axis_names(&manual.manual_axes)
        );
        for (index, &param) in body.params.iter().enumerate() {
            self.separate(index);
            let name = self.name_param(param);
            put!(self, "{name}: {}", self.func.ty(param));
        }
        self.out.push_str(") ");
        self.block(body, "sdy.return", false);
        self.out.push_str(" : ");
        self.function_type(op);
        true
    }
}
