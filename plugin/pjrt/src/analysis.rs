//! Numbers about memory.

/// The memory of a device: `PJRT_Device_MemoryStats`. Fields that are `None` are not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes in use.
    pub bytes_in_use: i64,
    /// The most that was ever in use.
    pub peak_bytes_in_use: Option<i64>,
    /// Allocations up to now.
    pub num_allocs: Option<i64>,
    /// The largest allocation.
    pub largest_alloc_size: Option<i64>,
    /// The most that may be in use.
    pub bytes_limit: Option<i64>,
    /// Bytes that are reserved.
    pub bytes_reserved: Option<i64>,
    /// The most that was ever reserved.
    pub peak_bytes_reserved: Option<i64>,
    /// The most that may be reserved.
    pub bytes_reservable_limit: Option<i64>,
    /// The largest free block.
    pub largest_free_block_bytes: Option<i64>,
    /// The size of the allocator's pool.
    pub pool_bytes: Option<i64>,
    /// The largest that the pool ever was.
    pub peak_pool_bytes: Option<i64>,
}

/// The device memory that a compiled program needs: `PJRT_Executable_GetCompiledMemoryStats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompiledMemoryStats {
    /// Code and constants.
    pub generated_code_size: i64,
    /// Arguments.
    pub argument_size: i64,
    /// Results.
    pub output_size: i64,
    /// Results that lie in arguments.
    pub alias_size: i64,
    /// Everything in between.
    pub temp_size: i64,
}
