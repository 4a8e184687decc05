//! Fusion of other reductions with the ops that compute their operand, as in a variance of columns or a norm.
//!
//! A reduction of neighbouring dimensions, that no fusion of rows has, becomes part of the fusion that produces its
//! operand, and so do others of the same dimensions.

use oxcall_hlo::{BinaryOp, ElementType, Op, OpKind};
use oxcall_kernels::element::Scalar;
use oxcall_kernels::kernels::reduce::column_fold;
use oxcall_kernels::scalar::{self, Body};
use oxcall_kernels::tile::{MOST_ELEMENTS, Slabs};

use super::MOST_OPS;
use super::graph::Graph;
use super::groups::Groups;
use super::rows::Unit;

/// The fewest elements for which a fusion takes less time than two kernels.
const FEWEST: usize = 2048;

/// The fewest rows that are reduced to one: the results take memory a second time while they are made.
const FEWEST_ROWS: usize = 4;

/// The fewest elements of one of several slabs, each of which is a piece of work.
pub(in crate::compile) const SMALLEST_SLAB: usize = 4096;

const _: () = assert!(FEWEST > MOST_ELEMENTS, "smaller programs in loops become machine code as a whole");

/// A reduction of one operand.
pub(super) struct Reduction {
    pub(super) function: BinaryOp,
    pub(super) element: ElementType,
    pub(super) init: Scalar,
    pub(super) slabs: Slabs,
}

impl Reduction {
    /// What `op` computes, if a program can reduce its values so.
    pub(super) fn of(graph: &Graph<'_>, op: &Op) -> Option<Reduction> {
        let OpKind::Reduce { dims } = &op.kind else { return None };
        let &[operand, init] = &op.operands[..] else { return None };
        let ty = graph.tensor(operand)?;
        ty.checked_count().filter(|&count| count >= FEWEST)?;
        let element = ty.element;
        let is_word = matches!(element.byte_width(), 4 | 8) && !element.is_complex();
        let function = match scalar::idiom(&graph.func.values, &op.regions[0])? {
            Body::Binary(function) if is_word => function,
            _ => return None,
        };
        column_fold(function, element)?;
        let OpKind::Constant(init) = &graph.region.ops[graph.producer(graph.root(init))?].kind else { return None };
        let slabs = Slabs::new(&ty.dims, dims)?;
        let is_large = slabs.slabs == 1 || slabs.rows * slabs.columns >= SMALLEST_SLAB;
        (is_large && slabs.rows >= FEWEST_ROWS).then(|| Reduction {
            function,
            element,
            init: Scalar::from_bytes(init.element(0)),
            slabs,
        })
    }
}

/// Merges reductions into the units of their operands. There is a unit for each group.
pub(super) fn merge(graph: &Graph<'_>, groups: &mut Groups<'_>, units: &mut Vec<Unit>) {
    for (index, op) in graph.region.ops.iter().enumerate() {
        let Some(Reduction { slabs, .. }) = Reduction::of(graph, op) else { continue };
        let Some(producer) = graph.producer(graph.root(op.operands[0])) else { continue };
        let mut producers = groups.of(producer);
        let (Some(group), None) = (producers.next(), producers.next()) else { continue };
        drop(producers);
        let unit = &units[group.index()];
        let count = slabs.slabs * slabs.rows * slabs.columns;
        let fits = unit.row == 1 && unit.count == count && unit.slabs.is_none_or(|theirs| theirs == slabs);
        if !fits || unit.ops.len() >= MOST_OPS {
            continue;
        }
        let mut own = groups.of(index);
        let known = own.next();
        drop(own);
        // One that is alone may have grown into rows.
        if known.is_some_and(|known| !units[known.index()].parts.is_empty()) {
            continue;
        }
        let own = known.unwrap_or_else(|| {
            units.push(Unit::default());
            groups.start(index)
        });
        if groups.merge(group, own) {
            let unit = &mut units[group.index()];
            unit.ops.push(index);
            unit.slabs = Some(slabs);
        }
    }
}
