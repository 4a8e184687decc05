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

/// The table of operations, given to the macro `$callback`: those of single elements with their numbers, operands and
/// formulas, for any [`Real`], and before them, in brackets, those that are no such formulas. Their numbers belong to
/// the interface between libraries and hosts: new ones come at the end.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_operation {
    ($callback:ident) => {
        $callback! {
            [
                Constant = 0 () -> Number;
                Polygamma = 36 (Number, Number) -> Number;
                Count = 39 () -> Number;
                Sum = 40 (Number) -> Number;
                Max = 41 (Number) -> Number;
            ]
            Add = 1 (a: Number, b: Number) -> Number { a + b }
            Subtract = 2 (a: Number, b: Number) -> Number { a - b }
            Multiply = 3 (a: Number, b: Number) -> Number { a * b }
            Divide = 4 (a: Number, b: Number) -> Number { a / b }
            Negate = 5 (x: Number) -> Number { -x }
            Less = 6 (a: Number, b: Number) -> Mask { a.less(b) }
            LessEqual = 7 (a: Number, b: Number) -> Mask { a.less_equal(b) }
            Equal = 8 (a: Number, b: Number) -> Mask { a.equal(b) }
            And = 9 (p: Mask, q: Mask) -> Mask { p & q }
            Or = 10 (p: Mask, q: Mask) -> Mask { p | q }
            Not = 11 (p: Mask) -> Mask { !p }
            Select = 12 (p: Mask, yes: Number, no: Number) -> Number { p.select(yes, no) }
            Maximum = 13 (a: Number, b: Number) -> Number { a.maximum(b) }
            Minimum = 14 (a: Number, b: Number) -> Number { a.minimum(b) }
            Abs = 15 (x: Number) -> Number { x.abs() }
            Sign = 16 (x: Number) -> Number { x.signum() }
            Floor = 17 (x: Number) -> Number { x.floor() }
            Ceil = 18 (x: Number) -> Number { x.ceil() }
            Round = 19 (x: Number) -> Number { x.round() }
            Sqrt = 20 (x: Number) -> Number { x.sqrt() }
            Exp = 21 (x: Number) -> Number { x.exp() }
            ExpM1 = 22 (x: Number) -> Number { x.exp_m1() }
            Ln = 23 (x: Number) -> Number { x.ln() }
            Ln1p = 24 (x: Number) -> Number { x.ln_1p() }
            Logistic = 25 (x: Number) -> Number { x.logistic() }
            Tanh = 26 (x: Number) -> Number { x.tanh() }
            Erf = 27 (x: Number) -> Number { x.erf() }
            Erfc = 28 (x: Number) -> Number { x.erfc() }
            Sin = 29 (x: Number) -> Number { x.sin() }
            Cos = 30 (x: Number) -> Number { x.cos() }
            Tan = 31 (x: Number) -> Number { x.tan() }
            Atan2 = 32 (y: Number, x: Number) -> Number { y.atan2(x) }
            Power = 33 (a: Number, b: Number) -> Number { a.pow(b) }
            Lgamma = 34 (x: Number) -> Number { x.lgamma() }
            Digamma = 35 (x: Number) -> Number { x.digamma() }
            MulAdd = 37 (a: Number, b: Number, c: Number) -> Number { a.mul_add(b, c) }
            LogAddExp = 38 (a: Number, b: Number) -> Number { a.log_add_exp(b) }
        }
    };
}

macro_rules! opcodes {
    (
        [$($other:ident = $other_code:literal ($($other_arg:ident),*) -> $other_kind:ident;)*]
        $($name:ident = $code:literal ($($arg:ident: $of:ident),*) -> $kind:ident { $value:expr })*
    ) => {
        /// The operations: those of [`Real`] and [`Mask`], and reductions of functions of rows, of which
        /// [`Count`](Opcode::Count) is the number of elements of a row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[expect(missing_docs, reason = "named after the methods and operators")]
        pub enum Opcode {
            $($other = $other_code,)*
            $($name = $code,)*
        }

        impl Opcode {
            /// The operation of a number; `None` if it is of a later version.
            pub fn new(code: u32) -> Option<Opcode> {
                match code {
                    $($other_code => Some(Opcode::$other),)*
                    $($code => Some(Opcode::$name),)*
                    _ => None,
                }
            }

            /// The kinds of its operands, and of its value.
            pub fn signature(self) -> (&'static [Kind], Kind) {
                match self {
                    $(Opcode::$other => (&[$(Kind::$other_arg),*], Kind::$other_kind),)*
                    $(Opcode::$name => (&[$(Kind::$of),*], Kind::$kind),)*
                }
            }

            /// The value of an operation of single elements; `None` for others.
            fn apply<T: Real>(self, args: &[Value<T>]) -> Option<Value<T>> {
                match self {
                    $(Opcode::$name => {
                        let mut args = args.iter();
                        $(let $arg = operand!($of args.next());)*
                        Some(Value::$kind($value))
                    })*
                    _ => None,
                }
            }
        }
    };
}

