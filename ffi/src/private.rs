//! Items to which the macros' output refers. Not part of the public interface.

pub use std::mem::MaybeUninit;
pub use std::vec::Vec;

pub use half;
pub use inventory;
pub use num_complex;
pub use xla_ffi_sys::xla_ffi as sys;

pub use crate::attr::{Attr, AttrError, Attributes, Dict, FromAttr, StructFields, enum_attr, struct_fields};
pub use crate::buffer::{ArgParam, BufferRef, BufferSpec, InOutParam, RetParam, Variadic};
pub use crate::context::FromContext;
#[cfg(feature = "cuda")]
pub use crate::cuda;
pub use crate::descriptor::{
    Arity, AttrParam, AttrType, DTypeRule, DimExpr, DimOp, DimPattern, Handler, Legacy, Op, Param, Presence,
    RawHandler, Recorded, Role, ShapeRule, Slot, Stage, StageHandler, Traits, TypeParam,
};
pub use crate::diagnose::{
    Guarded, check_dims, dims as dims_error, dispatch as dispatch_error, guard as guard_error, mismatch,
    operands as operands_error,
};
pub use crate::entry::{Execute, Outcome, StageFn, call_state, context, execute, rest, stage, state, state_of};
pub use crate::explain::{attribute, required_attribute};
pub use crate::frame::{ArrayStorage, Described, Frame, check_overlap, cold, expands, extent, overlap, same_dims};
use crate::names::{equal, less};
pub use crate::namespace::{Namespace, set_namespace};
#[doc(hidden)]
pub use crate::pointwise;
pub use crate::registry::Entry;
#[doc(hidden)]
pub use crate::rowwise;
pub use crate::rules::{check_autocast, check_fwd, check_jvp, check_nondiff, check_transpose, check_vjp, check_vmap};
pub use crate::state::HostType;
pub use crate::{
    __if_cuda as if_cuda, __legacy as legacy, __schema as schema, __torch as torch, DType, Element, Error, Result,
};

/// An integer that names a dimension.
pub trait DimValue {
    /// The value; saturates, so that a value that is no size stays none.
    fn to_dim(&self) -> i64;
}

macro_rules! dim_values {
    ($($ty:ty)*) => {$(
        impl DimValue for $ty {
            #[inline(always)]
            fn to_dim(&self) -> i64 {
                i64::try_from(*self).unwrap_or(i64::MAX)
            }
        }
    )*};
}
dim_values!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// Refuses a namespace that torch would refuse.
///
/// # Panics
/// Then; which is an error when the crate is compiled.
pub const fn check_namespace(name: &str) {
    let bytes = name.as_bytes();
    assert!(!bytes.is_empty() && !bytes[0].is_ascii_digit(), "a namespace of torch begins with a letter");
    let mut i = 0;
    while i < bytes.len() {
        let word = bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_';
        assert!(word, "a namespace of torch has letters, digits and underscores only");
        i += 1;
    }
}

/// The demands of a parameter's type, as a rule.
pub const fn dtype_rule(spec: BufferSpec) -> DTypeRule {
    match spec.dtype {
        Some(dtype) => DTypeRule::One(dtype),
        None => DTypeRule::Any,
    }
}

/// The value of an expression of dimensions; `None` on overflow, division by zero, or a negative value.
#[inline(always)]
pub fn dim_binary(op: DimOp, a: Option<i64>, b: Option<i64>) -> Option<i64> {
    let (a, b) = (a?, b?);
    let value = match op {
        DimOp::Add => a.checked_add(b),
        DimOp::Sub => a.checked_sub(b),
        DimOp::Mul => a.checked_mul(b),
        DimOp::Div => a.checked_div(b),
        DimOp::Rem => a.checked_rem(b),
    };
    value.filter(|value| *value >= 0)
}

/// The attributes of several stages together: how many there are without duplicates.
pub const fn union_len(sets: &[&[AttrParam]]) -> usize {
    let mut count = 0;
    let mut s = 0;
    while s < sets.len() {
        let mut i = 0;
        while i < sets[s].len() {
            if !named_earlier(sets, s, i) {
                count += 1;
            }
            i += 1;
        }
        s += 1;
    }
    count
}

/// The attributes of several stages together, sorted by name. Where two stages name one attribute, the first decides,
/// except that it is required as soon as one stage requires it.
pub const fn union<const N: usize>(sets: &[&[AttrParam]]) -> [AttrParam; N] {
    let empty = AttrParam { name: "", ty: AttrType::Any, presence: Presence::Required };
    let mut all = [empty; N];
    let mut len = 0;
    let mut s = 0;
    while s < sets.len() {
        let mut i = 0;
        while i < sets[s].len() {
            let attr = sets[s][i];
            if named_earlier(sets, s, i) {
                if matches!(attr.presence, Presence::Required) {
                    let at = position(&all, attr.name);
                    all[at].presence = Presence::Required;
                }
            } else {
                // Insertion sort: the lists are short.
                let mut at = len;
                while at > 0 && less(attr.name, all[at - 1].name) {
                    all[at] = all[at - 1];
                    at -= 1;
                }
                all[at] = attr;
                len += 1;
            }
            i += 1;
        }
        s += 1;
    }
    all
}

/// Where the attributes of one stage stand among those of all.
pub const fn positions<const K: usize>(all: &[AttrParam], wanted: &[&str; K]) -> [usize; K] {
    let mut found = [0; K];
    let mut i = 0;
    while i < K {
        found[i] = position(all, wanted[i]);
        i += 1;
    }
    found
}

const fn position(all: &[AttrParam], name: &str) -> usize {
    let mut i = 0;
    while i < all.len() {
        if equal(all[i].name, name) {
            return i;
        }
        i += 1;
    }
    panic!("an attribute of a stage is missing from the operation's list")
}

const fn named_earlier(sets: &[&[AttrParam]], set: usize, index: usize) -> bool {
    let name = sets[set][index].name;
    let mut s = 0;
    while s <= set {
        let end = if s == set { index } else { sets[s].len() };
        let mut i = 0;
        while i < end {
            if equal(sets[s][i].name, name) {
                return true;
            }
            i += 1;
        }
        s += 1;
    }
    false
}
