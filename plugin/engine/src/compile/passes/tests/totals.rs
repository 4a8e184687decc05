use oxcall_hlo::WindowDim;

use super::*;

/// The ops that remain of a sum over windows of these sizes, with these edges before and after each dimension.
fn window(dims: &[usize], sizes: &[usize], edges: &[[i64; 2]]) -> String {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(dims));
    let zero = f32_constant(&mut f, 0.0);
    let body = combiner(&mut f, BinaryOp::Add, ElementType::F32);
    let window = sizes.iter().zip(edges).map(|(&size, &[padding_low, padding_high])| WindowDim {
        size,
        stride: 1,
        padding_low,
        padding_high,
        base_dilation: 1,
        window_dilation: 1,
        reversal: false,
    });
    let window = window.collect();
    let totals = f.with_regions(OpKind::ReduceWindow { window }, [x, zero], [body]).unwrap()[0];
    all_passes(f, [totals])
}

#[test]
fn short_running_totals_are_element_wise() {
    for (dims, dim) in [([500, 4], 1), ([4, 500], 0), ([300, 8], 1)] {
        let size = dims[dim];
        let (mut sizes, mut edges) = ([1; 2], [[0; 2]; 2]);
        sizes[dim] = size;
        for ends in [[size as i64 - 1, 0], [0, size as i64 - 1]] {
            edges[dim] = ends;
            let text = window(&dims, &sizes, &edges);
            let count = |op: &str| text.matches(&format!("= {op}")).count();
            assert_eq!([count("reduce_window"), count("add"), count("concatenate")], [0, size, 1], "{text}");
        }
    }
}

#[test]
fn other_windows_stay() {
    for (dims, sizes, edges) in [
        ([500, 9], [1, 9], [[0, 0], [8, 0]]),
        ([100, 4], [1, 4], [[0, 0], [3, 0]]),
        ([500, 4], [1, 3], [[0, 0], [2, 0]]),
        ([500, 4], [2, 4], [[1, 0], [3, 0]]),
        ([500, 4], [1, 4], [[0, 0], [2, 1]]),
        ([500, 4], [1, 4], [[1, 0], [3, 0]]),
    ] {
        assert!(window(&dims, &sizes, &edges).contains("reduce_window"), "{dims:?} {sizes:?} {edges:?}");
    }
}
