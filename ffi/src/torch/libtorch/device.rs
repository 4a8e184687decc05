//! Devices in torch's encoding.

use std::fmt;

/// A device: its type's code and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) ty: i32,
    /// -1 for the current one.
    pub(crate) index: i32,
}

/// The types by their codes, which are the same in every version (`c10::DeviceType`).
const TYPES: &str = "cpu cuda mkldnn opengl opencl ideep hip fpga maia xla vulkan metal xpu mps meta hpu ve lazy ipu mtia privateuseone";

impl Device {
    /// The device in a value of a kernel's stack.
    pub(crate) const fn from_value(value: u64) -> Device {
        Device { ty: (value >> 32) as i32, index: value as i32 }
    }
}

/// Like `str(torch.device(...))`, except for a renamed `privateuseone`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match usize::try_from(self.ty).ok().and_then(|ty| TYPES.split(' ').nth(ty)) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "type{}", self.ty)?,
        }
        if self.index >= 0 { write!(f, ":{}", self.index) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::Device;

    #[test]
    fn devices_of_values() {
        for (value, name) in [(0xffff_ffff, "cpu"), (1 << 32 | 3, "cuda:3"), (20 << 32, "privateuseone:0")] {
            assert_eq!(Device::from_value(value).to_string(), name);
        }
        assert_eq!(Device::from_value(99 << 32 | 1).to_string(), "type99:1");
    }
}
