use oxcall_hlo::ElementType::*;
use oxcall_hlo::{ElementType, OpKind, RngAlgorithm, RngDistribution};

use crate::element::bf16;
use crate::kernels::testing::{Single, bytes, elements, ty};

/// The key and counter of the expected values, which stock JAX on CPUs computed for `lax.rng_bit_generator(key, shape,
/// dtype, algorithm)`.
const STATE: [u64; 2] = [0x9abc_def0_1234_5678, 0xffff_ffff_ffff_fffe];

/// Whether Threefry rather than Philox, element type, shape, the counter afterwards, and the FNV-1a hash of the bits.
#[rustfmt::skip]
const EXPECTED: &[(bool, ElementType, &[usize], u64, u64)] = &[
    (true, U8, &[40, 7], 0x8a, 0x495eecd52063cf51),
    (true, U8, &[5, 9, 3], 0x49, 0xdf8c03655cdc94d2),
    (true, U16, &[40, 7], 0x8a, 0xb560695ce27539d0),
    (true, U16, &[5, 9, 3], 0x49, 0xef0e1d067741c7ba),
    (true, U32, &[40, 7], 0x8a, 0x16f332f38c6b6c25),
    (true, U32, &[7, 40, 3], 0x1a2, 0xea08bd3e722105ed),
    (true, U32, &[5, 9, 3], 0x49, 0x8dc231e3dc59b929),
    (true, U32, &[3, 5, 7], 0x3a, 0x4dea3d7b80e70844),
    (true, U32, &[37], 0x11, 0xfd9c08dc4a80ce32),
    (true, U32, &[1, 1], 0xffffffffffffffff, 0x98a793c1e9caada3),
    (true, U32, &[0, 3], 0xfffffffffffffffe, 0xcbf29ce484222325),
    (true, U32, &[2, 37, 5], 0xb7, 0x2d6c60d7e425003c),
    (true, U32, &[64], 0x1e, 0x2e63c08fb9714934),
    (true, U64, &[40, 7], 0x116, 0x13ac9274a901a6ed),
    (true, U64, &[7, 40, 3], 0x346, 0xa63713418cd030b6),
    (true, U64, &[5, 9, 3], 0x85, 0x38d3f784d3a022e5),
    (true, U64, &[3, 5, 7], 0x67, 0xdf48f11b9dc96ddb),
    (true, U64, &[37], 0x23, 0x8eeccaa1dad33597),
    (true, U64, &[1, 1], 0xffffffffffffffff, 0xf0b5ef5b6ab29b7c),
    (true, U64, &[0, 3], 0xfffffffffffffffe, 0xcbf29ce484222325),
    (true, U64, &[2, 37, 5], 0x170, 0xd937ae1e442f9cef),
    (true, U64, &[64], 0x3e, 0x2d8e73a5992c6a3),
    (false, U8, &[40, 7], 0x44, 0x60043ec2e2b23ffa),
    (false, U8, &[5, 9, 3], 0x20, 0x50cd422cb0d92144),
    (false, U16, &[40, 7], 0x44, 0x71e31ff091c6560b),
    (false, U16, &[5, 9, 3], 0x20, 0xd03b1b0dadee1e8b),
    (false, U32, &[40, 7], 0x44, 0x6701e230f795ab99),
    (false, U32, &[7, 40, 3], 0xd0, 0xcb179f5814c30005),
    (false, U32, &[5, 9, 3], 0x20, 0x3465d0edca916c42),
    (false, U32, &[3, 5, 7], 0x19, 0xc24648634fccc249),
    (false, U32, &[37], 0x8, 0x4125058f62a1430),
    (false, U32, &[1, 1], 0xffffffffffffffff, 0x6ae8063bb070ad15),
    (false, U32, &[0, 3], 0xfffffffffffffffe, 0xcbf29ce484222325),
    (false, U32, &[2, 37, 5], 0x5b, 0xa1b5567d259c535),
    (false, U32, &[64], 0xe, 0x120b7aa1218bfb32),
    (false, U64, &[40, 7], 0x8a, 0x827a23cd747c97e8),
    (false, U64, &[7, 40, 3], 0x1a2, 0x90bd02b880edfba5),
    (false, U64, &[5, 9, 3], 0x42, 0x5d1933aef7e1c579),
    (false, U64, &[3, 5, 7], 0x33, 0xd299a9e76a6d5a39),
    (false, U64, &[37], 0x11, 0xc3cf08d47c69a926),
    (false, U64, &[1, 1], 0xffffffffffffffff, 0xfee7bf0eb86ec50e),
    (false, U64, &[0, 3], 0xfffffffffffffffe, 0xcbf29ce484222325),
    (false, U64, &[2, 37, 5], 0xb7, 0x798f9a2768be50e2),
    (false, U64, &[64], 0x1e, 0xbf33ccc39cfa9fcc),
];

