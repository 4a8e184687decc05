//! Loops over large arrays: piece by piece, they give the bits that their steps give.

use oxcall_hlo::parse_text;

use super::loops::{Random, Type, argument, one_nan, part_of};
use super::*;

/// The rows of the arrays that loops read and write row by row.
const ROWS: usize = 5;

/// Types of elements.
const ELEMENTS: &[&str] =
    &["f32", "f32", "f32", "i32", "i32", "ui32", "i1", "i8", "i16", "bf16", "f16", "f64", "i64", "complex<f32>"];

/// A loop with an element-wise body, under construction.
struct Writer {
    random: Random,
    count: usize,
    body: String,
    /// Arrays and scalars that the body can read, with the types of their elements.
    arrays: Vec<(String, &'static str)>,
    scalars: Vec<(String, &'static str)>,
    next: usize,
}

/// A loop as text: piece by piece, and step by step because it also carries an array of another size.
struct Texts {
    pieces: String,
    steps: String,
    params: Vec<Type>,
    results: Vec<Type>,
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let mut random = Random(seed);
        let count = random.pick(&[1025, 1026, 1500, 2048, 3001]);
        Writer { random, count, body: String::new(), arrays: Vec::new(), scalars: Vec::new(), next: 0 }
    }

    fn array(&self, element: &str) -> String {
        format!("tensor<{}x{element}>", self.count)
    }

    fn rows(&self, element: &str) -> String {
        format!("tensor<{ROWS}x{}x{element}>", self.count)
    }

    fn row(&self, element: &str) -> String {
        format!("tensor<1x{}x{element}>", self.count)
    }

    fn line(&mut self, text: &str) -> String {
        self.next += 1;
        let name = format!("%v{}", self.next);
        self.body.push_str(&format!("{name} = {text}\n"));
        name
    }

    fn any_array(&mut self) -> (String, &'static str) {
        let late = self.arrays.len().min(5);
        let from = if self.random.below(2) == 0 { 0 } else { self.arrays.len() - late };
        self.arrays[from + self.random.below(self.arrays.len() - from)].clone()
    }

    fn array_of(&mut self, element: &str) -> String {
        let known: Vec<String> =
            self.arrays.iter().filter(|(_, each)| *each == element).map(|(name, _)| name.clone()).collect();
        known[self.random.below(known.len())].clone()
    }

    fn random_op(&mut self) {
        let (a, element) = self.any_array();
        let b = self.array_of(element);
        let ty = self.array(element);
        let is_float = Type(element, 1).is_float();
        let value = match self.random.below(10) {
            0..4 => {
                let ops: &[&str] = match element {
                    "i1" => &["and", "or", "xor"],
                    "complex<f32>" => &["add", "subtract", "multiply"],
                    _ if is_float => &["add", "subtract", "multiply", "maximum", "minimum", "divide"],
                    _ => &["add", "subtract", "multiply", "maximum", "xor", "shift_left", "remainder"],
                };
                let op = self.random.pick(ops);
                self.line(&format!("stablehlo.{op} {a}, {b} : ({ty}, {ty}) -> {ty}"))
            }
            4 => {
                let ops: &[&str] = match element {
                    "i1" => &["not"],
                    "complex<f32>" => &["negate", "sign", "abs", "real", "imag"],
                    _ if is_float => &["negate", "abs", "sqrt", "floor"],
                    _ => &["negate", "not", "popcnt"],
                };
                let op = self.random.pick(ops);
                let to = if matches!(op, "abs" | "real" | "imag") { part_of(element) } else { element };
                let result = self.array(to);
                let value = self.line(&format!("stablehlo.{op} {a} : ({ty}) -> {result}"));
                return self.arrays.push((value, to));
            }
            5 => {
                let kind = match element {
                    "i1" | "ui32" => "UNSIGNED",
                    _ if is_float || element.starts_with("complex") => "FLOAT",
                    _ => "SIGNED",
                };
                let direction = if element.starts_with("complex") { "NE" } else { "LT" };
                let mask = self.array("i1");
                let chosen =
                    self.line(&format!("stablehlo.compare {direction}, {a}, {b}, {kind} : ({ty}, {ty}) -> {mask}"));
                self.arrays.push((chosen.clone(), "i1"));
                self.line(&format!("stablehlo.select {chosen}, {a}, {b} : {mask}, {ty}"))
            }
            6 => {
                let to = self.random.pick(ELEMENTS);
                let result = self.array(to);
                let value = self.line(&format!("stablehlo.convert {a} : ({ty}) -> {result}"));
                return self.arrays.push((value, to));
            }
            7 => {
                let (scalar, element) = self.scalars[self.random.below(self.scalars.len())].clone();
                let ty = self.array(element);
                let text = format!("stablehlo.broadcast_in_dim {scalar}, dims = [] : (tensor<{element}>) -> {ty}");
                let value = self.line(&text);
                return self.arrays.push((value, element));
            }
            8 => {
                let (scalar, element) = self.scalars[self.random.below(self.scalars.len())].clone();
                let ty = format!("tensor<{element}>");
                let op = self.random.pick(&["add", "multiply", "subtract"]);
                let value = self.line(&format!("stablehlo.{op} {scalar}, {scalar} : ({ty}, {ty}) -> {ty}"));
                return self.scalars.push((value, element));
            }
            _ => {
                let ty = self.array("i32");
                let value = self.line(&format!("stablehlo.iota dim = 0 : {ty}"));
                return self.arrays.push((value, "i32"));
            }
        };
        self.arrays.push((value, element));
    }

    /// A scalar that selects a row, perhaps none.
    fn row_index(&mut self) -> String {
        let known: Vec<String> =
            self.scalars.iter().filter(|(_, element)| *element == "i32").map(|(name, _)| name.clone()).collect();
        known[self.random.below(known.len())].clone()
    }

    /// The loop.
    fn write(mut self) -> Texts {
        let carried: Vec<&str> = (0..1 + self.random.below(4)).map(|_| self.random.pick(ELEMENTS)).collect();
        let (read, written) = (self.random.pick(ELEMENTS), self.random.pick(ELEMENTS));
        let fixed = self.random.pick(ELEMENTS);
        let limit = self.random.below(8) as i32;
        let mut params: Vec<Type> = carried.iter().map(|&element| Type(element, self.count)).collect();
        params.extend([Type(fixed, self.count), Type(read, ROWS * self.count), Type(written, ROWS * self.count)]);
        params.push(Type("f32", 9));
        self.arrays = carried.iter().enumerate().map(|(i, &element)| (format!("%c{i}"), element)).collect();
        self.arrays.push(("%fixed".to_owned(), fixed));
        self.scalars = ["%i", "%two"].map(|name| (name.to_owned(), "i32")).to_vec();
        self.scalars.push(("%x".to_owned(), "f32"));
        for _ in 0..self.random.below(4) {
            self.random_op();
        }
        for _ in 0..self.random.below(3) {
            let index = self.row_index();
            let text = format!(
                "stablehlo.dynamic_slice %table, {index}, sizes = [1] : (tensor<9xf32>, tensor<i32>) -> tensor<1xf32>"
            );
            let slice = self.line(&text);
            let scalar = self.line(&format!("stablehlo.reshape {slice} : (tensor<1xf32>) -> tensor<f32>"));
            self.scalars.push((scalar.clone(), "f32"));
            let index = self.line(&format!("stablehlo.convert {scalar} : (tensor<f32>) -> tensor<i32>"));
            self.scalars.push((index, "i32"));
        }
        let (rows, row, flat) = (self.rows(read), self.row(read), self.array(read));
        let index = self.row_index();
        let text = format!(
            "stablehlo.dynamic_slice %read, {index}, %zero, sizes = [1, {}] : ({rows}, tensor<i32>, tensor<i32>) -> {row}",
            self.count
        );
        let slice = self.line(&text);
        let value = self.line(&format!("stablehlo.reshape {slice} : ({row}) -> {flat}"));
        self.arrays.push((value, read));
        for _ in 0..2 + self.random.below(12) {
            self.random_op();
        }
        let value = match self.arrays.iter().rev().find(|(_, element)| *element == written) {
            Some((value, _)) => value.clone(),
            None => {
                let (from, element) = self.any_array();
                let types = format!("({}) -> {}", self.array(element), self.array(written));
                self.line(&format!("stablehlo.convert {from} : {types}"))
            }
        };
        let (rows, row) = (self.rows(written), self.row(written));
        let index = self.row_index();
        let update = self.line(&format!("stablehlo.reshape {value} : ({}) -> {row}", self.array(written)));
        let updated = self.line(&format!(
            "stablehlo.dynamic_update_slice %written, {update}, {index}, %zero : ({rows}, {row}, tensor<i32>, \
             tensor<i32>) -> {rows}"
        ));
        let nexts: Vec<String> = carried.iter().map(|element| self.array_of(element)).collect();
        let names: Vec<String> = (0..carried.len()).map(|i| format!("%c{i}")).collect();
        let types: Vec<String> = carried.iter().map(|element| self.array(element)).collect();
        let (other, steps) = (format!("tensor<{}xf32>", self.count + 1), self.body.clone());
        let (read, fixed) = (self.rows(read), self.array(fixed));
        let text = |is_stepped: bool| {
            let extra = |text: &str| if is_stepped { text.to_owned() } else { String::new() };
            let inits: Vec<String> = names.iter().enumerate().map(|(i, name)| format!("{name} = %p{i}")).collect();
            let params: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("%p{i}: {ty}")).collect();
            let results: Vec<String> = (2..carried.len() + 4).map(|i| format!("%loop#{i}")).collect();
            let (names, inits, types) = (nexts.join(", "), inits.join(", "), types.join(", "));
            let scalars = "tensor<i32>, tensor<f32>";
            let all = format!("{types}, {rows}, tensor<f32>{}", extra(&format!(", {other}")));
            format!(
                "func.func @main({params}, %fixed: {fixed}, %read: {read}, %out: {rows}, %table: tensor<9xf32>) -> ({all}) {{
                 %start = stablehlo.constant dense<0> : tensor<i32>
                 %half = stablehlo.constant dense<0.5> : tensor<f32>
                 {first}
                 %loop:{count} = stablehlo.while(%i = %start, %x = %half, {inits}, %written = %out, %y = %half{other_init}) : \
                 {scalars}, {all}
                 cond {{
                 %limit = stablehlo.constant dense<{limit}> : tensor<i32>
                 %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
                 stablehlo.return %less : tensor<i1>
                 }} do {{
                 %one = stablehlo.constant dense<1> : tensor<i32>
                 %two = stablehlo.constant dense<2> : tensor<i32>
                 %zero = stablehlo.constant dense<0> : tensor<i32>
                 {steps}
                 %xnext = stablehlo.add %x, %half : tensor<f32>
                 {next}
                 %inext = stablehlo.add %i, %one : tensor<i32>
                 stablehlo.return %inext, %xnext, {names}, {updated}, %x{other_next} : {scalars}, {all}
                 }}
                 return {results} : {all}
                 }}",
                params = params.join(", "),
                first = extra(&format!("%more = stablehlo.constant dense<1.0> : {other}")),
                count = carried.len() + 4 + usize::from(is_stepped),
                other_init = extra(", %o = %more"),
                next = extra(&format!("%onext = stablehlo.add %o, %o : {other}")),
                other_next = extra(", %onext"),
                results = [results.join(", "), extra(&format!("%loop#{}", carried.len() + 4))]
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .collect::<Vec<_>>()
                    .join(", "),
            )
        };
        let mut results: Vec<Type> = params[..carried.len()].to_vec();
        results.extend([Type(written, ROWS * self.count), Type("f32", 1)]);
        Texts { pieces: text(false), steps: text(true), params, results }
    }
}

