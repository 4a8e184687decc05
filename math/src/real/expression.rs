//! Recorded functions: sequences of operations on single elements.

use super::traced::{self, Traced};
use super::{Mask, Real};

/// An operation in the C layout, in which libraries give it to hosts.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// The number of an [`Opcode`].
    pub opcode: u32,
    /// Its operands, as many as it has: numbers of values.
    pub args: [u32; 3],
    /// The value of a [`Opcode::Constant`].
    pub constant: f64,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A real number.
    Number,
    /// An outcome of a comparison.
    Mask,
}

macro_rules! opcodes {
    ($($name:ident = $code:literal ($($arg:ident),*) -> $kind:ident;)*) => {
        /// The operations, as [`Real`] and [`Mask`] have them. Their numbers belong to the interface between libraries
        /// and hosts: new ones come at the end.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        #[expect(missing_docs, reason = "named after the methods and operators")]
        pub enum Opcode {
            $($name = $code,)*
        }

        impl Opcode {
            /// All of them, by number.
            pub const ALL: &[Opcode] = &[$(Opcode::$name),*];

            /// The kinds of its operands, and of its value.
            pub fn signature(self) -> (&'static [Kind], Kind) {
                match self {
                    $(Opcode::$name => (&[$(Kind::$arg),*], Kind::$kind),)*
                }
            }
        }
    };
}
opcodes! {
    Constant = 0 () -> Number;
    Add = 1 (Number, Number) -> Number;
    Subtract = 2 (Number, Number) -> Number;
    Multiply = 3 (Number, Number) -> Number;
    Divide = 4 (Number, Number) -> Number;
    Negate = 5 (Number) -> Number;
    Less = 6 (Number, Number) -> Mask;
    LessEqual = 7 (Number, Number) -> Mask;
    Equal = 8 (Number, Number) -> Mask;
    And = 9 (Mask, Mask) -> Mask;
    Or = 10 (Mask, Mask) -> Mask;
    Not = 11 (Mask) -> Mask;
    Select = 12 (Mask, Number, Number) -> Number;
    Maximum = 13 (Number, Number) -> Number;
    Minimum = 14 (Number, Number) -> Number;
    Abs = 15 (Number) -> Number;
    Sign = 16 (Number) -> Number;
    Floor = 17 (Number) -> Number;
    Ceil = 18 (Number) -> Number;
    Round = 19 (Number) -> Number;
    Sqrt = 20 (Number) -> Number;
    Exp = 21 (Number) -> Number;
    ExpM1 = 22 (Number) -> Number;
    Ln = 23 (Number) -> Number;
    Ln1p = 24 (Number) -> Number;
    Logistic = 25 (Number) -> Number;
    Tanh = 26 (Number) -> Number;
    Erf = 27 (Number) -> Number;
    Erfc = 28 (Number) -> Number;
    Sin = 29 (Number) -> Number;
    Cos = 30 (Number) -> Number;
    Tan = 31 (Number) -> Number;
    Atan2 = 32 (Number, Number) -> Number;
    Power = 33 (Number, Number) -> Number;
    Lgamma = 34 (Number) -> Number;
    Digamma = 35 (Number) -> Number;
    Polygamma = 36 (Number, Number) -> Number;
}

impl Operation {
    /// Its opcode; `None` if it is of a later version.
    pub fn opcode(&self) -> Option<Opcode> {
        Opcode::ALL.get(self.opcode as usize).copied()
    }

    fn arity(&self) -> usize {
        self.opcode().map_or(0, |opcode| opcode.signature().0.len())
    }

    /// Its operands; none if it is of a later version.
    pub fn args(&self) -> &[u32] {
        &self.args[..self.arity()]
    }

    fn args_mut(&mut self) -> &mut [u32] {
        let arity = self.arity();
        &mut self.args[..arity]
    }
}

/// A function of real numbers as a sequence of operations. Values are numbered: the operands first, then the operations
/// in their order, each of which uses earlier values only.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    operands: usize,
    operations: Vec<Operation>,
    results: Vec<u32>,
}

impl Expression {
    /// Records a function; `None` if it takes thousands of operations.
    ///
    /// # Panics
    /// With the panic of `function`.
    pub fn trace<const I: usize, const O: usize>(
        function: impl FnOnce([Traced; I]) -> [Traced; O],
    ) -> Option<Expression> {
        traced::trace(function)
    }

    /// An expression of these operations; `None` if one is unknown, or uses a value that is not there or of another
    /// kind.
    pub fn new(operands: usize, operations: Vec<Operation>, results: Vec<u32>) -> Option<Expression> {
        let mut kinds = vec![Kind::Number; operands];
        kinds.reserve(operations.len());
        for operation in &operations {
            let (args, kind) = operation.opcode()?.signature();
            let fits = |(&arg, kind): (&u32, &Kind)| kinds.get(arg as usize) == Some(kind);
            if !operation.args.iter().zip(args).all(fits) {
                return None;
            }
            kinds.push(kind);
        }
        let are_numbers = results.iter().all(|&result| kinds.get(result as usize) == Some(&Kind::Number));
        are_numbers.then_some(Expression { operands, operations, results })
    }

