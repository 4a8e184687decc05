//! `PJRT_Plugin`.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::LazyLock;

use xla_ffi_sys::pjrt::{PJRT_Plugin_Attributes_Args, PJRT_Plugin_Initialize_Args};

use super::named_values::NamedValues;
use super::slot::slot;
use crate::sync::Mutex;
use crate::{Platform, Value};

/// The version of XLA's own contract for plugins.
const XLA_VERSION: i64 = 2;

/// The attributes of each platform, which live as long as the process.
static ATTRIBUTES: LazyLock<Mutex<HashMap<TypeId, &'static NamedValues>>> = LazyLock::new(Mutex::default);

fn attributes_of<P: Platform>() -> &'static NamedValues {
    let mut known = ATTRIBUTES.lock();
    known.entry(TypeId::of::<P>()).or_insert_with(|| {
        let stablehlo = P::stablehlo_versions();
        let mut attributes = vec![
            ("xla_version".to_owned(), Value::Int64(XLA_VERSION)),
            ("stablehlo_current_version".to_owned(), Value::Int64List(stablehlo.end().to_vec())),
            ("stablehlo_minimum_version".to_owned(), Value::Int64List(stablehlo.start().to_vec())),
        ];
        for (name, value) in P::attributes() {
            match attributes.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 = value,
                None => attributes.push((name, value)),
            }
        }
        Box::leak(Box::new(NamedValues::new(attributes)))
    })
}

slot! {
    /// `PJRT_Plugin_Initialize`.
    fn initialize<P>(_args: PJRT_Plugin_Initialize_Args) {
        P::initialize()
    }

    /// `PJRT_Plugin_Attributes`. Old headers (0.54 to 0.70 at least) say a size without the last field, which callers
    /// read all the same.
    fn attributes<P>(args: PJRT_Plugin_Attributes_Args at least size_of::<PJRT_Plugin_Attributes_Args>()) {
        let attributes = attributes_of::<P>();
        (*args).attributes = attributes.as_ptr();
        (*args).num_attributes = attributes.len();
        Ok(())
    }
}
