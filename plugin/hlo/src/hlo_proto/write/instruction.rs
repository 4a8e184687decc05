//! `HloComputationProto` and `HloInstructionProto`.

use std::collections::HashMap;

use oxcall_proto::Writer as Message;

use super::super::fields::{computation, instruction as field, metadata, program_shape as signature};
use super::shape::{literal, shape, tuple};
use crate::{
    Attribute, CustomCallApiVersion, Func, Literal, Module, Op, OpKind, Region, TensorType, Type, ValueId, print,
};

/// The id of an instruction or computation.
type Id = i64;

/// Writes computations, each after those that it calls.
pub(super) struct Writer<'m> {
    module: &'m Module,
    func: &'m Func,
    computations: Vec<Message>,
    /// The shape of the last computation: its parameters and result.
    program_shape: Message,
    next: Id,
}

/// A computation that is being written.
#[derive(Default)]
struct Computation {
    instructions: Message,
    program_shape: Message,
    params: i64,
    /// The instructions that give values.
    ids: HashMap<ValueId, Id>,
}

impl Computation {
    fn id(&self, value: ValueId) -> Id {
        self.ids[&value]
    }

    fn ids(&self, values: &[ValueId]) -> Vec<Id> {
        values.iter().map(|&value| self.id(value)).collect()
    }
}

/// An instruction but for its id and name.
struct Instruction {
    opcode: String,
    shape: Message,
    operands: Vec<Id>,
    /// What only this opcode has.
    fields: Message,
}

impl Instruction {
    fn new(opcode: impl Into<String>, shape: Message, operands: Vec<Id>) -> Instruction {
        Instruction { opcode: opcode.into(), shape, operands, fields: Message::default() }
    }
}

