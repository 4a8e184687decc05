//! Computations, what they call, and the module around them.

use oxcall_hlo::{read_hlo_proto_with_config, verify};
use oxcall_proto::Message;

use super::{module, numbers, outline, program, write};

/// The lines, after the file has been read as a program that verifies.
fn outline_of(text: &str) -> Vec<String> {
    let file = write(text);
    let read = read_hlo_proto_with_config(&file).unwrap_or_else(|error| panic!("{error}"));
    verify(&read).unwrap_or_else(|error| panic!("{error}\n{read}"));
    outline(&file)
}

/// What is carried, and what the regions use from outside, is one tuple.
#[test]
fn loops() {
    let text = program(
        "(%arg0: tensor<i32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<f32>",
        "    %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<i32>, tensor<f32>
    cond {
      %1 = stablehlo.compare LT, %a, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %a, %arg0 : tensor<i32>
      %2 = stablehlo.negate %b : tensor<f32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
    }
    return %0#1 : tensor<f32>",
    );
    assert_eq!(
        outline_of(&text),
        [
            "12 body.12: (4[]{}, 11[]{}, 4[]{}, 4[]{}) -> (4[]{}, 11[]{}, 4[]{}, 4[]{}), root 11",
            "parameter.4 = (4[]{}, 11[]{}, 4[]{}, 4[]{}) of #0",
            "get-tuple-element.5 = 4[]{} of 4#0",
            "get-tuple-element.6 = 11[]{} of 4#1",
            "get-tuple-element.7 = 4[]{} of 4#2",
            "get-tuple-element.8 = 4[]{} of 4#3",
            "add.9 = 4[]{} of 5,8",
            "negate.10 = 11[]{} of 6",
            "tuple.11 = (4[]{}, 11[]{}, 4[]{}, 4[]{}) of 9,10,7,8",
            "19 condition.19: (4[]{}, 11[]{}, 4[]{}, 4[]{}) -> 1[]{}, root 18",
            "parameter.13 = (4[]{}, 11[]{}, 4[]{}, 4[]{}) of #0",
            "get-tuple-element.14 = 4[]{} of 13#0",
            "get-tuple-element.15 = 11[]{} of 13#1",
            "get-tuple-element.16 = 4[]{} of 13#2",
            "get-tuple-element.17 = 4[]{} of 13#3",
            "compare.18 = 1[]{} of 14,16",
            "24 main: 4[]{} 11[]{} 4[]{} -> 11[]{}, root 23",
            "parameter.1 = 4[]{} of #0",
            "parameter.2 = 11[]{} of #1",
            "parameter.3 = 4[]{} of #2",
            "tuple.20 = (4[]{}, 11[]{}, 4[]{}, 4[]{}) of 1,2,3,1",
            "while.21 = (4[]{}, 11[]{}, 4[]{}, 4[]{}) of 20, calls 12,19",
            "get-tuple-element.22 = 4[]{} of 21#0",
            "get-tuple-element.23 = 11[]{} of 21#1",
        ]
    );
}

/// What a branch uses from outside is its tuple.
#[test]
fn branches() {
    let text = program(
        "(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32>, tensor<f32>)",
        "    %0:2 = \"stablehlo.if\"(%arg0) ({
      stablehlo.return %arg1, %arg2 : tensor<f32>, tensor<f32>
    }, {
      %1 = stablehlo.negate %arg2 : tensor<f32>
      stablehlo.return %1, %1 : tensor<f32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %2 = stablehlo.add %0#0, %0#1 : tensor<f32>
    return %2, %0#0 : tensor<f32>, tensor<f32>",
    );
    assert_eq!(
        outline_of(&text),
        [
            "8 branch.8: (11[]{}, 11[]{}) -> (11[]{}, 11[]{}), root 7",
            "parameter.4 = (11[]{}, 11[]{}) of #0",
            "get-tuple-element.5 = 11[]{} of 4#0",
            "get-tuple-element.6 = 11[]{} of 4#1",
            "tuple.7 = (11[]{}, 11[]{}) of 5,6",
            "14 branch.14: (11[]{}) -> (11[]{}, 11[]{}), root 13",
            "parameter.10 = (11[]{}) of #0",
            "get-tuple-element.11 = 11[]{} of 10#0",
            "negate.12 = 11[]{} of 11",
            "tuple.13 = (11[]{}, 11[]{}) of 12,12",
            "21 main: 1[]{} 11[]{} 11[]{} -> (11[]{}, 11[]{}), root 20",
            "parameter.1 = 1[]{} of #0",
            "parameter.2 = 11[]{} of #1",
            "parameter.3 = 11[]{} of #2",
            "tuple.9 = (11[]{}, 11[]{}) of 2,3",
            "tuple.15 = (11[]{}) of 3",
            "conditional.16 = (11[]{}, 11[]{}) of 1,9,15, calls 8,14",
            "get-tuple-element.17 = 11[]{} of 16#0",
            "get-tuple-element.18 = 11[]{} of 16#1",
            "add.19 = 11[]{} of 17,18",
            "tuple.20 = (11[]{}, 11[]{}) of 19,17",
        ]
    );
}

