//! Programs as `HloModuleProtoWithConfig`, the form in which XLA's tools take optimised programs.
//!
//! It is for looking at: JAX shows it as `compiled.as_text()`. Most ops are HLO instructions of the same name; the
//! others are custom calls named after the op, `stablehlo.gather`, with their attributes as the backend's configuration
//! and their regions as called computations. Constants of many elements have no values.

mod instruction;
mod shape;
mod wire;

use self::{instruction::Writer, wire::Message};
use crate::{Func, Module};

/// The entry function of `module`, which calls no other, as a serialised `HloModuleProtoWithConfig`; `None` if it uses an
/// element type that XLA does not have.
pub fn write_hlo_proto(module: &Module) -> Option<Vec<u8>> {
    let mut writer = Writer::new(module);
    let main = module.main();
    let entry = writer.computation("main", &main.body, &[])?;
    let (computations, program_shape) = writer.finish();
    let mut hlo = Message::default();
    hlo.bytes(1, &module.name).bytes(2, "main");
    computations.iter().for_each(|computation| {
        hlo.message(3, computation);
    });
    hlo.message(4, &program_shape).int(5, 1).int(6, entry);
    hlo.message(8, &aliases(main));
    let mut config = Message::default();
    config.message(1, &program_shape).int(4, 1).int(5, 1);
    let mut whole = Message::default();
    whole.message(1, &hlo).message(2, &config);
    Some(whole.finish())
}

/// `HloInputOutputAliasProto`: the results that may have the memory of a parameter.
fn aliases(main: &Func) -> Message {
    const MAY_ALIAS: i64 = 1;
    let mut aliases = Message::default();
    for (parameter, attributes) in main.param_attributes.iter().enumerate() {
        let result = attributes.iter().find(|(name, _)| name == "tf.aliasing_output");
        if let Some(result) = result.and_then(|(_, result)| result.as_integer()) {
            let mut entry = Message::default();
            entry.ints(1, (main.body.results.len() > 1).then_some(result)).int(2, parameter as i64).int(4, MAY_ALIAS);
            aliases.message(1, &entry);
        }
    }
    aliases
}
