//! Kernels of functions of single numbers: a thread computes one element after another.

use std::fmt::Write as _;

use oxcall_math::real::Expression;

use super::{for_floats, list, operation};

/// A kernel `pointwise` for each float dtype, which applies the function to elements: its parameters are the operands,
/// the results, and the number of elements of each. `None` of a function of rows.
pub(in crate::cuda) fn kernel(expression: &Expression) -> Option<String> {
    let operands: Vec<String> = (0..expression.operands()).map(|index| format!("v{index}")).collect();
    let results: Vec<String> = (0..expression.results().len()).map(|index| format!("r{index}")).collect();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "template <typename W> __device__ __forceinline__ void apply({}, {}) {{",
        list(&operands, |name| format!("W {name}")),
        list(&results, |name| format!("W& {name}")),
    );
    for (index, of) in expression.operations().iter().enumerate() {
        let (ty, value) = operation(of, expression, "W", |id| format!("v{id}"))?;
        let _ = writeln!(text, "    const {ty} v{} = {value};", expression.operands() + index);
    }
    for (name, value) in results.iter().zip(expression.results()) {
        let _ = writeln!(text, "    {name} = v{value};");
    }
    text.push_str("}\n\n");
    let lines = [
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
    let lines: Vec<String> = lines.into_iter().chain(stores).chain(["    }".to_owned(), "}".to_owned()]).collect();
    Some(text + &for_floats("POINTWISE", &lines))
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
}
