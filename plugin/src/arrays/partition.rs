//! Programs of several partitions: arrays are put together from the parts that devices have, the program runs once for
//! all of them, and each device gets its parts of the results.

use std::sync::Arc;

use oxcall_engine::{Argument as EngineArgument, Buffer, Engine, IoSpec, ShardedArray, ShardingOptions, Shardings};
use oxcall_hlo::{TensorType, Type};
use oxcall_pjrt::{Argument, CompileOptions, DeviceLaunch, Error, Event, OpSharding, Result};
use oxcall_proto::Writer;

use crate::arrays::contents::{Contents, Filler, Part};
use crate::arrays::split::{self, Split};
use crate::buffer::CpuBuffer;
use crate::{callbacks, registration};

/// Sharding options of the engine for a program compiled with these options.
pub(crate) fn sharding_options(options: &CompileOptions) -> ShardingOptions {
    ShardingOptions {
        open_parameters: options.propagate_sharding_to_parameters.clone(),
        open_results: options.propagate_sharding_to_outputs.clone(),
        batch_partitionable: registration::batch_partitionable(),
    }
}

/// How the arguments and results of a program are split over its partitions.
#[derive(Debug)]
pub(crate) struct Partition {
    parameters: Vec<Arc<Split>>,
    results: Vec<Arc<Split>>,
    /// The same as clients see it, without the dimensions of summands; a program without results has one sharding.
    pub(crate) parameter_shardings: Vec<OpSharding>,
    pub(crate) output_shardings: Vec<OpSharding>,
}

impl Partition {
    /// From the shardings that the program states, or that follow from those.
    ///
    /// # Errors
    /// Those of Python functions that ask for shardings.
    pub(crate) fn new(engine: &Arc<Engine>, shardings: Shardings) -> Result<Partition> {
        let Shardings { parameters, results, inspections } = shardings;
        let splits = |arrays: Vec<ShardedArray>| -> Vec<Arc<Split>> {
            arrays.into_iter().map(|array| Arc::new(Split::new(engine, array.placement, &array.ty))).collect()
        };
        let (parameters, results) = (splits(parameters), splits(results));
        for (call, tiling) in &inspections {
            // Inside of a computation per device nothing is split.
            callbacks::inspected(
                call,
                &tiling.as_ref().map_or(OpSharding::Replicated, |tiling| split::op_sharding(tiling, false)),
            )?;
        }
        let for_clients =
            |splits: &[Arc<Split>]| -> Vec<_> { splits.iter().map(|split| split.op_sharding()).collect() };
        let mut output_shardings = for_clients(&results);
        if results.is_empty() {
            // To XLA, the empty tuple has a sharding, too.
            output_shardings.push(OpSharding::Replicated);
        }
        Ok(Partition { parameter_shardings: for_clients(&parameters), output_shardings, parameters, results })
    }

    /// The same for arrays as they lie in memory.
    ///
    /// # Errors
    /// UNIMPLEMENTED for unreduced arrays that are not row-major.
    pub(crate) fn in_memory(mut self, parameters: &[IoSpec], results: &[IoSpec]) -> Result<Partition> {
        for (splits, specs) in [(&mut self.parameters, parameters), (&mut self.results, results)] {
            for (split, spec) in splits.iter_mut().zip(specs) {
                match &spec.major_to_minor {
                    Some(_) if split.is_unreduced() => {
                        return Err(Error::unimplemented(
                            "an unreduced array in a layout that is not row-major is not supported",
                        ));
                    }
                    Some(order) => *split = Arc::new(split.in_order(order)),
                    None => {}
                }
            }
        }
        Ok(self)
    }

    /// What a serialized `HloModuleProtoWithConfig` is continued with, to say the shardings: clients without the
    /// extension look for them there. Parts of a message that come apart belong together.
    pub(crate) fn hlo_shardings(&self) -> Vec<u8> {
        const MODULE: u32 = 1;
        const OUTPUT: u32 = 12;
        const PARAMETERS: u32 = 14;
        let mut proto = Writer::default();
        proto.nested(MODULE, |module| {
            module.bytes(
                OUTPUT,
                match &*self.output_shardings {
                    [only] if self.results.len() == 1 => only.serialize(),
                    all => OpSharding::serialize_tuple(all),
                },
            );
            for sharding in &self.parameter_shardings {
                module.bytes(PARAMETERS, sharding.serialize());
            }
        });
        proto.finish()
    }

    /// The same to say `note` at the head of the program's text, as an attribute of the module.
    pub(crate) fn hlo_note(note: &str) -> Vec<u8> {
        const MODULE: u32 = 1;
        const FRONTEND_ATTRIBUTES: u32 = 19;
        const ENTRY: u32 = 1;
        const KEY: u32 = 1;
        const VALUE: u32 = 2;
        let mut proto = Writer::default();
        proto.nested(MODULE, |module| {
            module.nested(FRONTEND_ATTRIBUTES, |attributes| {
                attributes.nested(ENTRY, |entry| _ = entry.bytes(KEY, "oxcall.partitions").bytes(VALUE, note));
            });
        });
        proto.finish()
    }

