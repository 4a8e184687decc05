//! Every text that the macros report: what is wrong, then what to write instead.

use std::fmt::Display;

/// Each entry makes a function that formats its text.
macro_rules! messages {
    ($($name:ident($($arg:ident),*): $wrong:literal, $instead:literal;)*) => {
        $(pub(crate) fn $name($($arg: impl Display),*) -> String {
            format!(concat!($wrong, "\n= help: ", $instead), $($arg = $arg),*)
        })*
    };
}

// The attributes' grammar.
messages! {
    expected_entry(what, found): "expected {what}, found {found}", "write `name` or `name = value`, separated by commas";
    expected_comma(found): "expected a comma, found {found}", "separate the entries with commas";
    given_twice(key): "`{key}` is given twice", "keep one of them";
    flag_with_value(key): "`{key}` is a flag and takes no value", "write `{key}` alone to switch it on, and leave it out otherwise";
    wants_string(key): "`{key}` takes a string", "write `{key} = \"...\"`";
    wants_name(key): "`{key}` takes a name", "write `{key} = b`, without quotes";
    wants_names(key): "`{key}` takes names of parameters", "write `{key} = [x, y]`, without quotes";
    wants_path(key): "`{key}` takes a path", "write `{key} = some::path`, without quotes";
}

// The item.
messages! {
    not_a_function(name, kind): "`#[{name}]` goes on a function, not on {kind}", "write `#[{name}] fn ...` at module level";
    no_body(name): "`#[{name}]` goes on a function with a body", "write the function at module level and call the trait's method in it";
    two_macros(name, other): "`#[{other}]` on a function that already has `#[{name}]`", "write one function for each; for another platform or stage, call a shared function from both";
    const_fn(): "a handler cannot be a `const fn`", "remove `const`";
    async_fn(): "a handler cannot be an `async fn`: XLA polls no Rust future", "remove `async`; to complete later, take `later: Async<'f>` and return `Result<Future<'f>>`";
    unsafe_fn(): "a handler cannot be an `unsafe fn`: the host calls it without a contract to uphold", "remove `unsafe`; put the unsafe code in a block with a SAFETY comment";
    extern_fn(): "a handler cannot have an ABI of its own", "remove the ABI; the macro makes the C entry point";
    c_variadic(): "a handler cannot have C-variadic parameters", "for any number of buffers write `xs: Variadic<Array<f32>>` as the last one";
    receiver(): "a handler cannot be a method", "write a free function; what `self` held may be a state: `#[state] s: &S`";
    wildcard_pattern(): "this parameter has no name", "name it: an error of a call names its parameters; `_x` if it is not used";
    pattern(): "a parameter must be a plain name", "write `x: ...` and take it apart in the body";
    impl_trait(): "a parameter cannot have an `impl Trait` type", "write the type: `Array<f32>`, or a type parameter with a list of element types";
    returns_impl(): "a handler cannot return an unnamed type", "return `Result<()>`, or `Result<Future<'f>>` to complete later";
    returns_value(ty): "a handler cannot return `{ty}`: results are buffers that the host allocates", "take the result as a parameter, `mut y: Out<f32>`, and return `Result<()>` or nothing";
    async_without_future(): "this function takes `Async` and does not return its future", "return `Result<Future<'f>>`, the future that it gives for the work: the host waits for that one only";
}

