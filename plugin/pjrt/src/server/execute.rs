//! Execution: arguments, donation, results.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CStr;
use std::mem::MaybeUninit;

use xla_ffi_sys::pjrt::{
    PJRT_ExecuteContext, PJRT_ExecuteContext_Create_Args, PJRT_ExecuteContext_Destroy_Args, PJRT_ExecuteOptions,
    PJRT_LoadedExecutable_Execute_Args,
};
use xla_ffi_sys::pjrt_later::PJRT_ExecuteOptions_Later;

use super::buffer_object::{BufferObject, BufferOf};
use super::client_object::DeviceObject;
use super::executable_object::LoadedObject;
use super::raw::{Object, array, null, object, release};
use super::slot::slot;
use crate::sync::Mutex;
use crate::{Argument, DeviceLaunch, Error, Executable, ExecutionOptions, Launch, Platform, Result, UserData};

/// The object behind a `PJRT_ExecuteContext`.
#[derive(Default)]
pub(super) struct ContextObject {
    pub(super) user_data: Mutex<Vec<UserData>>,
}

// SAFETY: pointers to execution contexts are made of `ContextObject` only.
unsafe impl Object for ContextObject {
    type Raw = PJRT_ExecuteContext;
}

/// Options with every field of the newest version; zero where the caller has none.
///
/// # Safety
/// `raw` is null or points to a struct whose first field is its size in bytes, all of them readable.
unsafe fn read_options(raw: *const PJRT_ExecuteOptions) -> PJRT_ExecuteOptions_Later {
    let mut options = MaybeUninit::<PJRT_ExecuteOptions_Later>::zeroed();
    // SAFETY: by the contract above; inputs are initialised, and all zeros are valid.
    unsafe {
        if !raw.is_null() {
            let size = raw.cast::<usize>().read().min(size_of::<PJRT_ExecuteOptions_Later>());
            options.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(raw.cast(), size);
        }
        options.assume_init()
    }
}

/// # Safety
/// The pointers of `options` are what the C header says.
unsafe fn execution_options(options: &PJRT_ExecuteOptions_Later) -> Result<ExecutionOptions> {
    let options = &options.base;
    if options.num_send_ops != 0 || options.num_recv_ops != 0 {
        return Err(Error::unimplemented("callbacks for send and recv operations are not supported"));
    }
    // SAFETY: by the contract above.
    unsafe {
        let user_data = if options.context.is_null() {
            Vec::new()
        } else {
            let context: &ContextObject = object("execution context", options.context)?;
            context.user_data.lock().clone()
        };
        let call_location = if options.call_location.is_null() {
            String::new()
        } else {
            CStr::from_ptr(options.call_location).to_string_lossy().into_owned()
        };
        Ok(ExecutionOptions { launch_id: options.launch_id, user_data, call_location })
    }
}

/// An argument before its buffer is acquired.
struct Requested<'a, P: Platform> {
    buffer: &'a BufferObject<P>,
    donated: bool,
    index: usize,
    replica: usize,
}

/// XLA's errors for `f(a, donate(a))` and its like.
fn check_clashes<P: Platform>(requested: &[Requested<'_, P>]) -> Result<()> {
    let mut seen = HashMap::new();
    for each in requested {
        let Some((donated, first)) = seen.insert(each.buffer.as_raw(), (each.donated, each.index)) else { continue };
        let (what, example) = match (donated, each.donated) {
            (false, false) => continue,
            (true, true) => ("Attempt to donate the same buffer twice in Execute()", "f(donate(a), donate(a))"),
            (true, false) => {
                ("Attempt to use a buffer that was previously donated in the same call to Execute()", "f(donate(a), a)")
            }
            (false, true) => {
                ("Attempt to donate a buffer which is also used by the same call to Execute()", "f(a, donate(a))")
            }
        };
        return Err(Error::invalid_argument(format!(
            "{what} (flattened argument {}, replica {}, partition 0, first use: {first}). Toy example for this bug: \
             `{example}`.",
            each.index, each.replica
        )));
    }
    Ok(())
}

impl<P: Platform> Requested<'_, P> {
    #[cold]
    fn deleted(&self) -> Error {
        Error::invalid_argument(format!(
            "Invalid buffer passed to Execute() as argument {} to replica {}: INVALID_ARGUMENT: Buffer has been deleted \
             or donated.",
            self.index, self.replica
        ))
    }
}