/// Whether the plan of a program has a loop that runs piece by piece.
fn is_tiled(program: &Program) -> bool {
    program.plan().to_string().contains("tiled while[")
}

fn engine_with(no_jit: bool) -> Arc<Engine> {
    let options = EngineOptions { platform: "oxcall".to_owned(), num_threads: 2, no_jit, ..EngineOptions::default() };
    Engine::new(options)
}

/// The results of a program, whose arguments are donated if it is `donated`, and whether it runs piece by piece.
fn results_of(text: &str, arguments: &[Vec<u8>], no_jit: bool, is_donated: bool) -> (Vec<Vec<u8>>, bool) {
    let mut module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if is_donated {
        donate(&mut module, 0, 0);
    }
    let engine = engine_with(no_jit);
    let program = compile(&engine, module);
    let arguments = arguments.iter().enumerate().map(|(index, bytes)| match index {
        0 if is_donated => donated(&engine, bytes),
        _ => shared(&engine, bytes),
    });
    let results = program.run(arguments.collect()).unwrap();
    (results.iter().map(|result| result.as_bytes().to_vec()).collect(), is_tiled(&program))
}

#[test]
fn pieces_give_the_bits_of_steps() {
    let mut tiled = 0;
    for seed in 0..if cfg!(miri) { 2 } else { 150 } {
        let mut random = Random(seed);
        let Texts { pieces, steps, params, results } = Writer::new(seed + 1000).write();
        let arguments: Vec<Vec<u8>> = params.iter().map(|&ty| argument(&mut random, ty)).collect();
        for no_jit in [false, true] {
            let (wanted, is_stepped) = results_of(&steps, &arguments, no_jit, false);
            assert!(!is_stepped, "{steps}");
            let (got, is_tiled) = results_of(&pieces, &arguments, no_jit, seed % 2 == 0);
            tiled += usize::from(is_tiled);
            for (index, &ty) in results.iter().enumerate() {
                let is_same = one_nan(ty, &got[index]) == one_nan(ty, &wanted[index]);
                assert!(is_same, "seed {seed}, result {index}, no_jit {no_jit}\n{pieces}");
            }
        }
    }
    // Loops of no or one iteration are unrolled.
    assert!(tiled > 150 || cfg!(miri), "{tiled} loops run piece by piece");
}

