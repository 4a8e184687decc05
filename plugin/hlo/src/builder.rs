//! Building functions op by op.

use crate::{
    Error, Func, FuncId, Literal, Location, LocationId, Module, Op, OpKind, Region, RegionType, Signature, TensorType,
    Type, ValueId, infer_types,
};

/// Builds a function. The types of results are inferred where operands tell them.
///
/// ```
/// use oxcall_hlo::{BinaryOp, ElementType, FuncBuilder, Module, OpKind, TensorType, verify};
///
/// let mut f = FuncBuilder::new("main");
/// let ty = TensorType::new(ElementType::F32, [4]);
/// let x = f.param(ty.clone());
/// let y = f.op(OpKind::Binary(BinaryOp::Add), [x, x])?;
/// let zero = f.splat(TensorType::scalar(ElementType::F32), 0f32.to_le_bytes());
/// let scalar = TensorType::scalar(ElementType::F32);
/// let add = f.region([scalar.clone(), scalar], |f, params| Ok(vec![f.op(OpKind::Binary(BinaryOp::Add), params)?]))?;
/// let sum = f.with_regions(OpKind::Reduce { dims: vec![0] }, [y, zero], [add])?;
/// let module = Module::with_main(f.finish(sum));
/// verify(&module)?;
/// # Ok::<(), oxcall_hlo::Error>(())
/// ```
#[derive(Debug)]
pub struct FuncBuilder {
    func: Func,
    /// The ops of the regions that are open; the first is the body.
    open: Vec<Vec<Op>>,
    location: LocationId,
}

impl FuncBuilder {
    /// A function without parameters or ops.
    pub fn new(name: impl Into<String>) -> FuncBuilder {
        let func = Func {
            name: name.into(),
            public: true,
            body: Region::default(),
            values: Vec::new(),
            param_attributes: Vec::new(),
            result_attributes: Vec::new(),
        };
        FuncBuilder { func, open: vec![Vec::new()], location: LocationId::UNKNOWN }
    }

    /// The location of the ops that follow.
    pub fn set_location(&mut self, location: LocationId) {
        self.location = location;
    }

    /// Adds a parameter.
    pub fn param(&mut self, ty: impl Into<Type>) -> ValueId {
        let value = self.func.add_value(ty.into());
        self.func.body.params.push(value);
        self.func.param_attributes.push(Vec::new());
        value
    }

    /// The type of `value`.
    pub fn ty(&self, value: ValueId) -> &Type {
        self.func.ty(value)
    }

    /// Adds an op of one result, whose type its operands tell.
    ///
    /// # Errors
    /// Those of [`infer_types`], and if it has another number of results.
    pub fn op(&mut self, kind: OpKind, operands: impl AsRef<[ValueId]>) -> Result<ValueId, Error> {
        let results = self.with_regions(kind, operands, [])?;
        match results.as_slice() {
            [result] => Ok(*result),
            _ => Err(Error::invalid(format!("expected 1 result, got {}", results.len()))),
        }
    }

    /// Adds an op of one result of type `ty`.
    ///
    /// # Errors
    /// Those of [`infer_types`], and if the type is not what that gives.
    pub fn typed(
        &mut self,
        kind: OpKind,
        operands: impl AsRef<[ValueId]>,
        ty: impl Into<Type>,
    ) -> Result<ValueId, Error> {
        Ok(self.any(kind, operands.as_ref(), Vec::new(), None, Some(&[ty.into()]))?[0])
    }

    /// Adds an op with regions that were made by [`region`](FuncBuilder::region).
    ///
    /// # Errors
    /// Those of [`infer_types`].
    pub fn with_regions(
        &mut self,
        kind: OpKind,
        operands: impl AsRef<[ValueId]>,
        regions: impl IntoIterator<Item = Region>,
    ) -> Result<Vec<ValueId>, Error> {
        self.any(kind, operands.as_ref(), regions.into_iter().collect(), None, None)
    }

