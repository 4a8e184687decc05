//! `argmax` and `argmin`: the extreme value of two operands, values and indices, with its index.

use oxcall::Error;
use oxcall_hlo::ElementType;

use super::layout::Layout;
use crate::element::{Element, bf16, f16};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::nest::Walk;
use crate::pool::Cost;

/// A reduction to the extreme value; `run` is an instance of its code.
#[derive(Debug)]
struct ArgExtreme {
    largest: bool,
    layout: Layout,
    width: usize,
    run: Run,
}

type Run = fn(&ArgExtreme, Context<'_>, Inputs<'_>, Outputs<'_>) -> Result<(), Error>;

pub(super) fn make(largest: bool, value: ElementType, index: ElementType, layout: &Layout) -> Option<Box<dyn Kernel>> {
    macro_rules! instance {
        ($($element:ident $ty:ty),*) => {
            match (value, index) {
                $(
                    (ElementType::$element, ElementType::S32) => run::<$ty, i32>,
                    (ElementType::$element, ElementType::S64) => run::<$ty, i64>,
                )*
                _ => return None,
            }
        };
    }
    let run: Run = instance!(F32 f32, F64 f64, F16 f16, BF16 bf16, S8 i8, S16 i16, S32 i32, S64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    Some(Box::new(ArgExtreme { largest, layout: layout.clone(), width: value.byte_width(), run }))
}

/// The place of the initial value, which is not an element.
const INITIAL: usize = usize::MAX;

/// Whether the first of two (value, index) pairs is the result: NaN comes first, then the extreme value, then the lower
/// index.
#[inline(always)]
fn is_first<V: PartialOrd, I: Ord>(largest: bool, a: &(V, I), b: &(V, I)) -> bool {
    #[allow(clippy::eq_op, reason = "only NaN is not equal to itself")]
    let (a_nan, b_nan) = (a.0 != a.0, b.0 != b.0);
    let better = if largest { a.0 > b.0 } else { a.0 < b.0 };
    let equal = a.0 == b.0 || a_nan && b_nan;
    better || a_nan && !b_nan || equal && a.1 < b.1
}

fn run<V, I>(op: &ArgExtreme, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error>
where
    V: Element,
    V::Wide: PartialOrd,
    I: Element + Ord,
{
    let (values, indices) = (inputs.get::<V>(0), inputs.get::<I>(1));
    let init = (inputs.get::<V>(2)[0].widen(), inputs.get::<I>(3)[0]);
    let (value_results, index_results) = (outputs.take::<V>(0), outputs.take::<I>(1));
    let (layout, largest) = (&op.layout, op.largest);
    // The place of the best element for each result.
    let mut best = cx.filled(value_results.len(), INITIAL)?;
    let element = |place: usize| (values[place].widen(), indices[place]);
    let columns = layout.columns();
    let by_rows = layout.row() > 1 || columns == 1;
    cx.pool.for_chunks(op.cost(), &mut best, if by_rows { 1 } else { columns }, |first, best| {
        if by_rows {
            let mut walk = Walk::new(&layout.kept, [0], first);
            for best in best {
                let start = walk.step()[0];
                let mut current = init;
                layout.for_segments(start, 0..layout.segments(), |offset, len| {
                    for place in offset..offset + len {
                        let next = element(place);
                        if is_first(largest, &next, &current) {
                            (current, *best) = (next, place);
                        }
                    }
                });
            }
            return Ok(());
        }
        let (mut values, mut indices) = (cx.scratch(columns)?, cx.scratch(columns)?);
        for (matrix, best) in best.chunks_exact_mut(columns).enumerate() {
            values.fill(init.0);
            indices.fill(init.1);
            let start = layout.start(first + matrix * columns);
            let mut walk = Walk::new(&layout.reduced, [start], 0);
            for _ in 0..layout.elements() {
                let row = walk.step()[0] as usize;
                let current = values.iter_mut().zip(indices.iter_mut());
                for (column, ((value, index), best)) in current.zip(best.iter_mut()).enumerate() {
                    let next = element(row + column);
                    if is_first(largest, &next, &(*value, *index)) {
                        (*value, *index, *best) = (next.0, next.1, row + column);
                    }
                }
            }
        }
        Ok(())
    })?;
    for ((&best, value), index) in best.iter().zip(value_results).zip(index_results) {
        let found = if best == INITIAL { init } else { element(best) };
        (*value, *index) = (V::narrow(found.0), found.1);
    }
    Ok(())
}

impl Kernel for ArgExtreme {
    fn name(&self) -> String {
        if self.largest { "reduce[argmax]".into() } else { "reduce[argmin]".into() }
    }

    fn cost(&self) -> Cost {
        let elements = (self.layout.results() * self.layout.elements()) as f64;
        Cost { flops: 8.0 * elements, bytes: elements * (self.width + 4) as f64 }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        // An empty operand has no loops to walk.
        if self.layout.results() == 0 {
            return Ok(());
        }
        (self.run)(self, cx, inputs, outputs)
    }
}
