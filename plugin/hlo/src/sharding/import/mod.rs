//! Programs of the older form: shardings as strings and custom calls become meshes, constraints and computations per
//! device.
//!
//! Strings number devices without a mesh. One is found whose axes are what the strings of a program have in common: of
//! `{devices=[4,2]<=[8]}` and `{devices=[8]<=[2,4]T(1,0)}`, axes of 2, 2 and 2 devices. Where the numbers themselves
//! have no such axes (`{devices=[4]3,1,0,2}`, of a mesh of devices in another order), those of places in the first such
//! list do.

mod inline;

use std::collections::{BTreeSet, HashMap};

use super::{AxisRef, DimSharding, ManualComputation, Mesh, MeshRef, OpSharding, SubgroupType, TensorSharding};
use crate::{Attribute, CustomCall, Error, Func, FuncId, Module, Op, OpKind, Region, TensorType, ValueId};

const CONSTRAINT: &str = "Sharding";
const TO_LOCAL: &str = "SPMDFullToShardShape";
const TO_GLOBAL: &str = "SPMDShardToFullShape";

/// The name of strings' attributes.
const ATTRIBUTE: &str = "mhlo.sharding";

/// The name of the mesh that is made.
const MESH: &str = "mesh";

/// Brings a program that has shardings as strings and custom calls, as JAX sent them before Shardy, into the newer
/// form. Programs without them stay as they are. Strings that no mesh can say with the others are left alone.
///
/// # Errors
/// INVALID for strings that are no shardings; UNSUPPORTED for per-device code that cannot be told from the rest.
pub fn import_custom_calls(module: &mut Module) -> Result<(), Error> {
    let mut strings = Vec::new();
    for func in &module.funcs {
        let attributes = func.param_attributes.iter().chain(&func.result_attributes);
        strings.extend(attributes.filter_map(|attributes| text_of(attributes)).map(|text| (text.to_owned(), false)));
        collect(&func.body, &mut strings);
    }
    if strings.is_empty() {
        return Ok(());
    }
    let mut parsed = HashMap::new();
    for (text, _) in strings.iter().filter(|(text, _)| !text.is_empty()) {
        parsed.insert(text.clone(), OpSharding::parse(text)?);
    }
    let shardings = strings.iter().filter_map(|(text, needed)| Some((parsed.get(text)?, *needed)));
    let Some(grid) = Grid::of(shardings) else { return Ok(()) };
    module.meshes.insert(0, (MESH.into(), grid.mesh()));
    let mut importer = Importer { grid, parsed, stated: HashMap::new(), seen: BTreeSet::new() };
    importer.attributes(&mut module.funcs[module.entry.0 as usize]);
    importer.func(module, module.entry, &[])
}

/// The sharding among attributes.
fn stated(attributes: &[(String, Attribute)]) -> Option<TensorSharding> {
    attributes.iter().find_map(|(_, attribute)| match attribute {
        Attribute::Sharding(sharding) => Some(sharding.clone()),
        _ => None,
    })
}

/// The string of a sharding among attributes.
fn text_of(attributes: &[(String, Attribute)]) -> Option<&str> {
    attributes.iter().find(|(name, _)| name == ATTRIBUTE)?.1.as_str()
}

fn custom_call(op: &Op) -> Option<&CustomCall> {
    match &op.kind {
        OpKind::CustomCall(call) if [CONSTRAINT, TO_LOCAL, TO_GLOBAL].contains(&&*call.target) => Some(call),
        _ => None,
    }
}

/// The strings of a region's ops, and whether the program cannot run unless the mesh can say them: what leaves code for
/// one device.
fn collect(region: &Region, strings: &mut Vec<(String, bool)>) {
    for op in &region.ops {
        let text = custom_call(op).and_then(|call| Some((text_of(&call.attributes)?, call.target == TO_GLOBAL)));
        strings.extend(text.map(|(text, needed)| (text.to_owned(), needed)));
        op.regions.iter().for_each(|region| collect(region, strings));
    }
}

