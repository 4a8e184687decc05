//! Loops over small arrays: as machine code, for each set of instructions, they give the bits that their steps give.

use std::array::from_fn;
use std::fmt::Write;

use oxcall_hlo::parse_text;
use oxcall_jit::{Isa, Kernel};
use oxcall_kernels::tile::generated::is_supported;

use super::*;

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// The type of an array of one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Type(pub(super) &'static str, pub(super) usize);

impl Type {
    fn text(self) -> String {
        format!("tensor<{}x{}>", self.1, self.0)
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self.0, "f32" | "bf16" | "f64" | "f16")
    }

    fn is_complex(self) -> bool {
        self.0.starts_with("complex")
    }

    fn bytes(self) -> usize {
        let width = match self.0 {
            "complex<f64>" => 16,
            "f64" | "i64" | "ui64" | "complex<f32>" => 8,
            "f32" | "i32" | "ui32" => 4,
            "bf16" | "f16" | "i16" => 2,
            _ => 1,
        };
        self.1 * width
    }
}

/// The same type with 32 bits instead of 64, or with 64 instead of 32.
fn swapped(element: &'static str) -> &'static str {
    const PAIRS: [(&str, &str); 4] =
        [("f32", "f64"), ("i32", "i64"), ("ui32", "ui64"), ("complex<f32>", "complex<f64>")];
    let other = PAIRS.iter().find_map(|&(narrow, wide)| match element {
        _ if element == narrow => Some(wide),
        _ if element == wide => Some(narrow),
        _ => None,
    });
    other.unwrap_or(element)
}

/// The type of the parts of a complex number; of other numbers, their own.
pub(super) fn part_of(element: &'static str) -> &'static str {
    match element {
        "complex<f32>" => "f32",
        "complex<f64>" => "f64",
        _ => element,
    }
}

/// Types of elements, the usual ones more often.
const ELEMENTS: &[&str] =
    &["f32", "f32", "f32", "i32", "i32", "ui32", "i1", "i8", "i16", "bf16", "f16", "f64", "i64", "complex<f32>"];
const SIZES: &[usize] = &[1, 1, 2, 3, 4, 5, 8, 12, 16, 17, 33, 40];

/// A program under construction.
struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    /// The values that can be read, with their types.
    values: Vec<(String, Type)>,
    next: usize,
}

impl Writer<'_> {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A value, a late one rather than an early one.
    fn value(&mut self) -> (String, Type) {
        let count = self.values.len();
        let index = if self.random.below(2) == 0 {
            self.random.below(count)
        } else {
            count - 1 - self.random.below(count.min(4))
        };
        self.values[index].clone()
    }

    /// A value of a type, if there is one.
    fn of(&mut self, ty: Type) -> Option<String> {
        let known: Vec<&String> = self.values.iter().filter(|(_, each)| *each == ty).map(|(name, _)| name).collect();
        (!known.is_empty()).then(|| known[self.random.below(known.len())].clone())
    }

    /// Adds an op with operands of these types.
    fn op(&mut self, ty: Type, text: &str, operands: &[(&str, String)]) -> String {
        let name = self.name();
        let (names, types): (Vec<&str>, Vec<&str>) = operands.iter().map(|(name, ty)| (*name, ty.as_str())).unzip();
        let (names, types) = (names.join(", "), types.join(", "));
        let text = text.replace("{}", &names);
        self.line(&format!("{name} = {text} : ({types}) -> {}", ty.text()));
        self.values.push((name.clone(), ty));
        name
    }

    /// A scalar of type i32, from a value or a constant.
    fn index(&mut self) -> String {
        let name = self.name();
        match self.of(Type("i32", 1)).filter(|_| self.random.below(4) > 0) {
            Some(from) => self.line(&format!("{name} = stablehlo.reshape {from} : (tensor<1xi32>) -> tensor<i32>")),
            None => {
                let number = self.random.below(20) as i32 - 5;
                self.line(&format!("{name} = stablehlo.constant dense<{number}> : tensor<i32>"));
            }
        }
        name
    }

    fn random_op(&mut self) {
        let (a, ty) = self.value();
        let Type(element, size) = ty;
        match self.random.below(23) {
            22 => self.scan(&a, ty),
            0..4 => {
                let b = self.of(ty).unwrap_or_else(|| a.clone());
                let ops: &[&str] = match element {
                    "i1" => &["and", "or", "xor", "maximum"],
                    _ if ty.is_complex() => &["add", "subtract", "multiply", "divide"],
                    _ if ty.is_float() => &["add", "subtract", "multiply", "maximum", "minimum", "divide", "power"],
                    _ => &["add", "subtract", "multiply", "maximum", "xor", "divide", "remainder", "shift_left"],
                };
                let op = self.random.pick(ops);
                self.op(ty, &format!("stablehlo.{op} {{}}"), &[(&a, ty.text()), (&b, ty.text())]);
            }
            4 => {
                let ops: &[&str] = match element {
                    "i1" => &["not"],
                    _ if ty.is_complex() => &["negate", "exponential", "sign", "abs", "real", "imag"],
                    // Without fused multiply-add, functions in Rust give other bits.
                    _ if ty.is_float() && !is_supported() => &["negate", "sine", "floor", "abs", "sqrt"],
                    _ if ty.is_float() => &["negate", "sine", "tanh", "floor", "abs", "exponential"],
                    _ => &["negate", "not", "popcnt"],
                };
                let op = self.random.pick(ops);
                let result = match op {
                    "abs" | "real" | "imag" => Type(part_of(element), size),
                    _ => ty,
                };
                self.op(result, &format!("stablehlo.{op} {{}}"), &[(&a, ty.text())]);
            }
            5 => {
                let start = self.random.below(size);
                let limit = start + 1 + self.random.below(size - start);
                let stride = 1 + self.random.below(2);
                let result = Type(element, (limit - start).div_ceil(stride));
                let name = self.name();
                self.line(&format!(
                    "{name} = stablehlo.slice {a} [{start}:{limit}:{stride}] : ({}) -> {}",
                    ty.text(),
                    result.text()
                ));
                self.values.push((name, result));
            }
            6 => {
                let other = self.values.iter().filter(|(_, each)| each.0 == element).cloned().collect::<Vec<_>>();
                let (b, second) = other[self.random.below(other.len())].clone();
                let result = Type(element, size + second.1);
                if result.1 <= 48 {
                    let text = "stablehlo.concatenate {}, dim = 0";
                    self.op(result, text, &[(&a, ty.text()), (&b, second.text())]);
                }
            }
            7 => {
                let result = Type(element, 1 + self.random.below(size));
                let index = self.index();
                let text = format!("stablehlo.dynamic_slice {{}}, sizes = [{}]", result.1);
                self.op(result, &text, &[(&a, ty.text()), (&index, "tensor<i32>".to_owned())]);
            }
            8 | 9 => {
                let parts = self.values.iter().filter(|(_, each)| each.0 == element && each.1 <= size);
                let parts = parts.cloned().collect::<Vec<_>>();
                let (part, second) = parts[self.random.below(parts.len())].clone();
                let index = self.index();
                let text = "stablehlo.dynamic_update_slice {}";
                let operands = [(&*a, ty.text()), (&*part, second.text()), (&*index, "tensor<i32>".to_owned())];
                self.op(ty, text, &operands);
            }
            10 => {
                let to = self.random.pick(ELEMENTS);
                self.op(Type(to, size), "stablehlo.convert {}", &[(&a, ty.text())]);
            }
            11 => {
                let b = self.of(ty).unwrap_or_else(|| a.clone());
                let kind = match element {
                    "i1" | "ui32" => "UNSIGNED",
                    _ if ty.is_float() || ty.is_complex() => "FLOAT",
                    _ => "SIGNED",
                };
                let direction = if ty.is_complex() { "EQ" } else { self.random.pick(&["LT", "EQ", "GE"]) };
                let chosen = Type("i1", size);
                let mask = self.name();
                let types = format!("({0}, {0}) -> {1}", ty.text(), chosen.text());
                self.line(&format!("{mask} = stablehlo.compare {direction}, {a}, {b}, {kind} : {types}"));
                self.values.push((mask.clone(), chosen));
                let name = self.name();
                let types = format!("{}, {}", chosen.text(), ty.text());
                self.line(&format!("{name} = stablehlo.select {mask}, {a}, {b} : {types}"));
                self.values.push((name, ty));
            }
            13 | 14 => self.matrix_op(&a, ty),
            12 => {
                let parts = self.values.iter().filter(|(_, each)| each.0 == element && each.1 <= size);
                let parts = parts.cloned().collect::<Vec<_>>();
                let (part, second) = parts[self.random.below(parts.len())].clone();
                let Some(index) = self.of(Type("i32", 1)) else { return };
                let (name, old, new) = (self.name(), self.name(), self.name());
                self.line(&format!(
                    "{name} = \"stablehlo.scatter\"({a}, {index}, {part}) <{{scatter_dimension_numbers = \
                     #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0], \
                     index_vector_dim = 0>}}> ({{\n^bb0({old}: tensor<{element}>, {new}: tensor<{element}>):\n\
                     stablehlo.return {new} : tensor<{element}>\n}}) : ({}, tensor<1xi32>, {}) -> {}",
                    ty.text(),
                    second.text(),
                    ty.text()
                ));
                self.values.push((name, ty));
            }
            16 => self.gather(&a, ty),
            20 => self.dot(&a, ty),
            17 => self.scatter_all(&a, ty),
            18 if element != "i1" => {
                let indices = self.name();
                self.line(&format!("{indices} = stablehlo.iota dim = 0 : {}", ty.text()));
                self.op(ty, "stablehlo.add {}", &[(&a, ty.text()), (&indices, ty.text())]);
            }
            19 => {
                let Some(mask) = self.of(Type("i1", size)) else { return };
                let b = self.of(ty).unwrap_or_else(|| a.clone());
                let types = format!("tensor<{size}xi1>, {}", ty.text());
                let name = self.name();
                self.line(&format!("{name} = stablehlo.select {mask}, {a}, {b} : {types}"));
                self.values.push((name, ty));
            }
            _ => self.reduction(&a, ty),
        }
    }

    /// A product of two matrices, as an array of one dimension.
    fn dot(&mut self, a: &str, Type(element, size): Type) {
        let k = self.random.pick(&[1, 2, 3, 4, 5, 8]);
        let others = self.values.iter().filter(|(_, each)| each.0 == element && each.1 % k == 0);
        let others = others.cloned().collect::<Vec<_>>();
        if element == "i1" || size % k != 0 || others.is_empty() {
            return;
        }
        let (b, Type(_, other)) = others[self.random.below(others.len())].clone();
        let (m, n) = (size / k, other / k);
        let result = Type(element, m * n);
        if result.1 > 48 {
            return;
        }
        // Contracted dimensions are first or last.
        let matrix = |free: usize, is_last: bool| if is_last { [free, k] } else { [k, free] };
        let [left, right] = [self.random.below(2) == 0, self.random.below(2) == 0];
        let shape = |dims: [usize; 2]| format!("tensor<{}x{}x{element}>", dims[0], dims[1]);
        let (a_shape, b_shape) = (shape(matrix(m, left)), shape(matrix(n, right)));
        let [x, y, product, name] = from_fn(|_| self.name());
        self.line(&format!("{x} = stablehlo.reshape {a} : ({}) -> {a_shape}", Type(element, size).text()));
        self.line(&format!("{y} = stablehlo.reshape {b} : ({}) -> {b_shape}", Type(element, other).text()));
        let out = shape([m, n]);
        self.line(&format!(
            "{product} = stablehlo.dot_general {x}, {y}, contracting_dims = [{}] x [{}] : ({a_shape}, {b_shape}) -> {out}",
            usize::from(left),
            usize::from(right),
        ));
        self.line(&format!("{name} = stablehlo.reshape {product} : ({out}) -> {}", result.text()));
        self.values.push((name, result));
    }

    /// The largest or smallest element of each row of a matrix, and its index.
    fn arg_extreme(&mut self, a: &str, [rows, columns]: [usize; 2]) {
        let (matrix, indices, results) = (self.name(), self.name(), self.name());
        let (is_largest, from) = (self.random.below(2) == 0, Type("f32", rows * columns).text());
        let (init, direction) = if is_largest { ("0xFF800000", "GT") } else { ("0x7F800000", "LT") };
        let [values, places] = ["f32", "i32"].map(|element| format!("tensor<{rows}x{columns}x{element}>"));
        self.line(&format!("{matrix} = stablehlo.reshape {a} : ({from}) -> {values}"));
        self.line(&format!("{indices} = stablehlo.iota dim = 1 : {places}"));
        let (low, zero) = (self.name(), self.name());
        self.line(&format!("{low} = stablehlo.constant dense<{init}> : tensor<f32>"));
        self.line(&format!("{zero} = stablehlo.constant dense<0> : tensor<i32>"));
        let [x, xi, y, yi, better, nan, first, same, lower, tie, chosen, value, index] = from_fn(|_| self.name());
        let (f32s, i32s, mask) = ("tensor<f32>", "tensor<i32>", "tensor<i1>");
        self.line(&format!(
            "{results}:2 = \"stablehlo.reduce\"({matrix}, {indices}, {low}, {zero}) <{{dimensions = array<i64: 1>}}> ({{\n\
             ^bb0({x}: {f32s}, {xi}: {i32s}, {y}: {f32s}, {yi}: {i32s}):\n\
             {better} = stablehlo.compare {direction}, {x}, {y}, FLOAT : ({f32s}, {f32s}) -> {mask}\n\
             {nan} = stablehlo.compare NE, {x}, {x}, FLOAT : ({f32s}, {f32s}) -> {mask}\n\
             {first} = stablehlo.or {better}, {nan} : {mask}\n\
             {same} = stablehlo.compare EQ, {x}, {y}, FLOAT : ({f32s}, {f32s}) -> {mask}\n\
             {lower} = stablehlo.compare LT, {xi}, {yi}, SIGNED : ({i32s}, {i32s}) -> {mask}\n\
             {tie} = stablehlo.and {same}, {lower} : {mask}\n\
             {chosen} = stablehlo.or {first}, {tie} : {mask}\n\
             {value} = stablehlo.select {first}, {x}, {y} : {mask}, {f32s}\n\
             {index} = stablehlo.select {chosen}, {xi}, {yi} : {mask}, {i32s}\n\
             stablehlo.return {value}, {index} : {f32s}, {i32s}\n\
             }}) : ({values}, {places}, {f32s}, {i32s}) -> (tensor<{rows}xf32>, tensor<{rows}xi32>)"
        ));
        self.values.push((format!("{results}#0"), Type("f32", rows)));
        self.values.push((format!("{results}#1"), Type("i32", rows)));
    }

    /// All elements of a value as one, or the rows or columns of a matrix of them.
    fn reduction(&mut self, a: &str, Type(element, size): Type) {
        let (init, reduced, name) = (self.name(), self.name(), self.name());
        let scalar = format!("tensor<{element}>");
        let is_float = Type(element, 1).is_float();
        let (inits, ops): (&[&str], &[&str]) = match element {
            "i1" => (&["false", "true"], &["or", "maximum", "and"]),
            _ if Type(element, 1).is_complex() => (&["(0.0, 0.0)", "(1.5, -0.5)"], &["add", "multiply"]),
            _ if is_float => (&["0.0", "0.0", "-0.0", "1.5"], &["add", "add", "maximum", "minimum", "multiply"]),
            _ => (&["0", "0", "3"], &["add", "xor", "minimum", "multiply"]),
        };
        let (value, op) = (self.random.pick(inits), self.random.pick(ops));
        self.line(&format!("{init} = stablehlo.constant dense<{value}> : {scalar}"));
        let rows = self.random.pick(&[1, 2, 3, 4, 5, 8]);
        if element == "f32" && size.is_multiple_of(rows) && self.random.below(3) == 0 {
            return self.arg_extreme(a, [rows, size / rows]);
        }
        if rows == 1 || size % rows != 0 {
            self.line(&format!(
                "{reduced} = stablehlo.reduce({a} init: {init}) applies stablehlo.{op} across dimensions = [0] : ({}, \
                 {scalar}) -> {scalar}",
                Type(element, size).text()
            ));
            let result = Type(element, 1 + self.random.below(9));
            let types = format!("({scalar}) -> {}", result.text());
            self.line(&format!("{name} = stablehlo.broadcast_in_dim {reduced}, dims = [] : {types}"));
            return self.values.push((name, result));
        }
        let columns = size / rows;
        let matrix = format!("tensor<{rows}x{columns}x{element}>");
        self.line(&format!("{name} = stablehlo.reshape {a} : ({}) -> {matrix}", Type(element, size).text()));
        let (dim, left) = self.random.pick(&[("0", columns), ("1", rows)]);
        let result = Type(element, left);
        let text = result.text();
        self.line(&format!(
            "{reduced} = stablehlo.reduce({name} init: {init}) applies stablehlo.{op} across dimensions = [{dim}] : \
             ({matrix}, {scalar}) -> {text}"
        ));
        self.values.push((reduced, result));
    }

    /// Running totals along one dimension of a matrix.
    fn scan(&mut self, a: &str, Type(element, size): Type) {
        let rows = self.random.pick(&[1, 2, 3, 4]);
        if element == "i1" || size % rows != 0 {
            return;
        }
        let (sizes, dim, is_reverse) = ([rows, size / rows], self.random.below(2), self.random.below(2) == 0);
        let ops: &[&str] = if Type(element, 1).is_complex() { &["add"] } else { &["add", "maximum", "multiply"] };
        let op = self.random.pick(ops);
        let init = match op {
            _ if Type(element, 1).is_complex() => "(-0.0, 1.5)",
            "add" if Type(element, 1).is_float() => "-0.0",
            _ => "1",
        };
        let init = if Type(element, 1).is_float() && !init.contains('.') { "1.0" } else { init };
        let window = from_fn::<usize, 2, _>(|each| if each == dim { sizes[dim] } else { 1 });
        let padding = |each: usize| match window[each] - 1 {
            before if is_reverse => format!("[0, {before}]"),
            before => format!("[{before}, 0]"),
        };
        let (matrix, scalar) = (format!("tensor<{}x{}x{element}>", sizes[0], sizes[1]), format!("tensor<{element}>"));
        let [from, zero, totals, x, y, next, name] = from_fn(|_| self.name());
        let text = Type(element, size).text();
        self.line(&format!("{from} = stablehlo.reshape {a} : ({text}) -> {matrix}"));
        self.line(&format!("{zero} = stablehlo.constant dense<{init}> : {scalar}"));
        self.line(&format!(
            "{totals} = \"stablehlo.reduce_window\"({from}, {zero}) <{{window_dimensions = array<i64: {}, {}>, \
             padding = dense<[{}, {}]> : tensor<2x2xi64>}}> ({{\n^bb0({x}: {scalar}, {y}: {scalar}):\n\
             {next} = stablehlo.{op} {x}, {y} : {scalar}\nstablehlo.return {next} : {scalar}\n}}) : \
             ({matrix}, {scalar}) -> {matrix}",
            window[0],
            window[1],
            padding(0),
            padding(1)
        ));
        self.line(&format!("{name} = stablehlo.reshape {totals} : ({matrix}) -> {text}"));
        self.values.push((name, Type(element, size)));
    }

    /// Up to eight indices, some of them out of bounds.
    fn indices(&mut self) -> Option<(String, usize)> {
        let of = |(_, ty): &&(String, Type)| ty.0 == "i32" && ty.1 <= 8;
        let known: Vec<_> = self.values.iter().filter(of).cloned().collect();
        (!known.is_empty()).then(|| {
            let (name, Type(_, count)) = known[self.random.below(known.len())].clone();
            (name, count)
        })
    }

    /// Slices of a value, one after another or with their elements mixed.
    fn gather(&mut self, a: &str, ty: Type) {
        let Some((indices, count)) = self.indices() else { return };
        let Type(element, size) = ty;
        let width = 1 + self.random.below(size.min(5));
        let (mixed, name) = (self.name(), self.name());
        let (offset, sizes) = self.random.pick(&[(1, [0, 1]), (0, [1, 0])]);
        let sizes = sizes.map(|dim| [count, width][dim]);
        let shape = format!("tensor<{}x{}x{element}>", sizes[0], sizes[1]);
        self.line(&format!(
            "{mixed} = \"stablehlo.gather\"({a}, {indices}) <{{dimension_numbers = #stablehlo.gather<offset_dims = \
             [{offset}], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: {width}>}}> : ({}, \
             tensor<{count}xi32>) -> {shape}",
            ty.text()
        ));
        let result = Type(element, count * width);
        self.line(&format!("{name} = stablehlo.reshape {mixed} : ({shape}) -> {}", result.text()));
        if result.1 <= 48 {
            self.values.push((name, result));
        }
    }

    /// Several updates of single elements: the last one counts, or their sum.
    fn scatter_all(&mut self, a: &str, ty: Type) {
        let Some((indices, count)) = self.indices() else { return };
        let Type(element, _) = ty;
        let Some(updates) = self.of(Type(element, count)) else { return };
        let (name, old, new, sum) = (self.name(), self.name(), self.name(), self.name());
        let scalar = format!("tensor<{element}>");
        let body = match self.random.below(2) {
            0 => format!("stablehlo.return {new} : {scalar}"),
            _ => format!("{sum} = stablehlo.add {old}, {new} : {scalar}\nstablehlo.return {sum} : {scalar}"),
        };
        self.line(&format!(
            "{name} = \"stablehlo.scatter\"({a}, {indices}, {updates}) <{{scatter_dimension_numbers = \
             #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = \
             1>}}> ({{\n^bb0({old}: {scalar}, {new}: {scalar}):\n{body}\n}}) : ({}, tensor<{count}xi32>, \
             tensor<{count}x{element}>) -> {}",
            ty.text(),
            ty.text()
        ));
        self.values.push((name, ty));
    }

    /// Ops on a matrix: the value as one, joined with itself, cut, and in another order, as an array of one dimension.
    fn matrix_op(&mut self, a: &str, Type(element, size): Type) {
        let rows = self.random.pick(&[2, 3, 4, 5]);
        if size % rows != 0 || size > 40 {
            return;
        }
        let columns = size / rows;
        let text = |rows: usize, columns: usize| format!("tensor<{rows}x{columns}x{element}>");
        let (from, to) = (Type(element, size).text(), text(rows, columns));
        let mut matrix = self.name();
        self.line(&format!("{matrix} = stablehlo.reshape {a} : ({from}) -> {to}"));
        let (mut rows, mut columns) = (rows, columns);
        for _ in 0..1 + self.random.below(3) {
            let (name, ty) = (self.name(), text(rows, columns));
            match self.random.below(5) {
                4 if rows * columns <= 24 => {
                    let Some(one) = self.of(Type(element, 1)) else { continue };
                    let padding = self.name();
                    let scalar = format!("tensor<{element}>");
                    self.line(&format!("{padding} = stablehlo.reshape {one} : (tensor<1x{element}>) -> {scalar}"));
                    let edges: [[usize; 2]; 2] = from_fn(|_| from_fn(|_| self.random.below(3)));
                    let interior: [usize; 2] = from_fn(|_| self.random.below(2));
                    let padded =
                        |size: usize, dim: usize| edges[0][dim] + (size - 1) * (interior[dim] + 1) + 1 + edges[1][dim];
                    let sizes = (padded(rows, 0), padded(columns, 1));
                    if sizes.0 * sizes.1 > 48 {
                        continue;
                    }
                    let result = text(sizes.0, sizes.1);
                    self.line(&format!(
                        "{name} = stablehlo.pad {matrix}, {padding}, low = {:?}, high = {:?}, interior = {interior:?} : \
                         ({ty}, {scalar}) -> {result}",
                        edges[0], edges[1]
                    ));
                    (rows, columns) = sizes;
                }
                0 if rows * columns <= 24 => {
                    let dim = self.random.below(2);
                    let sizes = if dim == 0 { (2 * rows, columns) } else { (rows, 2 * columns) };
                    let result = text(sizes.0, sizes.1);
                    let types = format!("({ty}, {ty}) -> {result}");
                    let other = self.name();
                    self.line(&format!("{other} = stablehlo.reverse {matrix}, dims = [0, 1] : {ty}"));
                    self.line(&format!("{name} = stablehlo.concatenate {matrix}, {other}, dim = {dim} : {types}"));
                    (rows, columns) = sizes;
                }
                1 => {
                    let result = text(columns, rows);
                    self.line(&format!("{name} = stablehlo.transpose {matrix}, dims = [1, 0] : ({ty}) -> {result}"));
                    (rows, columns) = (columns, rows);
                }
                2 => {
                    let (top, left) = (self.random.below(rows), self.random.below(columns));
                    let result = text(rows - top, columns - left);
                    let limits = format!("[{top}:{rows}, {left}:{columns}]");
                    self.line(&format!("{name} = stablehlo.slice {matrix} {limits} : ({ty}) -> {result}"));
                    (rows, columns) = (rows - top, columns - left);
                }
                3 => {
                    let (part, index) = (self.name(), self.index());
                    let own = text(1, columns);
                    self.line(&format!("{part} = stablehlo.slice {matrix} [0:1, 0:{columns}] : ({ty}) -> {own}"));
                    let types = format!("({ty}, {own}, tensor<i32>, tensor<i32>) -> {ty}");
                    let operands = format!("{matrix}, {part}, {index}, {index}");
                    self.line(&format!("{name} = stablehlo.dynamic_update_slice {operands} : {types}"));
                }
                _ => continue,
            }
            matrix = name;
        }
        let (name, result) = (self.name(), Type(element, rows * columns));
        self.line(&format!("{name} = stablehlo.reshape {matrix} : ({}) -> {}", text(rows, columns), result.text()));
        self.values.push((name, result));
    }

    /// A loop over these values, whose names and types are those of its results.
    fn repeat(&mut self, carried: &[(String, Type)], depth: usize) -> Vec<(String, Type)> {
        let (result, limit) = (self.name(), 1 + self.random.below(5));
        let inner: Vec<(String, Type)> = carried.iter().map(|(_, ty)| (self.name(), *ty)).collect();
        let (zero, count) = (self.name(), self.name());
        self.line(&format!("{zero} = stablehlo.constant dense<0> : tensor<i32>"));
        let pairs = carried.iter().zip(&inner).map(|((init, _), (name, _))| format!("{name} = {init}"));
        let types: Vec<String> = carried.iter().map(|(_, ty)| ty.text()).collect();
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        let types = types.join(", ");
        let (less, last, one, next) = (self.name(), self.name(), self.name(), self.name());
        self.line(&format!(
            "{result}:{} = stablehlo.while({count} = {zero}, {pairs}) : tensor<i32>, {types}\ncond {{\n\
             {last} = stablehlo.constant dense<{limit}> : tensor<i32>\n\
             {less} = stablehlo.compare LT, {count}, {last}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n\
             stablehlo.return {less} : tensor<i1>\n}} do {{\n\
             {one} = stablehlo.constant dense<1> : tensor<i32>\n\
             {next} = stablehlo.add {count}, {one} : tensor<i32>",
            carried.len() + 1
        ));
        let outside = self.values.len();
        self.values.extend(inner.clone());
        let place = self.name();
        self.line(&format!("{place} = stablehlo.reshape {count} : (tensor<i32>) -> tensor<1xi32>"));
        self.values.push((place, Type("i32", 1)));
        for _ in 0..2 + self.random.below(14) {
            self.random_op();
        }
        if depth < 2 && self.random.below(3) == 0 {
            let some: Vec<(String, Type)> = (0..1 + self.random.below(3)).map(|_| self.value()).collect();
            let results = self.repeat(&some, depth + 1);
            self.values.extend(results);
            self.random_op();
        }
        let nexts: Vec<String> = inner.iter().map(|(name, ty)| self.of(*ty).unwrap_or_else(|| name.clone())).collect();
        self.line(&format!("stablehlo.return {next}, {} : tensor<i32>, {types}\n}}", nexts.join(", ")));
        self.values.truncate(outside);
        carried.iter().enumerate().map(|(index, (_, ty))| (format!("{result}#{}", index + 1), *ty)).collect()
    }
}