// Options of `#[custom_call]`.
messages! {
    unknown_option(option, meant, all): "unknown option `{option}`{meant}", "the options are `{all}`, and a list of element types for each type parameter: `T = [f32, f64]`";
    no_such_generic(name, generics): "the function has no type parameter `{name}`: {generics}", "declare it, `fn op<{name}: Element>(...)`, or remove this list";
    execute_option(): "`execute` is this function itself", "the options for other stages are `instantiate`, `prepare` and `initialize`";
    bad_vmap(value, meant, all): "unknown vmap method \"{value}\"{meant}", "write one of \"{all}\"";
    bad_namespace(given): "torch has no namespaces like \"{given}\"", "write a name of letters, digits and underscores that begins with a letter";
    platform_spelling(given, spelling): "XLA does not call a platform `{given}`", "write `{spelling}`";
    names_itself(name, option): "`{name}` is its own `{option}`", "name the operation of the rule, such as `{name}_{option}`";
    transpose_with(option): "`{option}` stands beside `transpose`", "keep one of them: an operation with a `transpose` is linear, and its own derivative";
    fwd_alone(): "`fwd` gives residuals, but no rule uses them", "add `vjp = path` or `jvp = path`, or remove `fwd`";
    nondiff_alone(): "`nondiff` excludes parameters from a derivative, but none is declared", "add `vjp = path`, `jvp = path` or `transpose = path`, or remove `nondiff`";
    nondiff_unknown(name, meant, all): "`nondiff` lists `{name}`, which is not an argument or result{meant}", "write the names of some of `{all}`";
    unknown_autocast(policy, meant): "unknown policy `{policy}` of `autocast`{meant}", "write `autocast = f32` to compute in f32 inside `torch.autocast`, or `autocast = lowest` to compute in the dtype of `torch.autocast`, bf16 or f16";
    batch_partitionable(): "`batch_partitionable` is now part of `batch`", "write `batch = b`, where `#[dims(..b, n)]` has the dimensions that are independent";
    batch_unknown(name, meant, all): "no argument has the dimensions `..{name}` that `batch` names{meant}", "{all}; write `#[dims(..{name}, ...)]` on an argument";
    batch_twice(name, param): "`{param}` has `..{name}` twice", "write it once: a batch is one part of the dimensions";
    batch_result(param, name): "the result `{param}` does not have the dimensions `..{name}` of the batch", "write `#[sum({name})]` on it if it is the sum over the batch; otherwise remove `batch`";
    batch_inout(param, name): "`{param}` is updated in place, but does not have the dimensions `..{name}` of the batch", "write `#[dims(..{name}, ...)]` on it, or remove `batch`";
    batch_shape(param): "`batch` needs `#[dims(...)]` on the result `{param}`, whose shape a function gives", "write its dimensions";
    sum_without_batch(name): "`#[sum({name})]` sums over a batch, which the operation does not declare", "add the option `batch = {name}`";
    sum_other(name, batch): "`#[sum({name})]` does not name the batch, `{batch}`", "write `#[sum({batch})]`";
    sum_of_batch(param, name): "`{param}` has the dimensions `..{name}`, so it is not a sum over them", "remove `#[sum({name})]`, or the dimensions";
    vmap_beside_batch(method): "with `batch`, `vmap` is for the calls that `batch` cannot make at once, and \"{method}\" makes them at once", "write `vmap = \"sequential\"`, the path of an operation on batches, or leave it out";
    vmap_rank(method, param, rank): "\"{method}\" adds a dimension to `{param}`, which has {rank}", "write `#[dims(..b, ...)]` and a type of dynamic rank, or `vmap = \"sequential\"`";
    empty_name(what): "this {what} name is empty", "write a name, or leave it out for the default";
    bad_name(what, character): "this {what} name contains {character}", "use printable ASCII without spaces, quotes, backslashes and `#`";
    legacy_stages(stage): "a `legacy` operation cannot have an `{stage}` stage: targets of API v1 to v3 only execute", "remove `legacy`, or make an operation without stages beside this one";
}

