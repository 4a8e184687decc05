//! Gathers of many words in loops, on each set of vectors and by steps, against the definition.

use oxcall_hlo::parse_text;
use oxcall_jit::{Isa, Kernel};

use super::*;

/// `sum += x[index]; x = x / 2; index = 5 index + 3`, four times, for `count` indices in an array of `size`.
fn loop_of_gathers(size: usize, count: usize, element: &str, index: &str) -> String {
    let [x, indices, sums] =
        [(size, element), (count, index), (count, element)].map(|(n, ty)| format!("tensor<{n}x{ty}>"));
    let two = if element == "f32" { "2.0" } else { "2" };
    format!(
        "func.func @main(%x0: {x}, %index0: {indices}, %sum0: {sums}) -> {sums} {{
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %loop:4 = stablehlo.while(%i = %zero, %x = %x0, %index = %index0, %sum = %sum0) : tensor<i32>, {x}, {indices}, {sums}
        cond {{
            %limit = stablehlo.constant dense<4> : tensor<i32>
            %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
        }} do {{
            %one = stablehlo.constant dense<1> : tensor<i32>
            %next = stablehlo.add %i, %one : tensor<i32>
            %two = stablehlo.constant dense<{two}> : {x}
            %half = stablehlo.divide %x, %two : {x}
            %five = stablehlo.constant dense<5> : {indices}
            %three = stablehlo.constant dense<3> : {indices}
            %times = stablehlo.multiply %index, %five : {indices}
            %others = stablehlo.add %times, %three : {indices}
            %picked = \"stablehlo.gather\"(%x, %index) <{{dimension_numbers = #stablehlo.gather<\
             collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, \
             slice_sizes = array<i64: 1>}}> : ({x}, {indices}) -> {sums}
            %more = stablehlo.add %sum, %picked : {sums}
            stablehlo.return %next, %half, %others, %more : tensor<i32>, {x}, {indices}, {sums}
        }}
        return %loop#3 : {sums}
    }}"
    )
}

#[test]
fn words_of_loops_are_gathered_by_many_indices() {
    let mut engines: Vec<Arc<Engine>> = (Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present()))
        .map(|isa| Engine::for_isa(Some(isa)))
        .collect();
    engines.push(Engine::for_isa(None));
    for (size, count) in [(1, 17), (40, 17), (7, 33), (300, 64), (100, 127), (1000, 512), (3, 600)] {
        let words: Vec<i32> = (0..size as i32).map(|i| (i * 37 % 101 - 50) * 16).collect();
        let indices: Vec<i32> = (0..count as i32).map(|i| (i * 29) % (size as i32 + 9) - 4).collect();
        let sums: Vec<i32> = (0..count as i32).collect();
        for (element, index) in [("i32", "i32"), ("i32", "ui32"), ("f32", "i32")] {
            let module = parse_text(&loop_of_gathers(size, count, element, index)).unwrap();
            verify(&module).unwrap();
            let (mut x, mut at, mut expected) = (words.clone(), indices.clone(), sums.clone());
            for _ in 0..4 {
                for (sum, &at) in expected.iter_mut().zip(&at) {
                    let place = if index == "ui32" { i64::from(at as u32) } else { i64::from(at) };
                    *sum += x[place.clamp(0, size as i64 - 1) as usize];
                }
                x.iter_mut().for_each(|x| *x /= 2);
                at.iter_mut().for_each(|at| *at = at.wrapping_mul(5).wrapping_add(3));
            }
            for engine in &engines {
                let (floats, is_float) =
                    (|all: &[i32]| all.iter().map(|&x| x as f32).collect::<Vec<f32>>(), element == "f32");
                let numbers = |all: &[i32]| if is_float { shared(engine, &floats(all)) } else { shared(engine, all) };
                let arguments = vec![numbers(&words), shared(engine, &indices), numbers(&sums)];
                let found = compile(engine, module.clone()).run(arguments).unwrap();
                // Halves of multiples of 16 are integers four times.
                let found: Vec<i32> = if is_float {
                    values::<f32>(&found[0]).into_iter().map(|sum| sum as i32).collect()
                } else {
                    values(&found[0])
                };
                assert_eq!(found, expected, "{size} {count} {element} {index}");
            }
        }
    }
}
