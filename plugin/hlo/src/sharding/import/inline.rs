//! Code that is written for one device amid code for all: what lies between `SPMDFullToShardShape` and
//! `SPMDShardToFullShape` becomes a computation per device.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{CONSTRAINT, Importer, MESH, TO_GLOBAL, TO_LOCAL, close, custom_call};
use crate::sharding::{ManualComputation, MeshRef, TensorSharding};
use crate::{Error, FuncId, Op, OpKind, Region, TensorType, Type, ValueId};

/// What stands in the new order of a region's ops.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    /// An op for all devices.
    Op(usize),
    /// All ops of a piece of code for one device, by the first of them.
    Piece(usize),
}

/// The ops of each piece, by the first of them.
type Members = HashMap<usize, Vec<usize>>;

/// The ops of a region, and which of them are for one device.
struct Pieces<'r> {
    ops: &'r [Op],
    /// The op that defines each value.
    defined: HashMap<ValueId, usize>,
    /// For each op for one device, another one of its piece; the first one has itself.
    parents: Vec<Option<usize>>,
}

fn target(op: &Op) -> Option<&str> {
    custom_call(op).map(|call| call.target.as_str())
}

/// The values that an op uses, in its regions too.
fn uses(op: &Op) -> impl Iterator<Item = ValueId> {
    op.operands.iter().copied().chain(Region::free_values(&op.regions))
}

impl<'r> Pieces<'r> {
    fn of(ops: &'r [Op]) -> Pieces<'r> {
        let defined =
            ops.iter().enumerate().flat_map(|(index, op)| op.results.iter().map(move |&value| (value, index)));
        let mut pieces = Pieces { ops, defined: defined.collect(), parents: vec![None; ops.len()] };
        for (index, op) in ops.iter().enumerate() {
            if target(op) == Some(TO_LOCAL) {
                pieces.parents[index] = Some(index);
                continue;
            }
            let local: Vec<usize> = uses(op).filter_map(|value| pieces.local(value)).collect();
            for definer in local {
                pieces.join(definer, index);
            }
        }
        pieces
    }

    /// The op that defines `value`, if the value is for one device.
    fn local(&self, value: ValueId) -> Option<usize> {
        let index = *self.defined.get(&value)?;
        (self.parents[index].is_some() && target(&self.ops[index]) != Some(TO_GLOBAL)).then_some(index)
    }

    /// The first op of the piece of `index`.
    fn root(&mut self, mut index: usize) -> Option<usize> {
        while let Some(parent) = self.parents[index].filter(|&parent| parent != index) {
            self.parents[index] = self.parents[parent];
            index = parent;
        }
        self.parents[index].map(|_| index)
    }

    fn join(&mut self, left: usize, right: usize) {
        self.parents[right].get_or_insert(right);
        let (left, right) = (self.root(left).unwrap_or(left), self.root(right).unwrap_or(right));
        let (first, last) = (left.min(right), left.max(right));
        self.parents[last] = Some(first);
    }

    fn node(&mut self, index: usize) -> Node {
        self.root(index).map_or(Node::Op(index), Node::Piece)
    }

    /// The nodes, each after those that it uses, and otherwise as the ops were.
    ///
    /// # Errors
    /// UNSUPPORTED if a piece uses what it computes itself for all devices.
    fn order(&mut self) -> Result<(Vec<Node>, Members), Error> {
        let nodes: Vec<Node> = (0..self.ops.len()).map(|index| self.node(index)).collect();
        let circle =
            || Err(Error::unsupported("per-device code cannot use a global value that depends on its own results"));
        let within = |index: usize| {
            let global = uses(&self.ops[index]).filter(|&value| self.local(value).is_none());
            let mut definers = global.filter_map(|value| self.defined.get(&value));
            definers.any(|&definer| nodes[definer] == nodes[index])
        };
        if (0..self.ops.len()).any(within) {
            return circle();
        }
        let mut members = Members::new();
        for (index, node) in nodes.iter().enumerate() {
            if let Node::Piece(root) = node {
                members.entry(*root).or_default().push(index);
            }
        }
        let of = |node: Node| match node {
            Node::Op(index) => vec![index],
            Node::Piece(root) => members[&root].clone(),
        };
        let used = |node: Node| -> Vec<Node> {
            let values = of(node).into_iter().flat_map(|index| uses(&self.ops[index]).collect::<Vec<_>>());
            let definers = values.filter_map(|value| self.defined.get(&value).map(|&index| nodes[index]));
            definers.filter(|&definer| definer != node).collect()
        };
        let (mut order, mut done, mut open) = (Vec::with_capacity(nodes.len()), HashSet::new(), HashSet::new());
        for &first in &nodes {
            // A stack of our own: what a piece waits for may be a long chain.
            let mut stack = vec![first];
            while let Some(&node) = stack.last() {
                if done.contains(&node) {
                    stack.pop();
                } else if open.insert(node) {
                    for definer in used(node) {
                        if open.contains(&definer) && !done.contains(&definer) {
                            return circle();
                        }
                        stack.push(definer);
                    }
                } else {
                    stack.pop();
                    done.insert(node);
                    order.push(node);
                }
            }
        }
        Ok((order, members))
    }
}

impl Importer {
    /// Makes computations per device of what is left between calls to local and to global shapes.
    pub(super) fn inline(
        &self,
        region: &mut Region,
        types: &mut Vec<Type>,
        outer: &[String],
        callees: &mut Vec<(FuncId, Vec<String>)>,
    ) -> Result<(), Error> {
        if !region.ops.iter().any(|op| [Some(TO_LOCAL), Some(TO_GLOBAL)].contains(&target(op))) {
            return Ok(());
        }
        let ops = std::mem::take(&mut region.ops);
        let mut pieces = Pieces::of(&ops);
        if region.results.iter().any(|&value| pieces.local(value).is_some()) {
            return Err(Error::unsupported(format!(
                "a per-device value cannot be a result: make it global with @{TO_GLOBAL}"
            )));
        }
        let (order, members) = pieces.order()?;
        for node in order {
            region.ops.push(match node {
                Node::Op(index) if target(&ops[index]) == Some(TO_GLOBAL) => {
                    return Err(Error::unsupported(format!("@{TO_GLOBAL} takes a per-device value, got a global one")));
                }
                Node::Op(index) => ops[index].clone(),
                Node::Piece(root) => self.piece(&pieces, &members[&root], types, outer, callees)?,
            });
        }
        Ok(())
    }

