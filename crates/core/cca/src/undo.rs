//! The state that a timeout discards, for the case that it turns out to have been spurious.

/// Window and threshold before the timeouts of one episode (Linux `prior_cwnd`, `prior_ssthresh`).
#[derive(Debug, Clone, Copy)]
pub struct Taken<T = u64>(Option<(T, T)>);

impl<T> Default for Taken<T> {
    fn default() -> Self {
        Taken(None)
    }
}

impl<T: Copy + PartialOrd> Taken<T> {
    /// A timeout is about to take them away.
    pub fn note(&mut self, window: T, threshold: T) {
        self.0.get_or_insert((window, threshold));
    }

    /// The timeout was right.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// The timeout was wrong: neither is less than before (Linux `tcp_undo_cwnd_reduction`).
    pub fn give_back(&mut self, window: &mut T, threshold: &mut T) {
        let Some((before, then)) = self.0.take() else {
            return;
        };
        if before > *window {
            *window = before;
        }
        if then > *threshold {
            *threshold = then;
        }
    }
}
