//! Lowering of custom calls: their call frames, and the conversions of their buffers.

use oxcall::Error;
use oxcall_hlo::{CustomCall, Func, Op, TensorType, Type, ValueId};

use super::{Lowering, layout};
use crate::compile::graph::{Block, Compute, Node, Source, Work};
use crate::plan::{CallSite, leaves};

/// A custom call with the types of its buffers: equal ones may share a call frame.
pub(super) type Called<'m> = (&'m CustomCall, Vec<Option<&'m TensorType>>, Vec<Option<&'m TensorType>>);

/// The number of earlier calls with which a call is compared.
const COMPARED_CALLS: usize = 16;

impl<'m> Lowering<'m> {
    /// The call frame of a call. Equal calls share one, so that chains of calls work on memory that is in the caches.
    fn frame(&mut self, called: Called<'m>) -> u32 {
        let first = self.frames.len().saturating_sub(COMPARED_CALLS);
        let equal = self.frames[first..].iter().position(|other| *other == called);
        equal.map_or_else(
            || {
                self.frames.push(called);
                self.frames.len() as u32 - 1
            },
            |index| (first + index) as u32,
        )
    }

    pub(super) fn custom_call(&mut self, op: &'m Op, call: &'m CustomCall, block: &mut Block) -> Result<(), Error> {
        let func = self.func;
        let types = |values: &[ValueId]| -> Vec<Option<&'m TensorType>> {
            values.iter().flat_map(|&value| leaves(func.ty(value))).collect()
        };
        let (operands, results) = (types(&op.operands), types(&op.results));
        if call.is_identity() && operands == results {
            let values = self.flat(&op.operands);
            let mut values = values.into_iter();
            for &result in &op.results {
                let count = leaves(func.ty(result)).len();
                self.leaves[result.0 as usize] = values.by_ref().take(count).collect();
            }
            return Ok(());
        }
        let tuple = matches!(op.results[..], [result] if matches!(func.ty(result), Type::Tuple(_)));
        let frame = self.frame((call, operands.clone(), results.clone()));
        let site = CallSite::new(&self.runtime.host, call, &operands, &results, tuple || op.results.len() != 1, frame)?;
        self.charge(site.cost());
        // Layouts and packing: the handler sees buffers in other forms than the engine's.
        let mut inputs = self.flat(&op.operands);
        for (index, (input, ty)) in inputs.iter_mut().zip(&operands).enumerate() {
            let layout = call.operand_layouts.as_ref().and_then(|layouts| layouts.get(index));
            for conversion in ty.map_or(Ok(Vec::new()), |ty| layout::to_foreign(ty, layout))? {
                let converted = self.value(conversion.bytes, Source::Computed, None);
                self.compute(block, (conversion.kernel, 0.0), vec![*input], vec![converted]);
                *input = converted;
            }
        }
        let mut outputs = Vec::with_capacity(results.len());
        let mut after = Vec::new();
        for (index, ty) in results.iter().enumerate() {
            let layout = call.result_layouts.as_ref().and_then(|layouts| layouts.get(index));
            let conversions = ty.map_or(Ok(Vec::new()), |ty| layout::from_foreign(ty, layout))?;
            let bytes =
                ty.map_or(0, |ty| if conversions.is_empty() { ty.byte_size() } else { layout::foreign_size(ty) });
            let of = op.results.get(index).copied().filter(|_| op.results.len() == results.len());
            outputs.push(self.value(bytes, Source::Computed, of));
            after.push(conversions);
        }
        let aliases =
            layout::alias_pairs(call, &types_per_value(func, &op.operands), &types_per_value(func, &op.results));
        let at = self.next_position();
        let work = Work::Call(self.calls.len() as u32);
        self.calls.push(site);
        let mut values = Vec::with_capacity(outputs.len());
        block.nodes.push(Node::Compute(Compute {
            at,
            work,
            inputs,
            outputs: outputs.clone(),
            aliases,
            must_alias: true,
        }));
        for (output, conversions) in outputs.into_iter().zip(after) {
            let mut value = output;
            for conversion in conversions {
                let converted = self.value(conversion.bytes, Source::Computed, None);
                self.compute(block, (conversion.kernel, 0.0), vec![value], vec![converted]);
                value = converted;
            }
            values.push(value);
        }
        let mut values = values.into_iter();
        for &result in &op.results {
            let count = leaves(func.ty(result)).len();
            self.leaves[result.0 as usize] = values.by_ref().take(count).collect();
        }
        Ok(())
    }
}

/// The number of leaves of each value.
fn types_per_value(func: &Func, values: &[ValueId]) -> Vec<usize> {
    values.iter().map(|&value| leaves(func.ty(value)).len()).collect()
}
