//! The programs that each device has in flight, and their limit.
//!
//! A program is in flight from its launch, with its arguments, until it has ended. Whoever launches one more than the
//! limit waits until another has ended, as on XLA's CPU: a thread that runs ahead holds memory for so many programs and
//! no more.
//!
//! A launch that another program may depend on must not wait for that program. So threads of the engine and threads
//! that answer host callbacks never wait. Where programs are in flight that may wait for anything (for custom calls, or
//! for devices that are started by calls of their own), nobody waits longer than [`STALL`] while no program ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oxcall::sync::{Condvar, Mutex};
use oxcall_pjrt::DeviceId;
use smallvec::SmallVec;

use crate::callbacks;
use crate::node::Node;

/// Programs that a device has in flight, unless an option says another number: as many as on XLA's CPU.
pub(crate) const MAX_INFLIGHT: usize = 32;

/// How long a launch waits for an end while programs are in flight that may depend on it.
const STALL: Duration = Duration::from_millis(250);

/// Programs in flight that may wait for anything, in the whole process: those of one client may wait for another's.
static DEPENDENT: AtomicUsize = AtomicUsize::new(0);

/// The programs in flight of a client.
#[derive(Debug)]
pub(crate) struct InFlight {
    most: usize,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    /// By device.
    devices: Vec<Device>,
    waiting: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Device {
    running: usize,
    ended: u64,
}

/// A program in flight. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    owner: Arc<InFlight>,
    devices: SmallVec<[DeviceId; 1]>,
    dependent: bool,
}

/// The permits of a launch, most often one.
pub(crate) type Permits = SmallVec<[Permit; 1]>;

impl InFlight {
    /// At most `most` programs on each of `devices` devices.
    pub(crate) fn new(devices: usize, most: usize) -> Arc<InFlight> {
        let state = State { devices: vec![Device::default(); devices], waiting: 0 };
        Arc::new(InFlight { most, state: Mutex::new(state), ended: Condvar::new() })
    }

    /// Waits until all of `devices` have room, and takes it on all of them at once, so that launches on several devices
    /// do not wait for each other in a circle. There is a permit for each `together` devices. `dependent` says whether
    /// the program may wait for anything.
    pub(crate) fn launch(self: &Arc<InFlight>, devices: &[DeviceId], together: usize, dependent: bool) -> Permits {
        if !self.take(&mut self.state.lock(), devices) {
            // Callbacks need Python's lock, which this thread may hold.
            callbacks::without_gil(|| self.wait(devices));
        }
        let permit = |devices: &[DeviceId]| {
            DEPENDENT.fetch_add(usize::from(dependent), Ordering::Relaxed);
            Permit { owner: self.clone(), devices: devices.into(), dependent }
        };
        devices.chunks(together.max(1)).map(permit).collect()
    }

    /// Takes room on all devices, if there is.
    fn take(&self, state: &mut State, devices: &[DeviceId]) -> bool {
        let has_room = devices.iter().all(|&device| state.of(device).running < self.most);
        if has_room {
            devices.iter().for_each(|&device| state.of(device).running += 1);
        }
        has_room
    }

    /// Waits for room, and takes it.
    fn wait(&self, devices: &[DeviceId]) {
        let mut state = self.state.lock();
        let ended = |state: &mut State| -> u64 { devices.iter().map(|&device| state.of(device).ended).sum() };
        if !(oxcall_engine::on_engine_thread() || callbacks::is_answering()) {
            let (mut since, mut ends) = (Instant::now(), ended(&mut state));
            while !self.take(&mut state, devices) {
                state.waiting += 1;
                state = self.ended.wait_timeout(state, STALL).0;
                state.waiting -= 1;
                let now = ended(&mut state);
                if now != ends {
                    (since, ends) = (Instant::now(), now);
                } else if since.elapsed() >= STALL && DEPENDENT.load(Ordering::Relaxed) > 0 {
                    return devices.iter().for_each(|&device| state.of(device).running += 1);
                }
            }
            return;
        }
        devices.iter().for_each(|&device| state.of(device).running += 1);
    }
}

impl State {
    fn of(&mut self, device: DeviceId) -> &mut Device {
        &mut self.devices[Node::place(device) as usize]
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        DEPENDENT.fetch_sub(usize::from(self.dependent), Ordering::Relaxed);
        let mut state = self.owner.state.lock();
        for &device in &self.devices {
            let device = state.of(device);
            (device.running, device.ended) = (device.running - 1, device.ended + 1);
        }
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.owner.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    const HERE: DeviceId = DeviceId(0);
    const THERE: DeviceId = DeviceId(1);

    fn running(in_flight: &InFlight) -> Vec<usize> {
        in_flight.state.lock().devices.iter().map(|device| device.running).collect()
    }

    /// Launches on another thread; what comes out says that it went through.
    fn launching(in_flight: &Arc<InFlight>, devices: &[DeviceId]) -> mpsc::Receiver<Permits> {
        let (sender, receiver) = mpsc::channel();
        let (theirs, devices) = (in_flight.clone(), devices.to_vec());
        thread::spawn(move || sender.send(theirs.launch(&devices, 1, false)));
        while in_flight.state.lock().waiting == 0 {
            thread::yield_now();
        }
        receiver
    }

    #[test]
    fn a_launch_waits_for_the_end_of_another() {
        let in_flight = InFlight::new(2, 2);
        let mut permits = in_flight.launch(&[HERE], 1, false);
        permits.extend(in_flight.launch(&[HERE], 1, false));
        let other = in_flight.launch(&[THERE], 1, false);
        let third = launching(&in_flight, &[HERE]);
        assert!(third.try_recv().is_err());
        drop(permits.pop());
        let third = third.recv().unwrap();
        assert_eq!(running(&in_flight), [2, 1]);
        drop((permits, other, third));
        assert_eq!(running(&in_flight), [0, 0]);
    }

    #[test]
    fn several_devices_are_taken_at_once() {
        let in_flight = InFlight::new(2, 1);
        let here = in_flight.launch(&[HERE], 1, false);
        let both = launching(&in_flight, &[THERE, HERE]);
        // The waiting launch holds nothing of the device that has room.
        drop(in_flight.launch(&[THERE], 1, false));
        drop(here);
        let both = both.recv().unwrap();
        assert_eq!((both.len(), running(&in_flight)), (2, vec![1, 1]));
        drop(both);
        let together = in_flight.launch(&[HERE, THERE], 2, false);
        assert_eq!((together.len(), running(&in_flight)), (1, vec![1, 1]));
    }

    #[test]
    fn launches_that_others_may_depend_on_go_on() {
        let in_flight = InFlight::new(1, 1);
        let first = in_flight.launch(&[HERE], 1, true);
        // It may be this one that the first waits for.
        let second = in_flight.launch(&[HERE], 1, false);
        assert_eq!(running(&in_flight), [2]);
        drop((first, second));
        assert_eq!(running(&in_flight), [0]);
    }

    #[test]
    fn threads_that_answer_callbacks_do_not_wait() {
        let in_flight = InFlight::new(1, 1);
        let first = in_flight.launch(&[HERE], 1, false);
        let second = callbacks::answering(|| in_flight.launch(&[HERE], 1, false));
        assert_eq!(running(&in_flight), [2]);
        drop((first, second));
    }
}