/// What a branch gives is a tuple even of one value, and so is what it uses.
#[test]
fn branches_of_one_value() {
    let text = program(
        "(%arg0: tensor<i1>, %arg1: tensor<f32>) -> tensor<f32>",
        "    %0 = \"stablehlo.if\"(%arg0) ({
      stablehlo.return %arg1 : tensor<f32>
    }, {
      %1 = stablehlo.constant dense<1.0> : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    return %0 : tensor<f32>",
    );
    let lines = outline_of(&text);
    let heads: Vec<&str> = lines.iter().map(|line| &line[..]).filter(|line| line.contains("->")).collect();
    assert_eq!(
        heads,
        [
            "6 branch.6: (11[]{}) -> (11[]{}), root 5",
            "11 branch.11: () -> (11[]{}), root 10",
            "15 main: 1[]{} 11[]{} -> 11[]{}, root 14",
        ]
    );
}

/// What a region uses from outside comes after its own parameters.
#[test]
fn regions() {
    let text = program(
        "(%arg0: tensor<4xf32>, %arg1: tensor<f32>) -> (tensor<f32>, tensor<f32>)",
        "    %0:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [0] : (tensor<4xf32>, \
         tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>)  {
      %1 = stablehlo.add %a, %b : tensor<f32>
      %2 = stablehlo.maximum %c, %d : tensor<f32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
    }
    return %0#0, %0#1 : tensor<f32>, tensor<f32>",
    );
    assert_eq!(
        outline_of(&text),
        [
            "10 region.10: 11[]{} 11[]{} 11[]{} 11[]{} -> (11[]{}, 11[]{}), root 9",
            "parameter.3 = 11[]{} of #0",
            "parameter.4 = 11[]{} of #1",
            "parameter.5 = 11[]{} of #2",
            "parameter.6 = 11[]{} of #3",
            "add.7 = 11[]{} of 3,5",
            "maximum.8 = 11[]{} of 4,6",
            "tuple.9 = (11[]{}, 11[]{}) of 7,8",
            "15 main: 11[4]{0} 11[]{} -> (11[]{}, 11[]{}), root 14",
            "parameter.1 = 11[4]{0} of #0",
            "parameter.2 = 11[]{} of #1",
            "reduce.11 = (11[]{}, 11[]{}) of 1,1,2,2, calls 10",
            "get-tuple-element.12 = 11[]{} of 11#0",
            "get-tuple-element.13 = 11[]{} of 11#1",
            "tuple.14 = (11[]{}, 11[]{}) of 12,13",
        ]
    );
}

/// The head of a module, and the results that may be in the memory of a parameter.
#[test]
fn heads_and_aliases() {
    let head = |signature: &str, lines: &str| {
        let file = write(&program(signature, lines));
        let (whole, module) = (Message::new(&file), module(&file));
        assert_eq!((module.text(1).unwrap(), module.text(2).unwrap()), ("test", "main"));
        let entry = module.messages(3).unwrap().last().unwrap().int(5).unwrap();
        assert_eq!((module.int(5).unwrap(), module.int(6).unwrap()), (1, entry));
        let config = whole.message(2).unwrap().unwrap();
        assert_eq!((config.int(4).unwrap(), config.int(5).unwrap()), (1, 1));
        let signatures = [module.message(4), config.message(1)].map(|signature| {
            let mut fields = signature.unwrap().unwrap().fields();
            let mut names = Vec::new();
            while let Some((number, field)) = fields.field().unwrap() {
                names.extend((number == 3).then(|| field.text().unwrap()));
            }
            names
        });
        assert_eq!(signatures, [["p0", "p1"], ["p0", "p1"]]);
        let aliases = module.message(8).unwrap().unwrap().messages(1).unwrap();
        let alias = |alias: &Message| (numbers(&alias.ints(1).unwrap()), alias.int(2).unwrap(), alias.int(4).unwrap());
        aliases.iter().map(alias).collect::<Vec<_>>()
    };
    let f = "tensor<f32>";
    let donated = "{tf.aliasing_output = 0 : i32}";
    assert_eq!(
        head(&format!("(%arg0: {f}, %arg1: {f} {donated}) -> {f}"), "    return %arg1 : tensor<f32>"),
        [(String::new(), 1, 1)]
    );
    let two = format!("(%arg0: {f}, %arg1: {f} {{tf.aliasing_output = 1 : i32}}) -> ({f}, {f})");
    assert_eq!(head(&two, "    return %arg0, %arg1 : tensor<f32>, tensor<f32>"), [("1".to_owned(), 1, 1)]);
}
