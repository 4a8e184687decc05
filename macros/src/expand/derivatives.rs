//! The operations that one function becomes: itself, and its derivatives.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Attribute, ItemFn, LitStr, Path};

/// An operation: the function, or one of its derivatives.
pub(super) struct Node {
    /// The rules by which it is derived, for the name: `_vjp_jvp`.
    pub(super) suffix: String,
    pub(super) inputs: Vec<Buffer>,
    pub(super) outputs: Vec<Buffer>,
    /// Its own derivatives, if it has them: jvp and vjp.
    pub(super) rules: Option<[usize; 2]>,
    pub(super) of: Of,
}

/// An operand or a result.
#[derive(Clone)]
pub(super) struct Buffer {
    pub(super) name: String,
    /// Whether it has one dimension more than the batch.
    pub(super) is_row: bool,
}

/// The function of a node.
pub(super) enum Of {
    Function,
    Jvp(usize),
    Vjp(usize),
}

/// The function and its derivatives, each before its own.
pub(super) fn nodes(
    inputs: Vec<Buffer>,
    outputs: Vec<Buffer>,
    attrs: impl Iterator<Item = String>,
    derivatives: u32,
) -> Vec<Node> {
    let attrs: HashSet<String> = attrs.collect();
    let mut nodes = vec![Node { suffix: String::new(), inputs, outputs, rules: None, of: Of::Function }];
    let mut level = 0..1;
    for _ in 0..derivatives {
        let start = nodes.len();
        for index in level {
            let rules = [Of::Jvp(index), Of::Vjp(index)].map(|of| {
                let derived = derived(&attrs, &nodes[index], of);
                nodes.push(derived);
                nodes.len() - 1
            });
            nodes[index].rules = Some(rules);
        }
        level = start..nodes.len();
    }
    nodes
}

/// A derivative of a node, with the names by which hosts pair its parameters: `tx` is the tangent of `x`, `dx` its
/// cotangent.
fn derived(attrs: &HashSet<String>, node: &Node, of: Of) -> Node {
    let mut used = attrs.clone();
    used.extend(node.inputs.iter().map(|buffer| buffer.name.clone()));
    let mut fresh = |prefix: &str, Buffer { name, is_row }: &Buffer| {
        let plain = format!("{prefix}{name}");
        let name = if used.contains(&plain) { format!("{prefix}_{name}") } else { plain };
        used.insert(name.clone());
        Buffer { name, is_row: *is_row }
    };
    let (rule, inputs, outputs): (_, Vec<_>, Vec<_>) = match of {
        Of::Vjp(_) => {
            let taken = node.outputs.iter().map(|buffer| fresh("d", buffer)).collect();
            ("vjp", taken, node.inputs.iter().map(|buffer| fresh("d", buffer)).collect())
        }
        _ => {
            let taken = node.inputs.iter().map(|buffer| fresh("t", buffer)).collect();
            ("jvp", taken, node.outputs.iter().map(|buffer| fresh("t", buffer)).collect())
        }
    };
    Node {
        suffix: format!("{}_{rule}", node.suffix),
        inputs: node.inputs.iter().cloned().chain(inputs).collect(),
        outputs,
        rules: None,
        of,
    }
}

/// The function that the operations are made of.
pub(super) struct Source<'f> {
    pub(super) function: &'f ItemFn,
    /// The name of the operation.
    pub(super) name: &'f LitStr,
    /// Where the support code is.
    pub(super) krate: &'f Path,
    /// The type parameter of the operations, and the element types of the function and of its derivatives.
    pub(super) element: &'f Ident,
    pub(super) elements: [TokenStream; 2],
    pub(super) operands: Vec<&'f Ident>,
    pub(super) attrs: Vec<&'f Ident>,
}

/// What an operation declares.
pub(super) struct Declaration {
    pub(super) docs: Vec<Attribute>,
    /// The arguments of `#[custom_call]`.
    pub(super) args: TokenStream,
    /// The list of dimensions that all arrays have.
    pub(super) batch: Ident,
    pub(super) inputs: Vec<Ident>,
    pub(super) outputs: Vec<Ident>,
}

