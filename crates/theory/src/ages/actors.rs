//! Processor sharing between actors.

/// Mean time of a transfer where `actors` share a link by processor sharing: each thinks for `think`
/// seconds on average, then has a transfer that takes `alone` seconds alone on average. Of the
/// distributions only the means matter (machine repairman; processor sharing is insensitive: Baskett,
/// Chandy, Muntz, Palacios, 1975). Zero for no actor.
pub fn closed_loop(actors: u32, think: f64, alone: f64) -> f64 {
    // Mean value analysis: an arriving actor sees the queue of one actor fewer (Reiser, Lavenberg,
    // 1980).
    let (mut waiting, mut time) = (0.0, 0.0);
    for present in 1..=actors {
        time = alone * (1.0 + waiting);
        waiting = f64::from(present) * time / (think + time);
    }
    time
}
