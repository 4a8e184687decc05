//! The assignment of a call's operands to parameters.

use std::fmt;
use std::ops::Range;

use super::Shape;
use crate::buffer::BufferRef;
use crate::descriptor::{Arity, Param, Role};
use crate::{Error, Result};

/// The dimensions of the arguments, or of the results, of a call.
pub trait DimsList {
    /// The number of arrays.
    fn count(&self) -> usize;

    /// The dimensions of the array at `index`, which is below [`count`](DimsList::count).
    fn dims(&self, index: usize) -> &[i64];
}

impl DimsList for [&[i64]] {
    fn count(&self) -> usize {
        self.len()
    }

    fn dims(&self, index: usize) -> &[i64] {
        self[index]
    }
}

impl DimsList for [Vec<i64>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn dims(&self, index: usize) -> &[i64] {
        &self[index]
    }
}

impl DimsList for [Shape] {
    fn count(&self) -> usize {
        self.len()
    }

    fn dims(&self, index: usize) -> &[i64] {
        &self[index].dims
    }
}

impl DimsList for [BufferRef<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn dims(&self, index: usize) -> &[i64] {
        self[index].dims()
    }
}

/// One array of a call, for messages: ``argument `x` ``, ``result `ys[2]` ``.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    is_result: bool,
    param: &'static str,
    /// The index in a variadic parameter.
    member: Option<usize>,
}

impl Operand {
    pub(super) fn argument(param: &Param, member: usize) -> Operand {
        Operand { is_result: false, param: param.name, member: (param.arity == Arity::Variadic).then_some(member) }
    }

    pub(super) fn result(param: &Param, member: usize) -> Operand {
        Operand { is_result: true, ..Operand::argument(param, member) }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.is_result { "result" } else { "argument" };
        match self.member {
            None => write!(f, "{noun} `{}`", self.param),
            Some(member) => write!(f, "{noun} `{}[{member}]`", self.param),
        }
    }
}

/// The operands of one parameter.
#[derive(Clone, Debug)]
pub(super) struct Assigned {
    pub(super) param: &'static Param,
    /// Indices of its arguments; empty for results and absent parameters.
    pub(super) args: Range<usize>,
    /// Indices of its results.
    pub(super) results: Range<usize>,
}

/// Gives each parameter its operands, in order. The ranges lie within the numbers if [`check_counts`] accepts them.
pub(super) fn assign(
    params: &'static [Param],
    num_args: usize,
    num_results: usize,
) -> impl Iterator<Item = Assigned> + Clone {
    let (mut next_arg, mut next_result) = (0, 0);
    params.iter().map(move |param| {
        let take = |next: usize, end: usize| match param.arity {
            Arity::One => 1,
            Arity::Optional => usize::from(next < end),
            Arity::Variadic => end.saturating_sub(next),
        };
        let args = if param.role == Role::Ret { 0 } else { take(next_arg, num_args) };
        let results = match param.role {
            Role::Arg => 0,
            Role::Ret => take(next_result, num_results),
            Role::InOut => args,
        };
        let assigned = Assigned { param, args: next_arg..next_arg + args, results: next_result..next_result + results };
        (next_arg, next_result) = (assigned.args.end, assigned.results.end);
        assigned
    })
}

/// Refuses numbers of operands that the parameters do not take.
pub(super) fn check_counts(params: &'static [Param], num_args: usize, num_results: usize) -> Result<()> {
    let (args, results) =
        assign(params, num_args, num_results).last().map_or((0, 0), |last| (last.args.end, last.results.end));
    if args == num_args && results == num_results {
        return Ok(());
    }
    let (noun, given, other) =
        if args != num_args { ("argument", num_args, Role::Ret) } else { ("result", num_results, Role::Arg) };
    let count = |arity| params.iter().filter(|p| p.role != other && p.arity == arity).count();
    let least = count(Arity::One);
    let most = least + count(Arity::Optional);
    let expected = match (count(Arity::Variadic), least == most) {
        (0, true) => format!("{least}"),
        (0, false) => format!("{least} to {most}"),
        _ => format!("at least {least}"),
    };
    Err(Error::invalid_argument(format!(
        "expects {expected} {noun}{}, but was given {given}",
        if expected == "1" || expected == "at least 1" { "" } else { "s" }
    )))
}
