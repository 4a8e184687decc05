//! The platform: what a framework finds behind `GetPjrtApi`.

use std::ops::RangeInclusive;

use oxcall_pjrt::{Attributes, Event, Platform, Result, Topology, Value};

use crate::callbacks::without_gil;
use crate::client::CpuClient;
use crate::devices;
use crate::name::platform_name;
use crate::node::Node;
use crate::options::Options;

/// The plugin's platform.
#[derive(Debug)]
pub(crate) struct CpuPlatform;

impl Platform for CpuPlatform {
    type Client = CpuClient;

    fn name() -> &'static str {
        // A name that is not UTF-8 cannot be written in `plugin!`.
        platform_name().to_str().unwrap_or("oxcall")
    }

    fn version() -> &'static str {
        concat!("oxcall ", env!("CARGO_PKG_VERSION"))
    }

    fn stablehlo_versions() -> RangeInclusive<[i64; 3]> {
        oxcall_hlo::STABLEHLO_VERSIONS
    }

    fn attributes() -> Attributes {
        vec![("oxcall_version".to_owned(), env!("CARGO_PKG_VERSION").into())]
    }

    fn create_client(options: &[(String, Value)]) -> Result<CpuClient> {
        CpuClient::new(&Options::new(options)?)
    }

    fn wait(event: &Event) -> Result<()> {
        // jaxlib asks for addresses with Python's lock, which host callbacks need.
        event.outcome().unwrap_or_else(|| without_gil(|| event.wait()))
    }

    fn topology(_name: &str, options: &[(String, Value)]) -> Result<Topology> {
        let options = Options::new(options)?;
        Ok(devices::topology(Self::name(), options.node, options.num_devices, options.global_devices))
    }

    fn client_for(topology: &Topology) -> Result<CpuClient> {
        let (own, others): (Vec<_>, Vec<_>) = topology.devices.iter().partition(|device| device.addressable);
        let count = topology.devices.iter().map(|device| device.process_index + 1).max().unwrap_or(1);
        let node = Node { index: own.first().map_or(0, |device| device.process_index), count };
        let global_devices = !others.is_empty();
        CpuClient::new(&Options { node, global_devices, num_devices: own.len(), ..Options::new(&[])? })
    }
}