/// The axes that the shardings of a program share.
struct Grid {
    /// The strides of axes in the places of devices, and at last the number of devices: each divides the next.
    cuts: Vec<usize>,
    /// The device at each place, and the place of each device; empty where these are the same.
    order: Vec<usize>,
    places: Vec<usize>,
}

/// The axes of a grid of tiles, for each dimension major to minor, as strides and sizes.
fn digits(grid: &[usize], devices: &[usize]) -> Option<Vec<Vec<(usize, usize)>>> {
    let mut weight = devices.len();
    let mut all = Vec::new();
    for &size in grid {
        let (mut rest, mut dim) = (size, Vec::new());
        while rest > 1 {
            let prime = (2..=rest).find(|&factor| rest.is_multiple_of(factor))?;
            weight /= prime;
            rest /= prime;
            dim.push((*devices.get(weight)?, prime));
        }
        all.push(dim);
    }
    // The numbers must be sums of multiples of the strides.
    let number = |mut place: usize| {
        all.iter().flatten().rev().fold(0, |number, &(stride, size)| {
            let digit = place % size;
            place /= size;
            number + digit * stride
        })
    };
    let regular = devices.iter().enumerate().all(|(place, &device)| number(place) == device);
    regular.then_some(all)
}

/// The places of devices in an order of them; `None` if some are missing.
fn places_in(order: &[usize]) -> Option<Vec<usize>> {
    let mut places = vec![usize::MAX; order.len()];
    order.iter().enumerate().try_for_each(|(place, &device)| places.get_mut(device).map(|of| *of = place))?;
    (!places.contains(&usize::MAX)).then_some(places)
}

impl Grid {
    /// The grid that can say most of the shardings, of which some are needed.
    fn of<'s>(shardings: impl Iterator<Item = (&'s OpSharding, bool)> + Clone) -> Option<Grid> {
        let tiled = shardings.filter_map(|(sharding, needed)| match sharding {
            OpSharding::Tiled { grid, devices, .. } => Some((&grid[..], &devices[..], needed)),
            _ => None,
        });
        // The needed ones before others.
        let irregular = tiled.clone().filter(|(grid, devices, _)| digits(grid, devices).is_none());
        let order = irregular.min_by_key(|&(.., needed)| !needed).map(|(_, order, _)| order.to_vec());
        let iota = Grid::in_order(Vec::new(), Vec::new(), tiled.clone());
        let other = order.and_then(|order| Grid::in_order(places_in(&order)?, order, tiled));
        // Of equals, the last: the order of the numbers.
        other.into_iter().chain(iota).max_by_key(|(_, said)| *said).map(|(grid, _)| grid)
    }

    /// The grid of devices in an order, and how many of the needed shardings it can say, and of all.
    fn in_order<'s>(
        places: Vec<usize>,
        order: Vec<usize>,
        tiled: impl Iterator<Item = (&'s [usize], &'s [usize], bool)>,
    ) -> Option<(Grid, [usize; 2])> {
        let mut cuts: Option<Vec<usize>> = None;
        let mut said = [0, 0];
        let none = Grid { cuts: Vec::new(), order, places };
        for (grid, devices, needed) in tiled {
            let Some(digits) = none.digits(grid, devices) else { continue };
            said[0] += usize::from(needed);
            said[1] += 1;
            let ends = digits.iter().flatten().flat_map(|&(stride, size)| [stride, stride * size]);
            let known = cuts.clone().unwrap_or_else(|| vec![1, devices.len()]);
            let all: BTreeSet<usize> = known.iter().copied().chain(ends).collect();
            let all: Vec<usize> = all.into_iter().collect();
            let chain = all.windows(2).all(|pair| pair[0] > 0 && pair[1].is_multiple_of(pair[0]));
            if chain && all.last() == Some(&devices.len()) {
                cuts = Some(all);
            } else {
                cuts.get_or_insert(known);
            }
        }
        cuts.map(|cuts| (Grid { cuts, ..none }, said))
    }

    /// The axes of a grid of tiles, as [`digits`] gives them, over the places of devices.
    fn digits(&self, grid: &[usize], devices: &[usize]) -> Option<Vec<Vec<(usize, usize)>>> {
        if self.places.is_empty() {
            return digits(grid, devices);
        }
        let places: Option<Vec<usize>> = devices.iter().map(|&device| self.places.get(device).copied()).collect();
        digits(grid, &places.filter(|places| places.len() == self.places.len())?)
    }

    fn mesh(&self) -> Mesh {
        let axes = self.cuts.windows(2).rev().map(|cut| (axis_name(cut[0]), cut[1] / cut[0])).collect();
        Mesh { axes, device_ids: self.order.clone() }
    }

    fn axis(&self, (stride, size): (usize, usize)) -> Option<AxisRef> {
        let index = self.cuts.iter().position(|&cut| cut == stride)?;
        (self.cuts.get(index + 1) == Some(&(stride * size))).then(|| AxisRef::new(axis_name(stride)))
    }

    fn all_axes(&self) -> Vec<String> {
        self.mesh().axes.into_iter().map(|(name, _)| name).collect()
    }
}

