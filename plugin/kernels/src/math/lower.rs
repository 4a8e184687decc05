//! Lowering of element-wise ops to a few [`Function`]s of their elements.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ComparisonType, ElementType, OpKind, UnaryOp};
use smallvec::{SmallVec, smallvec};

use super::convert::{self, bits, by_integer, by_signed, by_unsigned, by_wide, signed, wide};
use super::function::Function;
use super::level::{Level, with_level};
use super::{complex, generated, integer, real, select};
use crate::element::Scalar;

/// An operand of a [`Step`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// An operand of the op, in its computed form.
    Operand(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A number.
    Constant(Scalar),
}

/// One of the functions that make up an op.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The function.
    pub function: Function,
    /// Its operands.
    pub sources: SmallVec<[Source; 3]>,
}

/// The steps of an op, the last of which gives the result; if there are none, the result is operand 0.
pub(crate) type Steps = SmallVec<[Step; 2]>;

/// Whether there are functions for an element-wise op on these types.
pub fn has_functions(kind: &OpKind, operands: &[ElementType], result: ElementType) -> bool {
    lower(kind, operands, result).is_ok()
}

/// Whether `kind` is element-wise: its result at an index depends on its operands at that index (or on scalars).
pub fn is_element_wise(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Compare(..)
            | OpKind::Select
            | OpKind::Clamp
            | OpKind::Convert
            | OpKind::BitcastConvert
            | OpKind::ReducePrecision { .. }
            | OpKind::Complex
    )
}

/// The steps of the element-wise op `kind`. Elements are computed in their [`wide`] type; the result is in the range of
/// its type.
///
/// # Errors
/// UNIMPLEMENTED if the op is not defined for these types.
pub(crate) fn lower(kind: &OpKind, operands: &[ElementType], result: ElementType) -> Result<Steps, Error> {
    with_level!(L => lower_at::<L>(kind, operands, result)).ok_or_else(|| {
        let types: Vec<_> = operands.iter().map(|element| element.name()).collect();
        Error::unimplemented(format!("{} of {} to {result} is not supported", kind.name(), types.join(", ")))
    })
}

/// The functions that load, store and round elements of a narrow float type; `None` for types stored as computed.
pub(crate) fn packed(element: ElementType) -> Option<convert::Packed> {
    with_level!(L => convert::packed::<L>(element))
}

/// The complementary error function of two numbers of type `wide`: x, and e^-(x x) with the square rounded. `None` if
/// no such exponential helps.
pub(crate) fn erfc_of_exp(wide: ElementType) -> Option<Function> {
    (wide == ElementType::F32)
        .then(|| with_level!(L => real::erfc_of_exp::<L>()).recorded(Some(generated::erfc_of_exp)))
}

/// Steps under construction, each applied to the result of the one before.
struct Chain(Steps);

impl Chain {
    fn new(function: Function, sources: SmallVec<[Source; 3]>) -> Chain {
        Chain(smallvec![Step { function, sources }])
    }

    fn of_operands(function: Function) -> Chain {
        Chain::new(function, (0..function.arity).map(Source::Operand).collect())
    }

    /// Applies a function of one element to the result so far.
    fn then(mut self, function: Option<Function>) -> Chain {
        if let Some(function) = function {
            let source = self.0.len().checked_sub(1).map_or(Source::Operand(0), Source::Step);
            self.0.push(Step { function, sources: smallvec![source] });
        }
        self
    }

    /// Brings the result into the range of `element`: rounds floats, wraps integers.
    fn into_range<L: Level>(self, element: ElementType) -> Steps {
        let round = convert::packed::<L>(element).map(|packed| packed.round);
        let wrap = select::narrow::<L>(element).map(|narrow| narrow.wrap);
        self.then(round).then(wrap).0
    }
}

