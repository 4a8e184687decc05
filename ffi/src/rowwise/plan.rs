//! The order in which a program is computed.
//!
//! A row is read once for each *stage*: a reduction needs all elements before anything can be computed from it. Within
//! a stage the row is computed block by block, all operations on one block before the next, so that what they compute
//! stays in the first cache. What a later stage needs as well is kept for the whole row.

use oxcall_math::real::Expression;

use super::derive::Rule;
use super::ops::{OPERANDS, Op};
use super::program::{Id, Kind, Make, Node, Program};
use super::value::{Value, record};
use crate::pointwise::Active;

/// A block of a row in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Of an operand.
    Input(usize),
    /// Of a register.
    Register(Register),
}

/// Memory for one block, or for all blocks of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    pub(super) index: usize,
    pub(super) is_whole: bool,
}

/// Where the result of an operation on blocks goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target<R> {
    /// A register, which may be where an operand was.
    Register(R),
    /// A result of the function, that no other operation reads.
    Result(usize),
}

/// A number of the row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Input(usize),
    Const(f64),
    Count,
    Op(Op, [Id; OPERANDS]),
}

/// A reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduce {
    Sum,
    SumOfProducts,
    Max,
}

/// A part of a number in blocks of `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The nearest number of blocks.
    Rounded,
    /// What rounding has taken.
    Rest,
}

/// The work of one pass over a row.
#[derive(Debug, Default)]
pub(super) struct Stage {
    /// The numbers that are computed before the pass.
    pub(super) numbers: Vec<(Id, Number)>,
    /// The numbers that operations on blocks need, and blocks full of them.
    pub(super) spreads: Vec<(Id, Part, Register)>,
    /// The operands that it reads.
    pub(super) loads: Vec<usize>,
    /// The operations on each block.
    pub(super) steps: Vec<(Op, [Source; OPERANDS], Target<Register>)>,
    /// The reductions, with the numbers that they give; the second operand is for those of two.
    pub(super) reductions: Vec<(Reduce, [Source; 2], Id)>,
    /// The results that it writes and no operation does.
    pub(super) copies: Vec<(usize, Source)>,
}

impl Stage {
    /// The operations on each block.
    pub(super) fn operations(&self) -> usize {
        self.steps.len() + self.reductions.len()
    }

    /// Whether it reads the row.
    pub(super) fn has_pass(&self) -> bool {
        !(self.steps.is_empty() && self.reductions.is_empty() && self.copies.is_empty())
    }
}

/// A row-wise function, or a derivative of one, ready to be computed.
#[derive(Debug)]
pub struct Plan {
    pub(super) stages: Vec<Stage>,
    pub(super) inputs: Vec<Kind>,
    pub(super) results: Vec<Kind>,
    /// The results that are one number, or the same number for each element.
    pub(super) numbers: Vec<(usize, Id)>,
    /// Whether each register is for the whole row.
    pub(super) registers: Vec<bool>,
    /// The number of values, whose numbers of the row are stored by their ids.
    pub(super) values: usize,
    /// What it computes.
    pub(super) program: Program,
}

impl Plan {
    /// Records a function, and plans a derivative of it: by the rules in their order, each with what is active.
    pub fn new(
        inputs: &[Kind],
        function: impl FnOnce(&[Value]) -> Vec<(Value, Kind)>,
        rules: impl IntoIterator<Item = (Rule, Active)>,
    ) -> Plan {
        let program = record(inputs, function);
        Plan::of(&rules.into_iter().fold(program, |program, (rule, active)| program.derivative(rule, active)))
    }

    /// The kinds of the operands.
    #[cfg(feature = "cuda")]
    pub(crate) fn inputs(&self) -> &[Kind] {
        &self.inputs
    }

    /// The kinds of the results.
    #[cfg(feature = "cuda")]
    pub(crate) fn results(&self) -> &[Kind] {
        &self.results
    }

    /// What it computes, as hosts get it.
    pub(crate) fn expression(&self) -> Option<Expression> {
        self.program.expression()
    }

    pub(super) fn of(program: &Program) -> Plan {
        let recorded = program.without_marks();
        let program = recorded.computed();
        let order = Order::of(&program);
        let mut plan = Plan {
            stages: (0..order.stages).map(|_| Stage::default()).collect(),
            inputs: program.inputs.clone(),
            results: program.results.iter().map(|(_, kind)| *kind).collect(),
            numbers: Vec::new(),
            registers: Vec::new(),
            values: program.nodes.len(),
            program: Program::default(),
        };
        for (index, (id, _)) in program.results.iter().enumerate() {
            if program.nodes[*id].kind == Kind::PerRow {
                plan.numbers.push((index, *id));
            }
        }
        let only_results = program.only_results(|id| order.stage[id].is_some());
        let summed = program.summed_products();
        let mut whole: Vec<Option<Register>> = vec![None; program.nodes.len()];
        for stage in 0..order.stages {
            let filling = Filling {
                program: &program,
                order: &order,
                only_results: &only_results,
                summed: &summed,
                stage,
                whole: &mut whole,
            };
            plan.stages[stage] = filling.fill(&mut plan.registers);
        }
        plan.program = recorded;
        plan
    }
}