// Type parameters.
messages! {
    wants_list(key): "`{key}` takes the element types that it stands for", "write `{key} = [f32, f64]`, or a set: `floats`, `ints`, `signed`, `unsigned`, `complex`, `numbers`";
    empty_list(key): "the list of `{key}` is empty", "write `{key} = [f32, f64]`, or a set: `floats`, `ints`, `signed`, `unsigned`, `complex`, `numbers`";
    type_without_list(key, ty): "`{key}` takes a list or a set", "write `{key} = [{ty}]`";
    unknown_set(set, meant): "unknown set `{set}`{meant}", "the sets are `floats`, `ints`, `signed`, `unsigned`, `complex` and `numbers`";
    not_an_element(ty, instead): "`{ty}` is not an element type of XLA", "write an element type, such as `{instead}`";
    duplicate_element(element, param): "the list of `{param}` has `{element}` twice", "keep one; sets overlap: `numbers` has all of `ints`, `floats` and `complex`";
    generic_without_list(param): "the element types of `{param}` are not given", "add `{param} = [f32, f64]` or `{param} = floats` to `#[custom_call(...)]`";
    const_generic(param): "a handler cannot have the constant parameter `{param}`", "take it as an attribute, `#[attr] n: i64`, or a dimension, `#[dims(n)]`";
    undispatched(param): "no call determines `{param}`", "use it as the element type of an argument or result: `x: Array<{param}>`";
    variable_inside(param, ty): "`{param}` is only part of the element type `{ty}`", "write `{param}` itself as the element type, and list what it stands for: `{param} = [Complex<f32>]`";
    variable_in_attr(param): "`{param}` is only part of this attribute's type", "an attribute is `{param}` itself, or of a type that does not depend on it";
}

// Parameters.
messages! {
    unknown_helper(written, meant): "unknown attribute `{written}` on a parameter{meant}", "the attributes are `#[attr]`, `#[dims(...)]`, `#[sum(...)]`, `#[state]`, `#[arg]`, `#[ret]`, `#[inout]` and `#[ctx]`";
    sum_wants_name(): "`#[sum]` takes the name of the batch that a result is a sum over", "write `#[sum(b)]`";
    sum_on(): "only a result can be a sum over a batch", "remove `#[sum]`";
    cfg_on_parameter(): "a parameter cannot depend on configuration", "put `#[cfg]` on two versions of the whole function";
    helper_twice(helper): "`#[{helper}]` is given twice", "keep one of them";
    helper_with_arguments(helper): "`#[{helper}]` takes no arguments", "write `#[{helper}]`";
    helper_wants_parentheses(helper): "`#[{helper}]` takes its arguments in parentheses", "write `#[{helper}(...)]`";
    two_roles(first, second): "a parameter cannot be both `#[{first}]` and `#[{second}]`", "keep one of them";
    contradiction(ty, is, helper): "`{ty}` is {is}, not `#[{helper}]`", "remove `#[{helper}]`, or change the type";
    unknown_type(ty, meant): "cannot tell what a parameter of type `{ty}` is{meant}", "say it: `#[attr]` for an attribute, `#[arg]`, `#[ret]` or `#[inout]` for a buffer, `#[state]` for a state, `#[ctx]` for a context";
    unknown_reference(ty): "cannot tell what a parameter of type `{ty}` is", "say it: `#[state]` for a state that a stage made, `#[attr]` for an attribute";
    bare_value(ty): "cannot tell whether `{ty}` is an attribute or an argument", "write `#[attr]` before it, or take a rank-0 argument as `Scalar<f32>`";
    vec_value(ty, item): "cannot tell whether `{ty}` is an attribute or an argument", "write `#[attr]` before it, or take an argument as `&[{item}]`";
    vec_of_buffers(ty, item): "the number of buffers in `{ty}` follows from no type", "write `Variadic<{item}>`";
    bare_variable(ty): "cannot tell whether `{ty}` is an attribute or an argument", "write `#[attr]` before it, or take a rank-0 argument as `Scalar<T>`";
    buffer_by_reference(ty, inner): "a buffer is taken by value, not as `{ty}`", "write `{inner}`, and `mut y: ...` to write to it";
    array_reference(ty, element): "cannot tell what a parameter of type `{ty}` is", "write `&[{element}]` and check the length with `#[dims(...)]`";
    owned_array(ty, view, view_mut): "`{ty}` owns its elements, a buffer lends them", "write `{view}` for an argument, `{view_mut}` for a result";
    nested_wrappers(ty): "`{ty}` nests `Option` and `Variadic`", "use one of them: a variadic parameter may already be empty";
    no_element(ty): "`{ty}` needs an element type", "write `{ty}<f32>`, or take a buffer of any type: `AnyArray`, `AnyOut`";
    static_lifetime(): "nothing in a call lives as long as `'static`", "write `'_`, or leave the lifetime out";
    optional_not_trailing(kind, first, next): "the optional {kind} `{first}` stands before `{next}`, which every call has", "move `{first}` after the {kind}s that every call has";
    variadic_not_last(kind, first, next): "the variadic {kind} `{first}` stands before `{next}`", "move `{first}` after all other {kind}s";
    two_variadics(kind, first, second): "both `{first}` and `{second}` are variadic {kind}s: a call would not tell them apart", "keep one, and pass the number of the first as an attribute";
    variadic_in_out(): "`InOut` cannot be variadic", "declare the parameters one by one, or take a variadic argument and a variadic result";
    variadic_context(): "a context cannot be variadic", "remove `Variadic`";
    no_results(): "this operation has no result, so XLA would remove its calls", "add a result, `mut y: Out<f32>`, or the option `side_effect`";
    host_memory(ty, platform, instead): "`{ty}` reads host memory, but the platform is {platform}", "write `{instead}<f32>`, which has the address in the platform's memory";
}

