//! Values that take less time to compute again than to keep.
//!
//! A reduction of rows ends a piece of machine code, and what the next piece reads of the one before goes through a
//! register in memory. A difference of an operand and the mean of its row is computed in both.

use smallvec::SmallVec;

use super::build::{Builder, Definition, Value};

/// The most estimated operations of a value that is computed again: to store and load a vector takes about as long.
const MOST_FLOPS: f32 = 4.0;

/// The values of a program, between reductions of rows.
struct Segments {
    /// The number of reductions before each value.
    of: Vec<usize>,
    /// The estimated operations to compute each value again of what is there anyway: operands, and one element for each
    /// row.
    flops: Vec<f32>,
    /// Values that were computed again, each with the segment and the copy.
    copies: Vec<(Value, usize, Value)>,
    /// The values in their new order.
    order: Vec<Value>,
}

impl Builder {
    /// Computes cheap values again after reductions that follow them.
    pub(super) fn recompute(&mut self) {
        if !self.generates_rows() {
            return;
        }
        let mut segments = Segments { of: Vec::new(), flops: Vec::new(), copies: Vec::new(), order: Vec::new() };
        let mut segment = 0;
        for (value, (definition, _)) in self.values.iter().enumerate() {
            segment += usize::from(matches!(definition, Definition::Fold { .. }));
            segments.of.push(segment);
            segments.flops.push(self.flops_again(value, &segments.flops));
        }
        for value in 0..self.values.len() {
            if matches!(self.values[value].0, Definition::Apply { .. }) && !self.is_per_row(value) {
                let args: SmallVec<[Value; 4]> = self.values[value].0.args().into();
                for (index, arg) in args.into_iter().enumerate() {
                    let arg = self.again(arg, segments.of[value], &mut segments);
                    self.values[value].0.args_mut()[index] = arg;
                }
            }
            segments.order.push(value);
        }
        self.reorder(&segments.order);
    }

    /// The value, or a copy of it in a segment.
    fn again(&mut self, value: Value, segment: usize, segments: &mut Segments) -> Value {
        let is_leaf = !matches!(self.values[value].0, Definition::Apply { .. });
        if is_leaf || segments.of[value] == segment || segments.flops[value] > MOST_FLOPS {
            return value;
        }
        if let Some(&(.., copy)) = segments.copies.iter().find(|(of, at, _)| (*of, *at) == (value, segment)) {
            return copy;
        }
        let (mut definition, element) = self.values[value].clone();
        for arg in definition.args_mut() {
            *arg = self.again(*arg, segment, segments);
        }
        let copy = self.push_as(definition, element, false);
        segments.of.push(segment);
        segments.flops.push(segments.flops[value]);
        segments.copies.push((value, segment, copy));
        segments.order.push(copy);
        copy
    }

    /// The estimated operations to compute a value again, given those of the values before.
    fn flops_again(&self, value: Value, flops: &[f32]) -> f32 {
        match &self.values[value].0 {
            Definition::Input(_) | Definition::Splat(_) => 0.0,
            _ if self.repeats_in_rows(value) => 0.0,
            Definition::Apply { function, args, .. } if function.record.is_some() && !self.is_per_row(value) => {
                function.flops + args.iter().map(|&arg| flops[arg]).sum::<f32>()
            }
            _ => f32::INFINITY,
        }
    }
}