    /// Adds an op whose results have the types `results`.
    ///
    /// # Errors
    /// Those of [`infer_types`], and if the types are not what that gives.
    pub fn with_types(
        &mut self,
        kind: OpKind,
        operands: impl AsRef<[ValueId]>,
        results: &[Type],
    ) -> Result<Vec<ValueId>, Error> {
        self.any(kind, operands.as_ref(), Vec::new(), None, Some(results))
    }

    /// Adds a call or composite of `callee`, whose number in the module is in `kind`.
    ///
    /// # Errors
    /// If operands and parameters differ.
    pub fn call(
        &mut self,
        kind: OpKind,
        callee: &Func,
        operands: impl AsRef<[ValueId]>,
    ) -> Result<Vec<ValueId>, Error> {
        self.any(kind, operands.as_ref(), Vec::new(), Some(region_type(callee, &callee.body)), None)
    }

    /// Adds a constant.
    pub fn constant(&mut self, literal: Literal) -> ValueId {
        let result = self.func.add_value(literal.ty().clone().into());
        self.push(OpKind::Constant(literal), &[], vec![result], Vec::new());
        result
    }

    /// Adds a constant of which each element is `element`.
    pub fn splat(&mut self, ty: TensorType, element: impl AsRef<[u8]>) -> ValueId {
        self.constant(Literal::splat(ty, element.as_ref()))
    }

    /// Makes a region, for the op that is added next. `build` gets the parameters, adds ops, and gives the results; it
    /// may use what was made before.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn region<T: Into<Type>>(
        &mut self,
        params: impl IntoIterator<Item = T>,
        build: impl FnOnce(&mut FuncBuilder, &[ValueId]) -> Result<Vec<ValueId>, Error>,
    ) -> Result<Region, Error> {
        let params: Vec<ValueId> = params.into_iter().map(|ty| self.func.add_value(ty.into())).collect();
        self.open.push(Vec::new());
        let results = build(self, &params);
        let ops = self.open.pop().expect("pushed above");
        Ok(Region { params, ops, results: results? })
    }

    /// The function, which returns `results`.
    pub fn finish(mut self, results: impl AsRef<[ValueId]>) -> Func {
        self.func.body.results = results.as_ref().to_vec();
        self.func.body.ops = self.open.pop().expect("the body is open");
        self.func.result_attributes = vec![Vec::new(); self.func.body.results.len()];
        self.func
    }

    fn any(
        &mut self,
        kind: OpKind,
        operands: &[ValueId],
        regions: Vec<Region>,
        callee: Option<RegionType>,
        results: Option<&[Type]>,
    ) -> Result<Vec<ValueId>, Error> {
        let types: Vec<Type> = operands.iter().map(|value| self.ty(*value).clone()).collect();
        let mut region_types: Vec<RegionType> = regions.iter().map(|region| region_type(&self.func, region)).collect();
        region_types.extend(callee);
        let inferred = infer_types(Signature { kind: &kind, operands: &types, regions: &region_types, results })?;
        if let Some(results) = results
            && results != inferred
        {
            return Err(Error::invalid(format!("the results must have the types {inferred:?}, got {results:?}"))
                .in_op(kind.name()));
        }
        let results: Vec<ValueId> = inferred.into_iter().map(|ty| self.func.add_value(ty)).collect();
        self.push(kind, operands, results.clone(), regions);
        Ok(results)
    }

    fn push(&mut self, kind: OpKind, operands: &[ValueId], results: Vec<ValueId>, regions: Vec<Region>) {
        let op = Op { kind, operands: operands.to_vec(), results, regions, location: self.location };
        self.open.last_mut().expect("the body is open").push(op);
    }
}

fn region_type(func: &Func, region: &Region) -> RegionType {
    let types = |values: &[ValueId]| values.iter().map(|value| func.ty(*value).clone()).collect();
    RegionType { params: types(&region.params), results: types(&region.results) }
}

impl Module {
    /// A program of one function.
    pub fn with_main(main: Func) -> Module {
        Module {
            name: "module".into(),
            funcs: vec![main],
            entry: FuncId(0),
            meshes: Vec::new(),
            attributes: Vec::new(),
            locations: vec![Location::Unknown],
        }
    }
}