/// The results for these arguments of a loop that goes on while any element does, and whether it runs piece by piece:
/// `goes_on` computes the booleans `%p` of `%a` and `%b`, in the condition and in the body, which keeps `%a` and `%b`
/// unless `is_kept` says otherwise.
fn any_loop(goes_on: &str, next: &str, is_kept: bool, is_stepped: bool, arguments: &[Vec<u8>]) -> (Vec<Vec<u8>>, bool) {
    let (ty, mask, other) = ("tensor<3000xi32>", "tensor<3000xi1>", "tensor<7xi32>");
    let keep = |name: &str, old: &str| {
        if is_kept {
            format!("%{name}s = stablehlo.select %p, %{name}n, {old} : {mask}, {ty}")
        } else {
            format!("%{name}s = stablehlo.add %{name}n, %{name}n : {ty}")
        }
    };
    let extra = |text: &str| if is_stepped { text.to_owned() } else { String::new() };
    let text = format!(
        "func.func @main(%x: {ty}, %y: {ty}, %z: {other}) -> ({ty}, {ty}) {{
         %loop:{count} = stablehlo.while(%a = %x, %b = %y{init}) : {ty}, {ty}{types}
         cond {{
         %false = stablehlo.constant dense<false> : tensor<i1>
         {goes_on}
         %any = stablehlo.reduce(%p init: %false) applies stablehlo.or across dimensions = [0] : \
         ({mask}, tensor<i1>) -> tensor<i1>
         stablehlo.return %any : tensor<i1>
         }} do {{
         {goes_on}
         {next}
         {keep_a}
         {keep_b}
         {other_next}
         stablehlo.return %as, %bs{other_name} : {ty}, {ty}{types}
         }}
         return %loop#0, %loop#1 : {ty}, {ty}
         }}",
        count = 2 + usize::from(is_stepped),
        init = extra(", %c = %z"),
        types = extra(&format!(", {other}")),
        keep_a = keep("a", "%a"),
        keep_b = keep("b", "%b"),
        other_next = extra(&format!("%cn = stablehlo.add %c, %c : {other}")),
        other_name = extra(", %cn"),
    );
    results_of(&text, arguments, false, false)
}

