//! Deficit round robin with any number of rounds over one array of members: hosts take turns, and
//! within a host its flows do.
//!
//! As [`drr`](crate::drr), whose one round keeps its members to itself.

use crate::list::NIL;

/// In place of a successor: the member is in no round.
const IDLE: u32 = u32::MAX - 1;

/// The members that rounds run through.
#[derive(Debug)]
pub(super) struct Members(Vec<Member>);

#[derive(Debug, Clone, Copy)]
struct Member {
    /// Bytes that it may still send in this round; negative where its last packet overdrew.
    deficit: i64,
    next: u32,
}

#[derive(Debug, Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List {
    head: NIL,
    tail: NIL,
};

/// One round: whose turn it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    new: List,
    old: List,
}

impl Default for Round {
    fn default() -> Self {
        Round {
            new: EMPTY,
            old: EMPTY,
        }
    }
}

impl Members {
    /// So many members, in no round.
    pub(super) fn new(len: usize) -> Self {
        let idle = Member {
            deficit: 0,
            next: IDLE,
        };
        Members(vec![idle; len])
    }

    /// Whether the member is in no round.
    pub(super) fn is_idle(&self, member: usize) -> bool {
        self.0[member].next == IDLE
    }

    /// Takes `bytes` off what the member may send.
    pub(super) fn charge(&mut self, member: usize, bytes: u32) {
        self.0[member].deficit -= i64::from(bytes);
    }

    fn push(&mut self, list: &mut List, member: u32) {
        self.0[member as usize].next = NIL;
        match list.tail {
            NIL => list.head = member,
            tail => self.0[tail as usize].next = member,
        }
        list.tail = member;
    }

    fn pop(&mut self, list: &mut List) -> Option<u32> {
        let head = list.head;
        let member = self.0.get_mut(head as usize)?;
        list.head = member.next;
        if list.head == NIL {
            list.tail = NIL;
        }
        member.next = IDLE;
        Some(head)
    }
}

impl Round {
    /// An idle member has something to send, and goes before those that have been sending.
    pub(super) fn join_new(&mut self, members: &mut Members, member: usize, quantum: i64) {
        if members.is_idle(member) {
            members.0[member].deficit = quantum;
            members.push(&mut self.new, member as u32);
        }
    }

    /// An idle member has something to send, and goes to the end of the round.
    pub(super) fn join(&mut self, members: &mut Members, member: usize, quantum: i64) {
        if members.is_idle(member) {
            members.0[member].deficit = quantum;
            members.push(&mut self.old, member as u32);
        }
    }

    /// The member whose turn it is.
    pub(super) fn next(&mut self, members: &mut Members, quantum: i64) -> Option<usize> {
        loop {
            let head = self.head();
            let member = members.0.get_mut(head as usize)?;
            if member.deficit > 0 {
                return Some(head as usize);
            }
            member.deficit += quantum;
            self.rotate(members);
        }
    }

    /// The member whose turn it is has nothing to send: a new one waits for a round of the others.
    pub(super) fn leave(&mut self, members: &mut Members) {
        if self.new.head != NIL && self.old.head != NIL {
            self.rotate(members);
        } else {
            members.pop(self.first());
        }
    }

    fn head(&self) -> u32 {
        match self.new.head {
            NIL => self.old.head,
            head => head,
        }
    }

    fn first(&mut self) -> &mut List {
        match self.new.head {
            NIL => &mut self.old,
            _ => &mut self.new,
        }
    }

    fn rotate(&mut self, members: &mut Members) {
        if let Some(member) = members.pop(self.first()) {
            members.push(&mut self.old, member);
        }
    }
}
