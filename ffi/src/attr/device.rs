//! Devices as attributes.

use std::fmt;

use super::{Attr, AttrError, FromAttr};
use crate::descriptor::AttrType;

/// A device by its name: its type and perhaps an index, as `cpu` or `cuda:1`.
///
/// In torch the argument is a `torch.device`, in JAX and in programs it is this text. It is a value like any other
/// attribute: where results are follows from the arguments.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn on_host(#[attr(default = Device::CPU)] device: Device<'_>, mut y: ScalarOut<bool>) {
///     y.set(device.kind() == "cpu");
/// }
/// # let out = oxcall::testing::call::<on_host>().attr("device", "cuda:1").run().unwrap();
/// # assert!(!out.get::<bool>(0)[[]]);
/// # assert!(oxcall::testing::call::<on_host>().run().unwrap().get::<bool>(0)[[]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Device<'a> {
    kind: &'a str,
    index: Option<u32>,
}

impl<'a> Device<'a> {
    /// The host.
    pub const CPU: Device<'static> = Device { kind: "cpu", index: None };

    /// Reads `kind` or `kind:index`; `None` if the text is neither.
    pub fn parse(text: &'a str) -> Option<Device<'a>> {
        let (kind, index) = match text.split_once(':') {
            Some((kind, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                (kind, Some(digits.parse().ok()?))
            }
            Some(_) => return None,
            None => (text, None),
        };
        let word = kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (word && !kind.is_empty()).then_some(Device { kind, index })
    }

    /// The type of device, as torch writes it: `cpu`, `cuda`, `xla`.
    pub fn kind(self) -> &'a str {
        self.kind
    }

    /// The index among the devices of this type; `None` for the current device.
    pub fn index(self) -> Option<u32> {
        self.index
    }
}

/// As it is parsed.
impl fmt::Display for Device<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.index.map_or(Ok(()), |index| write!(f, ":{index}"))
    }
}

impl<'f> FromAttr<'f> for Device<'f> {
    const TYPE: AttrType = AttrType::Device;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        let text = attr.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(Device::parse).ok_or_else(|| AttrError::expected("a device such as \"cpu\" or \"cuda:1\"", attr))
    }
}

#[cfg(test)]
mod tests {
    use super::Device;

    #[test]
    fn names_round_trip() {
        for (text, kind, index) in
            [("cpu", "cpu", None), ("cuda:1", "cuda", Some(1)), ("my_npu:12", "my_npu", Some(12))]
        {
            let device = Device::parse(text).unwrap();
            assert_eq!((device.kind(), device.index(), device.to_string().as_str()), (kind, index, text));
        }
    }

    #[test]
    fn other_texts_are_no_devices() {
        for text in ["", ":0", "cpu:", "cpu:-1", "cpu:+1", "cpu:x", "cpu:0:0", "c pu", "cpu:99999999999"] {
            assert_eq!(Device::parse(text), None, "{text}");
        }
    }
}
