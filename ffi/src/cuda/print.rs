//! Recorded functions as CUDA C.

use std::fmt::Write as _;

use oxcall_math::real::{Expression, Kind, Opcode, Operation};

/// A kernel `pointwise` for each float dtype, which applies the function to elements: its parameters are the operands,
/// the results, and the number of elements of each. `None` of a function of rows.
pub(super) fn kernel(expression: &Expression) -> Option<String> {
    let operands: Vec<String> = (0..expression.operands()).map(|index| format!("v{index}")).collect();
    let results: Vec<String> = (0..expression.results().len()).map(|index| format!("r{index}")).collect();
    let list =
        |items: &[String], item: fn(&str) -> String| items.iter().map(|name| item(name)).collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    let _ = writeln!(
        text,
        "template <typename W> __device__ __forceinline__ void apply({}, {}) {{",
        list(&operands, |name| format!("W {name}")),
        list(&results, |name| format!("W& {name}")),
    );
    for (index, operation) in expression.operations().iter().enumerate() {
        let (ty, value) = operation_text(operation, expression)?;
        let _ = writeln!(text, "    const {ty} v{} = {value};", expression.operands() + index);
    }
    for (name, value) in results.iter().zip(expression.results()) {
        let _ = writeln!(text, "    {name} = v{value};");
    }
    text.push_str("}\n\n");
    // A macro is one line.
    let lines = [
        "#define POINTWISE(T, dtype)".to_owned(),
        format!(
            "extern \"C\" __global__ void pointwise_##dtype({}, {}, unsigned long long n) {{",
            list(&operands, |name| format!("const T* __restrict__ in_{name}")),
            list(&results, |name| format!("T* __restrict__ out_{name}")),
        ),
        "    for (unsigned long long i = oxcall::index(); i < n; i += oxcall::threads()) {".to_owned(),
        format!("        oxcall::computed_t<T> {};", results.join(", ")),
        format!(
            "        apply<oxcall::computed_t<T>>({}, {});",
            list(&operands, |name| format!("oxcall::load(in_{name}[i])")),
            results.join(", "),
        ),
    ];
    let stores = results.iter().map(|name| format!("        out_{name}[i] = oxcall::store<T>({name});"));
    let lines: Vec<String> = lines.into_iter().chain(stores).chain(["    }".to_owned()]).collect();
    let _ = writeln!(text, "{} \\\n}}\nOXCALL_FOR_FLOATS(POINTWISE)", lines.join(" \\\n"));
    Some(text)
}

/// The type of an operation's value, and the value; `None` of a reduction.
fn operation_text(operation: &Operation, expression: &Expression) -> Option<(&'static str, String)> {
    let opcode = operation.opcode()?;
    let arg = |index: usize| format!("v{}", operation.args[index]);
    let (a, b, c) = (arg(0), arg(1), arg(2));
    let call = |name: &str, args: &[&String]| {
        let args: Vec<&str> = args.iter().map(|arg| arg.as_str()).collect();
        format!("oxcall::{name}({})", args.join(", "))
    };
    let value = match opcode {
        Opcode::Constant => constant(operation.constant),
        Opcode::Add => format!("{a} + {b}"),
        Opcode::Subtract => format!("{a} - {b}"),
        Opcode::Multiply => format!("{a} * {b}"),
        Opcode::Divide => format!("{a} / {b}"),
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
        Opcode::Polygamma => format!("W(oxcall::polygamma({}, double({b})))", expression.order(operation)),
        Opcode::MulAdd => call("fma", &[&a, &b, &c]),
        Opcode::LogAddExp => call("log_add_exp", &[&a, &b]),
        _ => return None,
    };
    Some(match opcode.signature().1 {
        Kind::Number => ("W", value),
        Kind::Mask => ("bool", value),
    })
}

/// A constant: a literal of a double, rounded to the number's type by the compiler.
fn constant(value: f64) -> String {
    if value.is_nan() {
        "oxcall::not_a_number<W>()".to_owned()
    } else if value.is_infinite() {
        format!("{}oxcall::infinity<W>()", if value < 0.0 { "-" } else { "" })
    } else {
        // The shortest digits that are this value; a sign would be an operator.
        format!("W({value:e})")
    }
}

#[cfg(test)]
mod tests {
    use oxcall_math::real::{Mask, Real, Traced};

    use super::*;

    #[test]
    fn functions_are_printed_operation_by_operation() {
        let expression = Expression::trace(|[x, y]: [Traced; 2]| [x.less(y).select(x * 0.5, (-y).exp())]).unwrap();
        let text = kernel(&expression).unwrap();
        let body = text.split_once("void apply(").unwrap().1.split_once("#define").unwrap().0;
        let expected = "W v0, W v1, W& r0) {\n    const bool v2 = v0 < v1;\n    const W v3 = W(5e-1);\n    \
                        const W v4 = v0 * v3;\n    const W v5 = -v1;\n    const W v6 = oxcall::exp(v5);\n    \
                        const W v7 = v2 ? v4 : v6;\n    r0 = v7;\n}\n\n";
        assert_eq!(body, expected);
        assert!(text.contains("const T* __restrict__ in_v0, const T* __restrict__ in_v1, T* __restrict__ out_r0"));
    }

    #[test]
    fn constants_keep_their_bits() {
        for value in [0.0, -0.0, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, -1e300] {
            let text = constant(value);
            let literal = text.strip_prefix("W(").unwrap().strip_suffix(')').unwrap();
            assert_eq!(literal.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(constant(f64::NEG_INFINITY), "-oxcall::infinity<W>()");
        assert_eq!(constant(f64::NAN), "oxcall::not_a_number<W>()");
    }
}