/// When each value is computed.
struct Order {
    /// The stage of each value that is needed: numbers of the row before its pass, rows in it. A reduction is part of
    /// the pass before its stage.
    stage: Vec<Option<usize>>,
    /// The last stage whose pass needs each value as a row.
    last: Vec<usize>,
    stages: usize,
}

impl Order {
    fn of(program: &Program) -> Order {
        let nodes = &program.nodes;
        let mut earliest = vec![0; nodes.len()];
        for (id, node) in nodes.iter().enumerate() {
            let after = usize::from(matches!(node.make, Make::Sum(_) | Make::Max(_)));
            earliest[id] = node.operands().map(|of| earliest[of] + after).max().unwrap_or(0);
        }
        // A row is computed in the first pass that needs it, which may be a later one than could.
        let mut stage = vec![None; nodes.len()];
        let mut last = vec![0; nodes.len()];
        let mut need = |id: Id, at: usize, stage: &mut [Option<usize>]| {
            let first = stage[id].map_or(at, |first: usize| first.min(at));
            stage[id] = Some(if nodes[id].kind == Kind::Row { first } else { earliest[id] });
            last[id] = last[id].max(at);
        };
        for (id, _) in &program.results {
            need(*id, earliest[*id], &mut stage);
        }
        for (id, node) in nodes.iter().enumerate().rev() {
            if let Some(at) = stage[id] {
                let before = usize::from(matches!(node.make, Make::Sum(_) | Make::Max(_)));
                node.operands().for_each(|of| need(of, at - before, &mut stage));
            }
        }
        let stages = stage.iter().flatten().max().map_or(0, |most| most + 1);
        Order { stage, last, stages }
    }
}

/// The making of one stage.
struct Filling<'a> {
    program: &'a Program,
    order: &'a Order,
    /// See [`Program::only_results`].
    only_results: &'a [Option<usize>],
    /// See [`Program::summed_products`].
    summed: &'a [Option<[Id; 2]>],
    stage: usize,
    /// The registers of the values that several stages need.
    whole: &'a mut [Option<Register>],
}

