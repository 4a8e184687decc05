//! The calls that wait for Python, and those that it works on.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use oxcall::host::AlignedBytes;
use oxcall::{DType, Error, Result};

use oxcall::sync::{Condvar, Mutex};
use oxcall_engine::Era;

use super::watch;

thread_local! {
    static ANSWERING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread has taken a call that it has not answered.
pub(crate) fn is_answering() -> bool {
    ANSWERING.get()
}

/// Says whether it has.
pub(super) fn set_answering(is: bool) {
    ANSWERING.set(is);
}

/// Does `work` as a thread that has.
#[cfg(test)]
pub(crate) fn answering<T>(work: impl FnOnce() -> T) -> T {
    set_answering(true);
    let done = work();
    set_answering(false);
    done
}

/// A buffer of a call.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) dtype: DType,
    pub(crate) dims: Vec<i64>,
    pub(crate) memory: Memory,
}

/// Where the elements of a buffer are, a byte or more for each.
#[derive(Debug)]
pub(crate) enum Memory {
    /// A copy, which belongs to Python as soon as it takes the call.
    Owned(Box<AlignedBytes>),
    /// The program's own memory, which stays until the call is done; the address and the number of bytes.
    InPlace(usize, usize),
    /// Memory that the answer brings.
    Later,
}

/// Work for Python.
#[derive(Debug)]
pub(crate) enum Item {
    /// Call a function.
    Call(Call),
    /// Forget a function, since no program has it any more.
    Release(u64),
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) callback: u64,
    pub(crate) device: i32,
    pub(crate) operands: Vec<Described>,
    pub(crate) results: Vec<Described>,
}

/// The elements of all results, or the error of the function; they are valid as long as [`Queue::finish`] takes.
pub(super) type Answer = Result<Vec<RawBytes>>;

/// Bytes of the answering thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawBytes(*const u8, usize);

// SAFETY: `new` demands bytes that any thread may read.
unsafe impl Send for RawBytes {}

impl RawBytes {
    /// # Safety
    /// `data` points to `len` initialised bytes, not written until [`Queue::finish`] returns.
    pub(crate) unsafe fn new(data: *const u8, len: usize) -> RawBytes {
        RawBytes(data, len)
    }

    /// # Safety
    /// [`Queue::finish`], which was given them, has not returned.
    pub(super) unsafe fn get<'a>(self) -> &'a [u8] {
        if self.1 == 0 {
            return &[];
        }
        // SAFETY: by the contract of `new`.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

/// A call that has no answer yet.
pub(super) struct Pending {
    pub(super) callback: u64,
    /// Where the answer goes before `complete` is called.
    pub(super) answer: Arc<Mutex<Option<Answer>>>,
    pub(super) complete: Box<dyn FnOnce() + Send>,
    pub(super) deadline: Option<Instant>,
    /// When its program was asked for, if the call can be given up when there is an interrupt.
    pub(super) era: Option<Era>,
}

impl Pending {
    fn is_interrupted(&self) -> bool {
        self.era.is_some_and(Era::is_over)
    }

    pub(super) fn resolve(self, answer: Answer) {
        *self.answer.lock() = Some(answer);
        oxcall_engine::lend_thread(self.complete);
    }
}

/// A registered function.
#[derive(Debug, Default)]
struct Function {
    name: String,
    /// Compiled programs that call it.
    programs: usize,
    /// Whether the program that was lowered with it may yet be compiled.
    lowered: bool,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    pending: HashMap<u64, Pending>,
    functions: HashMap<u64, Function>,
    calls: u64,
    last_function: u64,
    closed: bool,
}

/// The queue between programs and Python.
pub(crate) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

/// The queue of this library.
pub(crate) fn queue() -> &'static Queue {
    static QUEUE: OnceLock<Queue> = OnceLock::new();
    QUEUE.get_or_init(|| {
        // Numbers of functions are unlike those of other processes, whose programs may be loaded here.
        let last_function = RandomState::new().hash_one(std::process::id()) >> 1;
        let state = State { last_function, ..State::default() };
        Queue { state: Mutex::new(state), arrived: Condvar::new() }
    })
}

impl Queue {
    /// A number for a function that a program will call.
    pub(crate) fn add_function(&self, name: &str) -> u64 {
        let mut state = self.state.lock();
        state.last_function += 1;
        let number = state.last_function;
        state.functions.insert(number, Function { name: name.to_owned(), programs: 0, lowered: true });
        number
    }

