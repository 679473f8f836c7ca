//! Doubly linked lists through one array of nodes: the kernel's `list_head` without pointers.
//!
//! A node is an index; it can be in one list at a time, and leaves it in O(1).

/// No node.
pub(crate) const NIL: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct ListNode {
    prev: u32,
    next: u32,
}

/// The nodes that lists run through.
#[derive(Debug, Default)]
pub(crate) struct Nodes(Vec<ListNode>);

/// One list: its ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        List {
            head: NIL,
            tail: NIL,
        }
    }
}

impl List {
    /// The first node, or [`NIL`].
    pub(crate) const fn head(&self) -> u32 {
        self.head
    }

    /// The last node, or [`NIL`].
    pub(crate) const fn tail(&self) -> u32 {
        self.tail
    }
}

impl Nodes {
    /// `len` nodes, in no list.
    pub(crate) fn with_len(len: usize) -> Self {
        let node = ListNode {
            prev: NIL,
            next: NIL,
        };
        Nodes(vec![node; len])
    }

    /// One more node.
    pub(crate) fn grow(&mut self) {
        self.0.push(ListNode {
            prev: NIL,
            next: NIL,
        });
    }

    /// Appends `node`, which is in no list.
    pub(crate) fn push_back(&mut self, list: &mut List, node: u32) {
        self.0[node as usize] = ListNode {
            prev: list.tail,
            next: NIL,
        };
        match list.tail {
            NIL => list.head = node,
            tail => self.0[tail as usize].next = node,
        }
        list.tail = node;
    }

    /// Takes `node` out of `list`, in which it is.
    pub(crate) fn remove(&mut self, list: &mut List, node: u32) {
        let ListNode { prev, next } = self.0[node as usize];
        match prev {
            NIL => list.head = next,
            prev => self.0[prev as usize].next = next,
        }
        match next {
            NIL => list.tail = prev,
            next => self.0[next as usize].prev = prev,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(nodes: &Nodes, list: &List) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = list.head;
        while at != NIL {
            found.push(at);
            at = nodes.0[at as usize].next;
        }
        found
    }

    #[test]
    fn nodes_leave_from_either_end_and_from_between() {
        let mut nodes = Nodes::with_len(3);
        nodes.grow();
        let mut list = List::default();
        for node in [2, 0, 3, 1] {
            nodes.push_back(&mut list, node);
        }
        nodes.remove(&mut list, 3);
        assert_eq!(contents(&nodes, &list), [2, 0, 1]);
        nodes.remove(&mut list, 1);
        nodes.remove(&mut list, 2);
        nodes.push_back(&mut list, 3);
        assert_eq!(contents(&nodes, &list), [0, 3]);
        nodes.remove(&mut list, 0);
        nodes.remove(&mut list, 3);
        assert_eq!((list.head, list.tail), (NIL, NIL));
    }
}