impl<'m> Writer<'m> {
    pub(super) fn new(module: &'m Module) -> Writer<'m> {
        let func = module.main();
        Writer { module, func, computations: Vec::new(), program_shape: Message::default(), next: 1 }
    }

    /// All computations, and the shape of the last one.
    pub(super) fn finish(self) -> (Vec<Message>, Message) {
        (self.computations, self.program_shape)
    }

    fn next_id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    fn shape(&self, value: ValueId) -> Option<Message> {
        shape(self.func.ty(value))
    }

    /// The shape of several values: of one alone, or of a tuple.
    fn shape_of(&self, values: &[ValueId]) -> Option<Message> {
        match values {
            [value] => self.shape(*value),
            values => tuple(values.iter().map(|&value| self.func.ty(value))),
        }
    }

    fn emit(&mut self, into: &mut Computation, instruction: Instruction) -> Id {
        let Instruction { opcode, shape, operands, mut fields } = instruction;
        let id = self.next_id();
        let name = format!("{opcode}.{id}");
        fields.bytes(field::NAME, name).bytes(field::OPCODE, &opcode).message(field::SHAPE, &shape);
        fields.int(field::ID, id).ints(field::OPERANDS, operands);
        into.instructions.message(computation::INSTRUCTIONS, &fields);
        id
    }

    fn parameter(&mut self, into: &mut Computation, shape: Message) -> Id {
        let number = into.params;
        into.params += 1;
        into.program_shape.message(signature::PARAMETERS, &shape).bytes(signature::NAMES, format!("p{number}"));
        let mut instruction = Instruction::new("parameter", shape, Vec::new());
        instruction.fields.int(field::PARAMETER, number);
        self.emit(into, instruction)
    }

    fn element(&mut self, into: &mut Computation, of: Id, index: usize, ty: &Type) -> Option<Id> {
        let mut instruction = Instruction::new("get-tuple-element", shape(ty)?, vec![of]);
        instruction.fields.int(field::TUPLE_INDEX, index as i64);
        Some(self.emit(into, instruction))
    }

    fn tuple(&mut self, into: &mut Computation, values: &[ValueId]) -> Option<Id> {
        let shape = tuple(values.iter().map(|&value| self.func.ty(value)))?;
        let operands = into.ids(values);
        Some(self.emit(into, Instruction::new("tuple", shape, operands)))
    }

    /// A region whose parameters, and what it uses from outside, are parameters of the computation.
    pub(super) fn computation(&mut self, name: &str, region: &Region, captures: &[ValueId]) -> Option<Id> {
        let mut computation = Computation::default();
        for &param in region.params.iter().chain(captures) {
            let shape = self.shape(param)?;
            let id = self.parameter(&mut computation, shape);
            computation.ids.insert(param, id);
        }
        self.body(name, computation, region, &region.results, region.results.len() != 1)
    }

    /// A region whose parameters and captures are the elements of one tuple. The result is a tuple of `results`, or
    /// the only one.
    fn over_tuple(
        &mut self,
        name: &str,
        region: &Region,
        captures: &[ValueId],
        results: &[ValueId],
        is_tuple: bool,
    ) -> Option<Id> {
        let mut computation = Computation::default();
        let (func, elements) = (self.func, || region.params.iter().chain(captures).copied());
        let shape = tuple(elements().map(|value| func.ty(value)))?;
        let param = self.parameter(&mut computation, shape);
        for (index, value) in elements().enumerate() {
            let id = self.element(&mut computation, param, index, func.ty(value))?;
            computation.ids.insert(value, id);
        }
        self.body(name, computation, region, results, is_tuple)
    }

    fn body(
        &mut self,
        name: &str,
        mut computation: Computation,
        region: &Region,
        results: &[ValueId],
        is_tuple: bool,
    ) -> Option<Id> {
        for op in &region.ops {
            self.op(&mut computation, op)?;
        }
        let (root, shape) = match results {
            [result] if !is_tuple => (computation.id(*result), self.shape(*result)?),
            results => {
                let shape = tuple(results.iter().map(|&value| self.func.ty(value)))?;
                (self.tuple(&mut computation, results)?, shape)
            }
        };
        let Computation { mut instructions, mut program_shape, .. } = computation;
        program_shape.message(signature::RESULT, &shape);
        let id = self.next_id();
        let name = if name == "main" { name.to_owned() } else { format!("{name}.{id}") };
        instructions.bytes(computation::NAME, name).message(computation::PROGRAM_SHAPE, &program_shape);
        instructions.int(computation::ID, id).int(computation::ROOT, root);
        self.computations.push(instructions);
        self.program_shape = program_shape;
        Some(id)
    }

    fn op(&mut self, into: &mut Computation, op: &Op) -> Option<()> {
        let (mut instruction, is_tuple) = match &op.kind {
            OpKind::While => (self.repeat(into, op)?, true),
            OpKind::If | OpKind::Case => (self.conditional(into, op)?, true),
            OpKind::Constant(value) => (self.constant(into, op, value)?, false),
            _ => (self.instruction(into, op)?, op.results.len() != 1),
        };
        self.metadata(&mut instruction, op);
        let id = self.emit(into, instruction);
        for (index, &result) in op.results.iter().enumerate() {
            let id = if is_tuple { self.element(into, id, index, self.func.ty(result))? } else { id };
            into.ids.insert(result, id);
        }
        Some(())
    }

    /// The name under which the op was traced, such as `jit(f)/add`.
    fn metadata(&self, instruction: &mut Instruction, op: &Op) {
        if let Some(name) = self.module.location(op.location).name() {
            instruction.fields.nested(field::METADATA, |source| _ = source.bytes(metadata::OP_NAME, name));
        }
    }

    /// A loop: what it carries, and what its regions use from outside, is one tuple.
    fn repeat(&mut self, into: &mut Computation, op: &Op) -> Option<Instruction> {
        let [cond, body] = &op.regions[..] else { return None };
        let captures = Region::free_values(&op.regions);
        let next: Vec<ValueId> = body.results.iter().chain(&captures).copied().collect();
        let inits: Vec<ValueId> = op.operands.iter().chain(&captures).copied().collect();
        let body = self.over_tuple("body", body, &captures, &next, true)?;
        let cond = self.over_tuple("condition", cond, &captures, &cond.results, false)?;
        let operand = self.tuple(into, &inits)?;
        let shape = tuple(inits.iter().map(|&value| self.func.ty(value)))?;
        let mut instruction = Instruction::new("while", shape, vec![operand]);
        instruction.fields.ints(field::CALLED, [body, cond]);
        Some(instruction)
    }

    /// A branch: what a region uses from outside is a tuple.
    fn conditional(&mut self, into: &mut Computation, op: &Op) -> Option<Instruction> {
        let mut operands = into.ids(&op.operands);
        let mut branches = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            let captures = Region::free_values(std::slice::from_ref(region));
            branches.push(self.over_tuple("branch", region, &captures, &region.results, true)?);
            operands.push(self.tuple(into, &captures)?);
        }
        let shape = tuple(op.results.iter().map(|&value| self.func.ty(value)))?;
        let mut instruction = Instruction::new("conditional", shape, operands);
        instruction.fields.ints(field::CALLED, branches);
        Some(instruction)
    }