pub(super) fn lower_at<L: Level>(kind: &OpKind, operands: &[ElementType], result: ElementType) -> Option<Steps> {
    let first = *operands.first()?;
    Some(match kind {
        OpKind::Unary(op) => unary::<L>(*op, first, result)?,
        OpKind::Binary(op) => binary::<L>(*op, first)?,
        OpKind::Compare(direction, order) => {
            let total = *order == ComparisonType::TotalOrder;
            let record = if total { generated::compare_totally } else { generated::compare }(*direction, wide(first));
            Chain::of_operands(select::compare::<L>(*direction, wide(first), total)?.recorded(record)).0
        }
        OpKind::Select => {
            Chain::of_operands(select::select::<L>(wide(result))?.recorded(generated::select(wide(result)))).0
        }
        OpKind::Clamp => {
            Chain::of_operands(select::clamp::<L>(wide(result))?.recorded(generated::clamp(wide(result)))).0
        }
        OpKind::Convert => convert::<L>(first, result)?,
        OpKind::BitcastConvert if first.bits() == result.bits() => bitcast::<L>(first, result),
        OpKind::ReducePrecision { exponent_bits, mantissa_bits } => {
            let bits = |bits: u32| Source::Constant(Scalar::of(bits));
            let sources = smallvec![Source::Operand(0), bits(*exponent_bits), bits(*mantissa_bits)];
            Chain::new(select::reduce_precision::<L>(first)?, sources).into_range::<L>(result)
        }
        OpKind::Complex => Chain::of_operands(convert::complex::<L>(first)?.recorded(generated::of_parts(first))).0,
        _ => return None,
    })
}

fn unary<L: Level>(op: UnaryOp, operand: ElementType, result: ElementType) -> Option<Steps> {
    use ElementType as E;
    if operand == E::Pred {
        return (op == UnaryOp::Not).then(|| Chain::of_operands(select::not::<L>().recorded(generated::not())).0);
    }
    if let Some(narrow) = select::narrow::<L>(operand)
        && matches!(op, UnaryOp::CountLeadingZeros | UnaryOp::Popcnt)
    {
        let masked = Chain::of_operands(narrow.mask);
        return Some(match op {
            UnaryOp::Popcnt => masked.then(unary_function::<L>(op, wide(operand))).into_range::<L>(result),
            _ => masked.then(Some(narrow.leading_zeros)).into_range::<L>(result),
        });
    }
    Some(Chain::of_operands(unary_function::<L>(op, wide(operand))?).into_range::<L>(result))
}

fn unary_function<L: Level>(op: UnaryOp, wide: ElementType) -> Option<Function> {
    use ElementType as E;
    let function = match wide {
        E::F32 => real::unary_op::<L, f32>(op)?,
        E::F64 => real::unary_op::<L, f64>(op)?,
        E::C64 => complex::unary_op::<L, f32>(op)?,
        E::C128 => complex::unary_op::<L, f64>(op)?,
        _ => by_unsigned!(bits(wide), T => integer::unary_bits_op::<L, T>(op))
            .or_else(|| by_integer!(wide, T => integer::unary_op::<L, T>(op)))?
            .giving(wide),
    };
    let function = function.named(short(op.name()), function.flops);
    Some(function.recorded(generated::unary(op, wide)).guarded(generated::guarded_unary(op, wide)))
}

fn binary<L: Level>(op: BinaryOp, element: ElementType) -> Option<Steps> {
    use BinaryOp as B;
    // Booleans: 0 and 1 are closed under these.
    let op = match op {
        B::Add | B::Maximum if element == ElementType::Pred => B::Or,
        B::Multiply | B::Minimum if element == ElementType::Pred => B::And,
        _ if element == ElementType::Pred && !matches!(op, B::And | B::Or | B::Xor) => return None,
        _ => op,
    };
    let function = binary_function::<L>(op, wide(element))?;
    // Narrow integers take a byte, and the bits that are shifted in come from above them.
    let above = select::narrow::<L>(element).and_then(|narrow| match op {
        B::ShiftRightLogical => Some(narrow.mask),
        B::ShiftRightArithmetic if !element.is_signed() => Some(narrow.extend),
        _ => None,
    });
    let chain = match above {
        Some(above) => {
            let mut chain = Chain::of_operands(above);
            chain.0.push(Step { function, sources: smallvec![Source::Step(0), Source::Operand(1)] });
            chain
        }
        None => Chain::of_operands(function),
    };
    Some(chain.into_range::<L>(element))
}