// Attributes and states.
messages! {
    unknown_attr_key(key, meant, all): "unknown argument `{key}` of `#[attr]`{meant}", "it takes `{all}`";
    default_without_value(): "`default` takes a value", "write `default = 1.0`; for an attribute that may be absent, take an `Option`";
    default_with_rest(): "the rest of the attributes has no default", "remove `default`: with nothing left the dictionary is empty";
    default_on_option(ty): "an attribute with a default is never absent", "write its type as `{ty}`, or remove the default to get `None`";
    name_with_rest(): "the rest of the attributes has no name", "remove `name`";
    rest_type(ty): "the rest of the attributes cannot be `{ty}`", "write `#[attr(rest)] rest: Dict<'_>`";
    two_rests(): "two parameters take the rest of the attributes", "keep one";
    duplicate_attr(name, first): "the attribute `{name}` is already the parameter `{first}`", "give one of them another name: `#[attr(name = \"...\")]`";
    mutable_attr(): "an attribute cannot be written to", "write `&` instead of `&mut`, or take a result: `Out<f32>`";
    pointer_attr(ty): "an attribute is not a raw pointer", "write `Pointer<{ty}>`";
    variadic_attr(): "an attribute cannot be variadic", "take an array: `&[f32]`";
    state_wants_stage(): "`#[state]` takes one stage", "write `#[state]` for what `instantiate` made, `#[state(prepare)]` or `#[state(initialize)]`";
    state_by_value(ty): "a state is borrowed: it outlives the call", "write `&{ty}`";
    mutable_state(ty): "a state is shared by calls that run at the same time", "write `&{ty}`, and put what changes in a `Mutex` or an atomic";
    generic_state(param): "a state cannot depend on `{param}`: stages before execute see no buffers", "use a type without it, such as an enum of the cases";
    two_states(stage, first): "the state of `{stage}` is already the parameter `{first}`", "keep one: a stage makes one state, which may be a struct";
    undeclared_stage(param, stage): "nothing makes the state `{param}`", "add the option `{stage} = function`, naming a function with `#[stage({stage})]`";
}