    /// A constant of equal elements is a broadcast.
    fn constant(&mut self, into: &mut Computation, op: &Op, value: &Literal) -> Option<Instruction> {
        if let Some(element) = value.splat_element().filter(|_| literal(value).is_none()) {
            let scalar = Literal::dense(TensorType::scalar(value.ty().element), element);
            let mut instruction = Instruction::new("constant", shape(&scalar.ty().clone().into())?, Vec::new());
            instruction.fields.message(field::LITERAL, &literal(&scalar)?);
            let scalar = self.emit(into, instruction);
            return Some(Instruction::new("broadcast", self.shape(op.results[0])?, vec![scalar]));
        }
        self.instruction(into, op)
    }

    /// Any other op.
    fn instruction(&mut self, into: &Computation, op: &Op) -> Option<Instruction> {
        let mut instruction = Instruction::new("", self.shape_of(&op.results)?, into.ids(&op.operands));
        if let Some(opcode) = opcode(op, self.func, &mut instruction.fields) {
            instruction.opcode = opcode;
            for region in &op.regions {
                let region = self.computation("region", region, &Region::free_values(std::slice::from_ref(region)))?;
                instruction.fields.ints(field::CALLED, [region]);
            }
            return Some(instruction);
        }
        instruction.opcode = "custom-call".to_owned();
        let mut target = op.kind.name();
        match &op.kind {
            OpKind::CustomCall(call) => {
                target = &call.target;
                let version = CustomCallApiVersion::ALL.iter().position(|&version| version == call.api_version)?;
                instruction
                    .fields
                    .bool(field::SIDE_EFFECT, call.has_side_effect)
                    .int(field::API_VERSION, version as i64);
                match call.typed_attributes().unwrap_or(&call.backend_config) {
                    Attribute::String(text) => instruction.fields.bytes(field::BACKEND_CONFIG, text),
                    config => instruction.fields.bytes(field::BACKEND_CONFIG, print::attribute_text(config)),
                };
            }
            OpKind::Constant(_) => {}
            kind => {
                instruction.fields.bytes(field::BACKEND_CONFIG, print::attributes_text(kind, self.module));
            }
        }
        instruction.fields.bytes(field::TARGET, target);
        let mut called = Vec::new();
        for region in &op.regions {
            // What it uses from outside comes after its own parameters.
            called.push(self.computation("region", region, &Region::free_values(std::slice::from_ref(region)))?);
        }
        instruction.fields.ints(field::CALLED, called);
        Some(instruction)
    }
}

/// Writes an op as the instruction of its opcode, and gives the opcode; `None` if HLO has no such instruction.
fn opcode(op: &Op, func: &Func, fields: &mut Message) -> Option<String> {
    if let OpKind::BroadcastInDim { dims } = &op.kind {
        // Where the operand's only element is repeated, HLO needs a reshape first.
        let (from, to) = (func.ty(op.operands[0]).tensor()?, func.ty(op.results[0]).tensor()?);
        if !dims.iter().zip(&from.dims).all(|(&dim, &size)| to.dims[dim] == size) {
            return None;
        }
    }
    op.kind.write_hlo(fields)?;
    op.kind.def().opcode()
}
