//! The place of this process in a job of several, as `jax.distributed` starts them.
//!
//! A client runs programs on the devices of its own process only. Their numbers differ from those of the other
//! processes' devices, so that a program over several processes is told from a local one, and refused.

use oxcall_pjrt::{DeviceId, Error, Result, Value};

use crate::name::platform_name;

/// The most devices of a process: the distance between the numbers of two processes' first devices.
pub(crate) const MOST_DEVICES: i32 = 4096;

/// The most processes of a job: the numbers of all devices' memories fit into 32 bits.
const MOST_NODES: i64 = 1 << 16;

/// The place of a process in its job; JAX's options call a process a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The number of this process.
    pub(crate) index: i32,
    /// The number of processes in the job.
    pub(crate) count: i32,
}

impl Node {
    /// A process that is a job by itself.
    #[cfg(test)]
    pub(crate) const ALONE: Node = Node { index: 0, count: 1 };

    /// The place that the client options `node_id` and `num_nodes` give.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for values that are not the place of a process in a job.
    pub(crate) fn given(option: impl Fn(&str) -> Option<Value>) -> Result<Node> {
        let number = |name: &str, default: i32, least: i64, most: i64| match option(name) {
            None => Ok(default),
            Some(Value::Int64(number)) if (least..=most).contains(&number) => Ok(number as i32),
            Some(value) => {
                let value = if let Value::Int64(number) = value { number.to_string() } else { format!("{value:?}") };
                Err(Error::invalid_argument(format!(
                    "the client option `{name}` is {value}; expected an integer from {least} to {most}"
                )))
            }
        };
        let count = number("num_nodes", 1, 1, MOST_NODES)?;
        Ok(Node { index: number("node_id", 0, 0, i64::from(count) - 1)?, count })
    }

    /// The number of the device that has this place among those of process `index`.
    pub(crate) fn device(index: i32, place: i32) -> DeviceId {
        DeviceId(index * MOST_DEVICES + place)
    }

    /// The process that a device belongs to.
    fn of(device: DeviceId) -> i32 {
        device.0.div_euclid(MOST_DEVICES)
    }

    /// The place of a device among those of its process.
    pub(crate) fn place(device: DeviceId) -> i32 {
        device.0.rem_euclid(MOST_DEVICES)
    }

    /// Refuses what is not on the `own` devices of this process alone.
    ///
    /// # Errors
    /// UNIMPLEMENTED in a job of several processes, if a device belongs to another one or there are more than `own`.
    pub(crate) fn check(self, what: &str, devices: &[DeviceId], own: usize) -> Result<()> {
        let of_others = devices.iter().find(|&&device| Node::of(device) != self.index);
        if self.count == 1 || (of_others.is_none() && devices.len() <= own) {
            return Ok(());
        }
        let (places, platform) = (devices.len(), platform_name().to_string_lossy());
        let among = of_others.map_or_else(String::new, |&device| {
            format!(", among them device {} of process {}", device.0, Node::of(device))
        });
        Err(Error::unimplemented(format!(
            "{what} is for {places} devices{among}, but process {} of {} runs programs on its own devices of \
             `{platform}` only (it has {own}): use `jax.local_devices(backend=\"{platform}\")`, or run what the \
             processes do together on JAX's CPU (`JAX_PLATFORMS=cpu,{platform}`), which runs the same ops",
            self.index, self.count
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(node_id: Option<Value>, num_nodes: Option<Value>) -> Result<Node> {
        Node::given(|name| if name == "node_id" { node_id.clone() } else { num_nodes.clone() })
    }

    #[test]
    fn a_process_has_its_place_in_a_job() {
        assert_eq!(given(None, None).unwrap(), Node::ALONE);
        assert_eq!(given(Some(Value::Int64(0)), Some(Value::Int64(1))).unwrap(), Node::ALONE);
        let third = given(Some(Value::Int64(2)), Some(Value::Int64(4))).unwrap();
        assert_eq!(third, Node { index: 2, count: 4 });
        let device = Node::device(third.index, 3);
        assert_eq!((device, Node::of(device), Node::place(device)), (DeviceId(8195), 2, 3));
    }

    #[test]
    fn every_memory_of_the_last_process_has_a_number() {
        assert!(Node::device(MOST_NODES as i32 - 1, MOST_DEVICES - 1).0 < i32::MAX / 3);
    }

    #[test]
    fn devices_of_other_processes_are_refused() {
        let node = Node { index: 1, count: 2 };
        let check =
            |devices: &[i32]| node.check("the program", &devices.iter().map(|&id| DeviceId(id)).collect::<Vec<_>>(), 2);
        assert!(check(&[4096, 4097]).is_ok());
        for (devices, message) in [
            (&[0, 4096][..], "the program is for 2 devices, among them device 0 of process 0, but process 1 of 2"),
            (&[4096, 4097, 4098], "the program is for 3 devices, but process 1 of 2 runs programs on its own"),
        ] {
            let error = check(devices).unwrap_err();
            assert!(error.message().starts_with(message) && error.message().contains("JAX_PLATFORMS=cpu"), "{error}");
        }
        assert!(Node::ALONE.check("the program", &[DeviceId(4096)], 1).is_ok());
    }

    #[test]
    fn mistakes_are_named() {
        for (node_id, num_nodes, message) in [
            (Value::Int64(2), Value::Int64(2), "the client option `node_id` is 2; expected an integer from 0 to 1"),
            (Value::Int64(-1), Value::Int64(2), "the client option `node_id` is -1; expected an integer from 0 to 1"),
            (Value::Int64(0), Value::Int64(0), "`num_nodes` is 0; expected an integer from 1 to 65536"),
            (Value::Int64(0), Value::Int64(1 << 40), "`num_nodes` is 1099511627776; expected an integer from 1"),
            (Value::Bool(true), Value::Int64(2), "the client option `node_id` is Bool(true); expected an integer"),
        ] {
            let error = given(Some(node_id), Some(num_nodes)).unwrap_err();
            assert!(error.message().contains(message), "{error}");
        }
        let error = given(Some(Value::Int64(1)), None).unwrap_err();
        assert!(error.message().contains("`node_id` is 1; expected an integer from 0 to 0"), "{error}");
    }
}
