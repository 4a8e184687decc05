//! Buffers that loops carry: updates work in their memory, and nothing copies them.

use oxcall_hlo::parse_text;

use super::*;

/// The bytes of the buffer that the programs carry.
const BYTES: usize = 4 * 4096;

/// A loop of `count` iterations over `%i` and `%b`, a buffer of 4096 numbers, whose body gives `%next`. `%u` is `-i`,
/// and `%p` whether `i` is even.
fn repeated(count: usize, ty: &str, body: &str) -> String {
    format!(
        "func.func @main(%x: tensor<{ty}>, %n: tensor<i32>) -> tensor<{ty}> {{
            %zero = stablehlo.constant dense<0> : tensor<i32>
            %loop:2 = stablehlo.while(%i = %zero, %b = %x) : tensor<i32>, tensor<{ty}>
            cond {{
                %limit = stablehlo.constant dense<{count}> : tensor<i32>
                %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %less : tensor<i1>
            }} do {{
                %one = stablehlo.constant dense<1> : tensor<i32>
                %even = stablehlo.and %i, %one : tensor<i32>
                %p = stablehlo.compare EQ, %even, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
                %g = stablehlo.negate %f : tensor<f32>
                %u = stablehlo.reshape %g : (tensor<f32>) -> tensor<1xf32>
                {body}
                %inext = stablehlo.add %i, %one : tensor<i32>
                stablehlo.return %inext, %next : tensor<i32>, tensor<{ty}>
            }}
            return %loop#1 : tensor<{ty}>
        }}"
    )
}

/// Runs a program whose loop carries a buffer, and gives the buffer; checks that the plan copies it once at most,
/// before the loop, and writes it only where it is.
fn run_in_place(text: &str) -> Vec<f32> {
    let mut module = parse_text(text).unwrap();
    verify(&module).unwrap();
    let engine = engine();
    let plan = compile(&engine, module.clone()).steps();
    let large: Vec<&str> = plan
        .lines()
        .filter(|line| line.contains(&format!(": {BYTES} bytes")))
        .filter_map(|line| line.split(':').next())
        .collect();
    let is_large = |slot: &str| large.contains(&slot.trim());
    let mut copies = 0;
    for line in plan.lines() {
        let Some((to, call)) = line.split_once(": ").and_then(|(_, step)| step.split_once(" = ")) else { continue };
        let from = call.split(['(', ')']).nth(1).unwrap_or_default();
        for to in to.split(',').map(str::trim).filter(|to| is_large(to)) {
            let is_copy = call.starts_with("copy(");
            copies += usize::from(is_copy);
            assert!(is_copy || from.split(',').any(|from| from.trim() == to), "{line} is not in place:\n{plan}");
        }
    }
    assert!(copies <= 1, "{copies} copies:\n{plan}");
    let x: Vec<f32> = (0..4096).map(|x| x as f32).collect();
    let n = [3i32];
    let kept = run(module.clone(), &|engine| vec![shared(engine, &x), shared(engine, &n)]).unwrap();
    // The caller's buffer is written only if it is given up.
    donate(&mut module, 0, 0);
    let given = compile(&engine, module).run(vec![donated(&engine, &x), shared(&engine, &n)]).unwrap();
    assert_eq!(kept[0].as_bytes(), given[0].as_bytes());
    values(&kept[0])
}

/// `0, 1, 2...` with `changes`.
fn changed(changes: impl IntoIterator<Item = (usize, f32)>) -> Vec<f32> {
    let mut values: Vec<f32> = (0..4096).map(|x| x as f32).collect();
    changes.into_iter().for_each(|(place, value)| values[place] = value);
    values
}

const UPDATE: &str = "stablehlo.dynamic_update_slice %b, %u, %i : \
                      (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>";

#[test]
fn selections_between_the_buffer_and_its_update() {
    for (on_true, on_false, parity) in [("%new", "%b", 0), ("%b", "%new", 1)] {
        let body = format!(
            "%c = stablehlo.constant dense<-7.0> : tensor<1xf32>
             %half = stablehlo.dynamic_update_slice %b, %c, %i :
                (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>
             %new = stablehlo.dynamic_update_slice %half, %c, %n :
                (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>
             %all = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<i1>) -> tensor<4096xi1>
             %next = stablehlo.select %all, {on_true}, {on_false} : tensor<4096xi1>, tensor<4096xf32>"
        );
        let expected = changed((0..6).filter(|place| place % 2 == parity).chain([3]).map(|place| (place, -7.0)));
        assert_eq!(run_in_place(&repeated(6, "4096xf32", &body)), expected, "{on_true}");
    }
}

/// A predicate, index and update for each of two rows, as `vmap` makes them: row 0 takes part in even iterations, row 1
/// in all.
#[test]
fn selections_between_rows_and_their_scatter() {
    for (kind, combine) in [("add", "stablehlo.add %old, %given : tensor<f32>"), ("set", "")] {
        let result = if combine.is_empty() { "%given" } else { "%sum" };
        let combine = if combine.is_empty() { String::new() } else { format!("%sum = {combine}") };
        let body = format!(
            "%yes = stablehlo.constant dense<true> : tensor<1xi1>
             %p1 = stablehlo.reshape %p : (tensor<i1>) -> tensor<1xi1>
             %rows = stablehlo.concatenate %p1, %yes, dim = 0 : (tensor<1xi1>, tensor<1xi1>) -> tensor<2xi1>
             %place = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2x1xi32>
             %values = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
             %new = \"stablehlo.scatter\"(%b, %place, %values) <{{indices_are_sorted = true,
                scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
                scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>,
                unique_indices = true}}> ({{
                ^bb0(%old: tensor<f32>, %given: tensor<f32>):
                    {combine}
                    stablehlo.return {result} : tensor<f32>
                }}) : (tensor<2x2048xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x2048xf32>
             %all = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<2xi1>) -> tensor<2x2048xi1>
             %next = stablehlo.select %all, %new, %b : tensor<2x2048xi1>, tensor<2x2048xf32>"
        );
        let value = |place: usize, i: usize| if kind == "add" { (place + i) as f32 } else { i as f32 };
        let first = (0..6).step_by(2).map(|i| (i, value(i, i)));
        let second = (0..6).map(|i| (2048 + i, value(2048 + i, i)));
        assert_eq!(run_in_place(&repeated(6, "2x2048xf32", &body)), changed(first.chain(second)), "{kind}");
    }
}

