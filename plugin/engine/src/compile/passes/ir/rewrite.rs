//! Rewriting a function op by op, in program order.

use oxcall::Error;
use oxcall_hlo::{Literal, Location, LocationId, Module, Op, OpKind, Region, TensorType, Type, ValueId};
use smallvec::SmallVec;

use super::op_error;

/// The values that replace an op's results.
pub(crate) type Values = SmallVec<[ValueId; 2]>;

/// The outcome of rewriting an op.
#[expect(clippy::large_enum_variant, reason = "it is made and taken apart at once, for each op")]
pub(crate) enum Rewrite {
    /// It stays, perhaps changed; its results keep their names.
    Keep(Op),
    /// It is removed; these values, of the same types, replace its results.
    With(Values),
}

impl Rewrite {
    /// One value replaces the only result.
    pub(crate) fn one(value: ValueId) -> Rewrite {
        Rewrite::With(SmallVec::from_slice(&[value]))
    }
}

/// The place of a value's definition: the nesting depth of its region, and the op's index there.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    index: u32,
}

/// Inserts new ops before the one being rewritten, and gives access to earlier ops.
pub(crate) struct Rewriter<'f> {
    values: &'f mut Vec<Type>,
    locations: &'f [Location],
    /// The current name of each value.
    renamed: Vec<ValueId>,
    defs: Vec<Option<Place>>,
    /// The ops of the open regions, the outermost first.
    open: Vec<Vec<Op>>,
    location: LocationId,
    changed: bool,
}

