//! The machine code of a plan: that of its kernels, and that of its loops.

use oxcall_jit::{Listing, Mark};

use super::{Plan, Step};

/// Machine code in one piece of memory, which has one part or more.
pub(crate) struct Code<'a> {
    /// The code, with labels if the plan's code is listed.
    pub(crate) listing: Listing<'a>,
    /// The starts of the parts, by ascending offset, named after their steps.
    pub(crate) parts: Vec<Mark>,
}

impl Code<'_> {
    /// The parts: offset, size and name.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let ends = self.parts.iter().skip(1).map(|part| part.offset).chain([self.listing.bytes.len()]);
        self.parts.iter().zip(ends).map(|(part, end)| (part.offset, end - part.offset, part.name.as_str()))
    }
}

impl Plan {
    /// All machine code, also that of manual computations.
    pub(crate) fn code(&self) -> Vec<Code<'_>> {
        let mut all = Vec::new();
        self.add_code("", &mut all);
        all
    }

    fn add_code<'a>(&'a self, prefix: &str, all: &mut Vec<Code<'a>>) {
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                Step::Kernel { kernel, .. } => {
                    let name = format!("{prefix}step {index} {}", kernel.name());
                    let code = |listing| Code { listing, parts: vec![Mark { offset: 0, name: name.clone() }] };
                    all.extend(kernel.code().into_iter().map(code));
                }
                Step::Manual { site, .. } => {
                    self.manuals[*site as usize].plan.add_code(&format!("{prefix}step {index} "), all);
                }
                _ => {}
            }
        }
        if let Some(loops) = &self.loops {
            let first = Mark { offset: 0, name: format!("{prefix}start of loops") };
            let blocks = loops.routine.starts().iter().zip(&loops.starts);
            let block = |(&offset, &step): (&usize, &u32)| Mark {
                offset,
                name: format!("{prefix}{}", self.block_name(step as usize)),
            };
            let parts = [first].into_iter().chain(blocks.map(block)).collect();
            all.push(Code { listing: loops.routine.listing(), parts });
        }
    }

    /// The name of the block of a loop that begins at a step: `steps 3-5 add multiply`.
    fn block_name(&self, first: usize) -> String {
        /// The most kernels that are named.
        const MOST: usize = 8;
        let Some(loops) = &self.loops else { return String::new() };
        let goes_on = |&step: &usize| loops.covers[step] && loops.block_at[step].is_none();
        let last = (first + 1..self.steps.len()).take_while(goes_on).last().unwrap_or(first);
        let mut name = if last == first { format!("step {first}") } else { format!("steps {first}-{last}") };
        let kernels = self.steps[first..=last].iter().filter_map(|step| match step {
            Step::Kernel { kernel, .. } => Some(kernel.name()),
            _ => None,
        });
        for (index, kernel) in kernels.enumerate() {
            if index == MOST {
                name.push_str(" ...");
                break;
            }
            name.push(' ');
            name.push_str(&kernel);
        }
        name
    }
}
