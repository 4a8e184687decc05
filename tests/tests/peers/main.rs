//! Handlers written with jaxlib's own C++ headers, called by this project's host ([`mod@host`]) and by programs that
//! the plugin's engine compiles and executes ([`engine`]): whether it is the host that they expect.
//!
//! `cargo xtask test` compiles them (`tests/cpp/peers.cc`) for one jaxlib of each layout, `cargo xtask matrix peers`
//! for all of [`HEADERS`]; both say where they are.

mod engine;
mod host;

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::LazyLock;

use libloading::Library;
use oxcall::__private::sys;
use oxcall::descriptor::RawHandler;
use oxcall::host::{HostVersion, register_type, type_deleter};
use oxcall::sync::{Mutex, MutexGuard};

/// The headers that peers are compiled with, and the host that speaks their version.
const HEADERS: [(&str, HostVersion); 7] = [
    ("0.4.38", HostVersion::V0_4_38),
    ("0.8.0", HostVersion::V0_6),
    ("0.8.3", HostVersion::V0_8_1),
    ("0.9.2", HostVersion::V0_9_2),
    ("0.10.2", HostVersion::V0_9_2),
    ("0.11.2", HostVersion::V0_11_1),
    ("0.12.0.1", HostVersion::V0_12),
];

/// States are counted in statics of the libraries: one test at a time.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURNS: Mutex<()> = Mutex::new(());
    TURNS.lock()
}

/// A library of peers. It is never closed: registered handlers stay.
struct Peer {
    library: Library,
    jaxlib: &'static str,
    version: HostVersion,
}

impl Peer {
    /// A symbol.
    ///
    /// # Safety
    /// `T` is its type.
    unsafe fn symbol<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: as the caller guarantees.
        unsafe { self.library.get::<T>(name.as_bytes()) }.ok().map(|symbol| *symbol)
    }

    fn handler(&self, name: &str) -> RawHandler {
        self.handler_if_any(name).expect(name)
    }

    fn handler_if_any(&self, name: &str) -> Option<RawHandler> {
        // SAFETY: these symbols are handlers.
        unsafe { self.symbol(name) }
    }

    /// The number of states that live.
    fn counters_alive(&self) -> i64 {
        // SAFETY: the symbol has this type, and the function takes nothing.
        unsafe { self.symbol::<unsafe extern "C" fn() -> i64>("peer_counters_alive").unwrap()() }
    }

    /// The id of a type that the library declares.
    fn type_id(&self, name: &str) -> i64 {
        // SAFETY: the symbol has this type, and its result is a static that is written before the peers are used.
        unsafe { (*self.type_id_place(name)).type_id }
    }

    fn type_id_place(&self, name: &str) -> *mut sys::XLA_FFI_TypeId {
        let symbol = format!("peer_{name}_type_id");
        // SAFETY: the symbol has this type, and the function takes nothing.
        unsafe { self.symbol::<unsafe extern "C" fn() -> *mut sys::XLA_FFI_TypeId>(&symbol).unwrap()() }
    }

    /// Registers a type as `jax.ffi.register_ffi_type` does. Before API 0.2 types have no description.
    fn register_type(&self, name: &str) {
        type Info = unsafe extern "C" fn() -> *const sys::XLA_FFI_TypeInfo;
        // SAFETY: the symbols have these types, and the functions take nothing.
        unsafe {
            let info = self.symbol::<Info>(&format!("peer_{name}_type_info"));
            let deleter = info.and_then(|info| type_deleter(info()));
            let id = &mut *self.type_id_place(name);
            let name = format!("peer {name} {}", self.jaxlib);
            id.type_id = register_type(HostVersion::default(), &name, id.type_id, deleter).unwrap();
        }
    }
}

/// The peers that were compiled.
fn peers() -> &'static [Peer] {
    static PEERS: LazyLock<Vec<Peer>> = LazyLock::new(|| {
        let folder = std::env::var_os("OXCALL_TEST_PEERS").expect("run by `cargo xtask`, which compiles the peers");
        let path = |jaxlib: &str| PathBuf::from(&folder).join(format!("libpeers-{jaxlib}.so"));
        let open = |(jaxlib, version): (&'static str, HostVersion)| {
            // SAFETY: made from tests/cpp/peers.cc; loading it runs constructors of the C++ library only.
            let library = unsafe { Library::new(path(jaxlib)) }.expect("a library of peers");
            let peer = Peer { library, jaxlib, version };
            ["counter", "label"].iter().for_each(|name| peer.register_type(name));
            peer
        };
        let peers: Vec<Peer> = HEADERS.into_iter().filter(|(jaxlib, _)| path(jaxlib).exists()).map(open).collect();
        assert!(peers.len() >= 4, "only {} libraries of peers in {}", peers.len(), folder.display());
        peers
    });
    &PEERS
}

/// User data as the peers declare it.
#[repr(C)]
struct Label {
    value: i64,
}

impl Label {
    fn as_ptr(&'static self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}
