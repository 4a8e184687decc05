//! Exponentials of squares that programs have in common with their complementary error functions.
//!
//! The derivative of `erfc(x)` is a multiple of `exp(-(x * x))`, with which `erfc` begins. A program with both, such as
//! the gradient of `gelu`, computes one of them.

use smallvec::smallvec;

use super::build::{Builder, Definition, Value};
use crate::math::{self, Function};

/// A complementary error function whose exponential the program has.
struct Shared {
    erfc: Value,
    /// `x`, of both.
    x: Value,
    /// The square of `x` or `-x`, the number that is raised, and `exp(-(x * x))`.
    exponential: [Value; 3],
    /// `erfc(x)` of `x` and the exponential.
    function: Function,
}

impl Builder {
    /// Computes `erfc(x)` from `exp(-(x * x))`, if results depend on both.
    pub(super) fn share_exponentials(&mut self) {
        if !(0..self.values.len()).any(|value| self.applied(value, "erfc").is_some()) {
            return;
        }
        let used = self.used();
        let shared: Vec<_> = (0..self.values.len()).filter_map(|erfc| self.shared(erfc, &used)).collect();
        if shared.is_empty() {
            return;
        }
        let (mut order, mut is_placed) = (Vec::with_capacity(self.values.len()), vec![false; self.values.len()]);
        let mut place = |value: Value| {
            if !std::mem::replace(&mut is_placed[value], true) {
                order.push(value);
            }
        };
        let mut next = shared.iter().peekable();
        for value in 0..self.values.len() {
            if let Some(shared) = next.next_if(|shared| shared.erfc == value) {
                shared.exponential.into_iter().for_each(&mut place);
            }
            place(value);
        }
        for Shared { erfc, x, exponential: [.., exponential], function } in shared {
            self.values[erfc].0 = Definition::Apply { function, args: smallvec![x, exponential], simple: None };
        }
        self.reorder(&order);
    }

    fn shared(&self, erfc: Value, used: &[bool]) -> Option<Shared> {
        let &[x] = self.applied(erfc, "erfc").filter(|_| used[erfc])? else { return None };
        let function = math::erfc_of_exp(self.values[erfc].1)?;
        let is_exponential = |&value: &Value| used[value] && self.applied(value, "exponential").is_some();
        let exponential = (0..self.values.len()).filter(is_exponential).find_map(|value| self.of_square(value, x))?;
        Some(Shared { erfc, x, exponential, function })
    }

    /// The parts of `exponential`, if it is that of `-(x * x)`.
    fn of_square(&self, exponential: Value, x: Value) -> Option<[Value; 3]> {
        let &[power] = self.applied(exponential, "exponential")? else { return None };
        let is_square = |value: Value| {
            self.applied(value, "multiply") == Some(&[x, x]) || self.applied(value, "square") == Some(&[x])
        };
        let is_negative = |value: Value| self.applied(value, "negate") == Some(&[x]);
        let part = match *self.applied(power, "negate").or_else(|| self.applied(power, "multiply"))? {
            [square] if is_square(square) => square,
            [negative, other] | [other, negative] if other == x && is_negative(negative) => negative,
            _ => return None,
        };
        Some([part, power, exponential])
    }

    /// The arguments of the function of this name that gives a value.
    pub(super) fn applied(&self, value: Value, name: &str) -> Option<&[Value]> {
        match &self.values[value].0 {
            Definition::Apply { function, args, .. } if function.name == name => Some(args),
            _ => None,
        }
    }
}