/// Calls `visit` with each op of the entry function, after the ops in its regions, with operands that are already
/// rewritten. Returns whether anything was replaced.
///
/// # Errors
/// Those of `visit`, with the op's name and location.
pub(crate) fn rewrite(
    module: &mut Module,
    mut visit: impl FnMut(&mut Rewriter<'_>, Op) -> Result<Rewrite, Error>,
) -> Result<bool, Error> {
    let Module { funcs, locations, entry, .. } = module;
    let func = &mut funcs[entry.0 as usize];
    let mut rewriter = Rewriter {
        renamed: (0..func.values.len() as u32).map(ValueId).collect(),
        defs: vec![None; func.values.len()],
        values: &mut func.values,
        locations,
        open: Vec::new(),
        location: LocationId::UNKNOWN,
        changed: false,
    };
    rewriter.region(&mut func.body, &mut visit)?;
    Ok(rewriter.changed)
}

impl Rewriter<'_> {
    fn region(
        &mut self,
        region: &mut Region,
        visit: &mut impl FnMut(&mut Self, Op) -> Result<Rewrite, Error>,
    ) -> Result<(), Error> {
        self.open.push(Vec::with_capacity(region.ops.len()));
        for mut op in std::mem::take(&mut region.ops) {
            self.resolve(&mut op.operands);
            for region in &mut op.regions {
                self.region(region, visit)?;
            }
            self.location = op.location;
            let results: Values = op.results.as_slice().into();
            let name = op.kind.name();
            match visit(self, op).map_err(|error| op_error(error, name, &self.locations[self.location.0 as usize]))? {
                Rewrite::Keep(op) => self.push(op),
                Rewrite::With(values) => {
                    debug_assert_eq!(results.len(), values.len(), "{name}");
                    self.changed = true;
                    results.into_iter().zip(values).for_each(|(old, new)| self.rename(old, new));
                }
            }
        }
        self.resolve(&mut region.results);
        region.ops = self.open.pop().expect("pushed above");
        Ok(())
    }

    fn resolve(&self, values: &mut [ValueId]) {
        values.iter_mut().for_each(|value| *value = self.renamed[value.0 as usize]);
    }

    /// Replaces `old`, a result of the op being rewritten, by `new` in the ops that follow.
    pub(crate) fn rename(&mut self, old: ValueId, new: ValueId) {
        debug_assert_eq!(self.ty(old), self.ty(new));
        self.renamed[old.0 as usize] = new;
        self.changed = true;
    }

    /// The type of `value`.
    pub(crate) fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.0 as usize]
    }

    /// The type of `value`, a tensor.
    pub(crate) fn tensor(&self, value: ValueId) -> &TensorType {
        self.ty(value).tensor().expect("verified: the operand is a tensor")
    }

    /// The types of all values.
    pub(crate) fn values(&mut self) -> &mut Vec<Type> {
        self.values
    }

    /// The op that defines `value`; `None` for parameters.
    pub(crate) fn def(&self, value: ValueId) -> Option<&Op> {
        let Place { depth, index } = self.defs[value.0 as usize]?;
        let op = self.open.get(depth as usize)?.get(index as usize)?;
        op.results.contains(&value).then_some(op)
    }

    /// Whether an op of the same region as the one being rewritten defines `value`.
    pub(crate) fn is_local(&self, value: ValueId) -> bool {
        self.defs[value.0 as usize].is_some_and(|place| place.depth as usize + 1 == self.open.len())
    }

    /// The constant that defines `value`, if one does.
    pub(crate) fn literal(&self, value: ValueId) -> Option<&Literal> {
        match &self.def(value)?.kind {
            OpKind::Constant(literal) => Some(literal),
            _ => None,
        }
    }

    /// The location of the op being rewritten.
    pub(crate) fn location(&self) -> LocationId {
        self.location
    }

    /// `error` with the name and location of `op`, which is inside the op being rewritten.
    pub(crate) fn error_in(&self, error: Error, op: &Op) -> Error {
        op_error(error, op.kind.name(), &self.locations[op.location.0 as usize])
    }

    /// A new value.
    pub(crate) fn value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).expect("the growth of programs is limited"));
        self.values.push(ty);
        id
    }

    /// Moves `op`, from a region of the op being rewritten, before that one.
    pub(crate) fn hoist(&mut self, op: Op) {
        self.push(op);
        self.changed = true;
    }

    /// Inserts `op` before the one being rewritten.
    pub(crate) fn push(&mut self, op: Op) {
        let depth = self.open.len() - 1;
        let index = self.open[depth].len();
        self.defs.resize(self.values.len(), None);
        self.renamed.extend((self.renamed.len()..self.values.len()).map(|id| ValueId(id as u32)));
        for result in &op.results {
            self.defs[result.0 as usize] = Some(Place { depth: depth as u32, index: index as u32 });
        }
        self.open[depth].push(op);
    }

    /// Inserts the ops of `region`, which has no parameters, before the op being rewritten. Returns the region's
    /// results.
    pub(crate) fn splice(&mut self, region: Region) -> Values {
        debug_assert!(region.params.is_empty());
        region.ops.into_iter().for_each(|op| self.push(op));
        region.results.into()
    }

    /// Creates an op with one result of type `ty`, at the location of the op being rewritten.
    pub(crate) fn emit(&mut self, kind: OpKind, operands: &[ValueId], ty: TensorType) -> ValueId {
        let result = self.value(ty.into());
        let (operands, location) = (operands.to_vec(), self.location);
        self.push(Op { kind, operands, results: vec![result], regions: Vec::new(), location });
        result
    }

    /// Creates an op whose result has the type of its first operand.
    pub(crate) fn emit_like(&mut self, kind: OpKind, operands: &[ValueId]) -> ValueId {
        let ty = self.tensor(operands[0]).clone();
        self.emit(kind, operands, ty)
    }

    /// Creates a constant.
    pub(crate) fn constant(&mut self, literal: Literal) -> ValueId {
        let ty = literal.ty().clone();
        self.emit(OpKind::Constant(literal), &[], ty)
    }

    /// Creates a constant of the type of `value` whose elements all have these bytes.
    pub(crate) fn splat_like(&mut self, value: ValueId, element: Vec<u8>) -> ValueId {
        let ty = self.tensor(value).clone();
        self.constant(Literal::splat(ty, element))
    }

    /// `value` with dimension `i` at `dims[i]` of shape `ty`; `value` itself if that changes nothing.
    pub(crate) fn broadcast(&mut self, value: ValueId, dims: &[usize], ty: &TensorType) -> ValueId {
        let element = self.tensor(value).element;
        if self.tensor(value).dims == ty.dims && dims.iter().copied().eq(0..ty.rank()) {
            return value;
        }
        self.emit(OpKind::BroadcastInDim { dims: dims.to_vec() }, &[value], ty.with_element(element))
    }

    /// `value` with elements of another type; `value` itself if it has them.
    pub(crate) fn convert(&mut self, value: ValueId, element: oxcall_hlo::ElementType) -> ValueId {
        let ty = self.tensor(value);
        if ty.element == element {
            return value;
        }
        let ty = ty.with_element(element);
        self.emit(OpKind::Convert, &[value], ty)
    }
}
