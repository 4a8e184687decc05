//! Random programs against an interpreter that knows nothing of buffers.

use oxcall_jit::{Isa, Kernel};

use super::control_flow::repeat;
use super::*;

type Array = [i32; 4];

/// An op. Values are numbered in the order of their definition, those of outer regions first.
enum Node {
    Constant(i32),
    Binary(BinaryOp, usize, usize),
    Reverse(usize),
    /// The first value, with an element of the second.
    Update(usize, usize, usize),
    /// The first value or the second.
    Select(bool, usize, usize),
    Loop {
        count: i32,
        inits: Vec<usize>,
        body: Vec<Node>,
        nexts: Vec<usize>,
    },
    Branch {
        taken: bool,
        sides: [(Vec<Node>, Vec<usize>); 2],
    },
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// One of the values, a late one rather than an early one.
    fn value(&mut self, known: usize) -> usize {
        if self.below(2) == 0 { self.below(known) } else { known - 1 - self.below(known.min(3)) }
    }

    fn values(&mut self, count: usize, known: usize) -> Vec<usize> {
        (0..count).map(|_| self.value(known)).collect()
    }

    /// Ops that may use `known` values, and how many there are after them.
    fn region(&mut self, mut known: usize, depth: usize) -> (Vec<Node>, usize) {
        let mut nodes = Vec::new();
        for _ in 0..1 + self.below(6) {
            let kind = self.below(if depth < 3 { 10 } else { 8 });
            nodes.push(match kind {
                0 => Node::Constant(self.below(100) as i32),
                1 => Node::Reverse(self.value(known)),
                2..=5 => {
                    let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Xor];
                    Node::Binary(ops[self.below(4)], self.value(known), self.value(known))
                }
                6 => Node::Update(self.value(known), self.value(known), self.below(4)),
                7 => Node::Select(self.below(2) == 0, self.value(known), self.value(known)),
                8 => {
                    let carried = 1 + self.below(4);
                    let inits = self.values(carried, known);
                    let (body, end) = self.region(known + carried, depth + 1);
                    let nexts = self.values(carried, end);
                    known += carried - 1;
                    Node::Loop { count: self.below(4) as i32, inits, body, nexts }
                }
                _ => {
                    let count = 1 + self.below(3);
                    let sides = [(); 2].map(|()| {
                        let (nodes, end) = self.region(known, depth + 1);
                        (nodes, self.values(count, end))
                    });
                    known += count - 1;
                    Node::Branch { taken: self.below(2) == 0, sides }
                }
            });
            known += 1;
        }
        (nodes, known)
    }
}

fn interpret(nodes: &[Node], env: &mut Vec<Array>) {
    for node in nodes {
        match node {
            Node::Constant(value) => env.push([*value; 4]),
            Node::Reverse(value) => {
                let mut array = env[*value];
                array.reverse();
                env.push(array);
            }
            Node::Update(a, b, at) => {
                let mut array = env[*a];
                array[*at] = env[*b][*at];
                env.push(array);
            }
            Node::Select(first, a, b) => env.push(env[if *first { *a } else { *b }]),
            Node::Binary(op, a, b) => {
                let (a, b) = (env[*a], env[*b]);
                env.push(std::array::from_fn(|i| match op {
                    BinaryOp::Add => a[i].wrapping_add(b[i]),
                    BinaryOp::Subtract => a[i].wrapping_sub(b[i]),
                    BinaryOp::Multiply => a[i].wrapping_mul(b[i]),
                    _ => a[i] ^ b[i],
                }));
            }
            Node::Loop { count, inits, body, nexts } => {
                let mut carried: Vec<Array> = inits.iter().map(|&init| env[init]).collect();
                let outside = env.len();
                for _ in 0..*count {
                    env.extend(&carried);
                    interpret(body, env);
                    carried = nexts.iter().map(|&next| env[next]).collect();
                    env.truncate(outside);
                }
                env.extend(carried);
            }
            Node::Branch { taken, sides } => {
                let (nodes, results) = &sides[usize::from(!taken)];
                let outside = env.len();
                interpret(nodes, env);
                let results: Vec<Array> = results.iter().map(|&result| env[result]).collect();
                env.truncate(outside);
                env.extend(results);
            }
        }
    }
}

fn ty() -> TensorType {
    TensorType::new(ElementType::S32, [4])
}