// `#[dims(...)]`.
messages! {
    dims_without_list(): "`#[dims]` takes a pattern", "write `#[dims(n, m)]`, `#[dims(..b, n)]`, or `#[dims()]` for rank 0";
    dims_on(what): "{what} has no dimensions", "remove `#[dims(...)]`";
    expected_dim(found): "expected a dimension, found {found}", "write a name, a number, an expression of them, `_`, or `..name`";
    dots(): "a list of dimensions is written with two dots", "write `..` or `..b`";
    two_lists(): "the pattern of an argument cannot have two lists: their lengths would be open", "keep one; a result may have several lists that arguments bind";
    wildcard_in_expression(): "`_` has no value to compute with", "give the dimension a name";
    dim_literal(): "a fixed dimension is an integer", "write `4`, without quotes or a decimal point";
    dim_suffix(digits): "a fixed dimension has no type", "write `{digits}`";
    dim_too_large(literal): "`{literal}` is too large for a dimension", "write at most 9223372036854775807";
    dim_negative(): "a dimension is never negative", "write a subtraction of two dimensions, `n - 1`, or `_` for any size";
    dim_by_zero(): "this divides by zero", "write a divisor that is not zero";
    dim_method(): "a dimension cannot be computed with a method", "use `+ - * / %`, or give the shape by a function: `#[custom_call(shape = path)]`";
    dim_path(): "a dimension cannot be a path or a call", "use names of dimensions and of integer attributes, or give the shape by a function: `#[custom_call(shape = path)]`";
    dim_operator(operator): "a dimension cannot be computed with `{operator}`", "use `+ - * / %`, or give the shape by a function: `#[custom_call(shape = path)]`";
    rank_mismatch(given, ty, rank): "`#[dims]` has {given} dimensions, but `{ty}` has rank {rank}", "make them agree, or use a type of dynamic rank";
    list_and_dim(name): "`{name}` is both one dimension and a list of dimensions", "give the list or the dimension another name";
    list_and_attr(name): "`..{name}` is a list of dimensions, but `{name}` is an attribute", "give the list another name";
    dim_not_integer(name, ty): "the dimension `{name}` is the attribute `{name}`, which is `{ty}`", "make the attribute an integer, or give the dimension another name";
    dim_is_renamed_attr(name, param): "the attribute `{name}` is the parameter `{param}` here", "write `{param}` if the dimension is this attribute, or give it another name";
    unbound(name, role, param, meant, bound): "nothing binds `{name}`, which {role} `{param}` needs{meant}", "{bound}; `{name}` would be bound where it stands alone in `#[dims]` of an argument, or by an integer attribute";
    bound_sometimes(name, param): "`{name}` is only bound when a call has `{param}`", "bind it in `#[dims]` of an argument that every call has, or by an attribute that is required or has a default";
    no_shape(param): "nothing gives the shape of the result `{param}`: there is no first argument to take it from", "write `#[dims(...)]`, with `#[dims(..)]` where the caller gives the shape, or give it by a function: `#[custom_call(shape = path)]`";
    default_rank(param, rank, argument, given): "without `#[dims]` the result `{param}` has the shape of `{argument}`, of rank {given}, but its type has rank {rank}", "write `#[dims(...)]` on both";
}