#[test]
fn each_piece_ends_when_no_element_goes_on() {
    let ty = "tensor<3000xi32>";
    let [numbers, zeros] = [|i: i32| i % 977 + 1, |_| 0].map(|number: fn(i32) -> i32| (0..3000).map(number));
    let bytes = |numbers: &mut dyn Iterator<Item = i32>| numbers.flat_map(i32::to_le_bytes).collect::<Vec<u8>>();
    let arguments = [bytes(&mut numbers.clone()), bytes(&mut zeros.clone()), vec![1; 28]];
    // The length of each number's Collatz sequence.
    let goes_on = format!(
        "%o = stablehlo.constant dense<1> : {ty}
         %p = stablehlo.compare NE, %a, %o, SIGNED : ({ty}, {ty}) -> tensor<3000xi1>"
    );
    let next = format!(
        "%three = stablehlo.constant dense<3> : {ty}
         %half = stablehlo.shift_right_logical %a, %o : {ty}
         %m = stablehlo.multiply %a, %three : {ty}
         %t = stablehlo.add %m, %o : {ty}
         %parity = stablehlo.and %a, %o : {ty}
         %odd = stablehlo.compare EQ, %parity, %o, SIGNED : ({ty}, {ty}) -> tensor<3000xi1>
         %an = stablehlo.select %odd, %t, %half : tensor<3000xi1>, {ty}
         %bn = stablehlo.add %b, %o : {ty}"
    );
    let length = |mut x: i32| {
        let mut steps = 0;
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            steps += 1;
        }
        steps
    };
    let (results, is_tiled) = any_loop(&goes_on, &next, true, false, &arguments);
    assert!(is_tiled);
    assert_eq!(results, [bytes(&mut numbers.clone().map(|_| 1)), bytes(&mut numbers.clone().map(length))]);
    // Elements that go on after they stopped: all of them have to stop in the same iteration.
    let goes_on = format!(
        "%o = stablehlo.constant dense<64> : {ty}
         %m = stablehlo.and %a, %o : {ty}
         %p = stablehlo.compare NE, %m, %o, SIGNED : ({ty}, {ty}) -> tensor<3000xi1>"
    );
    let next = format!("%an = stablehlo.add %a, %a : {ty}\n%bn = stablehlo.add %b, %a : {ty}");
    let arguments = [bytes(&mut zeros.clone().map(|_| 1)), bytes(&mut zeros.clone()), vec![1; 28]];
    let (results, is_tiled) = any_loop(&goes_on, &next, false, false, &arguments);
    assert!(!is_tiled);
    assert_eq!(results, any_loop(&goes_on, &next, false, true, &arguments).0);
}