    /// The program that was lowered with this function is not compiled again. Whether nobody else has the function:
    /// otherwise an [`Item::Release`] comes when nobody has.
    pub(crate) fn drop_lowered(&self, number: u64) -> bool {
        let mut state = self.state.lock();
        let Some(function) = state.functions.get_mut(&number) else { return true };
        function.lowered = false;
        let unused = function.programs == 0;
        if unused {
            state.functions.remove(&number);
        }
        unused
    }

    /// Keeps the function for a program.
    ///
    /// # Errors
    /// NOT_FOUND for a function that this process does not have.
    pub(super) fn hold(&self, number: u64) -> Result<()> {
        let function = self.state.lock().functions.get_mut(&number).map(|function| function.programs += 1);
        function.ok_or_else(|| {
            Error::not_found(
                "the program calls back a Python function that this process does not have: run a program with host callbacks \
                 in the process that traced it",
            )
        })
    }

    /// The end of a [`hold`](Queue::hold).
    pub(super) fn let_go(&self, number: u64) {
        let mut state = self.state.lock();
        let Some(function) = state.functions.get_mut(&number) else { return };
        function.programs -= 1;
        if function.programs == 0 && !function.lowered {
            state.functions.remove(&number);
            state.items.push_back(Item::Release(number));
            drop(state);
            self.arrived.notify_one();
        }
    }

    /// Adds a call. If the queue is closed, or will be, the answer is an error.
    pub(super) fn push(&self, mut call: Call, pending: Pending) {
        let timed = pending.deadline.is_some();
        let mut state = self.state.lock();
        // With the lock: an interrupt that is not seen here finds the call in the list.
        if state.closed || pending.is_interrupted() {
            let error = if state.closed { closed() } else { interrupted() };
            drop(state);
            return pending.resolve(Err(error));
        }
        state.calls += 1;
        call.number = state.calls;
        state.pending.insert(call.number, pending);
        state.items.push_back(Item::Call(call));
        drop(state);
        self.arrived.notify_one();
        if timed {
            watch::start();
        }
    }

    /// Waits for something to do, and gives it to `take`, which may refuse it; `None` when the queue is closed.
    pub(crate) fn next<T>(&self, take: impl FnOnce(Item) -> (T, Option<Item>)) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(item) = state.items.pop_front() {
                let (taken, refused) = take(item);
                if let Some(item) = refused {
                    state.items.push_front(item);
                }
                return Some(taken);
            }
            state = self.arrived.wait(state);
        }
    }

    /// Answers a call; nothing if it has been given up.
    pub(crate) fn finish(&self, call: u64, answer: Answer) {
        let pending = self.state.lock().pending.remove(&call);
        if let Some(pending) = pending {
            pending.resolve(answer);
        }
    }

    /// Fails all calls, now and later: Python is about to end.
    pub(crate) fn close(&self) {
        let (items, pending) = {
            let mut state = self.state.lock();
            state.closed = true;
            (std::mem::take(&mut state.items), std::mem::take(&mut state.pending))
        };
        self.arrived.notify_all();
        drop(items);
        pending.into_values().for_each(|pending| pending.resolve(Err(closed())));
    }

    /// Fails the calls of programs that were interrupted; calls that no thread has taken are not made.
    pub(super) fn interrupt(&self) {
        let mut state = self.state.lock();
        let State { items, pending, .. } = &mut *state;
        let over = pending.extract_if(|_, pending| pending.is_interrupted());
        let over: HashMap<u64, Pending> = over.collect();
        let is_over = |item: &Item| matches!(item, Item::Call(call) if over.contains_key(&call.number));
        let gone: VecDeque<Item>;
        (gone, *items) = std::mem::take(items).into_iter().partition(is_over);
        drop(state);
        drop(gone);
        over.into_values().for_each(|pending| pending.resolve(Err(interrupted())));
    }

    /// Fails the calls whose time is over, and says when the next one's is.
    pub(super) fn expire(&self, now: Instant, after: &str) -> Option<Instant> {
        let (expired, next) = {
            let mut state = self.state.lock();
            let over = |pending: &Pending| pending.deadline.is_some_and(|deadline| deadline <= now);
            let numbers: Vec<u64> =
                state.pending.iter().filter(|(_, pending)| over(pending)).map(|(&number, _)| number).collect();
            let mut expired = Vec::with_capacity(numbers.len());
            for number in numbers {
                let Some(pending) = state.pending.remove(&number) else { continue };
                let name = state.functions.get(&pending.callback).map(|function| function.name.clone());
                expired.push((pending, name.unwrap_or_default()));
            }
            (expired, state.pending.values().filter_map(|pending| pending.deadline).min())
        };
        for (pending, name) in expired {
            pending.resolve(Err(Error::deadline_exceeded(format!(
                "the host callback {name} did not return within {after} (OXCALL_CALLBACK_TIMEOUT)"
            ))
            .verbatim()));
        }
        next
    }
}

