//! The README and the guide's chapters, whose Rust snippets are compiled and run as a user's crate would be.

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
    contexts: "docs/guide/07-contexts.md";
    stages: "docs/guide/08-stages.md";
    asynchronous: "docs/guide/09-async.md";
    errors: "docs/guide/10-errors.md";
    platforms: "docs/guide/11-platforms.md";
    legacy: "docs/guide/12-legacy.md";
    testing: "docs/guide/13-testing.md";
    registry: "docs/guide/14-registry.md";
    c_boundary: "docs/guide/15-c-boundary.md";
    cookbook: "docs/guide/16-cookbook.md";
    troubleshooting: "docs/guide/17-troubleshooting.md";
    plugin: "docs/guide/18-plugin.md";
    torch: "docs/guide/19-torch.md";
    descriptors: "docs/guide/21-descriptors.md";
}