/// A program with a loop, and the types of its parameters; half of them as JAX writes them with 64 bits.
fn program(random: &mut Random) -> (String, Vec<Type>) {
    let (text, types) = narrow_program(random);
    if random.below(2) == 0 {
        return (text, types);
    }
    let mut swaps = text;
    for [narrow, wide] in [["f32>", "f64>"], ["i32>", "i64>"]] {
        swaps = swaps.replace(narrow, "?>").replace(wide, narrow).replace("?>", wide);
    }
    (swaps, types.into_iter().map(|Type(element, size)| Type(swapped(element), size)).collect())
}

fn narrow_program(random: &mut Random) -> (String, Vec<Type>) {
    let types: Vec<Type> = (0..2 + random.below(4)).map(|_| Type(random.pick(ELEMENTS), random.pick(SIZES))).collect();
    let values: Vec<(String, Type)> = types.iter().enumerate().map(|(i, &ty)| (format!("%p{i}"), ty)).collect();
    let mut writer = Writer { random, text: String::new(), values: values.clone(), next: 0 };
    let results = writer.repeat(&values, 0);
    let list = |items: Vec<String>| items.join(", ");
    let params = list(values.iter().map(|(name, ty)| format!("{name}: {}", ty.text())).collect());
    let types_text = list(types.iter().map(|ty| ty.text()).collect());
    let names = list(results.into_iter().map(|(name, _)| name).collect());
    let mut text = String::new();
    write!(text, "func.func @main({params}) -> ({types_text}) {{\n{}return {names} : {types_text}\n}}\n", writer.text)
        .unwrap();
    (text, types)
}