/// The name of the axis along which the numbers of devices differ by `stride`.
fn axis_name(stride: usize) -> String {
    format!("axis_{stride}")
}

/// A sharding in terms of the mesh.
struct Imported {
    sharding: TensorSharding,
    manual_axes: Vec<String>,
}

struct Importer {
    grid: Grid,
    parsed: HashMap<String, OpSharding>,
    /// The shardings of the parameters of the function that is being imported.
    stated: HashMap<ValueId, TensorSharding>,
    /// Functions that are done.
    seen: BTreeSet<u32>,
}

impl Importer {
    /// What a string says of a tensor of `rank` dimensions, of which some are left to the compiler.
    fn import(&self, text: &str, rank: usize, open: &[usize]) -> Option<Imported> {
        let mut sharding = TensorSharding::replicated(MeshRef::Named(MESH.into()), rank);
        let mut manual_axes = Vec::new();
        match self.parsed.get(text)? {
            OpSharding::Replicated => {}
            OpSharding::Manual => manual_axes = self.grid.all_axes(),
            OpSharding::Unknown => sharding.dims.iter_mut().for_each(|dim| dim.closed = false),
            OpSharding::Tiled { grid, devices, subgroups } if grid.len() == rank + subgroups.len() => {
                for (dim, digits) in self.grid.digits(grid, devices)?.into_iter().enumerate() {
                    let axes = digits.into_iter().map(|digit| self.grid.axis(digit)).collect::<Option<Vec<_>>>()?;
                    match dim.checked_sub(rank).map(|dim| subgroups[dim]) {
                        None => sharding.dims[dim] = DimSharding::closed(axes),
                        Some(SubgroupType::Manual) => manual_axes.extend(axes.into_iter().map(|axis| axis.name)),
                        Some(SubgroupType::Unreduced) => sharding.unreduced.extend(axes),
                        Some(SubgroupType::Replicated) => {}
                    }
                }
            }
            _ => return None,
        }
        open.iter().filter_map(|&dim| sharding.dims.get_mut(dim).map(|dim| dim.closed = false)).for_each(drop);
        Some(Imported { sharding, manual_axes })
    }

    fn of_call(&self, call: &CustomCall, ty: Option<&TensorType>) -> Option<Imported> {
        self.import(text_of(&call.attributes)?, ty?.rank(), &unspecified_dims(call))
    }

    /// Gives the parameters and results of the program their shardings.
    fn attributes(&self, func: &mut Func) {
        let sides =
            [(&func.body.params, &mut func.param_attributes), (&func.body.results, &mut func.result_attributes)];
        for (values, attributes) in sides {
            for (value, attributes) in values.iter().zip(attributes) {
                let rank = func.values[value.0 as usize].tensor().map_or(0, TensorType::rank);
                let imported = text_of(attributes).and_then(|text| self.import(text, rank, &[]));
                if let Some(imported) = imported {
                    attributes.push(("sdy.sharding".into(), Attribute::Sharding(imported.sharding)));
                    attributes.sort_by(|(left, _), (right, _)| left.cmp(right));
                }
            }
        }
    }

