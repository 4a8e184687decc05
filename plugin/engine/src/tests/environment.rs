//! Folded and run, inline and on other threads, in each floating-point environment of the caller: the same bits.

use half::{bf16, f16};
use num_complex::Complex;
use oxcall_hlo::{DotDims, FftType, Literal, Transpose, UnaryOp};
use oxcall_kernels::environment::testing::{ODD, within};

use super::*;
use crate::{ExecuteOptions, Launch};

/// Numbers whose functions depend on the environment: their products are subnormal, and nothing is exact.
const NUMBERS: [f64; 16] =
    [1e-30, -1e-10, 3.1e-39, 1.0, -0.1, 0.3, 1.7, -2.9, 7.3e-5, 1e-20, 88.1, -87.9, 1.1e30, -4.7e-41, 1e-44, 0.999];

fn bytes_of(element: ElementType, numbers: impl Iterator<Item = f64>) -> Vec<u8> {
    let complex = |x: f64| Complex::new(x as f32, (0.7 * x + 0.1) as f32);
    let bytes = |x: f64| match element {
        ElementType::F16 => f16::from_f64(x).to_le_bytes().to_vec(),
        ElementType::BF16 => bf16::from_f64(x).to_le_bytes().to_vec(),
        ElementType::F32 => (x as f32).to_le_bytes().to_vec(),
        ElementType::F64 => (x * 1e-270).to_le_bytes().to_vec(),
        ElementType::C64 => bytemuck::bytes_of(&complex(x)).to_vec(),
        _ => bytemuck::bytes_of(&Complex::new(x * 1e-270, x)).to_vec(),
    };
    numbers.flat_map(bytes).collect()
}

/// An operand.
struct Operand {
    ty: TensorType,
    bytes: Vec<u8>,
}

/// The numbers as `dims` of `element`, from the one at `first` on.
fn operand(element: ElementType, dims: impl IntoIterator<Item = usize>, first: usize) -> Operand {
    let ty = TensorType::new(element, dims);
    let numbers = NUMBERS.iter().copied().cycle().skip(first).take(ty.count());
    let bytes = bytes_of(element, numbers);
    Operand { ty, bytes }
}

/// An op, with its operands; `None` for the result's type that the builder finds.
struct Case {
    kind: OpKind,
    operands: Vec<Operand>,
    result: Option<TensorType>,
}

impl Case {
    /// The program of parameters, or of constants; `None` if there is no such op.
    fn module(&self, constant: bool) -> Option<Module> {
        let mut f = FuncBuilder::new("main");
        let operand = |operand: &Operand| {
            if constant {
                f.constant(Literal::dense(operand.ty.clone(), operand.bytes.clone()))
            } else {
                f.param(operand.ty.clone())
            }
        };
        let operands: Vec<ValueId> = self.operands.iter().map(operand).collect();
        let result = match &self.result {
            Some(ty) => f.typed(self.kind.clone(), operands, ty.clone()).ok()?,
            None => f.op(self.kind.clone(), operands).ok()?,
        };
        let module = Module::with_main(f.finish(vec![result]));
        verify(&module).is_ok().then_some(module)
    }