fn interrupted() -> Error {
    Error::cancelled("the program was interrupted while it waited for a host callback").verbatim()
}

fn closed() -> Error {
    Error::cancelled("host callbacks can no longer run: the Python interpreter is exiting")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> Queue {
        Queue { state: Mutex::default(), arrived: Condvar::new() }
    }

    fn call(callback: u64) -> Call {
        Call { number: 0, callback, device: 0, operands: Vec::new(), results: Vec::new() }
    }

    /// A pending call, and where its answer's error will be.
    fn pending(deadline: Option<Instant>) -> (Pending, std::sync::mpsc::Receiver<Option<String>>) {
        let (sender, receiver) = std::sync::mpsc::channel();
        let answer: Arc<Mutex<Option<Answer>>> = Arc::default();
        let theirs = Arc::clone(&answer);
        let complete = Box::new(move || {
            let answer = theirs.lock().take().expect("the answer comes first");
            sender.send(answer.err().map(|error| error.message().to_owned())).unwrap();
        });
        (Pending { callback: 1, answer, complete, deadline, era: None }, receiver)
    }

    fn next_call(queue: &Queue) -> u64 {
        let item = queue.next(|item| (item, None)).expect("it is open");
        let Item::Call(call) = item else { panic!("{item:?}") };
        call.number
    }

    #[test]
    fn calls_are_answered_once() {
        let queue = fresh();
        let (waiting, answers) = pending(None);
        queue.push(call(1), waiting);
        // One who has no room for it leaves it for the next.
        assert_eq!(queue.next(|item| (7, Some(item))), Some(7));
        let number = next_call(&queue);
        queue.finish(number, Err(Error::internal("first")));
        queue.finish(number, Err(Error::internal("second")));
        assert_eq!(answers.iter().collect::<Vec<_>>(), [Some("first".to_owned())]);
    }

    #[test]
    fn a_closed_queue_fails_all_calls() {
        let queue = fresh();
        let ((first, firsts), (second, seconds)) = (pending(None), pending(None));
        queue.push(call(1), first);
        queue.close();
        queue.push(call(1), second);
        for answers in [firsts, seconds] {
            assert!(answers.recv().unwrap().unwrap().contains("exiting"));
        }
        assert!(queue.next(|item| (item, None)).is_none());
    }

    #[test]
    fn calls_expire() {
        let queue = fresh();
        let now = Instant::now();
        let later = now + std::time::Duration::from_secs(1);
        let ((first, firsts), (second, seconds)) = (pending(Some(now)), pending(Some(later)));
        queue.push(call(1), first);
        queue.push(call(1), second);
        assert_eq!(queue.expire(now, "0 s"), Some(later));
        assert!(firsts.recv().unwrap().unwrap().contains("did not return within 0 s"));
        assert!(seconds.try_recv().is_err());
    }

    #[test]
    fn calls_of_interrupted_programs_are_given_up() {
        let queue = fresh();
        let ((mut first, firsts), (mut second, seconds)) = (pending(None), pending(None));
        let (kept, keeps) = pending(None);
        (first.era, second.era) = (Some(Era::now()), Some(Era::now()));
        queue.push(call(1), first);
        queue.push(call(1), kept);
        oxcall_engine::interrupt();
        queue.interrupt();
        // This one comes late.
        queue.push(call(1), second);
        for answers in [firsts, seconds] {
            assert!(answers.recv().unwrap().unwrap().contains("was interrupted"));
        }
        // Nobody makes a call that was given up.
        queue.finish(next_call(&queue), Err(Error::internal("of the other")));
        assert_eq!(keeps.recv().unwrap().unwrap(), "of the other");
        assert!(queue.state.lock().items.is_empty());
    }

    #[test]
    fn functions_live_as_long_as_programs_may_call_them() {
        let queue = fresh();
        let (first, second) = (queue.add_function("f"), queue.add_function("g"));
        queue.hold(first).unwrap();
        queue.hold(first).unwrap();
        assert!(!queue.drop_lowered(first));
        queue.let_go(first);
        queue.hold(first).unwrap();
        queue.let_go(first);
        queue.let_go(first);
        let released = queue.next(|item| (item, None));
        assert!(matches!(released, Some(Item::Release(number)) if number == first), "{released:?}");
        assert!(queue.drop_lowered(second));
        assert!(queue.hold(second).unwrap_err().message().contains("in the process that traced it"));
    }
}
