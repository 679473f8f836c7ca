//! What a host has earned cannot be spent against one that stays below its share.

mod attack;
mod bound;
mod line;
mod search;
mod verdict;
