//! What keeps a sender from sending, and for how long each has (Linux's `tcp_chrono`).

use units::{Duration, Instant};

/// What a sender waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SenderLimit {
    /// Room in the window of its congestion control.
    Window,
    /// Its turn at the pacing rate.
    Pacing,
    /// Room in its receiver's window.
    Receiver,
    /// Data from its application.
    Application,
    /// Room in the queue of its own computer: [`Config::small_queues`](crate::Config::small_queues).
    Computer,
}

impl SenderLimit {
    const ALL: [SenderLimit; 5] = [
        SenderLimit::Window,
        SenderLimit::Pacing,
        SenderLimit::Receiver,
        SenderLimit::Application,
        SenderLimit::Computer,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            SenderLimit::Window => "window",
            SenderLimit::Pacing => "pacing",
            SenderLimit::Receiver => "receiver",
            SenderLimit::Application => "application",
            SenderLimit::Computer => "computer",
        }
    }
}

/// What a sender waited for so far. Sending takes no time.
#[derive(Debug, Clone, Default)]
pub struct SenderLimits {
    /// What it waits for, and since when.
    waits: Option<(SenderLimit, Instant)>,
    /// How long it waited before, by place in [`Limit::ALL`].
    spent: [Duration; SenderLimit::ALL.len()],
}

impl SenderLimits {
    /// It waits for `limit` from now on, if it does not already.
    #[inline]
    pub(crate) fn wait(&mut self, now: Instant, limit: SenderLimit) {
        match self.waits {
            Some((waits, _)) if waits == limit => {}
            Some((waits, since)) => {
                self.spent[waits as usize] += now.since(since);
                self.waits = Some((limit, now));
            }
            None => self.waits = Some((limit, now)),
        }
    }

    /// What it waits for; none before it was connected.
    pub fn now(&self) -> Option<SenderLimit> {
        self.waits.map(|(limit, _)| limit)
    }

    /// What it waited for in more than half of its time until `now`, if there is such, and the share
    /// of its time. That its application gives no more, it may wait for in vain: the last such wait is
    /// not part of its time.
    pub fn mostly(&self, now: Instant) -> Option<(SenderLimit, f64)> {
        let (waits, since) = self.waits?;
        let mut spent = self.spent;
        if waits != SenderLimit::Application {
            spent[waits as usize] += now.since(since);
        }
        let all = spent.iter().fold(Duration::ZERO, |sum, part| sum + *part);
        let most = SenderLimit::ALL.into_iter().zip(spent);
        let (limit, most) = most.max_by_key(|(_, part)| *part)?;
        let share = most.as_secs_f64() / all.as_secs_f64();
        (share > 0.5).then_some((limit, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_longest_wait_counts_if_it_is_more_than_half() {
        let mut limits = SenderLimits::default();
        assert_eq!((limits.now(), limits.mostly(at(5))), (None, None));
        limits.wait(at(10), SenderLimit::Window);
        assert_eq!(limits.mostly(at(10)), None, "no time has passed");
        limits.wait(at(20), SenderLimit::Receiver);
        limits.wait(at(25), SenderLimit::Receiver);
        assert_eq!(limits.now(), Some(SenderLimit::Receiver));
        assert_eq!(limits.mostly(at(30)), None, "ten of twenty are not more");
        assert_eq!(limits.mostly(at(50)), Some((SenderLimit::Receiver, 0.75)));
        limits.wait(at(50), SenderLimit::Window);
        assert_eq!(limits.mostly(at(130)), Some((SenderLimit::Window, 0.75)));
        limits.wait(at(130), SenderLimit::Application);
        assert_eq!(limits.mostly(at(1000)), Some((SenderLimit::Window, 0.75)));
        limits.wait(at(970), SenderLimit::Pacing);
        assert_eq!(
            limits.mostly(at(970)),
            Some((SenderLimit::Application, 0.875))
        );
    }
}