    /// Without the operations on which no result depends.
    pub(super) fn without_unused(self) -> Expression {
        let Expression { operands, operations, mut results } = self;
        let mut is_used = vec![false; operands + operations.len()];
        results.iter().for_each(|&result| is_used[result as usize] = true);
        for (index, operation) in operations.iter().enumerate().rev() {
            if is_used[operands + index] {
                operation.args().iter().for_each(|&arg| is_used[arg as usize] = true);
            }
        }
        let mut renamed: Vec<u32> = (0..operands as u32).collect();
        let mut kept = Vec::new();
        for (index, mut operation) in operations.into_iter().enumerate() {
            renamed.push((operands + kept.len()) as u32);
            if is_used[operands + index] {
                operation.args_mut().iter_mut().for_each(|arg| *arg = renamed[*arg as usize]);
                kept.push(operation);
            }
        }
        results.iter_mut().for_each(|result| *result = renamed[*result as usize]);
        Expression { operands, operations: kept, results }
    }

    /// The number of operands.
    pub fn operands(&self) -> usize {
        self.operands
    }

    /// The operations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The values that are the results.
    pub fn results(&self) -> &[u32] {
        &self.results
    }

    /// The order of a [`Opcode::Polygamma`], which is a constant.
    fn order(&self, polygamma: &Operation) -> u32 {
        let constant = (polygamma.args[0] as usize).checked_sub(self.operands);
        constant.and_then(|index| self.operations.get(index)).map_or(0, |operation| operation.constant as u32)
    }

    /// The results for some operands, of which there are as many as [`operands`](Expression::operands).
    ///
    /// # Panics
    /// If there are not.
    pub fn evaluate<T: Real>(&self, operands: &[T]) -> Vec<T> {
        assert_eq!(operands.len(), self.operands, "operands of an expression");
        let zero = T::from(0.0);
        let mut values = operands.to_vec();
        // Where a value is a mask, the number is unused, and the other way round.
        let mut masks = vec![zero.less(0.0); operands.len()];
        for operation in &self.operations {
            let [a, b, c] = operation.args.map(|arg| values.get(arg as usize).copied().unwrap_or(zero));
            let [p, q, _] = operation.args.map(|arg| masks.get(arg as usize).copied().unwrap_or(zero.less(0.0)));
            let opcode = operation.opcode().expect("checked by `new`");
            let (mut number, mut mask) = (zero, p);
            match opcode {
                Opcode::Less => mask = a.less(b),
                Opcode::LessEqual => mask = a.less_equal(b),
                Opcode::Equal => mask = a.equal(b),
                Opcode::And => mask = p & q,
                Opcode::Or => mask = p | q,
                Opcode::Not => mask = !p,
                Opcode::Constant => number = T::from(operation.constant),
                Opcode::Add => number = a + b,
                Opcode::Subtract => number = a - b,
                Opcode::Multiply => number = a * b,
                Opcode::Divide => number = a / b,
                Opcode::Negate => number = -a,
                Opcode::Select => number = p.select(b, c),
                Opcode::Maximum => number = a.maximum(b),
                Opcode::Minimum => number = a.minimum(b),
                Opcode::Abs => number = a.abs(),
                Opcode::Sign => number = a.signum(),
                Opcode::Floor => number = a.floor(),
                Opcode::Ceil => number = a.ceil(),
                Opcode::Round => number = a.round(),
                Opcode::Sqrt => number = a.sqrt(),
                Opcode::Exp => number = a.exp(),
                Opcode::ExpM1 => number = a.exp_m1(),
                Opcode::Ln => number = a.ln(),
                Opcode::Ln1p => number = a.ln_1p(),
                Opcode::Logistic => number = a.logistic(),
                Opcode::Tanh => number = a.tanh(),
                Opcode::Erf => number = a.erf(),
                Opcode::Erfc => number = a.erfc(),
                Opcode::Sin => number = a.sin(),
                Opcode::Cos => number = a.cos(),
                Opcode::Tan => number = a.tan(),
                Opcode::Atan2 => number = a.atan2(b),
                Opcode::Power => number = a.pow(b),
                Opcode::Lgamma => number = a.lgamma(),
                Opcode::Digamma => number = a.digamma(),
                Opcode::Polygamma => number = b.polygamma(self.order(operation)),
            }
            values.push(number);
            masks.push(mask);
        }
        self.results.iter().map(|&result| values[result as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_numbered_in_order() {
        for (number, &opcode) in Opcode::ALL.iter().enumerate() {
            assert_eq!(opcode as usize, number, "{opcode:?}");
        }
    }

    #[test]
    fn wrong_operations_are_refused() {
        let operation = |opcode: Opcode, args| Operation { opcode: opcode as u32, args, constant: 0.0 };
        let less = operation(Opcode::Less, [0, 1, 0]);
        let is_right = |operations: &[Operation], results: &[u32]| {
            Expression::new(2, operations.to_vec(), results.to_vec()).is_some()
        };
        assert!(is_right(&[less, operation(Opcode::Select, [2, 0, 1])], &[3, 0]));
        // A value that is not there yet, a mask as a number, and a number as a mask.
        assert!(!is_right(&[operation(Opcode::Add, [0, 2, 0])], &[2]));
        assert!(!is_right(&[less, operation(Opcode::Add, [0, 2, 0])], &[3]));
        assert!(!is_right(&[operation(Opcode::Not, [0, 0, 0])], &[0]));
        assert!(!is_right(&[less], &[2]));
        assert!(!is_right(&[], &[2]));
        assert!(!is_right(&[Operation { opcode: 1000, args: [0; 3], constant: 0.0 }], &[0]));
    }
}