/// The bytes of an argument: small numbers.
pub(super) fn argument(random: &mut Random, ty: Type) -> Vec<u8> {
    let numbers = (0..ty.1).map(|_| random.below(41) as f32 / 4.0 - 5.0);
    let bytes = |x: f32| match ty.0 {
        "complex<f32>" => [x / 3.0, 1.7 - x].map(f32::to_le_bytes).concat(),
        "complex<f64>" => [x / 3.0, 1.7 - x].map(|part| f64::from(part).to_le_bytes()).concat(),
        "f64" => f64::from(x).to_le_bytes().to_vec(),
        "f32" => x.to_le_bytes().to_vec(),
        "bf16" => half::bf16::from_f32(x).to_le_bytes().to_vec(),
        "f16" => half::f16::from_f32(x).to_le_bytes().to_vec(),
        "i64" | "ui64" => (x as i64).to_le_bytes().to_vec(),
        "i32" | "ui32" => (x as i32).to_le_bytes().to_vec(),
        "i16" => (x as i16).to_le_bytes().to_vec(),
        "i1" => vec![u8::from(x > 0.0)],
        _ => vec![(x as i8).cast_unsigned()],
    };
    numbers.flat_map(bytes).collect()
}

/// The same bytes with one NaN: which one comes of two, and its sign, is not defined.
pub(super) fn one_nan(ty: Type, bytes: &[u8]) -> Vec<u8> {
    let (width, magnitude, infinity) = match ty.0 {
        "f64" | "complex<f64>" => (8, u64::MAX >> 1, f64::INFINITY.to_bits()),
        "f32" | "complex<f32>" => (4, 0x7fff_ffff, f32::INFINITY.to_bits().into()),
        "f16" => (2, 0x7fff, half::f16::INFINITY.to_bits().into()),
        "bf16" => (2, 0x7fff, half::bf16::INFINITY.to_bits().into()),
        _ => return bytes.to_vec(),
    };
    let number = |bytes: &[u8]| {
        let mut number = [0; 8];
        number[..width].copy_from_slice(bytes);
        if u64::from_le_bytes(number) & magnitude > infinity { vec![0xff; width] } else { bytes.to_vec() }
    };
    bytes.chunks_exact(width).flat_map(number).collect()
}

