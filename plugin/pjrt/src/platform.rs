//! The interface of a platform.

use std::ops::RangeInclusive;

use crate::{Attributes, Client, ElementType, Error, Event, Layout, Result, Topology, Value};

/// A kind of device: the root of what a vendor implements. It has no value; [`Platform::create_client`] makes one.
pub trait Platform: 'static {
    /// Its clients.
    type Client: Client;

    /// The name by which frameworks know it, in lower case. Custom calls are registered for it.
    fn name() -> &'static str;

    /// Version and build, which frameworks hash into the keys of their caches.
    fn version() -> &'static str;

    /// The oldest and the newest StableHLO that the compiler reads. A framework sends a program in the older of its own
    /// and the newest.
    fn stablehlo_versions() -> RangeInclusive<[i64; 3]>;

    /// Attributes beside those that the server gives itself: `xla_version`, `stablehlo_current_version` and
    /// `stablehlo_minimum_version`.
    fn attributes() -> Attributes {
        Vec::new()
    }

    /// Called once, when a framework loads the plugin.
    ///
    /// # Errors
    /// If the platform cannot be used on this machine.
    fn initialize() -> Result<()> {
        Ok(())
    }

    /// A client with the options that the user gave to the framework.
    ///
    /// # Errors
    /// For unknown or wrong options, and if the devices cannot be used.
    fn create_client(options: &[(String, Value)]) -> Result<Self::Client>;

    /// The layout of tensors that nothing is said about.
    fn default_layout(_element_type: ElementType, dims: &[i64]) -> Layout {
        Layout::row_major(dims.len())
    }

    /// Waits on the caller's thread, where the C API leaves no other way. A framework may hold a lock then that what is
    /// waited for needs.
    ///
    /// # Errors
    /// The event's.
    fn wait(event: &Event) -> Result<()> {
        event.wait()
    }

    /// The devices that a client would have, without making one: for compilation ahead of time.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform cannot.
    fn topology(_name: &str, _options: &[(String, Value)]) -> Result<Topology> {
        Err(Error::unimplemented("topologies without a client are not supported on this platform"))
    }

    /// A client that only compiles, for devices that need not be there: its programs are stored for other clients.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform cannot.
    fn client_for(_topology: &Topology) -> Result<Self::Client> {
        Err(Error::unimplemented("compilation without a client is not supported on this platform"))
    }
}
