//! All handlers that are linked into this library or program.
//!
//! `inventory` collects them before `main` or when the library is loaded. A crate that is only named in `Cargo.toml`
//! is never linked and registers nothing: name the crates of a library with [`library!`](crate::library).

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use crate::descriptor::{Handler, Recorded};
#[cfg(feature = "torch")]
use crate::torch;
#[cfg(not(feature = "torch"))]
use crate::without_torch as torch;
use crate::{Result, namespace, panics};

/// A handler that wants to be collected.
pub struct Entry(pub &'static Handler);

inventory::collect!(Entry);

/// A crate that [`library!`](crate::library) names.
pub struct NamedCrate {
    /// The crate's name, as in paths.
    pub name: &'static str,
}

inventory::collect!(NamedCrate);

/// An operation whose handler is made from a descriptor when the library is loaded.
pub struct Descriptor {
    /// Makes the handler, or returns the mistake in the descriptor.
    pub handler: fn() -> Result<&'static Handler>,
    /// Checks the descriptor against the other operations, once all are known.
    pub check: fn(&Registry) -> Result<()>,
    /// The source file.
    pub file: &'static str,
    /// The source line.
    pub line: u32,
}

inventory::collect!(Descriptor);

/// A mistake in a registry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// Two operations of a platform have one name.
    DefinedTwice(&'static Handler, &'static Handler),
    /// The schema of an operation contradicts its signature.
    WrongSchema(&'static Handler, String),
    /// A crate that is named holds no operation.
    EmptyCrate(&'static str),
    /// A descriptor does not fit its schema or its kernel.
    Descriptor {
        /// The source file.
        file: &'static str,
        /// The source line.
        line: u32,
        /// The cure.
        message: String,
    },
    /// There is no operation at all, and a library of operations needs one. A plugin does not.
    NoOperation,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::DefinedTwice(first, second) => {
                write!(
                    f,
                    "operation `{}` is defined twice for platform {}: in {} ({}:{}) and in {} ({}:{}); ",
                    first.name,
                    first.platform,
                    first.module,
                    first.file,
                    first.line,
                    second.module,
                    second.file,
                    second.line
                )?;
                // Both of these macros make derivatives.
                let derived = [first, second].into_iter().find(|handler| handler.traits.recorded != Recorded::Never);
                let rule = first.name.rsplit_once('_').filter(|(_, rule)| matches!(*rule, "vjp" | "jvp"));
                match derived.and(rule) {
                    Some((function, rule)) => write!(
                        f,
                        "`#[pointwise]` or `#[rowwise]` makes it for the function `{function}`; to write this \
                         derivative of a pointwise function, name a function that is no operation: \
                         `#[pointwise({rule} = {function}_{rule})]`, or give one of them another `name = \"...\"`"
                    ),
                    None => f.write_str("give one of them another `name = \"...\"`"),
                }
            }
            Problem::WrongSchema(handler, reason) => {
                write!(f, "operation `{}` ({}:{}): {reason}", handler.name, handler.file, handler.line)
            }
            Problem::EmptyCrate(name) => write!(f, "crate `{name}`, named in `ops: [...]`, holds no operation"),
            Problem::Descriptor { file, line, message } => write!(f, "{file}:{line}: {message}"),
            Problem::NoOperation => f.write_str(
                "no operation is linked in: write a function with `#[custom_call]`, or name the crates that hold \
                 operations in `oxcall::library! { ops: [...] }`",
            ),
        }
    }
}

/// The handlers, and their mistakes.
pub struct Registry {
    handlers: Vec<&'static Handler>,
    problems: Vec<Problem>,
}

/// The registry of this library or program.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        panics::install_hook();
        let handlers = inventory::iter::<Entry>.into_iter().map(|entry| entry.0).collect();
        let named = inventory::iter::<NamedCrate>.into_iter().map(|named| named.name).collect();
        Registry::new(handlers, named, inventory::iter::<Descriptor>.into_iter().collect())
    })
}

impl Registry {
    fn new(
        mut handlers: Vec<&'static Handler>,
        named: Vec<&'static str>,
        mut descriptors: Vec<&'static Descriptor>,
    ) -> Registry {
        descriptors.sort_by_key(|descriptor| (descriptor.file, descriptor.line));
        handlers.extend(descriptors.iter().filter_map(|descriptor| (descriptor.handler)().ok()));
        // The order in which a linker collects is its own: sort, so that listings do not change from build to build.
        handlers.sort_by_key(|handler| (handler.name, handler.platform, handler.module, handler.line));
        let mut problems = Vec::new();
        let mut first: HashMap<(&str, &str), &Handler> = HashMap::new();
        for handler in &handlers {
            if let Some(earlier) = first.insert((handler.name, handler.platform), handler) {
                problems.push(Problem::DefinedTwice(earlier, handler));
            }
        }
        let wrong = |handler: &&'static Handler| Some(Problem::WrongSchema(handler, torch::wrong_schema(handler)?));
        problems.extend(handlers.iter().filter_map(wrong));
        for name in named {
            if !handlers.iter().any(|handler| handler.crate_name() == name) {
                problems.push(Problem::EmptyCrate(name));
            }
        }
        if handlers.is_empty() {
            problems.push(Problem::NoOperation);
        }
        let mut registry = Registry { handlers, problems };
        for Descriptor { handler, check, file, line } in descriptors {
            if let Err(error) = handler().and_then(|_| check(&registry)) {
                registry.problems.push(Problem::Descriptor { file, line: *line, message: error.to_string() });
            }
        }
        registry
    }

    /// The handlers, sorted by name and platform.
    pub fn handlers(&self) -> &[&'static Handler] {
        &self.handlers
    }

    /// Mistakes: operations defined twice, named crates without any, or no operation at all.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The handler of an operation for a platform.
    pub fn find(&self, name: &str, platform: &str) -> Option<&'static Handler> {
        self.handlers.iter().copied().find(|handler| handler.name == name && handler.platform == platform)
    }
}

impl Handler {
    /// The crate that defines the operation.
    pub fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }

    /// The name under which programs call the operation, whichever libraries a process has loaded: `my_ops::scale`,
    /// with the namespace that torch knows, or else the crate's name.
    pub fn target(&self) -> String {
        format!("{}::{}", namespace::of(self).unwrap_or(self.crate_name()), self.name)
    }

    /// All names under which the operation is registered: its target, and its own name for callers that use it.
    pub fn targets(&self) -> [String; 2] {
        [self.target(), self.name.to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plugin may have no operation, but no crate that it names for some.
    #[test]
    fn no_operation_and_an_empty_crate_are_told_apart() {
        let empty = Registry::new(Vec::new(), Vec::new(), Vec::new());
        assert!(matches!(empty.problems(), [Problem::NoOperation]));
        let named = Registry::new(Vec::new(), vec!["my_ops"], Vec::new());
        assert!(matches!(named.problems(), [Problem::EmptyCrate("my_ops"), Problem::NoOperation]));
        assert!(
            named.problems()[0].to_string().starts_with("crate `my_ops`, named in `ops: [...]`, holds no operation")
        );
    }
}
