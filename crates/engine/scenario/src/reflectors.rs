//! The hosts that answer a controller's pings: the keys of `[link.reflectors]`.

use crate::wire::Share;
use units::Duration;

units::params! {
    /// What answers the pings of a link's `autorate`, and how badly.
    pub struct Reflectors {
        /// Number of reflectors, which are pinged in turn.
        number: u32 = "6", range "1".."32", source "cake-autorate, defaults.sh: no_pingers";
        /// How often each is pinged.
        interval: Duration = "300ms", range "10ms".."500ms", source "cake-autorate, defaults.sh: reflector_ping_interval_s";
        /// Mean extra time until an answer leaves; exponential.
        noise: Duration = "500us", range "0s".."10s", source "ours";
        /// Share of answers that do not come, beside those that the links lose.
        loss: Share = "0", source "ours";
        /// The largest lie: up to so much is added to each answer's round trip, evenly.
        lie: Duration = "0s", range "0s".."60s", source "ours";
        /// From when on none answers; 0 for never.
        vanish: Duration = "0s", range "0s".."168h", source "ours";
        /// Pings wait in no queue of the line: it has another for them.
        blind: bool = "no", source "ours";
    }
}