/// Acquires all buffers or none. Of threads that donate the same buffer one succeeds.
fn acquire<P: Platform>(requested: &[Requested<'_, P>]) -> Result<Vec<Argument<BufferOf<P>>>> {
    let mut arguments = Vec::with_capacity(requested.len());
    if requested.iter().all(|each| !each.donated) {
        for each in requested {
            let buffer = each.buffer.lock().get().cloned().ok_or_else(|| each.deleted())?;
            arguments.push(Argument { buffer, donated: false });
        }
        return Ok(arguments);
    }
    // Everybody locks in the same order, each buffer once.
    let mut order: Vec<usize> = (0..requested.len()).collect();
    order.sort_unstable_by_key(|&index| requested[index].buffer.as_raw());
    let is_same = |a: usize, b: usize| std::ptr::eq(requested[a].buffer, requested[b].buffer);
    if order.windows(2).any(|pair| is_same(pair[0], pair[1])) {
        check_clashes(requested)?;
    }
    // The place of each argument's lock.
    let mut places = vec![0; requested.len()];
    let mut locked = Vec::with_capacity(requested.len());
    for (place, &index) in order.iter().enumerate() {
        if place == 0 || !is_same(order[place - 1], index) {
            locked.push(requested[index].buffer.lock());
        }
        places[index] = locked.len() - 1;
    }
    let mut missing = requested.iter().zip(&places).filter(|(_, place)| locked[**place].get().is_none());
    if let Some((deleted, _)) = missing.next() {
        return Err(deleted.deleted());
    }
    for (each, place) in requested.iter().zip(places) {
        let cell = &mut locked[place];
        // NumPy may see the memory, as after `numpy.asarray` of a JAX array, which keeps its view.
        let donated = each.donated && !cell.is_shared();
        let buffer = if donated { cell.take() } else { cell.get().cloned() };
        arguments.push(Argument { buffer: buffer.expect("was checked"), donated });
    }
    Ok(arguments)
}

/// The devices of a call, as places in the client's list.
///
/// # Safety
/// `execute_device` is null or a device of this plugin.
unsafe fn devices<'a, P: Platform>(
    loaded: &'a LoadedObject<P>,
    args: &PJRT_LoadedExecutable_Execute_Args,
) -> Result<&'a [usize]> {
    let devices = if args.execute_device.is_null() {
        &loaded.devices
    } else {
        // SAFETY: by the contract above.
        let device: &DeviceObject<P> = unsafe { loaded.shared.owner.own("execute_device", args.execute_device) }?;
        std::slice::from_ref(&device.index)
    };
    if args.num_devices != devices.len() {
        return Err(Error::invalid_argument(format!(
            "Attempted to execute with {} argument lists when the number of devices is {}",
            args.num_devices,
            devices.len()
        )));
    }
    Ok(devices)
}

/// Whether each parameter is donated in this call.
fn donated<'a, P: Platform>(loaded: &'a LoadedObject<P>, non_donatable: &[i64]) -> Cow<'a, [bool]> {
    let mut donated = Cow::Borrowed(&*loaded.shared.donated);
    for kept in non_donatable.iter().filter_map(|&index| usize::try_from(index).ok()) {
        if donated.get(kept) == Some(&true) {
            donated.to_mut()[kept] = false;
        }
    }
    donated
}

