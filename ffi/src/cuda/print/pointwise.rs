//! Kernels of functions of single numbers: a thread computes one pack of elements after another.

use std::fmt::Write as _;

use oxcall_math::real::Expression;

use super::super::launch::{PACK, THREADS};
use super::{for_floats, list, operation, weight};

/// What the code of one thread may have, in [`weight`]s: a function that is longer has smaller packs, since its time is
/// that of the arithmetic.
const MOST_WEIGHT: usize = 256;

/// A kernel `pointwise` for each float dtype, which applies the function to elements: its parameters are the operands,
/// the results, and the number of elements of each. `None` of a function of rows.
pub(in crate::cuda) fn kernel(expression: &Expression) -> Option<String> {
    let numbered = |prefix: &str, count: usize| (0..count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>();
    let operands = numbered("v", expression.operands());
    let results = numbered("r", expression.results().len());
    let mut text = String::new();
    let _ = writeln!(
        text,
        "template <typename T, typename W> __device__ __forceinline__ void apply({}, {}) {{",
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
    let params = format!(
        "{}, {}",
        list(&operands, |name| format!("const T* __restrict__ in_{name}")),
        list(&results, |name| format!("T* __restrict__ out_{name}"))
    );
    let arguments =
        format!("{}, {}", list(&operands, |name| format!("in_{name}")), list(&results, |name| format!("out_{name}")));
    let lines = |item: &dyn Fn(&str) -> String, of: &[String]| of.iter().map(|name| item(name)).collect::<String>();
    // Elements from `first` on, in packs of `V`; then those that fill none.
    let _ = write!(
        text,
        "}}

template <typename T, int V> __device__ __forceinline__ void pack({params}, unsigned long long i) {{
{}{}    for (int k = 0; k < V; ++k) {{
        oxcall::computed_t<T> {};
        apply<T>({}, {});
{}    }}
{}}}

template <typename T, int V> __device__ __forceinline__ void pointwise({params}, unsigned long long n) {{
    for (unsigned long long i = oxcall::index(); i < n / V; i += oxcall::threads()) pack<T, V>({arguments}, i * V);
    if (V == 1) return;
    const unsigned long long i = n / V * V + oxcall::index();
    if (i < n) pack<T, 1>({arguments}, i);
}}

",
        lines(&|name| format!("    const auto p_{name} = oxcall::read<V>(in_{name} + i);\n"), &operands),
        lines(&|name| format!("    oxcall::Pack<T, V> q_{name};\n"), &results),
        results.join(", "),
        list(&operands, |name| format!("oxcall::load(p_{name}.elements[k])")),
        results.join(", "),
        lines(&|name| format!("        q_{name}.elements[k] = oxcall::store<T>({name});\n"), &results),
        lines(&|name| format!("    oxcall::write(out_{name} + i, q_{name});\n"), &results),
    );
    let are_aligned = operands.iter().map(|name| format!("in_{name}"));
    let are_aligned = are_aligned.chain(results.iter().map(|name| format!("out_{name}")));
    let are_aligned: Vec<String> = are_aligned.map(|name| format!("oxcall::is_aligned<T>({name}, 0)")).collect();
    let most = most_of_a_pack(expression);
    // Up to 64 registers: within 32, a load waits until the operand before is used up.
    let blocks = if most > 1 { 4 } else { 1 };
    let lines = [
        format!("extern \"C\" __global__ void __launch_bounds__({THREADS}, {blocks})"),
        format!("pointwise_##dtype({params}, unsigned long long n) {{"),
        format!("    constexpr int V = oxcall::pack_of<T>({most});"),
        format!("    if ({}) pointwise<T, V>({arguments}, n);", are_aligned.join(" && ")),
        format!("    else pointwise<T, 1>({arguments}, n);"),
        "}".to_owned(),
    ];
    Some(text + &for_floats("POINTWISE", &lines))
}

/// The most elements that a thread computes at once: a power of two, of which [`PACK`] bytes are taken.
pub(in crate::cuda) fn most_of_a_pack(expression: &Expression) -> usize {
    let weight: usize = expression.operations().iter().filter_map(|of| Some(weight(of.opcode()?))).sum();
    let most = (MOST_WEIGHT / weight.max(1)).clamp(1, PACK / 2);
    1 << most.ilog2()
}

#[cfg(test)]
mod tests {
    use oxcall_math::real::{Mask, Real, Traced};

    use super::*;

    #[test]
    fn functions_are_printed_operation_by_operation() {
        let expression = Expression::trace(|[x, y]: [Traced; 2]| [x.less(y).select(x * 0.5, (-y).exp())]).unwrap();
        let text = kernel(&expression).unwrap();
        let body = text.split_once("void apply(").unwrap().1.split_once("template").unwrap().0;
        let expected = "W v0, W v1, W& r0) {\n    const bool v2 = v0 < v1;\n    const W v3 = W(5e-1);\n    \
                        const W v4 = v0 * v3;\n    const W v5 = -v1;\n    const W v6 = oxcall::exp(v5);\n    \
                        const W v7 = v2 ? v4 : v6;\n    r0 = v7;\n}\n\n";
        assert_eq!(body, expected);
        assert!(text.contains("const T* __restrict__ in_v0, const T* __restrict__ in_v1, T* __restrict__ out_r0"));
    }

    #[test]
    fn long_functions_have_small_packs() {
        let short = Expression::trace(|[x]: [Traced; 1]| [x * 2.0]).unwrap();
        assert_eq!(most_of_a_pack(&short), 8);
        let long = Expression::trace(|[x]: [Traced; 1]| [x.lgamma() + x.digamma()]).unwrap();
        assert_eq!(most_of_a_pack(&long), 1);
        assert!(kernel(&short).unwrap().contains("oxcall::pack_of<T>(8)"));
    }
}