/// The sets of instructions that the processor has.
fn isas() -> impl Iterator<Item = Isa> {
    Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present())
}

#[test]
fn rows_are_joined_beside_each_other() {
    let text = "func.func @main(%a: tensor<2x3xf32>, %x: tensor<2x6xf32>) -> tensor<2x6xf32> {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %loop:2 = stablehlo.while(%i = %zero, %b = %x) : tensor<i32>, tensor<2x6xf32>
        cond {
            %limit = stablehlo.constant dense<3> : tensor<i32>
            %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
        } do {
            %one = stablehlo.constant dense<1> : tensor<i32>
            %part = stablehlo.slice %b [0:2, 1:4] : (tensor<2x6xf32>) -> tensor<2x3xf32>
            %c = stablehlo.concatenate %a, %part, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
            %d = stablehlo.add %c, %b : tensor<2x6xf32>
            %inext = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %inext, %d : tensor<i32>, tensor<2x6xf32>
        }
        return %loop#1 : tensor<2x6xf32>
    }";
    let module = parse_text(text).unwrap();
    verify(&module).unwrap();
    let a: [f32; 6] = from_fn(|i| i as f32 + 100.0);
    let x: [f32; 12] = from_fn(|i| i as f32);
    let run = |isa| {
        let engine = Engine::for_isa(isa);
        let results = compile(&engine, module.clone()).run(vec![shared(&engine, &a), shared(&engine, &x)]).unwrap();
        values::<f32>(&results[0])
    };
    isas().for_each(|isa| assert_eq!(run(Some(isa)), run(None), "{isa:?}"));
}