// `#[pointwise]`.
messages! {
    pointwise_option(option, item, meant, all): "unknown option `{option}` of `#[{item}]`{meant}", "the options are `{all}`";
    pointwise_derivatives(most): "`derivatives` is how often the function can be differentiated, 0 to {most}", "write `derivatives = 1`; without it, it is 2";
    pointwise_no_derivatives(): "`derivatives = 0` leaves out the derivatives, and this function computes one", "remove one of the two options";
    pointwise_generic(): "a pointwise function has one type parameter, that of its numbers", "remove this parameter; take a number that is the same for all elements as an attribute: `#[attr] n: i64`";
    pointwise_no_generic(): "a pointwise function is generic in its numbers, for which operations put vectors of numbers and numbers with derivatives", "write `fn f<T: Real>(x: T) -> T`";
    pointwise_bound(param): "`{param}` is not bounded by `Real` or `Ring`", "write `{param}: Real`, or `{param}: Ring` for integers and complex numbers too, with `use oxcall::prelude::*`";
    pointwise_helper(): "a parameter of a pointwise function takes only `#[attr]`", "remove this attribute; operands have one shape, after NumPy's broadcasting";
    pointwise_attr(param): "an attribute is not one of the operands' numbers", "write its type, such as `f64`, or remove `#[attr]` to make it an operand of type `{param}`";
    pointwise_array(ty, param): "`{ty}` is an array, but a pointwise function sees one element of each operand", "write `x: {param}`; for a function of whole arrays use `#[custom_call]`";
    pointwise_context(ty): "a pointwise function cannot have a `{ty}`: the operation runs it on the host's threads by itself", "remove the parameter, or use `#[custom_call]`";
    pointwise_inside(ty, param): "an element is `{param}`, not `{ty}`", "write one parameter `x: {param}` for each operand";
    pointwise_value(ty, param): "`{ty}` is not the type of an operand's element", "write `#[attr]` before it, for a value that is the same for all elements, or take an operand as `{param}`";
    pointwise_no_operand(param): "a pointwise function has an operand, whose shape is that of its results", "add a parameter `x: {param}`";
    pointwise_out(name): "`{name}` is the name of a result", "give the parameter another name";
    pointwise_tangent(name, of): "`{name}` is the name of the tangent of `{of}`", "give one of the two parameters another name";
    other_macro(name): "`#[{name}]` is a macro of its own", "write `#[{name}]` in place of `#[custom_call({name})]`";
    pointwise_mask(param): "`Mask` is chosen by the numbers, of which each element has its own, so it is not `bool`", "remove the bound: `{param}: Real`; in place of `if` write `mask.select(a, b)`";
    pointwise_method(name, ours): "numbers have no method `{name}`", "write `{ours}`";
    pointwise_capture(name, function): "`{name}` is neither a parameter of `{function}` nor bound in its body, and a function cannot capture a variable", "take it as an attribute: `#[attr] {name}: f64`; of a constant or a function, write the path: `self::{name}`";
    pointwise_number(name, ty, convert): "numbers of a pointwise function go together with each other and with `f64`, but `{name}` is `{ty}`", "write `{convert}`, or declare `#[attr] {name}: f64`";
    pointwise_borrowed(ty, param): "an attribute `{ty}` borrows, and a function of `{param}: Ring` is kept for integers and complex numbers", "bound `{param}` by `Real`, or take a value that is `Copy` and borrows nothing";
    pointwise_active(name): "`{name}` is the name of an attribute of the derivatives", "give the parameter another name";
    pointwise_returns(ty, param): "a pointwise function returns numbers, not `{ty}`", "return `{param}`, or a tuple, `({param}, {param})`; a result that is not a number needs `#[custom_call]`";
    pointwise_returns_nothing(param): "a pointwise function returns the results' elements, and this one returns nothing", "return `{param}`, or a tuple, `({param}, {param})`";
    pointwise_branch(keyword, name, mask): "this `{keyword}` depends on `{name}`, which differs from element to element", "compute both values and choose: `{mask}.select(a, b)`";
    pointwise_elements(name): "`{name}` is one element of an operand, without its neighbours", "compute with `{name}` itself, `{name} * 2.0`; for sums and maxima of rows use `#[rowwise]`, and for a function of neighbours `#[custom_call]`";
    pointwise_comparison(mask): "an operator compares two single numbers, but these differ from element to element", "write `{mask}`, and choose by `.select(a, b)`";
}

// `#[rowwise]`.
messages! {
    rowwise_generic(): "a row-wise function is not generic: it is called once, for all dtypes, to record what it computes", "remove the parameter; an operand is a `Row`, or a `PerRow` if it has one number for each row";
    rowwise_helper(): "a parameter of a row-wise function takes only `#[attr]`", "remove this attribute; rows have one length, and all operands the same dimensions before it";
    rowwise_attr(ty): "an attribute is the same for all rows, but `{ty}` is a part of an array", "write the attribute's type, such as `f64`, or remove `#[attr]`";
    rowwise_array(ty): "`{ty}` is an array, but a row-wise function sees one row of each operand", "write `x: Row`, or `x: PerRow` for one number of each row; for a function of whole arrays use `#[custom_call]`";
    rowwise_context(ty): "a row-wise function cannot have a `{ty}`: the operation runs it on the host's threads by itself", "remove the parameter, or use `#[custom_call]`";
    rowwise_typed(ty, name): "`{ty}` names an element type, but a row-wise function is recorded once for all of them", "write `{name}`";
    rowwise_value(ty): "`{ty}` is not the type of an operand", "write `#[attr]` before it, for a value that is the same for all rows, or take an operand as `Row` or `PerRow`";
    rowwise_no_row(): "a row-wise function has an operand of rows, from which the dimensions of all others follow", "add a parameter `x: Row`; for a function of single numbers use `#[pointwise]`";
    rowwise_returns(ty): "a row-wise function returns rows or numbers of rows, not `{ty}`", "return `Row`, `PerRow`, or a tuple of them; a result of another length needs `#[custom_call]`";
    rowwise_returns_nothing(): "a row-wise function returns what it computes from its rows, and this one returns nothing", "return `Row`, `PerRow`, or a tuple of them";
    rowwise_branch(keyword, name, mask): "this `{keyword}` depends on `{name}`, whose numbers are not known when the function is recorded", "compute both values and choose: `{mask}.select(a, b)`";
    rowwise_elements(name): "`{name}` is a row of which no single elements can be taken", "compute with all elements at once, `{name} * 2.0`, and reduce them by `sum`, `mean`, `max` or `min`; for a function of neighbours use `#[custom_call]`";
}

