//! Kernels of functions of rows: some lanes, a warp or a block compute one row.
//!
//! A row is read once for each *pass*: a reduction needs all elements before anything can be computed from it. What
//! several passes need is computed in each of them, so that rows of any length need no memory of their own; a row that
//! has a pack for each thread stays in registers. Numbers of a row are doubles, as on the CPU, and all threads compute
//! them.

use std::collections::BTreeSet;

use oxcall_math::real::{Expression, Kind, Opcode, Operation};

use super::{for_floats, list, operation, weight};

/// A kernel `rowwise` for each float dtype, which applies the function to rows: its parameters are the operands, the
/// results, the number of rows, and that of the elements of a row. The slices say which operands and results are rows;
/// the others are numbers of rows. `None` of an expression that reduces a number, or has a row as such a result.
pub(in crate::cuda) fn kernel(expression: &Expression, operands: &[bool], results: &[bool]) -> Option<String> {
    let printer = Printer::new(expression, operands, results)?;
    let inputs: Vec<String> = (0..operands.len()).map(|index| format!("in{index}")).collect();
    let outputs: Vec<String> = (0..results.len()).map(|index| format!("out{index}")).collect();
    let params = format!(
        "{}, {}",
        list(&inputs, |name| format!("const T* __restrict__ {name}")),
        list(&outputs, |name| format!("T* __restrict__ {name}"))
    );
    let mut text = format!(
        "template <typename T, int V> __device__ __forceinline__ void rowwise({params}, unsigned long long row, \
         unsigned long long n) {{\n    using W = oxcall::computed_t<T>;\n    const unsigned long long first = \
         threadIdx.x * V, step = blockDim.x * V;\n    const bool is_kept = n <= step;\n"
    );
    let are_rows = inputs.iter().zip(operands).chain(outputs.iter().zip(results));
    let rows: Vec<String> = are_rows.filter(|(_, is_row)| **is_row).map(|(name, _)| name.clone()).collect();
    rows.iter().for_each(|name| text += &format!("    {name} += row * n;\n"));
    text += &printer.body()?;
    text.push_str("}\n\n");
    let call = |width: &str| {
        format!("rowwise<T, {width}>({}, {}, row, n)", list(&inputs, str::to_owned), list(&outputs, str::to_owned))
    };
    // Up to 128 registers for each thread.
    let lines = [
        "extern \"C\" __global__ void __launch_bounds__(512)".to_owned(),
        format!("rowwise_##dtype({params}, unsigned long long rows, unsigned long long n) {{"),
        format!(
            "    const bool in_packs = {};",
            rows.iter().map(|name| format!("oxcall::is_aligned<T>({name}, n)")).collect::<Vec<_>>().join(" && ")
        ),
        "    const unsigned long long row = oxcall::row(rows);".to_owned(),
        format!("    if (in_packs) {};", call("16 / sizeof(T)")),
        format!("    else {};", call("1")),
        "}".to_owned(),
    ];
    Some(text + &for_floats("ROWWISE", &lines))
}

struct Printer<'e> {
    expression: &'e Expression,
    /// Whether each value is a row.
    is_row: Vec<bool>,
    /// The pass in which each row can be computed, and before which each number.
    pass: Vec<usize>,
    /// Whether each result is to be a row, of which one may be the same number for each element.
    results: &'e [bool],
}

fn is_reduction(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Sum | Opcode::Max)
}