impl Source<'_> {
    /// The name of a node's operation.
    pub(super) fn op(&self, node: &Node) -> Ident {
        format_ident!("__op_{}{}", self.function.sig.ident.unraw(), node.suffix)
    }

    /// The name of the stage that makes a node's plan.
    pub(super) fn plan(&self, node: &Node) -> Ident {
        format_ident!("__plan_{}{}", self.function.sig.ident.unraw(), node.suffix)
    }

    /// The declaration of a node's operation, whose list of dimensions has the first of some names that is free.
    pub(super) fn declaration(&self, nodes: &[Node], node: &Node, batch: &[&str]) -> Declaration {
        let Source { function, krate, element, .. } = self;
        let name = format!("{}{}", self.name.value(), node.suffix);
        let batch = self.free_name(node, batch);
        let rules = node.rules.map(|[jvp, vjp]| {
            let (jvp, vjp) = (self.op(&nodes[jvp]), self.op(&nodes[vjp]));
            tokens!(, jvp = #jvp, vjp = #vjp)
        });
        let [of_function, of_derivatives] = &self.elements;
        let elements = if matches!(node.of, Of::Function) { of_function } else { of_derivatives };
        // Names of the function's own operands point at it.
        let ident = |buffer: &Buffer| buffer.ident(&self.operands, function);
        Declaration {
            docs: node.docs(function, &self.name.value(), nodes),
            args: tokens!(name = #name, #element = #elements, batch = #batch, crate = #krate #rules),
            inputs: node.inputs.iter().map(ident).collect(),
            outputs: node.outputs.iter().map(ident).collect(),
            batch,
        }
    }

    /// The first of some names that no parameter of a node has; the last with an underscore if all are taken.
    pub(super) fn free_name(&self, node: &Node, names: &[&str]) -> Ident {
        let buffers = node.inputs.iter().chain(&node.outputs).map(|buffer| buffer.name.clone());
        let used: HashSet<String> = buffers.chain(self.attrs.iter().map(|ident| ident.unraw().to_string())).collect();
        let free = names.iter().find(|name| !used.contains(**name)).map(|name| (*name).to_owned());
        let name = free.unwrap_or_else(|| format!("{}_", names[names.len() - 1]));
        Ident::new(&name, Span::mixed_site())
    }
}

impl Node {
    /// The attribute that says which tangents or cotangents are not zero: `jvp_active`, `vjp_jvp_active`.
    pub(super) fn active(&self, function: &ItemFn) -> Ident {
        let name = format!("{}_active", &self.suffix[1..]);
        Ident::new(&name, Span::mixed_site().located_at(function.sig.ident.span()))
    }

    /// These attributes of this node, and of what it is a derivative of, as parameters of a stage.
    pub(super) fn active_attributes<'a>(
        &'a self,
        nodes: &'a [Node],
        function: &'a ItemFn,
    ) -> impl Iterator<Item = TokenStream> {
        self.chain(nodes).into_iter().skip(1).map(|node| {
            let ident = node.active(function);
            tokens!(#[attr(default = -1)] #ident: i64)
        })
    }

    /// The function, and what is derived from it up to this node.
    pub(super) fn chain<'a>(&'a self, nodes: &'a [Node]) -> Vec<&'a Node> {
        let mut chain = vec![self];
        while let Of::Jvp(of) | Of::Vjp(of) = chain[chain.len() - 1].of {
            chain.push(&nodes[of]);
        }
        chain.reverse();
        chain
    }

    /// The operation's documentation.
    fn docs(&self, function: &ItemFn, name: &str, nodes: &[Node]) -> Vec<Attribute> {
        match self.of {
            Of::Function => function.attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect(),
            Of::Jvp(of) | Of::Vjp(of) => {
                let what = if matches!(self.of, Of::Vjp(_)) { "vector-Jacobian" } else { "Jacobian-vector" };
                let text = format!("The {what} product of `{name}{}`.", nodes[of].suffix);
                vec![syn::parse_quote!(#[doc = #text])]
            }
        }
    }
}

impl Buffer {
    /// The name of its parameter; the function's own operands point at it.
    fn ident(&self, own: &[&Ident], function: &ItemFn) -> Ident {
        match own.iter().find(|ident| ident.unraw() == self.name.as_str()) {
            Some(ident) => (*ident).clone(),
            None => Ident::new(&self.name, Span::mixed_site().located_at(function.sig.ident.span())),
        }
    }
}