#[test]
fn branches_that_update_or_pass_on() {
    // Which branch comes first does not matter.
    for update_first in [true, false] {
        let update = format!("%new = {UPDATE}\nstablehlo.return %new : tensor<4096xf32>");
        let pass = "stablehlo.return %b : tensor<4096xf32>".to_owned();
        let (first, second) = if update_first { (update, pass) } else { (pass, update) };
        let body =
            format!("%next = \"stablehlo.if\"(%p) ({{ {first} }}, {{ {second} }}) : (tensor<i1>) -> tensor<4096xf32>");
        let places = (0..9).filter(|place| (place % 2 == 0) == update_first);
        let expected = changed(places.map(|place| (place, -(place as f32))));
        assert_eq!(run_in_place(&repeated(9, "4096xf32", &body)), expected);
    }
}

#[test]
fn branches_that_all_update() {
    let body = format!(
        "%minus = stablehlo.negate %u : tensor<1xf32>
         %next = \"stablehlo.if\"(%p) ({{
            %new = {UPDATE}
            stablehlo.return %new : tensor<4096xf32>
         }}, {{
            %v = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<4096xf32>, tensor<i32>) -> tensor<1xf32>
            %w = stablehlo.add %v, %minus : tensor<1xf32>
            %new = stablehlo.dynamic_update_slice %b, %w, %i :
                (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>
            stablehlo.return %new : tensor<4096xf32>
         }}) : (tensor<i1>) -> tensor<4096xf32>"
    );
    let value = |place: usize| if place.is_multiple_of(2) { -(place as f32) } else { 2.0 * place as f32 };
    let expected = changed((0..9).map(|place| (place, value(place))));
    assert_eq!(run_in_place(&repeated(9, "4096xf32", &body)), expected);
}

#[test]
fn loops_in_branches_in_loops() {
    let body = "%next = \"stablehlo.if\"(%p) ({ stablehlo.return %b : tensor<4096xf32> }, {
            %five = stablehlo.constant dense<5> : tensor<i32>
            %inner:2 = stablehlo.while(%j = %zero, %c = %b) : tensor<i32>, tensor<4096xf32>
            cond {
                %less = stablehlo.compare LT, %j, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %less : tensor<i1>
            } do {
                %at = stablehlo.add %j, %i : tensor<i32>
                %q = stablehlo.compare LT, %at, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                %d = \"stablehlo.if\"(%q) ({
                    %new = stablehlo.dynamic_update_slice %c, %u, %at :
                        (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>
                    stablehlo.return %new : tensor<4096xf32>
                }, { stablehlo.return %c : tensor<4096xf32> }) : (tensor<i1>) -> tensor<4096xf32>
                %jnext = stablehlo.add %j, %one : tensor<i32>
                stablehlo.return %jnext, %d : tensor<i32>, tensor<4096xf32>
            }
            stablehlo.return %inner#1 : tensor<4096xf32>
         }) : (tensor<i1>) -> tensor<4096xf32>";
    // Iteration 1 writes to places 1 to 4, iteration 3 to 3 and 4; later ones write nothing.
    let expected = changed([(1, -1.0), (2, -1.0), (3, -3.0), (4, -3.0)]);
    assert_eq!(run_in_place(&repeated(6, "4096xf32", body)), expected);
}

#[test]
fn reads_of_the_buffer_come_before_its_update() {
    let body = format!(
        "%next = {UPDATE}
         %old = stablehlo.dynamic_slice %b, %n, sizes = [1] : (tensor<4096xf32>, tensor<i32>) -> tensor<1xf32>
         %more = stablehlo.add %old, %u : tensor<1xf32>
         %scalar = stablehlo.reshape %more : (tensor<1xf32>) -> tensor<f32>
         %seen = stablehlo.is_finite %scalar : (tensor<f32>) -> tensor<i1>
         %step = stablehlo.convert %seen : (tensor<i1>) -> tensor<i32>"
    )
    .replace("%u, %i", "%u, %at");
    let body = format!("%at = stablehlo.add %i, %i : tensor<i32>\n{body}");
    let text =
        repeated(6, "4096xf32", &body).replace("%inext = stablehlo.add %i, %one", "%inext = stablehlo.add %i, %step");
    assert_eq!(run_in_place(&text), changed((0..6).map(|i| (2 * i, -(i as f32)))));
}