    /// Imports what is in a function that runs with these manual axes.
    fn func(&mut self, module: &mut Module, id: FuncId, manual: &[String]) -> Result<(), Error> {
        if !self.seen.insert(id.0) {
            return Ok(());
        }
        let Func { body, values, param_attributes, .. } = &mut module.funcs[id.0 as usize];
        let params = body.params.iter().zip(&*param_attributes);
        self.stated = params.filter_map(|(&param, attributes)| Some((param, stated(attributes)?))).collect();
        let (mut region, mut types) = (std::mem::take(body), std::mem::take(values));
        let mut callees = Vec::new();
        let done = self.region(&mut region, &mut types, manual, &mut callees);
        let func = &mut module.funcs[id.0 as usize];
        (func.body, func.values) = (region, types);
        done?;
        callees.into_iter().try_for_each(|(callee, manual)| self.func(module, callee, &manual))
    }

    fn region(
        &self,
        region: &mut Region,
        types: &mut Vec<crate::Type>,
        manual: &[String],
        callees: &mut Vec<(FuncId, Vec<String>)>,
    ) -> Result<(), Error> {
        self.calls(region, types, manual, callees)?;
        self.inline(region, types, manual, callees)?;
        // Those of computations per device, too: what is in them is imported, and stays as it is.
        for region in region.ops.iter_mut().flat_map(|op| &mut op.regions) {
            self.region(region, types, manual, callees)?;
        }
        for op in &mut region.ops {
            let ty = op.operands.first().and_then(|operand| types[operand.0 as usize].tensor());
            let Some(call) = custom_call(op) else {
                match op.kind {
                    OpKind::Call(callee) => callees.push((callee, manual.to_vec())),
                    OpKind::Composite { decomposition, .. } => callees.push((decomposition, manual.to_vec())),
                    _ => {}
                }
                continue;
            };
            if let (Some(imported), 1) = (self.of_call(call, ty), op.operands.len()) {
                op.kind = OpKind::ShardingConstraint(Box::new(imported.sharding));
            }
        }
        Ok(())
    }