    /// The type of a parameter as each device has it.
    pub(crate) fn parameter_type(&self, index: usize, whole: &Type) -> Type {
        tile_type(&self.parameters[index], whole)
    }

    /// The type of a result as each device has it.
    pub(crate) fn result_type(&self, index: usize, whole: &Type) -> Type {
        tile_type(&self.results[index], whole)
    }

    /// The bytes that a device has of the parameters `indices`.
    pub(crate) fn parameter_bytes(&self, indices: impl IntoIterator<Item = usize>) -> usize {
        indices.into_iter().filter_map(|index| Some(self.parameters.get(index)?.tile_bytes())).sum()
    }

    /// The bytes that a device has of all results.
    pub(crate) fn result_bytes(&self) -> usize {
        self.results.iter().map(|split| split.tile_bytes()).sum()
    }

    /// The results to come: what fills them in, and for each of them the parts of all devices.
    pub(crate) fn pending(&self) -> (Vec<Filler>, Vec<Vec<Contents>>) {
        self.results.iter().map(Contents::pending_tiles).unzip()
    }

    /// The arguments of all devices as whole arrays. An argument that all devices donate is donated as a whole.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory is short.
    pub(crate) fn gather(&self, launches: Vec<DeviceLaunch<CpuBuffer>>) -> Result<Vec<EngineArgument>> {
        let mut lists: Vec<_> = launches.into_iter().map(|launch| launch.arguments.into_iter()).collect();
        let gather = |split: &Arc<Split>| {
            let parts: Vec<Argument<CpuBuffer>> = lists.iter_mut().filter_map(Iterator::next).collect();
            gather_one(split, parts)
        };
        self.parameters.iter().map(gather).collect()
    }
}

fn tile_type(split: &Split, whole: &Type) -> Type {
    match whole {
        Type::Tensor(ty) => TensorType::new(ty.element, split.client_dims().iter().copied()).into(),
        other => other.clone(),
    }
}

/// The whole of an argument.
fn gather_one(split: &Arc<Split>, parts: Vec<Argument<CpuBuffer>>) -> Result<EngineArgument> {
    let donated = parts.iter().all(|part| part.donated);
    let contents: Vec<Contents> = parts
        .into_iter()
        .map(|part| match Arc::try_unwrap(part.buffer) {
            Ok(buffer) => buffer.into_contents(),
            Err(buffer) => buffer.contents().clone(),
        })
        .collect();
    if contents.len() != split.devices() {
        return Err(Error::internal(format!(
            "got {} parts of an array sharded over {} devices",
            contents.len(),
            split.devices()
        )));
    }
    let whole = if split.is_replicated() { contents[0].get()? } else { whole_of(split, &contents, donated)? };
    // The parts keep the whole, too.
    drop(contents);
    Ok(if donated {
        match Arc::try_unwrap(whole) {
            Ok(whole) => EngineArgument::from(whole),
            Err(whole) => EngineArgument::from(whole),
        }
    } else {
        EngineArgument::from(whole)
    })
}

/// The array that the parts are parts of; if they are not, one is made, which they become parts of.
fn whole_of(split: &Arc<Split>, contents: &[Contents], donated: bool) -> Result<Arc<Buffer>> {
    if let Some(whole) = common_whole(split, contents) {
        return Ok(whole);
    }
    let whole = Arc::new(split.gather(|device| contents[device].get())?);
    if !donated {
        let mut joined = vec![false; split.devices()];
        for (device, contents) in contents.iter().enumerate() {
            let tile = split.tile_of(device);
            // Only the first of the copies of a tile is known to have these elements.
            if !std::mem::replace(&mut joined[tile], true) {
                contents.join(Part { whole: whole.clone(), split: split.clone(), tile });
            }
        }
    }
    Ok(whole)
}

/// The array that has exactly these parts.
fn common_whole(split: &Split, contents: &[Contents]) -> Option<Arc<Buffer>> {
    let mut whole: Option<Arc<Buffer>> = None;
    let mut there = vec![false; split.devices()];
    for (device, contents) in contents.iter().enumerate() {
        let tile = split.tile_of(device);
        if std::mem::replace(&mut there[tile], true) {
            continue;
        }
        let part = contents.part()?;
        let fits = part.tile == tile && (Arc::as_ptr(&part.split) == split || part.split.same_tiles(split));
        match &whole {
            _ if !fits => return None,
            Some(whole) if !Arc::ptr_eq(whole, &part.whole) => return None,
            _ => whole = Some(part.whole),
        }
    }
    whole
}

/// Completes when the arguments of all devices are there.
pub(crate) fn ready(launches: &[DeviceLaunch<CpuBuffer>]) -> Event {
    let arguments = launches.iter().flat_map(|launch| &launch.arguments);
    Event::all(arguments.map(|argument| argument.buffer.contents().event().clone()))
}
