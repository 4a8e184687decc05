//! `OpSharding`: how the value of an instruction is split over devices. It becomes the string that MLIR has for it,
//! `{devices=[2,2]<=[4]}`, in which numbers of devices that follow a rule stay as short as they come.

use std::fmt::{self, Display, Formatter, Write as _};

use oxcall_proto::Message;

use super::super::fields::{instruction as field, op_sharding};
use crate::Error;

/// How deep the shardings of tuples may nest.
const MAX_DEPTH: usize = 8;

/// How a value is split.
#[derive(Debug, Clone)]
pub(super) enum Sharding {
    /// An array, or all of a tuple alike.
    All(String),
    /// The elements of a tuple; of one in another all leaves in order.
    Tuple(Vec<Sharding>),
}

impl Sharding {
    /// That of an instruction, if it has one.
    pub(super) fn of(instruction: Message<'_>) -> Result<Option<Sharding>, Error> {
        instruction.message(field::SHARDING)?.map(|message| sharding(message, 0)).transpose()
    }

    /// Those of `count` leaves of the value; none if they are not as many.
    pub(super) fn leaves(&self, count: usize) -> Vec<&str> {
        fn visit<'s>(sharding: &'s Sharding, leaves: &mut Vec<&'s str>) {
            match sharding {
                Sharding::All(text) => leaves.push(text),
                Sharding::Tuple(elements) => elements.iter().for_each(|element| visit(element, leaves)),
            }
        }
        if let Sharding::All(text) = self {
            return vec![text; count];
        }
        let mut leaves = Vec::new();
        visit(self, &mut leaves);
        if leaves.len() == count { leaves } else { Vec::new() }
    }

    /// That of an array which says to the compiler where its elements must be.
    pub(super) fn constraint(&self) -> Option<&str> {
        match self {
            Sharding::All(text) if text == REPLICATED || text.starts_with("{devices=") => Some(text),
            _ => None,
        }
    }
}

impl Display for Sharding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Sharding::All(text) => f.write_str(text),
            Sharding::Tuple(elements) => {
                f.write_str("{")?;
                for (index, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

const REPLICATED: &str = "{replicated}";

fn sharding(message: Message<'_>, depth: usize) -> Result<Sharding, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!("shardings of tuples are nested more than {MAX_DEPTH} deep")));
    }
    Ok(Sharding::All(match message.int(op_sharding::TYPE)? {
        0 => REPLICATED.to_owned(),
        1 => match message.ints(op_sharding::DEVICES)?[..] {
            [device] => format!("{{maximal device={device}}}"),
            ref devices => {
                return Err(Error::invalid(format!("the sharding must name one device, got {}", devices.len())));
            }
        },
        2 => {
            let elements = message.messages(op_sharding::TUPLE)?;
            let elements = elements.into_iter().map(|element| sharding(element, depth + 1));
            return elements.collect::<Result<_, _>>().map(Sharding::Tuple);
        }
        3 => tiles(message)?,
        4 => "{manual}".to_owned(),
        5 => "{unknown}".to_owned(),
        number => return Err(Error::unsupported(format!("shardings of the kind number {number} are not supported"))),
    }))
}

/// `{devices=[2,1,2]<=[4]T(0) last_tile_dims={replicated}}`.
fn tiles(message: Message<'_>) -> Result<String, Error> {
    let mut text = format!("{{devices=[{}]", joined(&message.ints(op_sharding::GRID)?));
    let dims = message.ints(op_sharding::IOTA_DIMS)?;
    if dims.is_empty() {
        text.push_str(&joined(&message.ints(op_sharding::DEVICES)?));
    } else {
        let order = message.ints(op_sharding::IOTA_ORDER)?;
        let _ = write!(text, "<=[{}]", joined(&dims));
        if order.len() > 1 {
            let _ = write!(text, "T({})", joined(&order));
        }
    }
    let last = message.ints(op_sharding::LAST_DIMS)?;
    let last: Vec<&str> = last.into_iter().map(subgroup).collect::<Result<_, _>>()?;
    if !last.is_empty() {
        let _ = write!(text, " last_tile_dims={{{}}}", last.join(", "));
    } else if message.bool(op_sharding::REPLICATE_LAST)? {
        text.push_str(" last_tile_dim_replicate");
    }
    text.push('}');
    Ok(text)
}

/// What a last dimension of the grid means.
fn subgroup(kind: i64) -> Result<&'static str, Error> {
    match kind {
        0 => Ok("replicated"),
        4 => Ok("manual"),
        6 => Ok("unreduced"),
        _ => Err(Error::unsupported(format!("subgroups of the kind number {kind} are not supported"))),
    }
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
