//! How congestion marks come back to the sender.

use crate::wire::segment::Segment;
use cca::EcnMode;
use units::Ecn;

/// Length of the AccECN option with the counters of ECT(1) and CE bytes (RFC 9768, 3.2.3).
pub const OPTION: u32 = 8;

/// The form of ECN that both ends agreed upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// No ECN.
    None,
    /// One bit until the sender confirms that it has reduced (RFC 3168).
    Classic,
    /// The number of marked bytes (RFC 9768). Full segments have no room for the option; the
    /// header's ACE field, which counts packets, is assumed to carry as much.
    Accurate,
}

/// The sender's side of it.
#[derive(Debug)]
pub struct Marks {
    mode: EcnMode,
    echo: Echo,
    /// The echo's count as far as the control knows of it.
    told: u32,
    /// The control hears of the next mark when more than this is acknowledged.
    until: u64,
}

impl Marks {
    /// No form is agreed upon yet.
    pub const fn new(mode: EcnMode) -> Self {
        Marks {
            mode,
            echo: Echo::None,
            told: 0,
            until: 0,
        }
    }

    /// The handshake is complete.
    pub const fn agree(&mut self, echo: Echo) {
        self.echo = echo;
    }

    /// Whether the peer needs to hear of reductions.
    pub fn wants_cwr(&self) -> bool {
        self.echo == Echo::Classic
    }

    /// Whether congestion control is L4S's, and has the feedback it needs.
    pub fn scalable(&self) -> bool {
        self.mode == EcnMode::Scalable && self.echo == Echo::Accurate
    }

    /// The field for new data. A control that needs accurate feedback and did not get it does
    /// without marks (RFC 9331, 4.3): `ecn` is the setting of the stack, for the others.
    pub fn field(&self, ecn: bool) -> Ecn {
        match self.mode {
            EcnMode::Scalable if self.scalable() => Ecn::Ect1,
            EcnMode::Classic if ecn && self.echo != Echo::None => Ecn::Ect0,
            EcnMode::Scalable | EcnMode::Classic => Ecn::NotCapable,
        }
    }

    /// The field for retransmissions and for pure acknowledgements. RFC 3168, 6.1.4 and 6.1.5, rule
    /// marks out; Linux with accurate feedback sends them like data, so that all of a connection's
    /// packets wait in the same queue.
    pub fn other_field(&self) -> Ecn {
        if self.scalable() {
            Ecn::Ect1
        } else {
            Ecn::NotCapable
        }
    }

    /// Of `bytes` newly delivered, how many `segment` says were marked. The excess (of segments
    /// that arrived twice, or were not yet reported) is counted with later ones.
    pub fn take(&mut self, segment: &Segment, bytes: u64) -> u64 {
        if self.echo != Echo::Accurate {
            return if segment.ece { bytes } else { 0 };
        }
        let new = segment.ce.wrapping_sub(self.told);
        // An older acknowledgement that was overtaken counts fewer.
        let marked = if new > u32::MAX / 2 { 0 } else { new };
        let marked = marked.min(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.told = self.told.wrapping_add(marked);
        marked.into()
    }

    /// A mark arrived when all bytes below `una` were acknowledged and all below `next` sent.
    /// Returns whether it is the first of its round trip.
    pub const fn is_news(&mut self, una: u64, next: u64) -> bool {
        let news = una > self.until;
        if news {
            self.until = next;
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accurate() -> Marks {
        let mut marks = Marks::new(EcnMode::Scalable);
        marks.agree(Echo::Accurate);
        marks
    }

    fn segment(ce: u32) -> Segment {
        Segment {
            ce,
            ..Segment::default()
        }
    }

    #[test]
    fn a_count_outlives_lost_and_overtaken_acknowledgements() {
        let mut marks = accurate();
        assert_eq!(marks.take(&segment(1448), 2896), 1448);
        // The acknowledgement that counted 2896 was lost; 7240 − 1448 = 5792 are new.
        assert_eq!(marks.take(&segment(7240), 8688), 5792);
        assert_eq!(marks.take(&segment(2896), 1448), 0, "overtaken");
        assert_eq!(marks.take(&segment(7240), 1448), 0);
    }

    #[test]
    fn no_more_is_marked_than_was_delivered_and_nothing_is_forgotten() {
        let mut marks = accurate();
        assert_eq!(marks.take(&segment(5000), 2000), 2000);
        assert_eq!(marks.take(&segment(5000), 0), 0);
        assert_eq!(marks.take(&segment(5000), 9000), 3000);
    }

    #[test]
    fn the_count_wraps() {
        let mut marks = accurate();
        marks.told = u32::MAX - 999;
        assert_eq!(marks.take(&segment(500), 3000), 1500);
    }

    #[test]
    fn what_packets_say_of_themselves() {
        let field = |mode, echo, ecn| {
            let mut marks = Marks::new(mode);
            marks.agree(echo);
            (marks.field(ecn), marks.other_field())
        };
        let (classic, scalable) = (EcnMode::Classic, EcnMode::Scalable);
        for ecn in [false, true] {
            let both = (Ecn::Ect1, Ecn::Ect1);
            assert_eq!(field(scalable, Echo::Accurate, ecn), both);
            let neither = (Ecn::NotCapable, Ecn::NotCapable);
            assert_eq!(field(scalable, Echo::Classic, ecn), neither);
            assert_eq!(field(classic, Echo::None, ecn), neither);
        }
        let data = (Ecn::Ect0, Ecn::NotCapable);
        assert_eq!(field(classic, Echo::Classic, true), data);
        assert_eq!(field(classic, Echo::Accurate, true), data);
        let neither = (Ecn::NotCapable, Ecn::NotCapable);
        assert_eq!(field(classic, Echo::Accurate, false), neither);
    }
}
