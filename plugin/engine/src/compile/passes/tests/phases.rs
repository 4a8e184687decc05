use oxcall_hlo::{ConvolutionDims, WindowDim};

use super::*;

/// The types of the convolutions that are left of one of `size` elements of an input with a kernel of `taps` elements.
fn convolutions(
    size: usize,
    taps: usize,
    dilation: usize,
    padding: [i64; 2],
    change: fn(&mut WindowDim),
) -> Vec<String> {
    let mut f = FuncBuilder::new("main");
    let [x, kernel] = [f.param(f32s(&[4, size, 64])), f.param(f32s(&[taps, 64, 32]))];
    let mut window = WindowDim {
        size: taps,
        stride: 1,
        padding_low: padding[0],
        padding_high: padding[1],
        base_dilation: dilation,
        window_dilation: 1,
        reversal: false,
    };
    change(&mut window);
    let dims = ConvolutionDims {
        window: vec![window],
        input_batch: 0,
        input_feature: 2,
        input_spatial: vec![1],
        kernel_input_feature: 1,
        kernel_output_feature: 2,
        kernel_spatial: vec![0],
        output_batch: 0,
        output_feature: 2,
        output_spatial: vec![1],
        feature_groups: 1,
        batch_groups: 1,
        precision: Vec::new(),
    };
    let result = f.op(OpKind::Convolution(dims), [x, kernel]).unwrap();
    let text = all_passes(f, [result]);
    let lines = text.lines().filter(|line| line.contains("= convolution"));
    lines.map(|line| line.rsplit(" : ").next().unwrap().to_owned()).collect()
}

#[test]
fn each_phase_of_a_dilated_input_is_a_convolution() {
    // 2 * 99 + 1 places and 4 of padding, less 3 for the kernel: 200.
    assert_eq!(convolutions(100, 4, 2, [2, 2], |_| {}), ["f32[4,100,32]"; 2]);
    // 148 + 1 places, of which each third and one more.
    assert_eq!(convolutions(50, 3, 3, [1, 2], |_| {}), ["f32[4,50,32]"; 3]);
    // Some phases see no element of the kernel.
    assert_eq!(convolutions(100, 1, 4, [0, 0], |_| {}), ["f32[4,100,32]"]);
}

#[test]
fn others_stay_as_they_are() {
    let changes: [fn(&mut WindowDim); 4] = [
        |window| window.stride = 2,
        |window| window.window_dilation = 2,
        |window| window.reversal = true,
        |window| window.base_dilation = 1,
    ];
    for change in changes {
        assert_eq!(convolutions(100, 3, 2, [1, 1], change).len(), 1);
    }
    assert_eq!(convolutions(3, 3, 2, [1, 1], |_| {}), ["f32[4,5,32]"]);
    // As many phases would be as many ops.
    assert_eq!(convolutions(40, 3, 65, [1, 1], |_| {}), ["f32[4,2536,32]"]);
}
