//! Hosts with packets of established flows, in the order in which they are considered for what goes
//! before other hosts: each in turn, whoever's packets came first.

use crate::list::{List, NIL, Nodes};

/// The order.
#[derive(Debug)]
pub(super) struct CalmHosts {
    order: List,
    nodes: Nodes,
    within: Vec<bool>,
}

impl CalmHosts {
    /// Of so many `hosts` none.
    pub(super) fn new(hosts: usize) -> Self {
        CalmHosts {
            order: List::default(),
            nodes: Nodes::with_len(hosts),
            within: vec![false; hosts],
        }
    }

    /// `host` has such a packet. No effect if it had before.
    pub(super) fn join(&mut self, host: usize) {
        if !std::mem::replace(&mut self.within[host], true) {
            self.nodes.push_back(&mut self.order, host as u32);
        }
    }

    /// The next one.
    pub(super) fn first(&self) -> Option<usize> {
        let head = self.order.head();
        (head != NIL).then_some(head as usize)
    }

    /// `host` was considered: it is the last one now, or leaves if it has no such packet any more.
    pub(super) fn considered(&mut self, host: usize, stays: bool) {
        self.nodes.remove(&mut self.order, host as u32);
        self.within[host] = false;
        if stays {
            self.join(host);
        }
    }
}
