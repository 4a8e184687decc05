//! Written HLO protos, field by field: the numbers are those of `hlo.proto` and `xla_data.proto`.

mod computations;
mod fields;
mod literals;

use oxcall_hlo::{parse_text, verify, write_hlo_proto};
use oxcall_proto::Message;

/// The `HloModuleProtoWithConfig` of a program in text.
fn write(text: &str) -> Vec<u8> {
    let module = parse_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    write_hlo_proto(&module).unwrap()
}

/// The program of one function.
fn program(signature: &str, lines: &str) -> String {
    format!("module @test {{\n  func.func public @main{signature} {{\n{lines}\n  }}\n}}\n")
}

/// The `HloModuleProto` of a file.
fn module(file: &[u8]) -> Message<'_> {
    Message::new(file).message(1).unwrap().unwrap()
}

/// The only instruction of an opcode.
fn instruction<'a>(file: &'a [u8], opcode: &str) -> Message<'a> {
    let computations = module(file).messages(3).unwrap();
    let instructions = computations.iter().flat_map(|computation| computation.messages(2).unwrap());
    let found: Vec<Message> = instructions.filter(|instruction| instruction.text(2).unwrap() == opcode).collect();
    let [instruction] = found[..] else { panic!("{} are {opcode}", found.len()) };
    instruction
}

/// The shape of an array as `11[2,3]{1,0}`, of a tuple as `(11[], 11[])`, and of a token as `17`.
fn shape(of: Message) -> String {
    let element = of.int(2).unwrap();
    if element == 13 {
        return format!("({})", list(&of.messages(4).unwrap(), ", ", |&element| shape(element)));
    }
    let Some(layout) = of.message(5).unwrap() else { return element.to_string() };
    let dims = of.ints(3).unwrap();
    assert_eq!(of.ints(6).unwrap(), vec![0; dims.len()]);
    format!("{element}[{}]{{{}}}", numbers(&dims), numbers(&layout.ints(1).unwrap()))
}

fn list<T>(items: &[T], separator: &str, text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(separator)
}

fn numbers(numbers: &[i64]) -> String {
    list(numbers, ",", i64::to_string)
}

/// All computations and their instructions, a line each.
fn outline(file: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    for computation in module(file).messages(3).unwrap() {
        let signature = computation.message(4).unwrap().unwrap();
        lines.push(format!(
            "{} {}: {} -> {}, root {}",
            computation.int(5).unwrap(),
            computation.text(1).unwrap(),
            list(&signature.messages(1).unwrap(), " ", |&parameter| shape(parameter)),
            shape(signature.message(2).unwrap().unwrap()),
            computation.int(6).unwrap(),
        ));
        lines.extend(computation.messages(2).unwrap().into_iter().map(line));
    }
    lines
}

/// An instruction: its name, shape and operands, the number of a parameter or element, and the computations it calls.
fn line(of: Message) -> String {
    let name = of.text(1).unwrap();
    assert_eq!(name, format!("{}.{}", of.text(2).unwrap(), of.int(35).unwrap()));
    let mut line = format!("{name} = {} of {}", shape(of.message(3).unwrap().unwrap()), numbers(&of.ints(36).unwrap()));
    let called = of.ints(38).unwrap();
    if !called.is_empty() {
        line += &format!(", calls {}", numbers(&called));
    }
    match of.text(2).unwrap() {
        "parameter" => line += &format!("#{}", of.int(9).unwrap()),
        "get-tuple-element" => line += &format!("#{}", of.int(13).unwrap()),
        _ => {}
    }
    line
}
