//! The interface of compiled programs.

use std::sync::Arc;

use crate::{
    Attributes, Buffer, CompiledMemoryStats, DeviceAssignment, DeviceId, Error, Event, OpSharding, Result, Shape,
};

/// A parameter or a result of a compiled program, as each device has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// The shape, which the buffers of a result can share.
    pub shape: Arc<Shape>,
    /// The kind of the memory where it lies.
    pub memory_kind: String,
}

/// A program that is compiled and loaded onto devices. All methods may be called from many threads at once.
pub trait Executable: Send + Sync + 'static {
    /// The client's buffers.
    type Buffer: Buffer;

    /// The program's name.
    fn name(&self) -> &str;

    /// The devices that it runs on.
    fn device_assignment(&self) -> &DeviceAssignment;

    /// The parameters, in order.
    fn parameters(&self) -> &[TensorSpec];

    /// The results, in order.
    fn outputs(&self) -> &[TensorSpec];

    /// The parameters whose memory the program takes over, as `tf.aliasing_output` and `jax.buffer_donor` say. The
    /// server checks that they may be donated, and marks them as deleted.
    fn donated_parameters(&self) -> &[usize] {
        &[]
    }

    /// How the parameters are split over the partitions of a program of several, in order; `None` where it does not
    /// tell.
    fn parameter_shardings(&self) -> Option<&[OpSharding]> {
        None
    }

    /// How the results are split over the partitions of a program of several, in order; `None` where it does not tell.
    /// A program without results has one sharding, that of the empty tuple.
    fn output_shardings(&self) -> Option<&[OpSharding]> {
        None
    }

    /// Starts the program; waits for nothing but what is cheap. One [`Execution`] for each entry of
    /// [`Launch::devices`], in this order.
    ///
    /// Counts of arguments have been checked; types and dimensions have not. Arguments may not be ready, and may have
    /// failed: their errors then become those of the results.
    ///
    /// # Errors
    /// Errors found before the start. Errors of running programs belong into the events of the results and of the
    /// execution. Donated arguments are lost in either case.
    fn execute(&self, launch: Launch<Self::Buffer>) -> Result<Vec<Execution<Self::Buffer>>>;

    /// Bytes that differ between programs that differ, equal in other processes of the same version.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform has none.
    fn fingerprint(&self) -> Result<Vec<u8>> {
        Err(Error::unimplemented("fingerprints are not supported on this platform"))
    }

    /// The program as it runs: its format, and the program in it. torch_xla requires `mlir` text or bytecode, or
    /// `hlo_with_config`.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform has none.
    fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        Err(Error::unimplemented("optimized programs are not available on this platform"))
    }

    /// The bytes of the generated code; -1 if unknown.
    fn generated_code_size(&self) -> i64 {
        -1
    }

    /// Estimates such as `flops` and `bytes accessed`.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform has none.
    fn cost_analysis(&self) -> Result<Attributes> {
        Err(Error::unimplemented("cost analysis is not supported on this platform"))
    }

    /// The device memory that the program needs.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform does not know it.
    fn memory_stats(&self) -> Result<CompiledMemoryStats> {
        Err(Error::unimplemented("memory statistics of programs are not supported on this platform"))
    }

    /// Bytes that [`Client::deserialize`](crate::Client::deserialize) takes.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where programs cannot be stored.
    fn serialize(&self) -> Result<Vec<u8>> {
        Err(Error::unimplemented("compiled programs cannot be stored on this platform"))
    }
}

/// An argument of an execution.
#[derive(Debug)]
pub struct Argument<B> {
    /// The buffer. Others may hold it too.
    pub buffer: Arc<B>,
    /// Whether its memory may be overwritten. No later execution will see the buffer, but earlier ones may still use
    /// it: `Arc::try_unwrap` tells.
    pub donated: bool,
}

/// The part of a [`Launch`] that concerns one device.
#[derive(Debug)]
pub struct DeviceLaunch<B> {
    /// The device.
    pub device: DeviceId,
    /// As many arguments as the program has parameters.
    pub arguments: Vec<Argument<B>>,
}

/// One call of `PJRT_LoadedExecutable_Execute`.
#[derive(Debug)]
pub struct Launch<B> {
    /// All addressable devices of the program in the order of its assignment; or a single one, where the client starts
    /// each device by a call of its own. It may be none of the program's then: whether that works is the platform's
    /// choice.
    pub devices: Vec<DeviceLaunch<B>>,
    /// Everything else.
    pub options: ExecutionOptions,
}

/// The options of an execution.
#[derive(Clone, Debug, Default)]
pub struct ExecutionOptions {
    /// A number that all processes of one launch share; 0 if there is none.
    pub launch_id: i32,
    /// User data that custom calls look up by the id of its type. Pointers stay valid until the execution is over.
    pub user_data: Vec<UserData>,
    /// The place of the call, as the client writes it; empty if unknown.
    pub call_location: String,
}

/// User data of a custom call's execution context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserData {
    /// The id of the registered type.
    pub type_id: i64,
    /// The address of the object, which the client keeps alive, and lets handlers use on any thread.
    pub address: usize,
}

/// A started execution on one device.
#[derive(Debug)]
pub struct Execution<B> {
    /// As many buffers as the program has results; they need not be ready.
    pub outputs: Vec<B>,
    /// Completes when everything is over on this device, side effects too.
    pub done: Event,
}