    /// The computation per device of these ops.
    fn piece(
        &self,
        pieces: &Pieces<'_>,
        members: &[usize],
        types: &mut Vec<Type>,
        outer: &[String],
        callees: &mut Vec<(FuncId, Vec<String>)>,
    ) -> Result<Op, Error> {
        let unsupported = || Error::unsupported("no mesh can express the sharding of this per-device code");
        let replicated = |ty: Option<&TensorType>| {
            TensorSharding::replicated(MeshRef::Named(MESH.into()), ty.map_or(0, TensorType::rank))
        };
        let mut manual = ManualComputation { in_shardings: vec![], out_shardings: vec![], manual_axes: vec![] };
        let mut axes = BTreeSet::new();
        let (mut operands, mut results, mut body) = (Vec::new(), Vec::new(), Region::default());
        // What is for all devices is a parameter inside, with a name of its own.
        let mut inside: HashMap<ValueId, ValueId> = HashMap::new();
        for &index in members {
            let op = &pieces.ops[index];
            let of = |op: &Op, ty: Option<&TensorType>| custom_call(op).and_then(|call| self.of_call(call, ty));
            match (target(op), &op.operands[..], &op.results[..]) {
                (Some(TO_LOCAL), &[global], &[local]) => {
                    let ty = types[global.0 as usize].tensor();
                    axes.extend(of(op, ty).ok_or_else(unsupported)?.manual_axes);
                    let stated = pieces.defined.get(&global).map(|&index| &pieces.ops[index]);
                    manual.in_shardings.push(match stated.filter(|op| target(op) == Some(CONSTRAINT)) {
                        Some(stated) => of(stated, ty).ok_or_else(unsupported)?.sharding,
                        None => self.stated.get(&global).cloned().unwrap_or_else(|| replicated(ty)),
                    });
                    operands.push(global);
                    body.params.push(local);
                }
                (Some(TO_GLOBAL), &[local], &[global]) => {
                    let ty = types[global.0 as usize].tensor();
                    manual.out_shardings.push(of(op, ty).ok_or_else(unsupported)?.sharding);
                    results.push(global);
                    body.results.push(local);
                }
                (Some(TO_LOCAL | TO_GLOBAL), ..) => return Err(unsupported()),
                _ => {
                    for value in uses(op).filter(|&value| pieces.local(value).is_none()) {
                        inside.entry(value).or_insert_with(|| {
                            let param = ValueId(types.len() as u32);
                            types.push(types[value.0 as usize].clone());
                            manual.in_shardings.push(replicated(types[value.0 as usize].tensor()));
                            operands.push(value);
                            body.params.push(param);
                            param
                        });
                    }
                    body.ops.push(op.clone());
                }
            }
        }
        body.rename(&inside);
        let names = self.grid.all_axes().into_iter();
        manual.manual_axes = names.filter(|name| axes.contains(name) && !outer.contains(name)).collect();
        close(&mut manual);
        let all: Vec<String> = manual.manual_axes.iter().chain(outer).cloned().collect();
        self.region(&mut body, types, &all, callees)?;
        let location = pieces.ops[members[0]].location;
        Ok(Op { kind: OpKind::ManualComputation(Box::new(manual)), operands, results, regions: vec![body], location })
    }
}

#[cfg(test)]
mod tests {
    use crate::sharding::import_custom_calls;
    use crate::{parse_text, verify};