/// Whether a loop of 3000 floats with this body runs piece by piece: `%n` is the next `%a`, `%m` the next `%r`, which
/// has 4 rows of `%a`'s size, and `%f` is of that shape, too.
fn runs_in_pieces(body: &str) -> bool {
    let (array, row, rows) = ("tensor<3000xf32>", "tensor<1x3000xf32>", "tensor<4x3000xf32>");
    let body = body.replace("ARRAY", array).replace("ROWS", rows).replace("ROW", row);
    let text = format!(
        "func.func @main(%x: {array}, %y: {rows}, %f: {rows}) -> ({array}, {rows}) {{
         %start = stablehlo.constant dense<0> : tensor<i32>
         %loop:3 = stablehlo.while(%i = %start, %a = %x, %r = %y) : tensor<i32>, {array}, {rows}
         cond {{
         %limit = stablehlo.constant dense<9> : tensor<i32>
         %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.return %less : tensor<i1>
         }} do {{
         %one = stablehlo.constant dense<1> : tensor<i32>
         %zero = stablehlo.constant dense<0> : tensor<i32>
         %inext = stablehlo.add %i, %one : tensor<i32>
         %arow = stablehlo.reshape %a : ({array}) -> {row}
         {body}
         stablehlo.return %inext, %n, %m : tensor<i32>, {array}, {rows}
         }}
         return %loop#1, %loop#2 : {array}, {rows}
         }}"
    );
    let bytes = |count: usize| (0..count).flat_map(|i| (i as f32 / 8.0).to_le_bytes()).collect::<Vec<u8>>();
    let arguments = [bytes(3000), bytes(12000), bytes(12000)];
    let (results, is_tiled) = results_of(&text, &arguments, false, false);
    let (others, _) = results_of(&text, &arguments, true, false);
    assert_eq!(results, others, "{body}");
    is_tiled
}

