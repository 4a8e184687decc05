//! Recorded functions as CUDA C: [`pointwise`] and [`rowwise`] ones.

pub(super) mod pointwise;
pub(super) mod rowwise;

use oxcall_math::real::{Expression, Kind, Opcode, Operation};

/// Some names as a list of items.
fn list(names: &[String], item: impl Fn(&str) -> String) -> String {
    names.iter().map(|name| item(name)).collect::<Vec<_>>().join(", ")
}

/// A macro of these lines, which is called with the type and the name of each float dtype.
fn for_floats(name: &str, lines: &[String]) -> String {
    format!("#define {name}(T, dtype) \\\n{}\nOXCALL_FOR_FLOATS({name})\n", lines.join(" \\\n"))
}

/// The type of an operation's value, and the value, where `number` is the type of numbers and `name` that of a value;
/// `None` of a reduction.
fn operation(
    operation: &Operation,
    expression: &Expression,
    number: &'static str,
    name: impl Fn(u32) -> String,
) -> Option<(&'static str, String)> {
    let opcode = operation.opcode()?;
    // Those beyond its operands may be any.
    let arg = |index: usize| operation.args().get(index).map(|id| name(*id)).unwrap_or_default();
    let (a, b, c) = (arg(0), arg(1), arg(2));
    let call = |name: &str, args: &[&String]| {
        let args: Vec<&str> = args.iter().map(|arg| arg.as_str()).collect();
        format!("oxcall::{name}({})", args.join(", "))
    };
    let value = match opcode {
        Opcode::Constant => constant(operation.constant, number),
        Opcode::Add => format!("{a} + {b}"),
        Opcode::Subtract => format!("{a} - {b}"),
        Opcode::Multiply => format!("{a} * {b}"),
        Opcode::Divide => call("divide<T>", &[&a, &b]),
        Opcode::Negate => format!("-{a}"),
        Opcode::Less => format!("{a} < {b}"),
        Opcode::LessEqual => format!("{a} <= {b}"),
        Opcode::Equal => format!("{a} == {b}"),
        Opcode::And => format!("{a} && {b}"),
        Opcode::Or => format!("{a} || {b}"),
        Opcode::Not => format!("!{a}"),
        Opcode::Select => format!("{a} ? {b} : {c}"),
        Opcode::Maximum => call("maximum::combine", &[&a, &b]),
        Opcode::Minimum => call("minimum::combine", &[&a, &b]),
        Opcode::Abs => call("abs", &[&a]),
        Opcode::Sign => call("sign", &[&a]),
        Opcode::Floor => call("floor", &[&a]),
        Opcode::Ceil => call("ceil", &[&a]),
        Opcode::Round => call("round", &[&a]),
        Opcode::Sqrt => call("sqrt", &[&a]),
        Opcode::Exp => call("exp", &[&a]),
        Opcode::ExpM1 => call("expm1", &[&a]),
        Opcode::Ln => call("log", &[&a]),
        Opcode::Ln1p => call("log1p", &[&a]),
        Opcode::Logistic => call("logistic", &[&a]),
        Opcode::Tanh => call("tanh", &[&a]),
        Opcode::Erf => call("erf", &[&a]),
        Opcode::Erfc => call("erfc", &[&a]),
        Opcode::Sin => call("sin", &[&a]),
        Opcode::Cos => call("cos", &[&a]),
        Opcode::Tan => call("tan", &[&a]),
        Opcode::Atan2 => call("atan2", &[&a, &b]),
        Opcode::Power => call("pow", &[&a, &b]),
        Opcode::Lgamma => call("lgamma", &[&a]),
        Opcode::Digamma => call("digamma", &[&a]),
        Opcode::Polygamma => format!("{number}(oxcall::polygamma({}, double({b})))", expression.order(operation)),
        Opcode::MulAdd => call("fma", &[&a, &b, &c]),
        Opcode::LogAddExp => call("log_add_exp", &[&a, &b]),
        Opcode::Count | Opcode::Sum | Opcode::Max => return None,
    };
    Some(match opcode.signature().1 {
        Kind::Number => (number, value),
        Kind::Mask => ("bool", value),
    })
}

/// The length of the code of an operation, roughly, in that of an addition.
fn weight(opcode: Opcode) -> usize {
    match opcode {
        Opcode::Lgamma | Opcode::Digamma | Opcode::Polygamma | Opcode::Power => 64,
        Opcode::Sin | Opcode::Cos | Opcode::Tan | Opcode::Atan2 | Opcode::LogAddExp | Opcode::Erfc => 32,
        Opcode::ExpM1 | Opcode::Ln1p | Opcode::Tanh | Opcode::Erf => 16,
        Opcode::Exp | Opcode::Ln | Opcode::Logistic | Opcode::Divide | Opcode::Sqrt => 8,
        _ => 1,
    }
}

/// A constant: a literal of a double, rounded to the number's type by the compiler.
fn constant(value: f64, number: &str) -> String {
    if value.is_nan() {
        format!("oxcall::not_a_number<{number}>()")
    } else if value.is_infinite() {
        format!("{}oxcall::infinity<{number}>()", if value < 0.0 { "-" } else { "" })
    } else {
        // The shortest digits that are this value; a sign would be an operator.
        format!("{number}({value:e})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_keep_their_bits() {
        for value in [0.0, -0.0, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, -1e300] {
            let text = constant(value, "W");
            let literal = text.strip_prefix("W(").unwrap().strip_suffix(')').unwrap();
            assert_eq!(literal.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(constant(f64::NEG_INFINITY, "W"), "-oxcall::infinity<W>()");
        assert_eq!(constant(f64::NAN, "double"), "oxcall::not_a_number<double>()");
    }
}