// Stages.
messages! {
    stage_wants_name(): "`#[stage]` takes the stage that the function runs in", "write `#[stage(instantiate)]`, `#[stage(prepare)]` or `#[stage(initialize)]`";
    unknown_stage(stage, meant): "unknown stage `{stage}`{meant}", "the stages are `instantiate`, `prepare` and `initialize`";
    execute_stage(): "`execute` is the `#[custom_call]` function itself", "the other stages are `instantiate`, `prepare` and `initialize`";
    two_stages(): "a function runs in one stage", "write one function for each stage";
    generic_stage(): "a stage function cannot be generic: stages before execute see no buffers to choose by", "write the type";
    stage_returns_nothing(): "a stage function makes a state, and this one returns nothing", "return the state, `S` or `Result<S>`";
    stage_returns_unnamed(ty): "a state cannot be `{ty}`: it is stored, and found again by its type", "return a named type that owns what it holds";
    buffer_in_stage(param, ty): "`{param}` is a buffer, `{ty}`: only the execute stage has buffers", "take it in the `#[custom_call]` function; a stage has attributes, contexts and the states of earlier stages";
    later_state(param, of, own): "`{param}` is the state of `{of}`, which does not run before `{own}`", "the order is instantiate, prepare, initialize, execute";
}

// Derives and `library!`.
messages! {
    enum_not(kind): "`AttrEnum` is derived for an enum, not for {kind}", "write `enum Mode {{ Fast, Precise }}`, or derive `AttrStruct` for a struct";
    enum_data(variant): "the variant `{variant}` has data: an attribute only names a variant", "remove the data, or pass it as an attribute of its own";
    enum_generic(): "an enum of attribute values cannot be generic", "remove the parameters";
    enum_empty(): "this enum has no variants, so no attribute could be one", "add a variant";
    struct_not(kind): "`AttrStruct` is derived for a struct, not for {kind}", "write `struct Config {{ ... }}`, or derive `AttrEnum` for an enum";
    struct_unnamed(): "the fields of this struct have no names, but the entries of a dictionary do", "write named fields: `struct Config {{ width: f32 }}`";
    params_not(kind): "`UserParams` is derived for a struct, not for {kind}", "write `struct Params {{ ... }}`";
    params_unnamed(): "parameters need named fields: a kernel gets each as the attribute of that name", "write named fields: `struct Params {{ axis: i64 }}`";
    struct_generic(): "a struct of attributes can only have one lifetime parameter", "remove the others, and write the types";
    static_field(): "nothing in a call lives as long as `'static`", "give the struct a lifetime parameter, `struct Config<'a>`, and write `'a`, or own the value: `String`, `Vec`";
    item_attr_position(allowed): "`#[attr]` here takes only `{allowed}`", "move the rest to a field or variant";
    duplicate_wire_name(name, first): "`{name}` is already the name of `{first}`", "give one of them another name: `#[attr(name = \"...\")]`";
    library_key(key, meant): "unknown entry `{key}` of `library!`{meant}", "write `library! {{ ops: [crate_a, crate_b] }}`";
    library_wants_ops(): "`library!` takes the crates whose operations it exports", "write `library! {{ ops: [crate_a, crate_b] }}`";
    library_wants_list(key): "`{key}` takes a list of crates", "write `{key}: [crate_a, crate_b]`";
    library_crate(found): "expected the name of a crate, found `{found}`", "write the name under which `Cargo.toml` depends on it";
    library_twice(name): "the crate `{name}` is named twice", "keep one";
}
