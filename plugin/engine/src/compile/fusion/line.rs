//! An ordered line of nodes, labelled with numbers that leave gaps between them.

/// Nodes, by index, in a line.
pub(super) struct Line {
    /// Ascending along the line.
    labels: Vec<u64>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Line {
    /// The nodes up to `count`, in order of their indices.
    pub(super) fn new(count: usize) -> Line {
        // One extra node is both before the first and after the last.
        let end = u32::try_from(count).expect("fewer than 2^32 nodes");
        let next = (0..=end).map(|node| if node == end { 0 } else { node + 1 }).collect();
        let previous = (0..=end).map(|node| if node == 0 { end } else { node - 1 }).collect();
        let mut line = Line { labels: vec![0; count + 1], next, previous };
        line.number();
        line
    }

    fn end(&self) -> usize {
        self.labels.len() - 1
    }

    /// Relabels all nodes, with the largest possible gaps.
    fn number(&mut self) {
        let end = self.end();
        let step = u64::MAX / (self.labels.len() as u64 + 1);
        let (mut node, mut label) = (self.next[end] as usize, 0);
        while node != end {
            label += step;
            self.labels[node] = label;
            node = self.next[node] as usize;
        }
        self.labels[end] = u64::MAX;
    }

    pub(super) fn is_before(&self, a: usize, b: usize) -> bool {
        self.labels[a] < self.labels[b]
    }

    pub(super) fn remove(&mut self, node: usize) {
        let (previous, next) = (self.previous[node], self.next[node]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
    }

    /// Puts `nodes` behind `node`, in their present order.
    pub(super) fn put_behind(&mut self, mut nodes: Vec<usize>, node: usize) {
        nodes.sort_unstable_by_key(|&node| self.labels[node]);
        let mut last = node as u32;
        for &each in &nodes {
            self.remove(each);
        }
        // Most of the gap stays next to `node`, behind which more nodes will be put.
        let places = 16 * (nodes.len() as u64 + 1);
        if self.room_behind(node) < places {
            self.spread(node, places);
        }
        let after = self.next[node];
        let step = self.room_behind(node) / places;
        for &each in &nodes {
            (self.next[last as usize], self.previous[each]) = (each as u32, last);
            last = each as u32;
        }
        (self.next[last as usize], self.previous[after as usize]) = (after, last);
        if step == 0 {
            return self.number();
        }
        let mut label = self.labels[after as usize];
        for &each in nodes.iter().rev() {
            label -= step;
            self.labels[each] = label;
        }
    }

    fn room_behind(&self, node: usize) -> u64 {
        self.labels[self.next[node] as usize] - self.labels[node]
    }

    /// Relabels the nodes around `node`, so that the gap behind each is many times `places`. These are the nodes whose
    /// labels share a prefix of bits, the smallest such range that is not too dense. An insertion thus relabels a
    /// logarithmic number of nodes, amortised.
    fn spread(&mut self, node: usize, places: u64) {
        const ROOM: u64 = 16;
        /// The factor by which the allowed number of nodes grows with each bit of the range.
        const GROWTH: f64 = 4.0 / 3.0;
        let end = self.end();
        let (mut first, mut last, mut count, mut most) = (node, node, 1, 1.0);
        for bits in 1..u64::BITS {
            let mask = (1 << bits) - 1;
            let (low, high) = (self.labels[node] & !mask, self.labels[node] | mask);
            while let before = self.previous[first] as usize
                && before != end
                && self.labels[before] >= low
            {
                (first, count) = (before, count + 1);
            }
            while let after = self.next[last] as usize
                && after != end
                && self.labels[after] <= high
            {
                (last, count) = (after, count + 1);
            }
            let step = mask / (count + 1);
            most *= GROWTH;
            if step >= places.saturating_mul(ROOM) && count as f64 <= most {
                let (mut each, mut label) = (first, low);
                for _ in 0..count {
                    label += step;
                    self.labels[each] = label;
                    each = self.next[each] as usize;
                }
                return;
            }
        }
        self.number();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_move_behind_others_however_often() {
        let mut line = Line::new(6);
        let mut expected: Vec<usize> = (0..6).collect();
        for turn in 0..2000 {
            let node = turn * 7 % 6;
            let place = expected.iter().position(|&each| each == node).unwrap();
            let moved: Vec<usize> = expected.drain(..place).filter(|each| (each + turn) % 3 > 0).collect();
            let mut kept: Vec<usize> =
                (0..6).filter(|each| !expected.contains(each) && !moved.contains(each)).collect();
            kept.sort_unstable_by_key(|&each| line.labels[each]);
            expected.splice(0..0, kept.iter().copied());
            let place = expected.iter().position(|&each| each == node).unwrap() + 1;
            expected.splice(place..place, moved.iter().copied());
            line.put_behind(moved, node);
            assert!(expected.windows(2).all(|pair| line.is_before(pair[0], pair[1])), "turn {turn}");
        }
        line.remove(expected[2]);
        line.number();
        expected.remove(2);
        assert!(expected.windows(2).all(|pair| line.is_before(pair[0], pair[1])));
    }

    /// Insertions behind one node, amid many others: the order stays, and so do most of the labels.
    #[test]
    fn crowded_places_are_spread() {
        const COUNT: usize = 5000;
        let mut line = Line::new(COUNT);
        let before = line.labels.clone();
        let place = COUNT / 2;
        for node in 0..place {
            line.put_behind(vec![node], place);
        }
        let order: Vec<usize> = (place..=place).chain((0..place).rev()).chain(place + 1..COUNT).collect();
        assert!(order.windows(2).all(|pair| line.is_before(pair[0], pair[1])));
        let renumbered = (place..COUNT).filter(|&node| line.labels[node] != before[node]).count();
        assert!(renumbered < COUNT / 4, "{renumbered} of the others have other numbers");
    }
}