macro_rules! operand {
    ($kind:ident $arg:expr) => {
        match $arg {
            Some(Value::$kind(value)) => *value,
            _ => unreachable!("checked by `Expression::new`"),
        }
    };
}

/// A value of an expression.
#[derive(Clone, Copy)]
enum Value<T: Real> {
    Number(T),
    Mask(T::Mask),
}

for_each_operation!(opcodes);

impl Operation {
    /// Its opcode; `None` if it is of a later version.
    pub fn opcode(&self) -> Option<Opcode> {
        Opcode::new(self.opcode)
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
    #[must_use]
    pub fn without_unused(self) -> Expression {
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
    pub fn order(&self, polygamma: &Operation) -> u32 {
        let constant = (polygamma.args[0] as usize).checked_sub(self.operands);
        constant.and_then(|index| self.operations.get(index)).map_or(0, |operation| operation.constant as u32)
    }

    /// The results for some operands, of which there are as many as [`operands`](Expression::operands). Of a function
    /// of rows, for rows of one element.
    ///
    /// # Panics
    /// If there are not.
    pub fn evaluate<T: Real>(&self, operands: &[T]) -> Vec<T> {
        assert_eq!(operands.len(), self.operands, "operands of an expression");
        let mut values: Vec<Value<T>> = operands.iter().copied().map(Value::Number).collect();
        for operation in &self.operations {
            // Those beyond its operands may be any.
            let args =
                operation.args.map(|arg| values.get(arg as usize).copied().unwrap_or(Value::Number(T::from(0.0))));
            let value = match operation.opcode().expect("checked by `new`") {
                Opcode::Constant => Value::Number(T::from(operation.constant)),
                Opcode::Polygamma => Value::Number(operand!(Number Some(&args[1])).polygamma(self.order(operation))),
                Opcode::Count => Value::Number(T::from(1.0)),
                Opcode::Sum | Opcode::Max => args[0],
                opcode => opcode.apply(&args).expect("an operation of single elements"),
            };
            values.push(value);
        }
        self.results.iter().map(|&result| operand!(Number values.get(result as usize))).collect()
    }

    /// Whether each value is a row, if these operands are; the others are numbers of a row. `None` if a value that is
    /// no row is reduced.
    pub fn rows(&self, operands: &[bool]) -> Option<Vec<bool>> {
        let mut rows = operands.to_vec();
        for operation in &self.operations {
            let is_row = operation.args().iter().any(|&arg| rows[arg as usize]);
            let is_reduction = matches!(operation.opcode(), Some(Opcode::Sum | Opcode::Max));
            if is_reduction && !is_row {
                return None;
            }
            rows.push(is_row && !is_reduction);
        }
        Some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_have_their_numbers() {
        for code in 0..42 {
            assert_eq!(Opcode::new(code).map(|opcode| opcode as u32), Some(code));
        }
        assert_eq!([Opcode::new(42), Opcode::new(u32::MAX)], [None, None]);
    }

    #[test]
    fn reductions_make_numbers_of_rows() {
        let operation = |opcode: Opcode, args| Operation { opcode: opcode as u32, args, constant: 0.0 };
        // Of a row and a number: their sum's sum over the count.
        let operations = [
            operation(Opcode::Add, [0, 1, 0]),
            operation(Opcode::Sum, [2, 0, 0]),
            operation(Opcode::Count, [0; 3]),
            operation(Opcode::Divide, [3, 4, 0]),
        ];
        let mean = Expression::new(2, operations.to_vec(), vec![5]).unwrap();
        assert_eq!(mean.rows(&[true, false]), Some(vec![true, false, true, false, false, false]));
        assert_eq!(mean.rows(&[false, false]), None);
        assert_eq!(mean.evaluate(&[2.0, 3.0].map(crate::real::Scalar))[0].0, 5.0);
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
