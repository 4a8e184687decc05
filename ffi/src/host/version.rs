//! The hosts whose ABI is reproduced.

use xla_ffi_sys::xla_ffi as sys;

/// A range of jaxlib versions with one layout of the XLA FFI, named by the first of them that is told apart.
///
/// | variant | jaxlib | API | what differs from the one before |
/// |---|---|---|---|
/// | `V0_4_34` | 0.4.34 to 0.4.36 | 0.1 | `Future_*` in slots 12 to 14, no `NumThreads`; `struct_size` is 88 |
/// | `V0_4_38` | 0.4.38 to 0.5.3 | 0.1 | `ThreadPool_NumThreads` in slot 12, `Future_*` in 13 to 15 |
/// | `V0_6` | 0.6.0 to 0.8.0 | 0.1 | `RunId_Get`, `DeviceOrdinal_Get`; `struct_size` is honest |
/// | `V0_8_1` | 0.8.1 to 0.9.0 | 0.2 | the metadata query has the api; types have deleters, states do not |
/// | `V0_9_2` | 0.9.1 to 0.11.0 | 0.3 | one state for each stage |
/// | `V0_11_1` | 0.11.1, 0.11.2 | 0.4 | extensions, `Error_GetDetails`, a fifth handler `record` |
/// | `V0_12` | 0.12.0 and later | 0.5 | custom options |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs, reason = "described in the table above")]
pub enum HostVersion {
    V0_4_34,
    V0_4_38,
    V0_6,
    V0_8_1,
    V0_9_2,
    V0_11_1,
    #[default]
    V0_12,
}

impl HostVersion {
    /// Every version, oldest first.
    pub const ALL: [HostVersion; 7] = [
        HostVersion::V0_4_34,
        HostVersion::V0_4_38,
        HostVersion::V0_6,
        HostVersion::V0_8_1,
        HostVersion::V0_9_2,
        HostVersion::V0_11_1,
        HostVersion::V0_12,
    ];

    /// The oldest host with API 0.`minor` whose table is honest about its size; the nearest one for minor versions
    /// that do not exist.
    pub const fn of_minor(minor: i32) -> HostVersion {
        match minor {
            ..=1 => HostVersion::V0_6,
            2 => HostVersion::V0_8_1,
            3 => HostVersion::V0_9_2,
            4 => HostVersion::V0_11_1,
            5.. => HostVersion::V0_12,
        }
    }

    /// The API's minor version; the major one is 0.
    pub const fn minor(self) -> i32 {
        match self {
            HostVersion::V0_4_34 | HostVersion::V0_4_38 | HostVersion::V0_6 => 1,
            HostVersion::V0_8_1 => 2,
            HostVersion::V0_9_2 => 3,
            HostVersion::V0_11_1 => 4,
            HostVersion::V0_12 => 5,
        }
    }

    /// The API table that this host gives to handlers.
    pub fn api(self) -> &'static sys::XLA_FFI_Api {
        super::api::table(self)
    }

    /// Whether the metadata query carries the API table.
    pub(super) fn queries_with_api(self) -> bool {
        self >= HostVersion::V0_8_1
    }

    /// The version whose number is `index`: the inverse of `as u8`, for functions generic over a version.
    pub(super) const fn from_index(index: u8) -> HostVersion {
        HostVersion::ALL[index as usize]
    }
}
