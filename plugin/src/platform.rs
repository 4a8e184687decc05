//! The platform: what a framework finds behind `GetPjrtApi`.

use std::ops::RangeInclusive;

use oxcall_pjrt::{Attributes, Event, Platform, Result, Topology, Value};

use crate::callbacks::without_gil;
use crate::client::CpuClient;
use crate::devices;
use crate::name::platform_name;
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
        Ok(devices::topology(Self::name(), Options::new(options)?.num_devices))
    }

    fn client_for(topology: &Topology) -> Result<CpuClient> {
        CpuClient::new(&Options { num_devices: topology.devices.len(), ..Options::new(&[])? })
    }
}
