//! Shifted, padded and rolled views of matrices, whose rows fusions cut at the same columns.

use oxcall_hlo::parse_text;

use super::loops::Random;
use super::*;

/// A matrix beside itself: `a[i + di, j + dj]`, with what is outside.
#[derive(Debug, Clone, Copy)]
enum View {
    /// The other end.
    Rolled(isize, isize),
    /// A number.
    Padded(isize, isize, f32),
    /// Another matrix of the same shape.
    Other(isize, isize),
}

/// A sum of views of matrices of `rows` rows of `columns` elements.
struct Stencil {
    rows: usize,
    columns: usize,
    views: Vec<View>,
}

impl Stencil {
    fn random(random: &mut Random) -> Stencil {
        let rows = random.pick(&[1, 2, 3, 17, 40, 130]);
        let columns = random.pick(&[64, 65, 100, 128, 200, 300]);
        let shift = |random: &mut Random, size: usize| random.below(5.min(size)) as isize - (2.min(size as isize - 1));
        let mut view = || {
            let [i, j] = [rows, columns].map(|size| shift(random, size));
            match random.below(3) {
                0 => View::Rolled(i, j),
                1 => View::Padded(i, j, random.below(3) as f32),
                _ => View::Other(i, j),
            }
        };
        let views = (0..4).map(|_| view()).collect();
        Stencil { rows, columns, views }
    }

    fn text(&self) -> String {
        let matrix = |rows: usize, columns: usize| format!("tensor<{rows}x{columns}xf32>");
        let ty = matrix(self.rows, self.columns);
        let mut lines = String::new();
        let mut sum = "%a".to_owned();
        for (index, &view) in self.views.iter().enumerate() {
            let name = format!("%view{index}");
            let text = match view {
                View::Rolled(i, j) => self.joined(index, "%a", "%a", [i, j]),
                View::Other(i, j) => self.joined(index, "%a", "%b", [i, j]),
                View::Padded(i, j, number) => {
                    // The same on all sides, so that a slice of it is the view.
                    let pad = format!("tensor<{}x{}xf32>", self.rows + 4, self.columns + 4);
                    let [top, left] = [2 + i, 2 + j].map(|start| start as usize);
                    format!(
                        "%n{index} = stablehlo.constant dense<{number:?}> : tensor<f32>
                         %p{index} = stablehlo.pad %a, %n{index}, low = [2, 2], high = [2, 2], interior = [0, 0] : ({ty}, tensor<f32>) -> {pad}
                         {name} = stablehlo.slice %p{index} [{top}:{}, {left}:{}] : ({pad}) -> {ty}\n",
                        top + self.rows,
                        left + self.columns
                    )
                }
            };
            lines += &text;
            lines += &format!("%sum{index} = stablehlo.add {sum}, {name} : {ty}\n");
            sum = format!("%sum{index}");
        }
        format!("func.func @main(%a: {ty}, %b: {ty}) -> {ty} {{\n{lines}return {sum} : {ty}\n}}")
    }

    /// Rows, then columns, from `i` and `j` on, and behind them those of `other` up to there; before them if negative.
    fn joined(&self, index: usize, own: &str, other: &str, shift: [isize; 2]) -> String {
        let sizes = [self.rows, self.columns];
        let ty = format!("tensor<{}x{}xf32>", sizes[0], sizes[1]);
        let (mut lines, mut from, mut behind) = (String::new(), own.to_owned(), other.to_owned());
        for dim in 0..2 {
            let to = if dim == 1 { format!("%view{index}") } else { format!("%rolled{index}") };
            let cut = shift[dim].rem_euclid(sizes[dim] as isize) as usize;
            let mut part = |name: &str, of: &str, range: std::ops::Range<usize>| {
                let mut ranges = sizes.map(|size| 0..size);
                ranges[dim] = range;
                let [rows, columns] = ranges;
                let part = format!("tensor<{}x{}xf32>", rows.len(), columns.len());
                lines += &format!(
                    "%{name}{index}x{dim} = stablehlo.slice {of} [{}:{}, {}:{}] : ({ty}) -> {part}\n",
                    rows.start, rows.end, columns.start, columns.end
                );
                (format!("%{name}{index}x{dim}"), part)
            };
            let (first, second) = if shift[dim] < 0 { (&behind, &from) } else { (&from, &behind) };
            let (x, xty) = part("x", first, cut..sizes[dim]);
            let (y, yty) = part("y", second, 0..cut);
            lines += &format!("{to} = stablehlo.concatenate {x}, {y}, dim = {dim} : ({xty}, {yty}) -> {ty}\n");
            from = to;
            behind = if own == other { from.clone() } else { other.to_owned() };
        }
        lines
    }

    fn expected(&self, a: &[f32], b: &[f32]) -> Vec<f32> {
        let (rows, columns) = (self.rows as isize, self.columns as isize);
        let at = |matrix: &[f32], i: isize, j: isize| matrix[(i * columns + j) as usize];
        let mut sums = a.to_vec();
        for (place, sum) in sums.iter_mut().enumerate() {
            let (i, j) = (place as isize / columns, place as isize % columns);
            for &view in &self.views {
                *sum += match view {
                    View::Rolled(di, dj) => at(a, (i + di).rem_euclid(rows), (j + dj).rem_euclid(columns)),
                    View::Padded(di, dj, number) => match (i + di, j + dj) {
                        (i, j) if (0..rows).contains(&i) && (0..columns).contains(&j) => at(a, i, j),
                        _ => number,
                    },
                    View::Other(di, dj) => match (i + di, j + dj) {
                        // Columns are joined after rows.
                        (_, j) if !(0..columns).contains(&j) => at(b, i, j.rem_euclid(columns)),
                        (i, j) if !(0..rows).contains(&i) => at(b, i.rem_euclid(rows), j),
                        (i, j) => at(a, i, j),
                    },
                };
            }
        }
        sums
    }
}

#[test]
fn stencils_read_each_neighbour() {
    let mut random = Random(7);
    let mut compiled = 0;
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let stencil = Stencil::random(&mut random);
        let count = stencil.rows * stencil.columns;
        let [a, b] = [0, 1].map(|_| (0..count).map(|_| random.below(1000) as f32).collect::<Vec<f32>>());
        let text = stencil.text();
        let module = parse_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let engine = engine();
        let program = compile(&engine, module);
        compiled += usize::from(program.steps().matches("compiled").count() == 1);
        let results = program.run(vec![shared(&engine, &a), shared(&engine, &b)]).unwrap();
        assert_eq!(values::<f32>(&results[0]), stencil.expected(&a, &b), "{:?}\n{text}", stencil.views);
    }
    assert!(
        compiled > 100 || cfg!(miri) || !oxcall_kernels::tile::generated::is_supported(),
        "{compiled} are compiled"
    );
}