    /// Calls whose operands and results change between global and local shapes become computations per device.
    fn calls(
        &self,
        region: &mut Region,
        types: &mut Vec<crate::Type>,
        outer: &[String],
        callees: &mut Vec<(FuncId, Vec<String>)>,
    ) -> Result<(), Error> {
        let mut defined: HashMap<ValueId, usize> = HashMap::new();
        let mut users: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (index, op) in region.ops.iter().enumerate() {
            defined.extend(op.results.iter().map(|&result| (result, index)));
            op.operands.iter().for_each(|&operand| users.entry(operand).or_default().push(index));
        }
        let target = |index: usize| custom_call(&region.ops[index]).map(|call| call.target.as_str());
        let mut removed = BTreeSet::new();
        let mut replaced = Vec::new();
        for (index, op) in region.ops.iter().enumerate() {
            let OpKind::Call(callee) = op.kind else { continue };
            let entering = |value: &ValueId| defined.get(value).copied().filter(|&op| target(op) == Some(TO_LOCAL));
            // From each result, over constraints, to where it becomes global.
            let leaving = |value: ValueId| {
                let (mut value, mut path) = (value, Vec::new());
                loop {
                    let &user =
                        users.get(&value)?.iter().find(|&&user| target(user).is_some_and(|name| name != TO_LOCAL))?;
                    path.push(user);
                    if target(user) == Some(TO_GLOBAL) {
                        return Some(path);
                    }
                    value = *region.ops[user].results.first()?;
                }
            };
            let inputs: Vec<Option<usize>> = op.operands.iter().map(entering).collect();
            let outputs: Vec<Option<Vec<usize>>> = op.results.iter().map(|&result| leaving(result)).collect();
            if inputs.iter().all(Option::is_none) && outputs.iter().all(Option::is_none) {
                continue;
            }
            let mut manual = ManualComputation { in_shardings: vec![], out_shardings: vec![], manual_axes: vec![] };
            let mut axes: BTreeSet<String> = BTreeSet::new();
            let mut body = Region { ops: vec![op.clone()], ..Region::default() };
            let (mut operands, mut results) = (Vec::new(), Vec::new());
            let unsupported = || Error::unsupported("no mesh can express the sharding of this per-device function");
            for (place, (&local, input)) in op.operands.iter().zip(inputs).enumerate() {
                let Some(input) = input else {
                    let rank = types[local.0 as usize].tensor().map_or(0, TensorType::rank);
                    let param = ValueId(types.len() as u32);
                    types.push(types[local.0 as usize].clone());
                    manual.in_shardings.push(TensorSharding::replicated(MeshRef::Named(MESH.into()), rank));
                    operands.push(local);
                    body.params.push(param);
                    body.ops[0].operands[place] = param;
                    continue;
                };
                let global = region.ops[input].operands[0];
                let ty = types[global.0 as usize].tensor();
                let of = |op: usize| custom_call(&region.ops[op]).and_then(|call| self.of_call(call, ty));
                axes.extend(of(input).ok_or_else(unsupported)?.manual_axes);
                let stated = defined.get(&global).copied().filter(|&op| target(op) == Some(CONSTRAINT));
                manual.in_shardings.push(match stated {
                    Some(op) => of(op).ok_or_else(unsupported)?.sharding,
                    None => TensorSharding::replicated(MeshRef::Named(MESH.into()), ty.map_or(0, TensorType::rank)),
                });
                operands.push(global);
                body.params.push(local);
                removed.insert(input);
            }
            for (&local, path) in op.results.iter().zip(outputs) {
                let Some(path) = path else { continue };
                for &op in &path {
                    let Some(call) = custom_call(&region.ops[op]) else { continue };
                    let ty = types[region.ops[op].results[0].0 as usize].tensor();
                    let imported = self.of_call(call, ty).ok_or_else(unsupported)?;
                    if call.target == TO_GLOBAL {
                        manual.out_shardings.push(imported.sharding);
                        results.push(region.ops[op].results[0]);
                    } else {
                        axes.extend(imported.manual_axes);
                    }
                }
                body.results.push(local);
                removed.extend(path);
            }
            let names = self.grid.all_axes().into_iter();
            manual.manual_axes = names.filter(|name| axes.contains(name) && !outer.contains(name)).collect();
            close(&mut manual);
            callees.push((callee, manual.manual_axes.iter().chain(outer).cloned().collect()));
            let kind = OpKind::ManualComputation(Box::new(manual));
            replaced.push((index, Op { kind, operands, results, regions: vec![body], location: op.location }));
        }
        for (index, op) in replaced {
            region.ops[index] = op;
        }
        let mut index = 0;
        region.ops.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
        Ok(())
    }
}

/// Dimensions that the compiler was free to split further: only along axes that are not manual.
fn close(manual: &mut ManualComputation) {
    for dim in manual.in_shardings.iter_mut().chain(&mut manual.out_shardings).flat_map(|sharding| &mut sharding.dims) {
        dim.closed = false;
    }
}

