//! The second run: bindgen itself.

use std::path::Path;

use bindgen::{Builder, EnumVariation, Formatter, RustEdition, RustTarget};

use crate::python::pins;
use crate::shell::{self, Context, Failure, Result};
use crate::{progress, workspace};

/// One generated file.
struct Bindings {
    /// The package that has the headers.
    origin: &'static str,
    version: &'static str,
    /// The file that holds the include folder.
    include: &'static str,
    headers: &'static [&'static str],
    file: &'static str,
    /// Types to generate, and types that the including module imports instead.
    types: &'static str,
    imported: Option<&'static str>,
    /// Functions to declare, for those who look them up by name: nobody links them.
    functions: Option<&'static str>,
}

const XLA_FFI: Bindings = Bindings {
    origin: "jaxlib",
    version: pins::HEADERS[0],
    include: pins::HEADERS[0],
    headers: &["xla/ffi/api/c_api.h"],
    file: "ffi-sys/src/xla_ffi.rs",
    types: "XLA_FFI_.*",
    imported: None,
    functions: None,
};

/// The part of torch's stable C interface that the operators use.
const TORCH_FUNCTIONS: &str = concat!(
    "aoti_torch_(abi_version|check|call_dispatcher|get_(data_ptr|dim|sizes|strides|storage_offset|storage_size|dtype|device_type|device_index)",
    "|new_tensor_handle|delete_tensor_object|empty_strided|copy_|grad_mode_(is_enabled|set_enabled)",
    "|library_(init_fragment|init_impl|def|impl)|get_current_cuda_stream|device_type_(cpu|meta))",
    "|torch_(list_(size|get_item|push_back)|new_list_reserve_size|delete_list|string_(length|c_str)|delete_string",
    "|get_num_threads|(new|delete)_stable_ivalue|exception_get_what_without_backtrace)"
);

const BINDINGS: [Bindings; 5] = [
    XLA_FFI,
    Bindings {
        version: pins::HEADERS[1],
        include: pins::HEADERS[1],
        file: "ffi-sys/src/xla_ffi_v0_2.rs",
        types: "XLA_FFI_State_Set_Args",
        imported: Some(IMPORTED),
        ..XLA_FFI
    },
    Bindings {
        version: pins::HEADERS[2],
        include: pins::HEADERS[2],
        file: "ffi-sys/src/xla_ffi_v0_1.rs",
        types: "XLA_FFI_State_(Set|Get)_Args",
        imported: Some(IMPORTED),
        ..XLA_FFI
    },
    Bindings {
        origin: "tensorflow-cpu",
        version: pins::PJRT_HEADERS,
        include: super::PJRT,
        headers: &[
            "xla/pjrt/c/pjrt_c_api.h",
            "xla/pjrt/c/pjrt_c_api_ffi_extension.h",
            "xla/pjrt/c/pjrt_c_api_layouts_extension.h",
            "xla/pjrt/c/pjrt_c_api_memory_descriptions_extension.h",
        ],
        file: "ffi-sys/src/pjrt.rs",
        types: "PJRT_.*",
        imported: None,
        functions: None,
    },
    Bindings {
        origin: "torch",
        version: pins::TORCH_HEADERS,
        include: super::TORCH,
        headers: &["torch/csrc/stable/c/shim.h"],
        file: "ffi-sys/src/torch.rs",
        types: "AtenTensorHandle|TorchLibraryHandle|StableIValue|StableListHandle|StringHandle|AOTITorchError",
        imported: None,
        functions: Some(TORCH_FUNCTIONS),
    },
];

const IMPORTED: &str = "XLA_FFI_(Extension_Base|Extension_Type|ExecutionContext|TypeId)";

/// What a test compares the bindings of PJRT with.
const LAYOUTS: &str = "ffi-sys/tests/pjrt_0_114.txt";

/// The notice that the generated files are under, beside them.
const NOTICE: &str = "ffi-sys/NOTICE";

/// Oldest Rust that the generated code compiles on.
const RUST_MINOR: u64 = 85;

/// Generates every file and writes it, or compares it with the committed one.
pub(super) fn generate(inputs: &Path, check: bool) -> Result<()> {
    let mut files = vec![(LAYOUTS, workspace::read(&inputs.join(super::LAYOUTS))?)];
    for bindings in &BINDINGS {
        let what = format!("{} from {} {}", bindings.file, bindings.origin, bindings.version);
        files.push((bindings.file, progress::step(&what, || format(&source(bindings, inputs)?))?));
    }
    let mut differing = Vec::new();
    for (file, text) in files {
        let path = workspace::root().join(file);
        if std::fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            continue;
        }
        differing.push(file);
        if !check {
            workspace::write(&path, &text)?;
        }
    }
    if !workspace::root().join(NOTICE).is_file() {
        return Err(Failure::new(format!("{NOTICE} is missing: the generated files are under OpenXLA's licence")));
    }
    match (differing.is_empty(), check) {
        (true, _) => println!("ffi-sys matches the headers"),
        (false, false) => println!("written: {}", differing.join(", ")),
        (false, true) => {
            let files = differing.join(", ");
            return Err(Failure::new(format!("{files}: not what the headers give; run `cargo xtask bindgen`")));
        }
    }
    Ok(())
}

fn source(bindings: &Bindings, inputs: &Path) -> Result<String> {
    let include = workspace::read(&inputs.join(bindings.include))?;
    let mut builder = Builder::default()
        .headers(bindings.headers.iter().map(|header| Path::new(&include).join(header).to_string_lossy().into_owned()))
        .clang_args(["-isystem", &workspace::read(&inputs.join("builtin"))?])
        .clang_arg(format!("-I{include}"))
        .allowlist_type(bindings.types)
        .default_enum_style(EnumVariation::Consts)
        .prepend_enum_name(false)
        .generate_comments(false)
        .use_core()
        .ctypes_prefix("core::ffi")
        .derive_default(true)
        .derive_debug(false)
        .rust_target(RustTarget::stable(RUST_MINOR, 0).map_err(|error| Failure::new(format!("bindgen: {error}")))?)
        .rust_edition(RustEdition::Edition2024)
        .merge_extern_blocks(true)
        .formatter(Formatter::None);
    builder = match bindings.functions {
        // The declarations are C; what the header includes beside them is C++.
        Some(functions) => builder.allowlist_function(functions).clang_args(["-x", "c++", "-std=c++20", "-DUSE_CUDA"]),
        None => builder.blocklist_function(".*"),
    };
    builder = match bindings.imported {
        // The old headers are C++ only: they name structs without the `struct` keyword.
        Some(imported) => builder.blocklist_type(imported).clang_args(["-x", "c++"]),
        None => builder.allowlist_var(bindings.types),
    };
    Ok(builder.generate().context(bindings.file)?.to_string())
}

/// rustfmt under the workspace's settings, so that `cargo fmt --check` agrees with this command.
fn format(source: &str) -> Result<String> {
    let file = workspace::scratch("bindgen")?.join("unformatted.rs");
    workspace::write(&file, source)?;
    shell::output(shell::command("rustfmt").arg("--config-path").arg("rustfmt.toml").arg(&file))?;
    std::fs::read_to_string(&file).context(file.display())
}