/// `flags` are the values true and false.
fn build(
    f: &mut FuncBuilder,
    nodes: &[Node],
    env: &mut Vec<ValueId>,
    flags: [ValueId; 2],
) -> Result<(), oxcall_hlo::Error> {
    for node in nodes {
        match node {
            Node::Constant(value) => env.push(f.splat(ty(), value.to_le_bytes())),
            Node::Reverse(value) => env.push(f.op(OpKind::Reverse { dims: vec![0] }, [env[*value]])?),
            Node::Update(a, b, at) => {
                let place = constant_s32(f, *at as i32);
                let kind = OpKind::Slice { start: vec![*at], limit: vec![*at + 1], strides: vec![1] };
                let part = f.typed(kind, [env[*b]], TensorType::new(ElementType::S32, [1]))?;
                env.push(f.op(OpKind::DynamicUpdateSlice, [env[*a], part, place])?);
            }
            Node::Select(first, a, b) => {
                let all = TensorType::new(ElementType::Pred, [4]);
                let flag = f.typed(OpKind::BroadcastInDim { dims: vec![] }, [flags[usize::from(!first)]], all)?;
                env.push(f.op(OpKind::Select, [flag, env[*a], env[*b]])?);
            }
            Node::Binary(op, a, b) => env.push(binary(f, *op, env[*a], env[*b])?),
            Node::Loop { count, inits, body, nexts } => {
                let inits: Vec<ValueId> = inits.iter().map(|&init| env[init]).collect();
                let results = repeat(f, *count, &inits, |f, _, carried| {
                    let mut env = env.clone();
                    env.extend(carried);
                    build(f, body, &mut env, flags)?;
                    Ok(nexts.iter().map(|&next| env[next]).collect())
                })?;
                env.extend(results);
            }
            Node::Branch { taken, sides } => {
                let mut regions = Vec::new();
                for (nodes, results) in sides {
                    regions.push(f.region(Vec::<TensorType>::new(), |f, _| {
                        let mut env = env.clone();
                        build(f, nodes, &mut env, flags)?;
                        Ok(results.iter().map(|&result| env[result]).collect())
                    })?);
                }
                env.extend(f.with_regions(OpKind::If, [flags[usize::from(!taken)]], regions)?);
            }
        }
    }
    Ok(())
}

#[test]
fn random_programs_agree_with_an_interpreter() {
    check(0..200);
}

#[test]
#[ignore = "minutes"]
fn many_random_programs_agree_with_an_interpreter() {
    check(200..20_000);
}

fn check(seeds: std::ops::Range<u64>) {
    // Loops as steps, and as machine code.
    let isas = Isa::all().filter(|isa| Kernel::is_supported() && isa.is_present()).map(Some);
    isas.chain([None]).for_each(|isa| check_with(&Engine::for_isa(isa), seeds.clone()));
}

fn check_with(engine: &Arc<Engine>, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = Random(seed);
        let params = 1 + random.below(3);
        let (nodes, known) = random.region(params, 0);
        let count = 1 + random.below(4);
        let results = random.values(count, known);
        let mut module = func(|f| {
            let flags = [(); 2].map(|()| f.param(TensorType::scalar(ElementType::Pred)));
            let mut env: Vec<ValueId> = (0..params).map(|_| f.param(ty())).collect();
            build(f, &nodes, &mut env, flags)?;
            Ok(results.iter().map(|&result| env[result]).collect())
        });
        let mut given = vec![false; params];
        for (result, given) in given.iter_mut().enumerate().take(count) {
            *given = random.below(2) == 0;
            if *given {
                donate(&mut module, 2 + result, result as i64);
            }
        }
        let program = compile(engine, module);
        let mut env: Vec<Array> = (0..params).map(|i| std::array::from_fn(|j| (7 * i + j) as i32)).collect();
        for run in 0..3 {
            let mut arguments = vec![shared(engine, &[1u8]), shared(engine, &[0u8])];
            for (array, &given) in env.iter().take(params).zip(&given) {
                let may_give = given && run != 1;
                arguments.push(if may_give { donated(engine, array) } else { shared(engine, array) });
            }
            let got = program.run(arguments).unwrap();
            env.truncate(params);
            interpret(&nodes, &mut env);
            for (index, (got, &result)) in got.iter().zip(&results).enumerate() {
                assert_eq!(values::<i32>(got), env[result], "result {index} of seed {seed}, run {run}");
            }
        }
    }
}
