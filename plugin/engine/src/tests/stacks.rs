//! Stacks of what a fusion computes, which it writes itself, against the parts.

use oxcall_hlo::parse_text;
use oxcall_kernels::element::bf16;

use super::*;

/// A program that returns a stack of `parts` columns of `x` and `y`, each a product of two of theirs plus a number, and
/// the first of them if `is_used`; the arrays have `columns` columns.
fn program(element: &str, rows: usize, columns: usize, parts: usize, is_used: bool) -> Module {
    let (array, column) = (format!("tensor<{rows}x{columns}x{element}>"), format!("tensor<{rows}x1x{element}>"));
    let stack = format!("tensor<{rows}x{parts}x{element}>");
    let mut text = String::new();
    for part in 0..parts {
        let [a, b] = [part % columns, (part + 1) % columns];
        text += &format!(
            "%a{part} = stablehlo.slice %x [0:{rows}, {a}:{}] : ({array}) -> {column}
             %b{part} = stablehlo.slice %y [0:{rows}, {b}:{}] : ({array}) -> {column}
             %c{part} = stablehlo.constant dense<{part}.0> : {column}
             %m{part} = stablehlo.multiply %a{part}, %b{part} : {column}
             %p{part} = stablehlo.add %m{part}, %c{part} : {column}\n",
            a + 1,
            b + 1,
        );
    }
    let list = |name: &str| (0..parts).map(|part| format!("{name}{part}")).collect::<Vec<_>>().join(", ");
    let types = vec![column.clone(); parts].join(", ");
    let (result, result_type) = if is_used { (", %p0", format!(", {column}")) } else { ("", String::new()) };
    parse_text(&format!(
        "func.func @main(%x: {array}, %y: {array}) -> ({stack}{result_type}) {{
          {text} %s = stablehlo.concatenate {}, dim = 1 : ({types}) -> {stack}
          return %s{result} : {stack}{result_type}
        }}",
        list("%p"),
    ))
    .unwrap()
}

/// Checks stacks of every number of parts, for numbers of rows that end within tiles and vectors.
fn check<T: Pod + PartialEq + std::fmt::Debug>(element: &str, of: impl Fn(f32) -> T, to: impl Fn(T) -> f32) {
    for (rows, columns, parts, is_used) in [
        (5000, 3, 3, false),
        (4096, 2, 2, true),
        (4999, 4, 4, false),
        (70_001, 3, 3, true),
        (5003, 3, 5, false),
        (4097, 9, 9, true),
        (4100, 2, 16, false),
        (4100, 2, 17, false),
        (10, 3, 3, false),
    ] {
        // Few bits, so that every type computes the same.
        let number = |index: usize, step: usize| of(((index * step) % 13) as f32 - 6.0);
        let [x, y] = [7, 5].map(|step| (0..rows * columns).map(|index| number(index, step)).collect::<Vec<T>>());
        let engine = engine();
        let compiled = compile(&engine, program(element, rows, columns, parts, is_used));
        let plan = compiled.plan().to_string();
        let is_fused = !plan.contains("= concatenate(");
        assert_eq!(is_fused, rows > 10 && parts <= 16, "{rows} {parts} {plan}");
        let results = compiled.run(vec![shared(&engine, &x), shared(&engine, &y)]).unwrap();
        let expected = |row: usize, part: usize| {
            let [a, b] = [part % columns, (part + 1) % columns];
            to(x[row * columns + a]) * to(y[row * columns + b]) + part as f32
        };
        let all: Vec<f32> = (0..rows * parts).map(|index| expected(index / parts, index % parts)).collect();
        let found: Vec<f32> = values::<T>(&results[0]).into_iter().map(&to).collect();
        assert!(found == all, "{element} {rows} {columns} {parts}");
        if is_used {
            let first: Vec<f32> = values::<T>(&results[1]).into_iter().map(&to).collect();
            assert_eq!(first, (0..rows).map(|row| expected(row, 0)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn are_written_by_the_fusion_of_their_parts() {
    check::<f32>("f32", |x| x, |x| x);
    check::<f64>("f64", f64::from, |x| x as f32);
    check::<bf16>("bf16", bf16::from_f32, bf16::to_f32);
}