fn generate(algorithm: RngAlgorithm, state: &[u64], element: ElementType, dims: &[usize]) -> (Vec<u64>, Vec<u8>) {
    let state_type = ty(U64, &[state.len()]);
    let op = Single::new(
        OpKind::RngBitGenerator(algorithm),
        std::slice::from_ref(&state_type),
        &[state_type.clone(), ty(element, dims)],
    );
    let mut results = op.run(&[bytes(state)]);
    let bits = results.pop().expect("bits");
    (elements(&results[0]), bits)
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn bits_are_those_of_xla() {
    for &(threefry, element, dims, counter, hash) in EXPECTED {
        let algorithm = if threefry { RngAlgorithm::ThreeFry } else { RngAlgorithm::Philox };
        let (state, bits) = generate(algorithm, &STATE, element, dims);
        assert_eq!((state, fnv(&bits)), (vec![STATE[0], counter], hash), "{algorithm:?} {element} {dims:?}");
    }
    let (_, bits) = generate(RngAlgorithm::ThreeFry, &STATE, U32, &[5]);
    assert_eq!(elements::<u32>(&bits), [0xb67b1508, 0xd04e5495, 0x22b3e624, 0xfaab5466, 0xed280379]);
}

#[test]
fn philox_takes_a_state_of_three_words_and_is_the_default() {
    let state = [STATE[0], STATE[1], 7];
    for algorithm in [RngAlgorithm::Philox, RngAlgorithm::Default] {
        let (next, bits) = generate(algorithm, &state, U32, &[5]);
        assert_eq!(next, [STATE[0], 0, 8]);
        assert_eq!(elements::<u32>(&bits), [0xcd336701, 0xa7471746, 0x690bfe69, 0x12edc5be, 0x7d4d3d4c]);
        let (_, bits) = generate(algorithm, &state, S4, &[9]);
        assert_eq!(elements::<i8>(&bits), [1, 6, -7, -2, -4, 7, -8, 2, -7]);
    }
}

#[test]
fn pieces_of_different_threads_fit() {
    for (algorithm, dims) in [
        (RngAlgorithm::Philox, vec![100_003]),
        (RngAlgorithm::ThreeFry, vec![300, 1000]),
        (RngAlgorithm::ThreeFry, vec![301, 33, 31]),
    ] {
        for element in [U8, U32, U64] {
            let (_, bits) = generate(algorithm, &STATE, element, &dims);
            let op =
                Single::new(OpKind::RngBitGenerator(algorithm), &[ty(U64, &[2])], &[ty(U64, &[2]), ty(element, &dims)]);
            assert_eq!(op.run_alone(&[bytes(&STATE)])[1], bits, "{algorithm:?} {element} {dims:?}");
        }
    }
}

fn rng(distribution: RngDistribution, element: ElementType, bounds: [Vec<u8>; 2], count: usize) -> Vec<u8> {
    let [a, b] = bounds;
    let operands = [ty(element, &[]), ty(element, &[]), ty(S64, &[1])];
    Single::new(OpKind::Rng(distribution), &operands, &[ty(element, &[count])])
        .run(&[a, b, bytes(&[count as i64])])
        .remove(0)
}

#[test]
fn uniform_numbers_fill_their_range() {
    let floats: Vec<f32> = elements(&rng(RngDistribution::Uniform, F32, [bytes(&[-2f32]), bytes(&[6f32])], 20_001));
    assert!(floats.iter().all(|x| (-2.0..6.0).contains(x)));
    let mean = floats.iter().sum::<f32>() / floats.len() as f32;
    assert!((mean - 2.0).abs() < 0.1, "{mean}");

    let halves = rng(RngDistribution::Uniform, BF16, [bytes(&[bf16::ZERO]), bytes(&[bf16::ONE])], 5000);
    assert!(elements::<bf16>(&halves).iter().all(|&x| x >= bf16::ZERO && x < bf16::ONE));

    let integers: Vec<i8> = elements(&rng(RngDistribution::Uniform, S8, [bytes(&[-100i8]), bytes(&[100i8])], 5000));
    assert!(integers.iter().all(|x| (-100..100).contains(x)));
    assert!(integers.iter().any(|&x| x < -95) && integers.iter().any(|&x| x > 94));
}

#[test]
fn normal_numbers_have_their_moments() {
    for count in [40_000, 40_001] {
        let numbers: Vec<f64> = elements(&rng(RngDistribution::Normal, F64, [bytes(&[3f64]), bytes(&[2f64])], count));
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let moment = |power| numbers.iter().map(|x| ((x - mean) / 2.0).powi(power)).sum::<f64>() / count as f64;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
        assert!((moment(2) - 1.0).abs() < 0.05, "{}", moment(2));
        assert!((moment(4) - 3.0).abs() < 0.3, "{}", moment(4));
    }
}