#[test]
fn only_loops_whose_elements_do_not_meet_run_in_pieces() {
    const WRITE: &str = "%m = stablehlo.dynamic_update_slice %r, %arow, %i, %zero : (ROWS, ROW, tensor<i32>, \
                         tensor<i32>) -> ROWS\n";
    let with = |text: &str| runs_in_pieces(&(WRITE.to_owned() + text));
    let read = |from: &str| {
        format!(
            "%s = stablehlo.dynamic_slice {from}, %i, %zero, sizes = [1, 3000] : (ROWS, tensor<i32>, tensor<i32>) -> ROW
             %flat = stablehlo.reshape %s : (ROW) -> ARRAY
             %n = stablehlo.add %a, %flat : ARRAY"
        )
    };
    assert!(with("%n = stablehlo.add %a, %a : ARRAY"));
    assert!(with(&read("%f")));
    // Rows that were written before, or that the same iteration writes.
    assert!(!with(&read("%r")) && !with(&read("%m")));
    // Rows of an array that the iteration computes, and of which it reads more.
    assert!(!with(
        "%t = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
         %b = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> ROWS
         %g = stablehlo.multiply %f, %b : ROWS
         %o = stablehlo.reshape %g : (ROWS) -> tensor<12000xf32>
         %q = stablehlo.slice %o [0:3000] : (tensor<12000xf32>) -> ARRAY
         %s = stablehlo.dynamic_slice %g, %i, %zero, sizes = [1, 3000] : (ROWS, tensor<i32>, tensor<i32>) -> ROW
         %flat = stablehlo.reshape %s : (ROW) -> ARRAY
         %n = stablehlo.add %q, %flat : ARRAY"
    ));
    // Other elements than the own one.
    assert!(!with("%n = stablehlo.reverse %a, dims = [0] : ARRAY"));
    assert!(!with(
        "%s = stablehlo.slice %a [1:3000] : (ARRAY) -> tensor<2999xf32>
         %e = stablehlo.slice %a [0:1] : (ARRAY) -> tensor<1xf32>
         %c = stablehlo.concatenate %s, %e, dim = 0 : (tensor<2999xf32>, tensor<1xf32>) -> ARRAY
         %n = stablehlo.add %c, %a : ARRAY"
    ));
    // A sum of all elements.
    assert!(!with(
        "%init = stablehlo.constant dense<0.0> : tensor<f32>
         %s = stablehlo.reduce(%a init: %init) applies stablehlo.add across dimensions = [0] : (ARRAY, tensor<f32>) -> \
         tensor<f32>
         %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> ARRAY
         %n = stablehlo.add %b, %a : ARRAY"
    ));
    // A part of a row, and columns.
    assert!(!runs_in_pieces(
        "%p = stablehlo.slice %arow [0:1, 0:2999] : (ROW) -> tensor<1x2999xf32>
         %m = stablehlo.dynamic_update_slice %r, %p, %i, %zero : (ROWS, tensor<1x2999xf32>, tensor<i32>, \
         tensor<i32>) -> ROWS
         %n = stablehlo.add %a, %a : ARRAY"
    ));
}

#[test]
fn conditions_of_other_elements_do_not_end_pieces() {
    let text = |of_body: &str| {
        let compare = |shape: &str, dim: usize| {
            format!(
                "%v = stablehlo.reshape %limits : (tensor<40xf32>) -> tensor<{shape}xf32>
                 %b = stablehlo.broadcast_in_dim %v, dims = [0, 1] : (tensor<{shape}xf32>) -> tensor<40x40xf32>
                 %p = stablehlo.compare LT, %x, %b, FLOAT : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xi1>
                 %d{dim} = stablehlo.constant dense<1.0> : tensor<40x40xf32>"
            )
        };
        format!(
            "func.func @main(%init: tensor<40x40xf32>, %limits: tensor<40xf32>) -> tensor<40x40xf32> {{
             %loop = stablehlo.while(%x = %init) : tensor<40x40xf32>
             cond {{
             %false = stablehlo.constant dense<false> : tensor<i1>
             {}
             %any = stablehlo.reduce(%p init: %false) applies stablehlo.or across dimensions = [0, 1] : \
             (tensor<40x40xi1>, tensor<i1>) -> tensor<i1>
             stablehlo.return %any : tensor<i1>
             }} do {{
             {}
             %y = stablehlo.add %x, %d1 : tensor<40x40xf32>
             %n = stablehlo.select %p, %y, %x : tensor<40x40xi1>, tensor<40x40xf32>
             stablehlo.return %n : tensor<40x40xf32>
             }}
             return %loop : tensor<40x40xf32>
             }}",
            compare("40x1", 0),
            compare(of_body, 1)
        )
    };
    let bytes = |number: fn(usize) -> f32, count: usize| (0..count).flat_map(|i| number(i).to_le_bytes()).collect();
    // With limits that are the same in both, each element reaches its own; otherwise, no iteration changes any.
    let arguments: [Vec<u8>; 2] = [bytes(|_| 0.0, 1600), bytes(|i| i as f32, 40)];
    let (results, is_tiled) = results_of(&text("40x1"), &arguments, false, false);
    assert!(is_tiled);
    assert_eq!(results[0], bytes(|i| (i / 40) as f32, 1600));
    let arguments = [bytes(|_| 0.0, 1600), bytes(|_| -1.0, 40)];
    assert!(!results_of(&text("1x40"), &arguments, false, false).1);
}

