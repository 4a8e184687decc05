//! Causes and cures of messages that state neither what was expected nor what to do. Links are as in the guide.

/// The message as the index shows it; cause and cure.
pub(super) const CURES: &[(&str, &str)] = &[
    // Loading a library.
    (
        "the op `{info.name}` could not be registered: another one has the name {info.target}#{build}",
        "other code of the process registered this target name: load the library once, through `oxcall.load`",
    ),
    (
        "{native.path} reports mistakes in its ops: {listed}",
        "each line names an op and its place: correct them and rebuild",
    ),
    ("{path} cannot be loaded here: {fault}.", "the file is for another platform or damaged: build it for this one"),
    (
        "{path} is not an oxcall library: it does not export `{symbol}`. {what}Build a crate that depends on `oxcall` with \
         `crate-type = [\"cdylib\"]` in the [lib] section of its Cargo.toml.",
        "the file is another library, or no crate in it depends on `oxcall`: [chapter 1](01-getting-started.md)",
    ),
    (
        "{self.name} has no op `{name}`{}",
        "`dir(library)` lists its ops; an op of another crate needs `oxcall::library!`",
    ),
    ("{} has no op `{name}`{hint}", "`dir(library)` lists its ops; an op of another crate needs `oxcall::library!`"),
    (
        "{self.path}: `oxcall_library` returned a null pointer; the library is broken.",
        "building its table panicked: the panic is on stderr; rebuild it with the newest `oxcall`",
    ),
    (
        "{self.path}: its table of {count} handlers has a null pointer; the library is broken.",
        "a library that was not made by the crate `oxcall`, or was damaged: rebuild it with the newest `oxcall`",
    ),
    (
        "{self.path}: op {index} of the manifest is not as version {ABI_VERSION} of the library boundary has it ({}: \
         {error}); the library is broken.",
        "the same",
    ),
    ("{self.path}: the manifest has no list of `ops`; the library is broken.", "the same"),
    (
        "{shown} cannot be loaded here: its table of symbols is not there: it is broken, or was copied in part; copy or \
         build it again.",
        "a copy that was interrupted, or that another program writes page by page",
    ),
    ("{path} cannot be read: {error.strerror}.", "the reason is the system's: a disk, a mount or a chain of links"),
    (
        "{path} cannot be read: {error.strerror}. Allow it with `chmod`, or copy the file.",
        "the process has no permission to read the file, or to enter a folder above it",
    ),
    (
        "{}: unknown dtype {value}",
        "the request for shapes comes from a newer Python package: rebuild the library with its crate",
    ),
    // Making a project and its wheel.
    (
        "cargo cannot read {manifest}: correct what it says above",
        "cargo's message names the line of Cargo.toml; `cargo metadata` repeats it",
    ),
    (
        "cargo does not build {crate.manifest}: correct the errors that it shows above",
        "pip hides what cargo says until the build fails: it stands above pip's own error",
    ),
    (
        "{TABLE} of pyproject.toml has no setting `{name}`{hint}",
        "[chapter 27](27-shipping.md#settings) lists the settings",
    ),
    (
        "{crate.lock_file} cannot be made: correct what cargo says above",
        "cargo did not reach its registry, or a dependency in Cargo.toml does not exist",
    ),
    // Calling an op.
    ("DLPack has no elements of {dtype.name}", "convert the array, or pass its bytes as `uint8`"),
    (
        "JAX {jax.__version__} aborts the process on tokens in custom calls; JAX 0.5 or newer passes them",
        "upgrade JAX, or write an op without a token",
    ),
    (
        "argument `{name}` is absent",
        "the shape function reads an optional argument that this call leaves out: call `optional` instead of `arg`",
    ),
    (
        "it is too large for this type",
        "the attribute's value exceeds its Rust type: give a smaller one, or declare a wider type",
    ),
    (
        "its argument and its result have different shapes",
        "an `InOut` parameter has one shape: give the result the shape of the argument",
    ),
    ("its dtype is {got}", "the host sent a dtype that this version does not know: upgrade `oxcall`"),
    (
        "its memory is not aligned to {bytes} bytes",
        "the array starts at an address that its elements cannot have: copy it first",
    ),
    ("memory of the CPU has no streams", "call `__dlpack__` without `stream`"),
    ("module {__name__} has no attribute {name}", "the package has no such name: `dir(oxcall)` lists them"),
    ("more than {HOSTS} XLA hosts in one process", "each copy of jaxlib in a process is a host: load fewer of them"),
    (
        "no user data of type {}",
        "the program runs without it: register the type, and pass the object in the execution context: \
         [chapter 10](10-contexts.md)",
    ),
    ("parameter `{name}` is not variadic", "call `arg` or `optional` in the shape function instead of `variadic`"),
    (
        "the array on {device} is not in this machine's memory, so that it cannot be shared",
        "copy it to the CPU first: `jax.device_put(x, jax.devices('cpu')[0])`",
    ),
    (
        "the call has no call descriptor",
        "the program calls a legacy target without the Python package: [chapter 14](14-legacy.md)",
    ),
    ("the host gave an attribute without a name", "the program's attributes are damaged: build it anew"),
    (
        "the host gave no scratch memory of {size} bytes",
        "the device's memory is used up: delete arrays, or ask for less",
    ),
    (
        "the memory is the CPU's; it cannot be shared as that of device {dl_device}",
        "ask for the CPU, device type 1 of DLPack, or copy the array",
    ),
    (
        "no stage of the operation makes this state",
        "name the stage's function in `#[custom_call]`: [chapter 11](11-stages.md)",
    ),
    (
        "the tensor has been taken out of its capsule",
        "a capsule can be consumed once: make a new one with `__dlpack__()`",
    ),
    (
        "the {} stage makes a state of a type other than {}",
        "give the `#[state]` parameter the type that the stage's function returns",
    ),
    (
        "there is no argument `{name}`",
        "the shape function names an argument that the op does not have: correct the name",
    ),
    (
        "there is no attribute `{name}`",
        "the shape function names an attribute that the op does not have: correct the name",
    ),
    (
        "this call already has a promise; a call completes once",
        "the op asks `Async` for a second promise: keep the first: [chapter 12](12-async.md)",
    ),
    (
        "this host has no XLA FFI extension of type {extension_type}",
        "extensions need API 0.4, and a host that has this one: make the op work without it",
    ),
    (
        "{name}: the future was not completed within {timeout}",
        "the op's work hangs, or its promise was kept by nothing: complete it on every path",
    ),
    (
        "{name}: this is a JAX function, and JAX is not installed; `.torch` is the PyTorch operator: `ops.{name}.torch(...)`",
        "call `.torch`, or install JAX",
    ),
    (
        "{op.name}: `dtype` is {dtype}, which is not a dtype that XLA's FFI can pass",
        "choose one of the dtypes of [chapter 2](02-buffers.md#every-dtype-of-the-interface)",
    ),
    (
        "{op.name}: `out_shape` is a shape, a list of shapes, or a dictionary of them by result name",
        "give one shape for one result, such as `out_shape=(2, 3)`",
    ),
    (
        "{op.name}: argument `{param.name}` has dtype {given}, which JAX arrays cannot have",
        "convert it to a numeric dtype",
    ),
    (
        "{op.name}: argument `{param.name}` has dtype {operand.dtype}, which XLA's FFI cannot pass",
        "convert it with `.astype` to a dtype of [chapter 2](02-buffers.md#every-dtype-of-the-interface)",
    ),
    ("{op.name}: argument `{}` holds None", "a list of arrays has a gap: leave the entry out"),
    (
        "{op.name}: result `{name}` would have the shape {dims}, which is more memory than can be addressed",
        "the shape rule gave a wrong size, or an attribute is too large: give a smaller shape",
    ),
    ("{self.op.name}: an attribute's name is empty", "give every attribute a name"),
    (
        "{self.op.name}: attribute `{path}` is {number}, out of the range of float32",
        "give a smaller number, or declare the attribute as `f64`",
    ),
    (
        "{self.op.name}: attribute `{path}` is {value}, out of the range of {}, {low} to {high}",
        "give a number in the range, or declare a wider type",
    ),
    (
        "{}: attribute `{name}` is missing",
        "the program was built by hand, or for an older version of the op: give the attribute",
    ),
    (
        "{}: the promise was dropped before it was completed",
        "the op's work ended, or panicked, without completing its promise",
    ),
    // PyTorch.
    (
        "a custom call of torch_xla has no attribute of the type of {value}",
        "give a bool, a number, a string, or a list of numbers",
    ),
    ("an operand has {}", "this version of `oxcall` does not know the dtype: upgrade it, or convert the tensor"),
    ("attribute `{name}` has a dtype for which schemas have no type", "state a schema, or take the value as a tensor"),
    ("attribute `{name}` has dtype {dtype}, for which schemas have no type", "use `i64`, `f64` or `bool`"),
    ("attribute `{name}` is a string that is not UTF-8", "pass valid UTF-8"),
    (
        "attribute `{}` is {what}, for which schemas have no type",
        "state a schema that leaves it out, or use another type",
    ),
    (
        "attribute `{}` may be absent, and so may all of its fields: schemas cannot tell the two apart",
        "make one field required, or the struct not optional",
    ),
    ("it is on another device than the first argument", "move it with `.to(device)`"),
    (
        "its dtype (number {code} in torch) is not supported",
        "convert the tensor to a dtype of [chapter 2](02-buffers.md)",
    ),
    ("no argument is for the parameter `{}`", "add an argument with this name to the stated schema"),
    (
        "no parameter of the function is for `{}`",
        "remove the argument from the stated schema, or name it like a parameter",
    ),
    (
        "no argument determines the dtype of result `{name}`",
        "state a schema with a dtype argument, or use the dtype of an argument",
    ),
    (
        "no rule gives the number of results `{}`",
        "torch has no operators with a free number of results: return a fixed number",
    ),
    (
        "the operation has no operator",
        "its crate keeps it out of torch, or its types have no schema: [chapter 17](17-torch.md)",
    ),
    (
        "the operator `{name}` has a different schema on another platform",
        "give both functions the same parameters, or state one schema",
    ),
    (
        "no argument determines the shape of result `{name}`",
        "write `#[dims(...)]`, or a shape function: [chapter 5](05-shapes.md)",
    ),
    (
        "there is no argument {index} on the stack, which has {count}",
        "a function of a descriptor asks for an argument that the schema lacks: correct the index",
    ),
    ("this torch has no tensors of dtype {dtype}", "upgrade torch, or convert to another dtype"),
    ("two arguments have the name `{name}`", "rename one of them in the schema"),
    ("two of its arguments would have the name `{}`", "rename a parameter or a field, or state a schema"),
    (
        "{name}: {} (PyTorch {torch.__version__} is installed)",
        "install a torch of at least 2.7: [chapter 17](17-torch.md)",
    ),
    ("{noun} `{}` has dtype {dtypes}, which no tensor has", "use a dtype that torch has: [chapter 17](17-torch.md)"),
    ("{noun} `{}` is a token", "torch has no tokens: write an operator without it"),
    ("{self.op.name}: torch_xla has no custom calls without a tensor", "pass a tensor, or call the op on the CPU"),
    // Starting the plugin.
    (
        "Duplicate custom call registration detected for {name} on platform {platform} with different addresses",
        "two libraries have a legacy function of this name: rename one of them",
    ),
    (
        "No FFI handler registered for {name} on a platform {platform}",
        "load the library of the op first: [chapter 6](06-jax.md)",
    ),
    (
        "each process has an OXCALL device of its own, and torch_xla's world in it is that device: neither its collectives nor its process group `xla` join processes; `gloo` does",
        "use `gloo`, or one process with several devices: [chapter 22](22-torch-xla.md)",
    ),
    ("multi-platform lowering for buffer_callback", "lower the function for one platform"),
    (
        "the platform `{platform}` is registered already, by {known}",
        "two plugins have this name: uninstall one, or rename your own",
    ),
    (
        "{path} is not a library of ops: it lacks the symbol `oxcall_register_all`",
        "build a crate that depends on `oxcall` as a `cdylib`",
    ),
    (
        "{path} is not a plugin made with `oxcall_plugin::plugin!`: it lacks `oxcall_plugin_name`",
        "`OXCALL_PLUGIN_LIBRARY` names another library: [chapter 19](19-plugin.md)",
    ),
    ("cannot create a pipe", "the process has no free file descriptors: raise the limit, or leave `interrupt` off"),
    ("cannot read its action", "the system refused access to SIGINT: leave `interrupt` off"),
    ("cannot set its action", "the system refused access to SIGINT: leave `interrupt` off"),
    ("a name passed to the plugin is null", "a client of the plugin's C functions passed it: pass a name"),
    (
        "the handler's API version ({major}.{minor}) is incompatible with the framework's API version (0.{newest}). Minimum \
         supported API version is (0.1).",
        "the handler was built for a newer XLA: upgrade the plugin, or build the handler with an older header",
    ),
    (
        "UNIMPLEMENTED: there are no streams on the CPU",
        "a buffer callback runs on the CPU here: do not ask for its stream",
    ),
    // Compiling a program.
    (
        "a manual computation over the axes {} of the mesh {} does not fit the program's {} partitions",
        "the mesh needs more devices than the program has: compile for all devices of the mesh",
    ),
    ("dimension {dim} has size {size}, which exceeds an i32", "StableHLO gives sizes as i32: use a smaller dimension"),
    (
        "inlining all calls of @{} gives {} ops, nested {} deep; the limits are {limit} ops for a program of {total}, and a \
         depth of {MAX_DEPTH}",
        "functions that call each other many times grow exponentially: use a loop",
    ),
    (
        "the group {processes}, which contains {of}, crosses a mesh axis that is not manual here",
        "make the axis of the collective manual: `shard_map` with this axis in `axis_names`",
    ),
    (
        "the processes of a group give different roots for operand {index}: {root} and {other}",
        "compute the root from values that all processes share",
    ),
    (
        "the sharding {sharding} does not divide {ty} into equal parts",
        "pad the array, or choose a mesh whose axes divide its dimensions",
    ),
    // Running a program.
    ("No such compile option: '{name}'", "names of `compiler_options` begin with `xla_`: correct it"),
    (
        "While setting option {name}, '{value}' is not a valid {kind} value.",
        "give a value of this kind in `compiler_options`",
    ),
    (
        "a part of a sharded array is on none of the devices",
        "the sharding gives a part to no device: correct its device assignment",
    ),
    (
        "host callbacks can no longer run: the Python interpreter is exiting",
        "wait for programs with callbacks before Python exits: `jax.effects_barrier()`",
    ),
    ("out of memory: {len} bytes for an array without its padding", "delete arrays, or give the process more memory"),
    (
        "the collectives of the program's processes do not match: {all}",
        "devices take different branches: all devices of a group must run the same collectives, in the same order",
    ),
    ("the contents of a buffer were read before it was ready", "wait for the array: `block_until_ready`"),
    (
        "the host callback {name} did not return within {after} (OXCALL_CALLBACK_TIMEOUT)",
        "the Python function hangs, or waits for a program that waits for it: make it return, or raise the limit",
    ),
    ("the process was dropped before it ran", "the launch on another device failed first: its error says why"),
    ("the program is neither MLIR bytecode nor text", "compile StableHLO, as text or bytecode"),
    (
        "the program was interrupted while it waited for a host callback",
        "Ctrl-C was pressed: the option `interrupt` ends programs then",
    ),
    ("the program {} was not compiled for this device", "compile it for the device that its arguments are on"),
    (
        "{kept} elements were requested from a dimension of {count}",
        "ask `approx_max_k` for at most as many as there are",
    ),
    (
        "{what} was interrupted",
        "Ctrl-C was pressed: the option `interrupt` ends programs then: [chapter 19](19-plugin.md)",
    ),
    ("{what} {index}: a dimension of {ty} does not fit in 64 bits", "use a smaller dimension"),
    // Memory.
    (
        "Out of memory allocating {len} bytes{live}: {why}; {advice}",
        "the program needs more memory than there is: donate arguments, or use smaller batches",
    ),
    (
        "unaligned data: {data} is not aligned to {BUFFER_ALIGN} bytes.",
        "memory that is shared without a copy has to be aligned so: copy the array instead",
    ),
    // CUDA.
    ("a kernel's name has a NUL byte", "kernels have the names of functions of C"),
    (
        "kernel `{entry}` has {} parameters, but `kernels!` declares {}",
        "declare the parameters that the kernel has, in their order: [chapter 29](29-cuda.md)",
    ),
    (
        "kernel `{entry}`: parameter `{name}` has {found} bytes, but `kernels!` declares {declared}",
        "declare the type that the kernel has for it, as `u64` for `unsigned long long`: [chapter 29](29-cuda.md)",
    ),
    ("the CUDA C does not compile ({error}): {log}", "the log of NVRTC names the line: correct the kernel"),
    ("the CUDA C has a NUL byte", "CUDA C is text: remove the byte from the source"),
    (
        "CUDA device {ordinal} does not exist: ordinals start at 0",
        "the host named no device: run the op through JAX or torch, which pass the array's",
    ),
    (
        "{what} failed with {name}{separator}{help}",
        "the name is that of the driver's error, and what to do, where it is known, follows it",
    ),
];

/// The entry of a message.
pub(super) fn cure(text: &str) -> Option<&'static str> {
    CURES.iter().find(|(message, _)| *message == text).map(|(_, cure)| *cure)
}
