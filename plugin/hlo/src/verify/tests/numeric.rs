use super::*;
use crate::{FftType, RngAlgorithm, RngDistribution};

#[test]
fn transforms() {
    let fft = |fft_type, lengths: &[usize]| OpKind::Fft { fft_type, lengths: lengths.to_vec() };
    takes(fft(FftType::Fft, &[4]), "3x4xcomplex<f32> -> 3x4xcomplex<f32>", &[]);
    takes(fft(FftType::Ifft, &[3, 4]), "3x4xcomplex<f64> -> 3x4xcomplex<f64>", &[]);
    takes(fft(FftType::Rfft, &[3, 5]), "3x5xf32 -> 3x3xcomplex<f32>", &[]);
    takes(fft(FftType::Irfft, &[3, 5]), "3x3xcomplex<f64> -> 3x5xf64", &[]);
    takes(fft(FftType::Rfft, &[0]), "0xf32 -> 0xcomplex<f32>", &[]);
    takes(fft(FftType::Irfft, &[0]), "3x1xcomplex<f32> -> 3x0xf32", &[]);
    takes(fft(FftType::Irfft, &[0]), "3x0xcomplex<f32> -> 3x0xf32", &[]);
    refuses(
        fft(FftType::Fft, &[4]),
        "4xf32 -> 4xcomplex<f32>",
        &[],
        "operand must be complex for an FFT, got tensor<4xf32>",
    );
    refuses(fft(FftType::Rfft, &[4]), "4xcomplex<f32> -> 3xcomplex<f32>", &[], "operand must be real for an RFFT");
    refuses(
        fft(FftType::Fft, &[5]),
        "4xcomplex<f32> -> 5xcomplex<f32>",
        &[],
        "the last dimensions of operand, tensor<4xcomplex<f32>>, must be [5]",
    );
    refuses(fft(FftType::Irfft, &[4]), "4xcomplex<f32> -> 4xf32", &[], "must be [3] for an IRFFT of fft_length [4]");
    refuses(
        fft(FftType::Fft, &[1; 4]),
        "1x1x1x1xcomplex<f32> -> f32",
        &[],
        "fft_length must have 1 to 3 entries, got 4",
    );
    refuses(
        fft(FftType::Fft, &[1; 2]),
        "1xcomplex<f32> -> 1xcomplex<f32>",
        &[],
        "must have at most one entry for each dimension of operand",
    );
}

#[test]
fn random_numbers() {
    let rng = OpKind::Rng;
    takes(rng(RngDistribution::Uniform), "i32, i32, 2xi64 -> 3x4xi32", &[]);
    takes(rng(RngDistribution::Normal), "f32, f32, 0xi64 -> f32", &[]);
    refuses(
        rng(RngDistribution::Normal),
        "i32, i32, 2xi64 -> 3x4xi32",
        &[],
        "a must be a tensor of floating-point type",
    );
    refuses(rng(RngDistribution::Uniform), "f32, f64, 2xi64 -> 3x4xf32", &[], "a and b must have the same type");
    refuses(
        rng(RngDistribution::Uniform),
        "f32, f32, 3xi64 -> 3x4xf32",
        &[],
        "shape must be a vector with an entry for each dimension of the result, tensor<3x4xf32>, got tensor<3xi64>",
    );
    refuses(rng(RngDistribution::Uniform), "2xf32, 2xf32, 1xi64 -> 2xf32", &[], "a must be a scalar");
    let bits = OpKind::RngBitGenerator;
    takes(bits(RngAlgorithm::ThreeFry), "2xui64 -> 2xui64, 5x6xui32", &[]);
    takes(bits(RngAlgorithm::Philox), "3xui64 -> 3xui64, 5xui8", &[]);
    takes(bits(RngAlgorithm::Default), "4xui32 -> 4xui32, 5xui8", &[]);
    refuses(
        bits(RngAlgorithm::ThreeFry),
        "3xui64 -> 3xui64, 5xui32",
        &[],
        "initial_state must be a vector of 2 ui64 for algorithm THREE_FRY, got tensor<3xui64>",
    );
    refuses(
        bits(RngAlgorithm::Philox),
        "2xui32 -> 2xui32, 5xui32",
        &[],
        "initial_state must be a vector of 2 or 3 ui64",
    );
    refuses(
        bits(RngAlgorithm::Philox),
        "2xui64 -> 3xui64, 5xui32",
        &[],
        "output_state must have the type of initial_state, tensor<2xui64>, got tensor<3xui64>",
    );
    refuses(
        bits(RngAlgorithm::Philox),
        "2xui64 -> 2xui64, 5xi1",
        &[],
        "output must be a tensor of integer or floating-point type",
    );
    refuses(bits(RngAlgorithm::Philox), "2xui64 -> 2xui64", &[], "expected two tensors as results, got 1");
}

#[test]
fn batch_norms() {
    let epsilon = 0.001;
    let inference = |feature| OpKind::BatchNormInference { epsilon, feature };
    let training = |feature| OpKind::BatchNormTraining { epsilon, feature };
    let gradient = |feature| OpKind::BatchNormGrad { epsilon, feature };
    takes(inference(1), "2x3x4xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3x4xf32", &[]);
    takes(training(0), "2x3xf16, 2xf16, 2xf16 -> 2x3xf16, 2xf16, 2xf16", &[]);
    takes(gradient(0), "2x3xf64, 2xf64, 2xf64, 2xf64, 2x3xf64 -> 2x3xf64, 2xf64, 2xf64", &[]);
    refuses(
        inference(3),
        "2x3x4xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3x4xf32",
        &[],
        "feature_index = 3 must be a dimension of operand, tensor<2x3x4xf32>",
    );
    refuses(
        inference(1),
        "2x3x4xf32, 3xf32, 3xf32, 3xf32, 4xf32 -> 2x3x4xf32",
        &[],
        "variance must have the type of features of operand, tensor<3xf32>, got tensor<4xf32>",
    );
    refuses(
        training(1),
        "2x3xf32, 3xf32, 3xf64 -> 2x3xf32, 3xf32, 3xf32",
        &[],
        "operand and offset must have the same element type",
    );
    refuses(
        training(1),
        "2x3xi32, 3xi32, 3xi32 -> 2x3xi32, 3xi32, 3xi32",
        &[],
        "operand must be a tensor of floating-point type",
    );
    refuses(
        gradient(1),
        "2x3xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3xf32, 3xf32, 3xf32",
        &[],
        "operand and grad_output must have the same type, got tensor<2x3xf32> and tensor<3xf32>",
    );
}