impl Filling<'_> {
    fn fill(self, registers: &mut Vec<bool>) -> Stage {
        let Filling { program, order, only_results, summed, stage, whole } = self;
        let nodes = &program.nodes;
        let mut filled = Stage::default();
        let is_here = |id: &Id| order.stage[*id] == Some(stage);
        let ids: Vec<Id> = (0..nodes.len()).filter(is_here).collect();
        for id in ids.iter().copied().filter(|id| nodes[*id].kind == Kind::PerRow) {
            let number = match nodes[id].make {
                Make::Input(index) => Number::Input(index),
                Make::Const(bits) => Number::Const(f64::from_bits(bits)),
                Make::Count => Number::Count,
                Make::Op(op, ids) => Number::Op(op, ids),
                // The pass before has computed it; marks are gone.
                Make::Sum(_) | Make::Max(_) | Make::Fixed(_) => continue,
            };
            filled.numbers.push((id, number));
        }
        let steps = ids.iter().copied().filter_map(|id| match nodes[id].make {
            Make::Op(op, operands) if nodes[id].kind == Kind::Row && summed[id].is_none() => Some((id, op, operands)),
            _ => None,
        });
        let steps: Vec<(Id, Op, [Id; OPERANDS])> = steps.collect();
        let reductions = nodes.iter().enumerate().filter_map(|(id, node)| {
            let (reduce, of) = match node.make {
                Make::Sum(of) => summed[of].map_or((Reduce::Sum, [of; 2]), |factors| (Reduce::SumOfProducts, factors)),
                Make::Max(of) => (Reduce::Max, [of; 2]),
                _ => return None,
            };
            (order.stage[id] == Some(stage + 1)).then_some((reduce, of, id))
        });
        let reductions: Vec<(Reduce, [Id; 2], Id)> = reductions.collect();
        let writes = program.results.iter().enumerate();
        let writes = writes.filter(|(_, (id, _))| nodes[*id].kind == Kind::Row && is_here(id));
        let writes: Vec<(usize, Id)> = writes.map(|(index, (id, _))| (index, *id)).collect();

        // The last step that reads each value; what is reduced or written is read after all of them.
        let mut last_read = vec![0; nodes.len()];
        for (position, (_, op, operands)) in steps.iter().enumerate() {
            operands.iter().take(op.arity()).for_each(|id| last_read[*id] = position);
        }
        let read_at_the_end = reductions.iter().flat_map(|(_, of, _)| *of).chain(writes.iter().map(|(_, id)| *id));
        read_at_the_end.for_each(|id| last_read[id] = usize::MAX);

        let mut places: Vec<Option<Source>> = vec![None; nodes.len()];
        let mut memory = Memory { registers, free: Vec::new(), taken: 0 };
        let mut source = |id: Id, filled: &mut Stage, memory: &mut Memory<'_>, whole: &[Option<Register>]| {
            if let Some(place) = places[id] {
                return place;
            }
            let place = match (nodes[id].make, nodes[id].kind, whole[id]) {
                (Make::Input(index), Kind::Row, _) => {
                    filled.loads.push(index);
                    Source::Input(index)
                }
                (_, Kind::PerRow, _) => {
                    // For the whole stage, since it is filled before the first block.
                    let register = memory.block();
                    filled.spreads.push((id, Part::Rounded, register));
                    Source::Register(register)
                }
                (_, Kind::Row, Some(register)) => Source::Register(register),
                (_, Kind::Row, None) => unreachable!("a row is computed before what is made of it"),
            };
            places[id] = Some(place);
            place
        };
        // First those that are filled before the pass, so that no step's register is among them.
        for (_, op, operands) in &steps {
            for id in operands.iter().take(op.arity()).filter(|id| nodes[**id].kind == Kind::PerRow) {
                source(*id, &mut filled, &mut memory, whole);
            }
        }
        let mut rests: Vec<Option<Register>> = vec![None; nodes.len()];
        for (_, [_, number]) in steps.iter().filter_map(|(_, op, operands)| pair(nodes, *op, operands)) {
            rests[number].get_or_insert_with(|| {
                let register = memory.block();
                filled.spreads.push((number, Part::Rest, register));
                register
            });
        }
        let mut held: Vec<Option<Register>> = vec![None; nodes.len()];
        for (position, (id, op, operands)) in steps.iter().enumerate() {
            let read = &operands[..op.arity()];
            let mut place = |of: Id| match held[of] {
                Some(register) => Source::Register(register),
                None => source(of, &mut filled, &mut memory, whole),
            };
            let (op, sources) = match pair(nodes, *op, operands) {
                Some((op, [row, number])) => {
                    let rest = rests[number].expect("each has one");
                    (op, [place(row), place(number), Source::Register(rest)])
                }
                None => (*op, operands.map(place)),
            };
            let target = if let Some(result) = only_results[*id] {
                Target::Result(result)
            } else {
                let register = if order.last[*id] > stage {
                    let register = memory.whole();
                    whole[*id] = Some(register);
                    register
                } else {
                    memory.block()
                };
                held[*id] = Some(register);
                Target::Register(register)
            };
            filled.steps.push((op, sources, target));
            for of in read {
                if let (Some(register), true) = (held[*of], last_read[*of] == position) {
                    // Once, although an operation may read a value twice.
                    if !register.is_whole && !memory.free.contains(&register) {
                        memory.free.push(register);
                    }
                }
            }
        }
        let mut at_end = |id: Id, filled: &mut Stage, memory: &mut Memory<'_>| match held[id] {
            Some(register) => Source::Register(register),
            None => source(id, filled, memory, whole),
        };
        for (reduce, of, id) in reductions {
            let sources = of.map(|of| at_end(of, &mut filled, &mut memory));
            filled.reductions.push((reduce, sources, id));
        }
        for (index, id) in writes {
            if only_results[id].is_none() {
                let source = at_end(id, &mut filled, &mut memory);
                filled.copies.push((index, source));
            }
        }
        filled
    }
}

/// The operation with a number that comes in two parts, and its operands, if one is a number that rounding to `f32`
/// would change.
fn pair(nodes: &[Node], op: Op, operands: &[Id; OPERANDS]) -> Option<(Op, [Id; 2])> {
    let is_computed = |id: Id| {
        let Node { make, kind } = nodes[id];
        kind == Kind::PerRow && matches!(make, Make::Op(..) | Make::Sum(_))
    };
    let pair = op.of_pair()?;
    match *operands {
        [row, number, _] if nodes[row].kind == Kind::Row && is_computed(number) => Some((pair, [row, number])),
        [number, row, _] if op == Op::Add && nodes[row].kind == Kind::Row && is_computed(number) => {
            Some((pair, [row, number]))
        }
        _ => None,
    }
}

/// The registers of a plan, those of blocks shared by its stages.
struct Memory<'a> {
    registers: &'a mut Vec<bool>,
    free: Vec<Register>,
    /// How many of the plan's registers this stage has taken or passed over.
    taken: usize,
}

impl Memory<'_> {
    fn block(&mut self) -> Register {
        if let Some(register) = self.free.pop() {
            return register;
        }
        while self.taken < self.registers.len() {
            self.taken += 1;
            if !self.registers[self.taken - 1] {
                return Register { index: self.taken - 1, is_whole: false };
            }
        }
        self.registers.push(false);
        self.taken = self.registers.len();
        Register { index: self.taken - 1, is_whole: false }
    }

    fn whole(&mut self) -> Register {
        self.registers.push(true);
        Register { index: self.registers.len() - 1, is_whole: true }
    }
}