fn binary_function<L: Level>(op: BinaryOp, wide: ElementType) -> Option<Function> {
    use ElementType as E;
    let function = match wide {
        E::F32 => real::binary_op::<L, f32>(op)?,
        E::F64 => real::binary_op::<L, f64>(op)?,
        E::C64 => complex::binary_op::<L, f32>(op)?,
        E::C128 => complex::binary_op::<L, f64>(op)?,
        // For unsigned integers the top bit also counts as the sign here, as in XLA.
        _ if op == BinaryOp::ShiftRightArithmetic => {
            by_signed!(signed(wide), T => Some(integer::shift_right_arithmetic::<L, T>()))?.giving(wide)
        }
        _ => by_unsigned!(bits(wide), T => integer::binary_bits_op::<L, T>(op))
            .or_else(|| by_integer!(wide, T => integer::binary_op::<L, T>(op)))?
            .giving(wide),
    };
    let function = function.named(short(op.name()), function.flops);
    Some(function.recorded(generated::binary(op, wide)).guarded(generated::guarded_binary(op, wide)))
}

fn convert<L: Level>(from: ElementType, to: ElementType) -> Option<Steps> {
    let none = Chain(Steps::new());
    if from == to {
        return Some(none.0);
    }
    if from.is_complex() && to.is_complex() {
        let record = generated::convert(from, to);
        return Some(none.then(Some(convert::between_complex::<L>(from).recorded(record))).0);
    }
    if to.is_complex() {
        let real = Chain(convert::<L>(from, to.real())?);
        let record = generated::convert(to.real(), to);
        return Some(real.then(Some(convert::to_complex::<L>(to.real())?.recorded(record))).0);
    }
    // Complex numbers lose their imaginary part.
    let part = from.is_complex().then(|| unary_function::<L>(UnaryOp::Real, from)).flatten();
    let (from, chain) = (from.real(), none.then(part));
    if to == ElementType::Pred {
        let record = generated::is_nonzero(wide(from));
        return Some(chain.then(Some(convert::is_nonzero::<L>(wide(from))?.recorded(record))).0);
    }
    let chain = match () {
        () if from == ElementType::F64 && convert::is_packed(to) => chain.then(Some(convert::to_f32_odd::<L>())),
        () if wide(from) == wide(to) => chain,
        // Integers of one width have the same bits.
        () if !from.is_float() && !to.is_float() && bits(wide(from)) == bits(wide(to)) => chain,
        () => {
            let record = generated::convert(wide(from), wide(to));
            chain.then(Some(convert::convert::<L>(wide(from), wide(to))?.recorded(record)))
        }
    };
    if from.is_float()
        && let Some(narrow) = select::narrow::<L>(to)
    {
        return Some(chain.then(Some(narrow.saturate)).0);
    }
    Some(chain.into_range::<L>(to))
}

fn bitcast<L: Level>(from: ElementType, to: ElementType) -> Steps {
    let store = convert::packed::<L>(from).map(|packed| packed.store);
    let load = convert::packed::<L>(to).map(|packed| packed.load);
    let extend = select::narrow::<L>(to).map(|narrow| narrow.wrap);
    Chain(Steps::new()).then(store).then(extend).then(load).0
}

/// The name of an op without its dialect.
fn short(name: &'static str) -> &'static str {
    name.split_once('.').map_or(name, |(_, name)| name)
}
