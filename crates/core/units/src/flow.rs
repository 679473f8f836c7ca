//! The flow of a packet.

use serde::{Deserialize, Serialize};

/// A flow's identity in results: flows are numbered in the order in which they start.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct FlowId(pub u32);