fn check(seeds: std::ops::Range<u64>) {
    let steps = Engine::for_isa(None);
    let isas: Vec<Isa> = isas().collect();
    let engines: Vec<Arc<Engine>> = isas.iter().map(|&isa| Engine::for_isa(Some(isa))).collect();
    let mut compiled = 0;
    for seed in seeds.clone() {
        let mut random = Random(seed);
        let (text, types) = program(&mut random);
        let module = parse_text(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        verify(&module).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let arguments: Vec<Vec<u8>> = types.iter().map(|&ty| argument(&mut random, ty)).collect();
        let run = |engine: &Arc<Engine>| {
            let program = compile(engine, module.clone());
            let given = arguments.iter().map(|bytes| shared(engine, bytes)).collect();
            let results = program.run(given).unwrap();
            let results: Vec<Vec<u8>> =
                types.iter().zip(&results).map(|(&ty, buffer)| one_nan(ty, buffer.as_bytes())).collect();
            (results, program.steps())
        };
        let (expected, _) = run(&steps);
        for (engine, isa) in engines.iter().zip(&isas) {
            let (got, plan) = run(engine);
            compiled += usize::from(plan.contains("*: "));
            for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
                assert_eq!(got.len(), types[index].bytes());
                assert_eq!(got, expected, "result {index} of seed {seed} for {isa:?}:\n{text}\n{plan}");
            }
        }
    }
    let runs = engines.len() * (seeds.end - seeds.start) as usize;
    assert!(2 * compiled >= runs, "only {compiled} of {runs} loops are machine code");
}

#[test]
fn random_loops_give_the_bits_of_their_steps() {
    check(0..300);
}

#[test]
#[ignore = "minutes"]
fn many_random_loops_give_the_bits_of_their_steps() {
    check(300..20_000);
}
