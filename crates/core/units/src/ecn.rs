//! The ECN field of an IP header.

/// The ECN field (RFC 3168, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ecn {
    /// The sender does not understand ECN.
    #[default]
    NotCapable,
    /// ECT(0).
    Ect0,
    /// ECT(1): the L4S identifier (RFC 9331).
    Ect1,
    /// Congestion Experienced.
    Ce,
}

impl Ecn {
    /// The field in the two lowest bits of a TOS byte.
    pub const fn of_tos(tos: u8) -> Ecn {
        match tos & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The two bits.
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotCapable => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_is_read_as_it_is_written() {
        for ecn in [Ecn::NotCapable, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(Ecn::of_tos(0xb8 | ecn.bits()), ecn);
        }
        assert_eq!((Ecn::Ect0.bits(), Ecn::Ect1.bits()), (2, 1));
    }
}