    /// What lies between changes of shape, as torch_xla's `enable_manual_sharding` writes it; `body` gives `%local`.
    fn program(body: &str) -> String {
        let manual = r#"{mhlo.sharding = "{manual}"}"#;
        let rows = r#"{mhlo.sharding = "{devices=[4,1]<=[4]}"}"#;
        format!(
            r#"func.func @main(%x: tensor<8x2xf32> {rows}) -> tensor<8x2xf32> {{
              %one = stablehlo.constant dense<1.0> : tensor<2x2xf32>
              %split = stablehlo.custom_call @Sharding(%x) {rows} : (tensor<8x2xf32>) -> tensor<8x2xf32>
              %local = stablehlo.custom_call @SPMDFullToShardShape(%split) {manual} : (tensor<8x2xf32>) -> tensor<2x2xf32>
              {body}
            }}"#
        )
    }

    const OUT: &str = r#"%held = stablehlo.custom_call @Sharding(%sum) {mhlo.sharding = "{manual}"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
        %full = stablehlo.custom_call @SPMDShardToFullShape(%held) {mhlo.sharding = "{devices=[4,1]<=[4]}"} : (tensor<2x2xf32>) -> tensor<8x2xf32>"#;

    fn import(body: &str) -> Result<String, String> {
        let mut module = parse_text(&program(body)).unwrap();
        verify(&module).unwrap();
        import_custom_calls(&mut module).map_err(|error| error.to_string())?;
        verify(&module).unwrap_or_else(|error| panic!("{error}\n{module}"));
        Ok(module.to_string())
    }

    #[test]
    fn what_lies_between_is_for_one_device() {
        let body =
            format!("%sum = stablehlo.add %local, %one : tensor<2x2xf32>\n{OUT}\nreturn %full : tensor<8x2xf32>");
        let text = import(&body).unwrap();
        for expected in [
            r#"sdy.manual_computation(%1, %0) in_shardings=[<@mesh, [{"axis_2", "axis_1", ?}, {?}]>, <@mesh, [{?}, {?}]>]"#,
            r#"out_shardings=[<@mesh, [{"axis_2", "axis_1", ?}, {?}]>] manual_axes={"axis_2", "axis_1"}"#,
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("SPMD"), "{text}");
    }

    #[test]
    fn what_comes_later_may_be_used() {
        // The constant for all devices is defined after the first op for one.
        let body = format!(
            "%first = stablehlo.sine %local : tensor<2x2xf32>\n%two = stablehlo.constant dense<2.0> : tensor<2x2xf32>\n\
             %sum = stablehlo.add %first, %two : tensor<2x2xf32>\n{OUT}\nreturn %full : tensor<8x2xf32>"
        );
        assert!(import(&body).unwrap().contains("sdy.manual_computation"));
    }

    #[test]
    fn what_is_not_code_for_one_device() {
        assert!(import("return %x : tensor<8x2xf32>").unwrap().contains("sdy.manual_computation"));
        let circle = format!(
            "%sum = stablehlo.add %local, %one : tensor<2x2xf32>\n{OUT}\n\
             %again = stablehlo.custom_call @SPMDFullToShardShape(%full) {{mhlo.sharding = \"{{manual}}\"}} : (tensor<8x2xf32>) -> tensor<2x2xf32>\n\
             %both = stablehlo.add %again, %local : tensor<2x2xf32>\n\
             %end = stablehlo.custom_call @SPMDShardToFullShape(%both) {{mhlo.sharding = \"{{devices=[4,1]<=[4]}}\"}} : (tensor<2x2xf32>) -> tensor<8x2xf32>\n\
             return %end : tensor<8x2xf32>"
        );
        assert!(import(&circle).unwrap_err().contains("depends on its own results"));
        let global = "%full = stablehlo.custom_call @SPMDShardToFullShape(%one) {mhlo.sharding = \"{manual}\"} : (tensor<2x2xf32>) -> tensor<8x2xf32>\n\
             return %full : tensor<8x2xf32>";
        assert!(import(global).unwrap_err().contains("takes a per-device value"));
    }
}