/// All arguments of all devices, one device after the other.
///
/// # Safety
/// The lists are as long as `args` says, of live buffers of this plugin.
unsafe fn requested<'a, P: Platform>(
    loaded: &LoadedObject<P>,
    args: &PJRT_LoadedExecutable_Execute_Args,
    devices: &[usize],
    donated: &[bool],
) -> Result<Vec<Requested<'a, P>>> {
    let expected = donated.len();
    if args.num_args != expected {
        return Err(Error::invalid_argument(format!(
            "Execution supplied {} buffers but compiled program expected {expected} buffers",
            args.num_args
        )));
    }
    let mut requested = Vec::with_capacity(expected * devices.len());
    // SAFETY: by the contract above.
    let lists = unsafe { array("argument_lists", args.argument_lists, args.num_devices, devices.len()) }?;
    for (replica, (&list, &device)) in lists.iter().zip(devices).enumerate() {
        // SAFETY: by the contract above.
        let list = unsafe { array("a list of argument_lists", list, expected, expected) }?;
        for (index, (&raw, &donated)) in list.iter().zip(donated).enumerate() {
            // SAFETY: by the contract above.
            let buffer: &BufferObject<P> = unsafe { loaded.shared.owner.own(format_args!("argument {index}"), raw) }?;
            if buffer.device != device {
                return Err(Error::invalid_argument(format!(
                    "Buffer passed to Execute() as argument {index} to replica {replica} is on device {}, but replica \
                     is assigned to device {}.",
                    buffer.owner.topology.topology.devices[buffer.device].name,
                    loaded.shared.owner.topology.topology.devices[device].name,
                )));
            }
            requested.push(Requested { buffer, donated, index, replica });
        }
    }
    Ok(requested)
}

slot! {
    /// `PJRT_ExecuteContext_Create`.
    fn create_context(args: PJRT_ExecuteContext_Create_Args) {
        (*args).context = ContextObject::default().into_raw();
        Ok(())
    }

    /// `PJRT_ExecuteContext_Destroy`.
    fn destroy_context(args: PJRT_ExecuteContext_Destroy_Args) {
        release::<ContextObject>((*args).context);
        Ok(())
    }

    /// `PJRT_LoadedExecutable_Execute`.
    fn execute<P>(args: PJRT_LoadedExecutable_Execute_Args) {
        let args = &*args;
        let loaded: &LoadedObject<P> = object("executable", args.executable)?;
        loaded.check_alive()?;
        let options = read_options(args.options);
        let non_donatable = array(
            "non_donatable_input_indices",
            options.base.non_donatable_input_indices,
            options.base.num_non_donatable_input_indices,
            loaded.shared.executable.parameters().len(),
        )?;
        let devices = devices(loaded, args)?;
        let expected = loaded.shared.output_types.len();
        let lists = if expected == 0 { 0 } else { devices.len() };
        let outputs = array("output_lists", args.output_lists, lists, lists)?;
        if outputs.iter().any(|list| list.is_null()) {
            return Err(null("a list of output_lists"));
        }
        let launch_options = execution_options(&options)?;
        let requested = requested::<P>(loaded, args, devices, &donated(loaded, non_donatable))?;
        let mut arguments = acquire(&requested)?;
        let owner = &loaded.shared.owner;
        let mut per_device = Vec::with_capacity(devices.len());
        for &place in devices {
            // Nothing is left of the last device's.
            let rest = arguments.split_off(args.num_args);
            per_device.push(DeviceLaunch { device: owner.devices[place].id, arguments });
            arguments = rest;
        }
        let executions = loaded.shared.executable.execute(Launch { devices: per_device, options: launch_options })?;

        if executions.len() != devices.len() {
            let (returned, launched) = (executions.len(), devices.len());
            let message = format!("the platform returned {returned} executions; the program was launched on {launched} devices");
            return Err(Error::internal(message));
        }
        if let Some(wrong) = executions.iter().map(|each| each.outputs.len()).find(|&count| count != expected) {
            let message = format!("the platform returned {wrong} results; the program has {expected}");
            return Err(Error::internal(message));
        }
        // Nothing is handed out before everything is known to be right.
        for output in executions.iter().flat_map(|each| &each.outputs) {
            BufferObject::<P>::places(owner, output)?;
        }
        for (place, execution) in executions.into_iter().enumerate() {
            for (index, output) in execution.outputs.into_iter().enumerate() {
                let buffer = BufferObject::<P>::new(owner, output)?;
                outputs[place].add(index).write(buffer.into_raw());
            }
            if !args.device_complete_events.is_null() {
                args.device_complete_events.add(place).write(execution.done.into_raw());
            }
        }
        Ok(())
    }
}
