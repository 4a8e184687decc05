//! Programs as HLO protos.
//!
//! They are for looking at: JAX shows them as `compiled.as_text()`. Most ops are HLO instructions of the same name; the
//! others are custom calls named after the op, `stablehlo.gather`, with their attributes as the backend's configuration
//! and their regions as called computations. Constants of many elements have no values.

pub(crate) mod attributes;
mod instruction;
pub(crate) mod shape;

use oxcall_proto::Writer as Message;

use self::instruction::Writer;
use super::fields::{ENTRIES, MAY_ALIAS, alias, config, module as field, with_config};
use crate::{Func, Module};

/// The entry function of `module`, which calls no other, as a serialised `HloModuleProtoWithConfig`; `None` if it uses
/// an element type that XLA does not have.
pub fn write_hlo_proto(module: &Module) -> Option<Vec<u8>> {
    let mut writer = Writer::new(module);
    let main = module.main();
    let entry = writer.computation("main", &main.body, &[])?;
    let (computations, program_shape) = writer.finish();
    let mut hlo = Message::default();
    hlo.bytes(field::NAME, &module.name).bytes(field::ENTRY_NAME, "main");
    computations.iter().for_each(|computation| {
        hlo.message(field::COMPUTATIONS, computation);
    });
    hlo.message(field::PROGRAM_SHAPE, &program_shape).int(field::ID, 1).int(field::ENTRY_ID, entry);
    hlo.message(field::ALIASES, &aliases(main));
    let mut settings = Message::default();
    settings.message(config::ENTRY_LAYOUT, &program_shape).int(config::REPLICAS, 1).int(config::PARTITIONS, 1);
    let mut whole = Message::default();
    whole.message(with_config::MODULE, &hlo).message(with_config::CONFIG, &settings);
    Some(whole.finish())
}

/// `HloInputOutputAliasProto`: the results that may have the memory of a parameter.
fn aliases(main: &Func) -> Message {
    let mut aliases = Message::default();
    for (parameter, attributes) in main.param_attributes.iter().enumerate() {
        let result = attributes.iter().find(|(name, _)| name == "tf.aliasing_output");
        if let Some(result) = result.and_then(|(_, result)| result.as_integer()) {
            let mut entry = Message::default();
            entry.ints(alias::OUTPUT, (main.body.results.len() > 1).then_some(result));
            entry.int(alias::PARAMETER, parameter as i64).int(alias::KIND, MAY_ALIAS);
            aliases.message(ENTRIES, &entry);
        }
    }
    aliases
}
