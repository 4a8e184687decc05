//! The memory behind buffers, which may be a part of a larger array.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use oxcall::sync::{Mutex, MutexGuard};
use oxcall_engine::Buffer;
use oxcall_pjrt::{Error, Event, Promise, Result};

use crate::arrays::split::Split;

/// Memory that is filled in once, before `ready` completes without an error.
#[derive(Debug, Clone)]
pub(crate) struct Contents {
    ready: Event,
    memory: Memory,
}

#[derive(Debug, Clone)]
enum Memory {
    /// There from the start, and never a part of an array.
    Whole(Arc<Buffer>),
    Cell(Arc<Cell>),
}

/// Where one tensor lies.
#[derive(Debug, Default)]
struct Cell(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The tensor alone.
    own: Option<Arc<Buffer>>,
    /// The tensor as a part of a larger one. If it is also alone, the elements are the same.
    part: Option<Part>,
    /// Whether the address of `own` was given out, so that it must stay valid.
    exposed: bool,
}

/// A tile of an array.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// The array.
    pub(crate) whole: Arc<Buffer>,
    /// How it is split.
    pub(crate) split: Arc<Split>,
    /// The number of the tile.
    pub(crate) tile: usize,
}

/// The writing side of [`Contents`]; dropping it makes them an error.
#[derive(Debug)]
pub(crate) struct Filler {
    promise: Promise,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Alone(Arc<Cell>),
    /// One for each device.
    Tiles(Vec<Arc<Cell>>, Arc<Split>),
}

impl Contents {
    /// Contents that are there.
    pub(crate) fn ready(buffer: Buffer) -> Contents {
        Contents { ready: Event::ready(), memory: Memory::Cell(Arc::new(Cell::new(Arc::new(buffer)))) }
    }

    /// Contents that are there, and that no [`join`](Contents::join) changes: those of a client with one device.
    pub(crate) fn whole(buffer: Buffer) -> Contents {
        Contents { ready: Event::ready(), memory: Memory::Whole(Arc::new(buffer)) }
    }

    /// Contents that never will be there.
    pub(crate) fn failed(error: Error) -> Contents {
        Contents { ready: Event::failed(error), memory: Memory::Cell(Arc::default()) }
    }

    /// Contents to come.
    pub(crate) fn pending() -> (Filler, Contents) {
        let (promise, ready) = Event::pending();
        let cell = Arc::<Cell>::default();
        (Filler { promise, target: Target::Alone(cell.clone()) }, Contents { ready, memory: Memory::Cell(cell) })
    }

    /// The tiles of an array to come, one for each device.
    pub(crate) fn pending_tiles(split: &Arc<Split>) -> (Filler, Vec<Contents>) {
        let (promise, ready) = Event::pending();
        let cells: Vec<Arc<Cell>> = (0..split.devices()).map(|_| Arc::default()).collect();
        let contents = |cell: &Arc<Cell>| Contents { ready: ready.clone(), memory: Memory::Cell(cell.clone()) };
        let contents = cells.iter().map(contents).collect();
        (Filler { promise, target: Target::Tiles(cells, split.clone()) }, contents)
    }

    /// Completes when the memory is ready, or with the error that keeps it from becoming ready.
    pub(crate) fn event(&self) -> &Event {
        &self.ready
    }

    /// The memory, once [`event`](Contents::event) completed without an error.
    pub(crate) fn get(&self) -> Result<Arc<Buffer>> {
        match &self.memory {
            Memory::Whole(buffer) => Ok(buffer.clone()),
            Memory::Cell(cell) => cell.lock().alone(),
        }
    }

    /// [`get`](Contents::get), for a holder that gives its own share up.
    pub(crate) fn take(self) -> Result<Arc<Buffer>> {
        match self.memory {
            Memory::Whole(buffer) => Ok(buffer),
            Memory::Cell(cell) => match Arc::try_unwrap(cell) {
                Ok(cell) => cell.0.into_inner().alone(),
                Err(cell) => cell.lock().alone(),
            },
        }
    }

    /// The address of the memory, which stays valid as long as these contents.
    pub(crate) fn address(&self) -> Result<usize> {
        match &self.memory {
            Memory::Whole(buffer) => Ok(buffer.as_ptr().addr()),
            Memory::Cell(cell) => {
                let mut state = cell.lock();
                let address = state.alone()?.as_ptr().addr();
                state.exposed = true;
                Ok(address)
            }
        }
    }

    /// The larger array that they are a part of.
    pub(crate) fn part(&self) -> Option<Part> {
        match &self.memory {
            Memory::Whole(_) => None,
            Memory::Cell(cell) => cell.lock().part.clone(),
        }
    }

    /// Makes them a part of an array with the same elements, so that their own memory can go.
    pub(crate) fn join(&self, part: Part) {
        if let Memory::Cell(cell) = &self.memory {
            let mut state = cell.lock();
            if !state.exposed {
                state.own = None;
            }
            state.part = Some(part);
        }
    }
}

impl Cell {
    fn new(buffer: Arc<Buffer>) -> Cell {
        Cell(Mutex::new(State { own: Some(buffer), ..State::default() }))
    }

    /// A panic leaves the state whole: each change is one assignment.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    /// The memory of the tensor alone.
    fn alone(&mut self) -> Result<Arc<Buffer>> {
        if let Some(own) = &self.own {
            return Ok(own.clone());
        }
        let part = self
            .part
            .as_ref()
            .ok_or_else(|| Error::failed_precondition("the contents of a buffer were read before it was ready"))?;
        Ok(self.own.insert(Arc::new(part.extract()?)).clone())
    }
}

impl Part {
    /// The tile alone: a view if it is contiguous, otherwise a copy.
    fn extract(&self) -> Result<Buffer> {
        if let Some(range) = self.split.contiguous(self.tile) {
            let bytes = &self.whole.as_bytes()[range];
            let keep: Box<dyn Any + Send + Sync> = Box::new(self.whole.clone());
            // SAFETY: the bytes are those of a buffer that the view keeps alive, and that is only read while it is
            // shared.
            if let Ok(view) = unsafe { Buffer::foreign(NonNull::from(bytes).cast(), bytes.len(), keep) } {
                return Ok(view);
            }
        }
        self.split.extract(&self.whole, self.tile)
    }
}

impl Filler {
    /// Fills in the memory, or the error.
    pub(crate) fn fill(self, contents: Result<Buffer>) {
        let Filler { promise, target } = self;
        promise.complete(contents.map(|buffer| {
            let buffer = Arc::new(buffer);
            match target {
                Target::Alone(cell) => cell.lock().own = Some(buffer),
                Target::Tiles(cells, split) if split.is_replicated() => {
                    cells.iter().for_each(|cell| cell.lock().own = Some(buffer.clone()));
                }
                Target::Tiles(cells, split) => {
                    for (device, cell) in cells.iter().enumerate() {
                        let (whole, tile) = (buffer.clone(), split.tile_of(device));
                        cell.lock().part = Some(Part { whole, split: split.clone(), tile });
                    }
                }
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_gets_the_memory_alone() {
        for contents in [Contents::ready(Buffer::empty()), Contents::whole(Buffer::empty())] {
            let (address, other) = (contents.address().unwrap(), contents.clone());
            assert!(contents.event().is_ready() && contents.part().is_none());
            assert!(Arc::try_unwrap(contents.take().unwrap()).is_err(), "the other one holds it");
            assert_eq!(other.address().unwrap(), address);
            assert!(Arc::try_unwrap(other.take().unwrap()).is_ok());
        }
    }
}
