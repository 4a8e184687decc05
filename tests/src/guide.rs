//! The pages of the documentation whose Rust snippets are compiled and run as a user's crate would be.

macro_rules! chapters {
    ($($name:ident: $file:literal;)*) => {$(
        #[doc = include_str!(concat!("../../", $file))]
        mod $name {}
    )*};
}

chapters! {
    readme: "README.md";
    getting_started: "docs/guide/01-getting-started.md";
    buffers: "docs/guide/02-buffers.md";
    dtypes: "docs/guide/03-dtypes.md";
    attributes: "docs/guide/04-attributes.md";
    shapes: "docs/guide/05-shapes.md";
    jax: "docs/guide/06-jax.md";
    errors: "docs/guide/07-errors.md";
    testing: "docs/guide/08-testing.md";
    cookbook: "docs/guide/09-cookbook.md";
    contexts: "docs/guide/10-contexts.md";
    stages: "docs/guide/11-stages.md";
    asynchronous: "docs/guide/12-async.md";
    platforms: "docs/guide/13-platforms.md";
    legacy: "docs/guide/14-legacy.md";
    registry: "docs/guide/15-registry.md";
    c_boundary: "docs/guide/16-c-boundary.md";
    torch: "docs/guide/17-torch.md";
    descriptors: "docs/guide/18-descriptors.md";
    plugin: "docs/guide/19-plugin.md";
    troubleshooting: "docs/guide/23-troubleshooting.md";
    pointwise: "docs/guide/26-pointwise.md";
    tutorial: "docs/guide/28-tutorial.md";
    cpp_ffi: "docs/coming-from/cpp-ffi.md";
    pallas_triton: "docs/coming-from/pallas-triton.md";
    warp: "docs/coming-from/warp.md";
    numba: "docs/coming-from/numba.md";
    torch_extensions: "docs/coming-from/torch-extensions.md";
    habana_tpc: "docs/coming-from/habana-tpc.md";
}