    fn results(&self, program: &Program, engine: &Engine, constant: bool, launch: Launch) -> Vec<u8> {
        let arguments = if constant {
            Vec::new()
        } else {
            self.operands.iter().map(|operand| shared(engine, &operand.bytes)).collect()
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        let options = ExecuteOptions { launch, ..ExecuteOptions::default() };
        program.execute(arguments, &options, move |results| sender.send(results).unwrap());
        receiver.recv().unwrap().unwrap()[0].as_bytes().to_vec()
    }

    /// All ways of having the result in the caller's environment; the first one is by the program of parameters.
    fn all(&self, engine: &Arc<Engine>) -> Option<Vec<Vec<u8>>> {
        let run = engine.compile(self.module(false)?).ok()?;
        let folded = engine.compile(self.module(true)?).ok()?;
        let mut all = vec![self.results(&run, engine, false, Launch::Inline)];
        all.push(self.results(&run, engine, false, Launch::Elsewhere));
        all.push(self.results(&folded, engine, true, Launch::Inline));
        Some(all)
    }
}

const FLOATS: [ElementType; 6] =
    [ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128];

fn elementwise() -> impl Iterator<Item = Case> {
    let unary = |element| {
        UnaryOp::ALL.iter().map(move |&op| Case {
            kind: OpKind::Unary(op),
            operands: vec![operand(element, [16], 0)],
            result: None,
        })
    };
    let binary = |element| {
        BinaryOp::ALL.iter().map(move |&op| Case {
            kind: OpKind::Binary(op),
            operands: vec![operand(element, [16], 0), operand(element, [16], 1)],
            result: None,
        })
    };
    let convert = |element| {
        FLOATS.into_iter().map(move |to| Case {
            kind: OpKind::Convert,
            operands: vec![operand(element, [16], 0)],
            result: Some(TensorType::new(to, [16])),
        })
    };
    let narrow = |element| Case {
        kind: OpKind::ReducePrecision { exponent_bits: 6, mantissa_bits: 5 },
        operands: vec![operand(element, [16], 0)],
        result: None,
    };
    FLOATS
        .into_iter()
        .flat_map(move |element| unary(element).chain(binary(element)).chain(convert(element)).chain([narrow(element)]))
}

fn linear_algebra() -> impl Iterator<Item = Case> {
    FLOATS.into_iter().flat_map(|element| {
        let dims = DotDims {
            lhs_batching: vec![],
            rhs_batching: vec![],
            lhs_contracting: vec![1],
            rhs_contracting: vec![0],
            precision: vec![],
            algorithm: None,
        };
        let solve = OpKind::TriangularSolve {
            left_side: true,
            lower: true,
            unit_diagonal: false,
            transpose: Transpose::NoTranspose,
        };
        let fft = |fft_type| OpKind::Fft { fft_type, lengths: vec![15] };
        let case = |kind, operands| Case { kind, operands, result: None };
        [
            Case {
                kind: OpKind::DotGeneral(dims),
                operands: vec![operand(element, [3, 5], 0), operand(element, [5, 4], 3)],
                result: Some(TensorType::new(element, [3, 4])),
            },
            case(solve.clone(), vec![operand(element, [1, 1], 3), operand(element, [1, 1], 7)]),
            case(solve, vec![operand(element, [3, 3], 3), operand(element, [3, 2], 0)]),
            case(OpKind::Cholesky { lower: true }, vec![operand(element, [1, 1], 6)]),
            case(fft(FftType::Fft), vec![operand(element, [15], 0)]),
            case(fft(FftType::Ifft), vec![operand(element, [15], 2)]),
            case(fft(FftType::Rfft), vec![operand(element, [15], 2)]),
        ]
    })
}

/// Compares the bits of `cases` in all environments with those of the default one.
fn compare(cases: impl Iterator<Item = Case>, least: usize) {
    let engine = engine();
    let mut count = 0;
    for case in cases {
        let Some(expected) = case.all(&engine) else { continue };
        count += 1;
        let name = format!("{:?} of {}", case.kind, case.operands[0].ty);
        assert!(expected.iter().all(|each| *each == expected[0]), "{name}: folded is not what was run");
        for (environment, word) in ODD {
            let found = within(word, || case.all(&engine)).unwrap();
            assert_eq!(found, expected, "{name}: {environment}");
        }
    }
    assert!(count >= least, "only {count} cases are programs");
}

#[test]
fn elementwise_ops() {
    compare(elementwise(), 200);
}

#[test]
fn linear_algebra_and_transforms() {
    compare(linear_algebra(), 25);
}

/// Workers start when the first work needs them, on whatever thread that is.
#[test]
fn workers_do_not_inherit() {
    let module = || {
        func(|f| {
            let x = f.param(f32s([1 << 18]));
            let scale = f.splat(f32s([1 << 18]), 1e-10f32.to_le_bytes());
            let y = binary(f, BinaryOp::Multiply, x, scale)?;
            Ok(vec![f.op(OpKind::Unary(UnaryOp::Tanh), [y])?])
        })
    };
    let x = vec![1e-30f32; 1 << 18];
    for launch in [Launch::Inline, Launch::Elsewhere] {
        let engine = engine();
        let bytes = within(0xdfc0, || {
            let program = engine.compile(module()).unwrap();
            assert!(engine.pool().splits(program.cost()));
            let (sender, receiver) = std::sync::mpsc::channel();
            let options = ExecuteOptions { launch, ..ExecuteOptions::default() };
            program.execute(vec![shared(&engine, &x)], &options, move |results| sender.send(results).unwrap());
            receiver.recv().unwrap().unwrap()[0].as_bytes().to_vec()
        });
        assert!(bytes.chunks_exact(4).all(|y| y == 1e-40f32.to_le_bytes()), "{launch:?}");
    }
}