impl<'e> Printer<'e> {
    fn new(expression: &'e Expression, operands: &[bool], results: &'e [bool]) -> Option<Printer<'e>> {
        let is_row = expression.rows(operands)?;
        let mut pass = vec![0; expression.operands()];
        for operation in expression.operations() {
            let first = operation.args().iter().map(|&arg| pass[arg as usize]).max().unwrap_or(0);
            pass.push(first + usize::from(is_reduction(operation.opcode()?)));
        }
        let fits = expression.results().iter().zip(results).all(|(id, wanted)| *wanted || !is_row[*id as usize]);
        fits.then_some(Printer { expression, is_row, pass, results })
    }

    /// The operation that makes a value; none of an operand.
    fn operation(&self, id: u32) -> Option<&'e Operation> {
        self.expression.operations().get((id as usize).checked_sub(self.expression.operands())?)
    }

    fn ids(&self) -> impl Iterator<Item = u32> {
        0..self.is_row.len() as u32
    }

    /// All passes, with the numbers between them.
    fn body(&self) -> Option<String> {
        let operands = (0..self.expression.operands() as u32).filter(|id| self.is_row[*id as usize]);
        let mut text: String = operands.map(|id| format!("    oxcall::Pack<T, V> p{id};\n")).collect();
        let mut read = BTreeSet::new();
        for pass in 0..=self.pass.iter().copied().max().unwrap_or(0) {
            for id in self.ids().filter(|id| !self.is_row[*id as usize] && self.pass[*id as usize] == pass) {
                if let Some((ty, value)) = self.number(id)? {
                    text += &format!("    const {ty} v{id} = {value};\n");
                }
            }
            text += &self.pass(pass, &mut read)?;
        }
        let results = self.results.iter().zip(self.expression.results()).enumerate();
        for (index, (_, id)) in results.filter(|(_, (is_row, _))| !**is_row) {
            text += &format!("    if (threadIdx.x == 0) out{index}[row] = oxcall::store<T>(W(v{id}));\n");
        }
        Some(text)
    }

    /// The type and the value of a number, unless the pass before has computed it.
    fn number(&self, id: u32) -> Option<Option<(&'static str, String)>> {
        let Some(of) = self.operation(id) else {
            return Some(Some(("double", format!("double(oxcall::load(in{id}[row]))"))));
        };
        Some(match of.opcode()? {
            opcode if is_reduction(opcode) => None,
            Opcode::Count => Some(("double", "double(n)".to_owned())),
            _ => Some(operation(of, self.expression, "double", |id| format!("v{id}"))?),
        })
    }

    /// One pass over the row: reductions and results that are complete after it. `read` has the operands that earlier
    /// passes have read.
    fn pass(&self, pass: usize, read: &mut BTreeSet<u32>) -> Option<String> {
        let reductions = self.ids().filter_map(|id| {
            let opcode = self.operation(id)?.opcode()?;
            (is_reduction(opcode) && self.pass[id as usize] == pass + 1).then_some((id, opcode))
        });
        let reductions: Vec<(u32, Opcode)> = reductions.collect();
        let results = self.results.iter().zip(self.expression.results()).enumerate();
        let writes = results.filter(|(_, (is_row, id))| **is_row && self.pass[**id as usize] == pass);
        let writes: Vec<(usize, u32)> = writes.map(|(index, (_, id))| (index, *id)).collect();
        if reductions.is_empty() && writes.is_empty() {
            return Some(String::new());
        }
        // The rows that are needed, each after those that it is made of.
        let mut needed = BTreeSet::new();
        let reduced = reductions.iter().map(|(id, _)| self.operation(*id).map_or(*id, |of| of.args[0]));
        let mut wanted: Vec<u32> = reduced.chain(writes.iter().map(|(_, id)| *id)).collect();
        while let Some(id) = wanted.pop() {
            if self.is_row[id as usize] && needed.insert(id) {
                wanted.extend(self.operation(id).map_or(&[][..], Operation::args));
            }
        }
        let (mut text, mut body) = (String::new(), String::new());
        for (id, opcode) in &reductions {
            text += &match opcode {
                Opcode::Sum => format!("    double s{id} = 0;\n"),
                _ => format!("    W s{id} = -oxcall::infinity<W>();\n"),
            };
        }
        // Loads of several packs at once, where little is computed of them.
        let weights = needed.iter().filter_map(|id| Some(weight(self.operation(*id)?.opcode()?)));
        let unrolled = (8 / (weights.sum::<usize>() + 2 * reductions.len()).max(1)).clamp(1, 4);
        text += &format!("    #pragma unroll {unrolled}\n");
        text += "    for (unsigned long long i = first; i < n; i += step) {\n";
        let sums = || reductions.iter().filter(|(_, opcode)| *opcode == Opcode::Sum);
        sums().for_each(|(id, _)| text += &format!("        oxcall::summed_t<T> t{id} = 0;\n"));
        for id in &needed {
            match self.operation(*id) {
                None => {
                    let unless = if read.insert(*id) { "" } else { "if (!is_kept) " };
                    text += &format!("        {unless}p{id} = oxcall::read<V>(in{id} + i);\n");
                    body += &format!("            const W v{id} = oxcall::load(p{id}.elements[k]);\n");
                }
                Some(of) => {
                    let (ty, value) = self.row(of)?;
                    body += &format!("            const {ty} v{id} = {value};\n");
                }
            }
        }
        for (id, opcode) in &reductions {
            let value = self.name(self.operation(*id)?.args[0]);
            body += &match opcode {
                Opcode::Sum => format!("            t{id} += oxcall::summed_t<T>({value});\n"),
                _ => format!("            s{id} = oxcall::maximum::combine(s{id}, {value});\n"),
            };
        }
        for (index, id) in &writes {
            text += &format!("        oxcall::Pack<T, V> q{index};\n");
            body += &format!("            q{index}.elements[k] = oxcall::store<T>({});\n", self.name(*id));
        }
        text += &format!("        for (int k = 0; k < V; ++k) {{\n{body}        }}\n");
        sums().for_each(|(id, _)| text += &format!("        s{id} += double(t{id});\n"));
        for (index, _) in &writes {
            text += &format!("        oxcall::write(out{index} + i, q{index});\n");
        }
        text += "    }\n";
        for (id, opcode) in &reductions {
            let op = if *opcode == Opcode::Sum { "sum" } else { "maximum" };
            text += &format!("    const double v{id} = double(oxcall::reduce<oxcall::{op}>(s{id}));\n");
        }
        Some(text)
    }

    /// A value in an operation on elements: numbers of the row are rounded to the type of those.
    fn name(&self, id: u32) -> String {
        let is_mask = self.operation(id).and_then(Operation::opcode).is_some_and(|of| of.signature().1 == Kind::Mask);
        if self.is_row[id as usize] || is_mask { format!("v{id}") } else { format!("W(v{id})") }
    }

    /// The type and the value of an operation on elements.
    fn row(&self, of: &Operation) -> Option<(&'static str, String)> {
        let (sign, [row, number]) = match (of.opcode()?, of.args) {
            (Opcode::Add, [row, number, _]) if self.is_rounded(number) => ("+", [row, number]),
            (Opcode::Add, [number, row, _]) if self.is_rounded(number) => ("+", [row, number]),
            (Opcode::Subtract, [row, number, _]) if self.is_rounded(number) => ("-", [row, number]),
            _ => return operation(of, self.expression, "W", |id| self.name(id)),
        };
        // The difference from a mean has all digits, however far from 0 the elements are.
        Some(("W", format!("(v{row} {sign} W(v{number})) {sign} oxcall::rest<W>(v{number})")))
    }

    /// Whether a value is a number that rounding to the type of elements would change.
    fn is_rounded(&self, id: u32) -> bool {
        let opcode = self.operation(id).and_then(Operation::opcode);
        !self.is_row[id as usize]
            && opcode.is_some_and(|opcode| !matches!(opcode, Opcode::Constant | Opcode::Count | Opcode::Max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x - mean(x)`, with the mean as the second value.
    fn centred() -> Expression {
        let operation = |opcode: Opcode, args| Operation { opcode: opcode as u32, args, constant: 0.0 };
        let operations = vec![
            operation(Opcode::Sum, [0; 3]),
            operation(Opcode::Count, [0; 3]),
            operation(Opcode::Divide, [1, 2, 0]),
            operation(Opcode::Subtract, [0, 3, 0]),
        ];
        Expression::new(1, operations, vec![4, 3]).unwrap()
    }

    #[test]
    fn a_row_is_read_once_for_each_reduction_and_once_for_the_results() {
        let text = kernel(&centred(), &[true], &[true, false]).unwrap();
        let expected = "    in0 += row * n;
    out0 += row * n;
    oxcall::Pack<T, V> p0;
    const double v2 = double(n);
    double s1 = 0;
    #pragma unroll 4
    for (unsigned long long i = first; i < n; i += step) {
        oxcall::summed_t<T> t1 = 0;
        p0 = oxcall::read<V>(in0 + i);
        for (int k = 0; k < V; ++k) {
            const W v0 = oxcall::load(p0.elements[k]);
            t1 += oxcall::summed_t<T>(v0);
        }
        s1 += double(t1);
    }
    const double v1 = double(oxcall::reduce<oxcall::sum>(s1));
    const double v3 = oxcall::divide<T>(v1, v2);
    #pragma unroll 4
    for (unsigned long long i = first; i < n; i += step) {
        if (!is_kept) p0 = oxcall::read<V>(in0 + i);
        oxcall::Pack<T, V> q0;
        for (int k = 0; k < V; ++k) {
            const W v0 = oxcall::load(p0.elements[k]);
            const W v4 = (v0 - W(v3)) - oxcall::rest<W>(v3);
            q0.elements[k] = oxcall::store<T>(v4);
        }
        oxcall::write(out0 + i, q0);
    }
    if (threadIdx.x == 0) out1[row] = oxcall::store<T>(W(v3));
}
";
        assert!(text.contains(expected), "{text}");
        assert!(
            text.contains("const bool in_packs = oxcall::is_aligned<T>(in0, n) && oxcall::is_aligned<T>(out0, n);")
        );
    }

    #[test]
    fn kinds_that_do_not_fit_have_no_kernel() {
        assert!(kernel(&centred(), &[false], &[true, false]).is_none(), "a number is reduced");
        assert!(kernel(&centred(), &[true], &[false, false]).is_none(), "a row is to be a number");
    }
}