#[test]
fn arrays_of_unknowns_run_in_pieces() {
    for (array, row, part, cuts) in [
        ("tensor<3x2000xf32>", "tensor<2000xf32>", "tensor<1x2000xf32>", ["0:1, 0:2000", "1:2, 0:2000", "2:3, 0:2000"]),
        ("tensor<2000x3xf32>", "tensor<2000xf32>", "tensor<2000x1xf32>", ["0:2000, 0:1", "0:2000, 1:2", "0:2000, 2:3"]),
    ] {
        let is_by_rows = array.starts_with("tensor<3x");
        let dim = usize::from(!is_by_rows);
        let read: String = (["x", "y", "z"].iter().zip(cuts))
            .map(|(name, cut)| {
                format!(
                    "%p{name} = stablehlo.slice %s [{cut}] : ({array}) -> {part}
                     %{name} = stablehlo.reshape %p{name} : ({part}) -> {row}\n"
                )
            })
            .collect();
        let text = format!(
            "func.func @main(%init: {array}) -> {array} {{
             %start = stablehlo.constant dense<0> : tensor<i32>
             %loop:2 = stablehlo.while(%i = %start, %s = %init) : tensor<i32>, {array}
             cond {{
             %limit = stablehlo.constant dense<20> : tensor<i32>
             %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %less : tensor<i1>
             }} do {{
             %one = stablehlo.constant dense<1> : tensor<i32>
             %h = stablehlo.constant dense<0.0078125> : {array}
             {read}
             %dx = stablehlo.subtract %y, %x : {row}
             %xy = stablehlo.multiply %x, %y : {row}
             %dy = stablehlo.subtract %xy, %z : {row}
             %dz = stablehlo.multiply %z, %dx : {row}
             %qx = stablehlo.reshape %dx : ({row}) -> {part}
             %qy = stablehlo.reshape %dy : ({row}) -> {part}
             %qz = stablehlo.reshape %dz : ({row}) -> {part}
             %d = stablehlo.concatenate %qx, %qy, %qz, dim = {dim} : ({part}, {part}, {part}) -> {array}
             %hd = stablehlo.multiply %h, %d : {array}
             %n = stablehlo.add %s, %hd : {array}
             %inext = stablehlo.add %i, %one : tensor<i32>
             stablehlo.return %inext, %n : tensor<i32>, {array}
             }}
             return %loop#1 : {array}
             }}"
        );
        let place = |row: usize, column: usize| if is_by_rows { row * 2000 + column } else { column * 3 + row };
        let mut s: Vec<f32> = (0..6000).map(|i| (i * 37 % 101) as f32 / 64.0 - 0.75).collect();
        let bytes = |s: &[f32]| s.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let (results, is_tiled) = results_of(&text, &[bytes(&s)], false, false);
        for _ in 0..20 {
            for column in 0..2000 {
                let [x, y, z] = [0, 1, 2].map(|row| s[place(row, column)]);
                for (row, slope) in [y - x, x * y - z, z * (y - x)].into_iter().enumerate() {
                    s[place(row, column)] += 0.0078125 * slope;
                }
            }
        }
        assert!(is_tiled, "{array}");
        assert!(results[0] == bytes(&s), "{array}");
    }
}