/// The dimensions that a constraint leaves to the compiler: `unspecified_dims=[0,1]`.
fn unspecified_dims(call: &CustomCall) -> Vec<usize> {
    let config = call.backend_config.as_str().unwrap_or_default();
    let list = config.split("unspecified_dims=[").nth(1).and_then(|rest| rest.split(']').next());
    list.unwrap_or_default().split(',').filter_map(|dim| dim.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As JAX 0.10.2 prints a matrix product and a `shard_map` over one of two axes, without Shardy.
    const PROGRAM: &str = r#"module @jit_f {
      func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"},
          %arg1: tensor<64x16xf32> {mhlo.sharding = "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"})
          -> (tensor<16x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) {
        %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [1] : (tensor<64x16xf32>, tensor<8x16xf32>) -> tensor<64x8xf32>
        %3 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"} : (tensor<64x8xf32>) -> tensor<64x8xf32>
        %4 = stablehlo.custom_call @Sharding(%3) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<64x8xf32>) -> tensor<64x8xf32>
        %5 = stablehlo.custom_call @SPMDFullToShardShape(%4) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<64x8xf32>) -> tensor<16x8xf32>
        %6 = call @shmap_body(%5) : (tensor<16x8xf32>) -> tensor<16x8xf32>
        %7 = stablehlo.custom_call @Sharding(%6) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{devices=[1,1,4,2]<=[8] last_tile_dims={manual, replicated}}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
        %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {backend_config = "unspecified_dims=[0,1]", mhlo.sharding = "{replicated}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
        return %8 : tensor<16x8xf32>
      }
      func.func private @shmap_body(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
        %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{manual}"} : (tensor<16x8xf32>) -> tensor<16x8xf32>
        return %0 : tensor<16x8xf32>
      }
    }"#;

    #[test]
    fn jax_without_shardy() {
        let mut module = crate::parse_text(PROGRAM).unwrap();
        import_custom_calls(&mut module).unwrap();
        crate::verify(&module).unwrap();
        let text = module.to_string();
        for expected in [
            r#"sdy.mesh @mesh = <["axis_4"=2, "axis_2"=2, "axis_1"=2]>"#,
            r#"%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}", sdy.sharding = #sdy.sharding<@mesh, [{"axis_4", "axis_2"}, {"axis_1"}]>}"#,
            r#"sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_1"}]>"#,
            r#"sdy.sharding_constraint %0 <@mesh, [{"axis_1"}, {}]>"#,
            r#"sdy.manual_computation(%2) in_shardings=[<@mesh, [{"axis_4", "axis_2", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"axis_4", "axis_2"} (%arg2: tensor<16x8xf32>)"#,
            "func.call @shmap_body(%arg2)",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("custom_call"), "{text}");
    }

    #[test]
    fn devices_in_another_order() {
        let text = r#"func.func @main(%a: tensor<4x2xf32> {mhlo.sharding = "{devices=[2,2]3,1,0,2}"},
            %b: tensor<4x2xf32> {mhlo.sharding = "{devices=[1,2,2]3,0,1,2 last_tile_dim_replicate}"},
            %c: tensor<4x2xf32> {mhlo.sharding = "{replicated}"}) { return }"#;
        let mut module = crate::parse_text(text).unwrap();
        import_custom_calls(&mut module).unwrap();
        crate::verify(&module).unwrap();
        let text = module.to_string();
        for expected in [
            r#"sdy.mesh @mesh = <["axis_2"=2, "axis_1"=2], device_ids=[3, 1, 0, 2]>"#,
            r#"sdy.sharding = #sdy.sharding<@mesh, [{"axis_2"}, {"axis_1"}]>"#,
            r#"sdy.sharding = #sdy.sharding<@mesh, [{}, {"axis_1"}]>"#,
            r#"sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>"#,
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn what_no_mesh_can_say_is_left_alone() {
        let text = |first: &str, second: &str| {
            let parameters =
                [first, second].map(|sharding| format!("tensor<6xf32> {{mhlo.sharding = \"{sharding}\"}}"));
            format!("func.func @main(%a: {}, %b: {}) {{ return }}", parameters[0], parameters[1])
        };
        let import = |first: &str, second: &str| {
            let mut module = crate::parse_text(&text(first, second)).unwrap();
            import_custom_calls(&mut module).map(|()| {
                crate::verify(&module).unwrap();
                module.main().param_attributes.iter().map(Vec::len).collect::<Vec<_>>()
            })
        };
        // Two rows of three and three of two have no common axes.
        let copies = |grid: &str| format!("{{devices=[{grid}]<=[6] last_tile_dim_replicate}}");
        assert_eq!(import(&copies("2,3"), &copies("3,2")).unwrap(), [2, 1]);
        // Nor have two orders of devices.
        assert_eq!(import("{devices=[3]1,0,2}", "{devices=[3]2,0,1}").unwrap(), [2, 1]);
        assert_eq!(import("{devices=[3]<=[3]}", "{devices=[3]2,0,1}").unwrap(), [2, 1]);
        assert!(import("{devices=}", "{replicated}").is_err());
    }
}
