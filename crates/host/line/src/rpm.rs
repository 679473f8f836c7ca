//! Round trips a minute: draft-ietf-ippm-responsiveness, "Aggregating the Measurements".

use serde::Serialize;

/// The part of the samples that counts, from the least (TMP).
const KEPT: f64 = 0.95;
/// Milliseconds of a minute.
const MINUTE: f64 = 60_000.0;

/// Times of requests while the line was full, in ms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    /// Of TCP's handshake, on connections beside the load (`tcp_f`).
    pub tcp: Vec<f64>,
    /// Of TLS' handshake, a round trip of it (`tls_f`).
    pub tls: Vec<f64>,
    /// Of a request on such a connection (`http_f`).
    pub http: Vec<f64>,
    /// Of a request on a connection that carries load (`http_l`).
    pub loaded: Vec<f64>,
}

/// What is left of each kind of time, in ms, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Responsiveness {
    /// Round trips a minute beside the load.
    pub foreign: f64,
    /// Round trips a minute on connections that carry load.
    pub loaded: f64,
    /// Their mean, which is the draft's responsiveness.
    pub rpm: f64,
}

/// The mean without the longest twentieth; none without a value.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate(((values.len() as f64 * KEPT).ceil()) as usize);
    let count = sorted.len();
    (count > 0).then(|| sorted.iter().sum::<f64>() / count as f64)
}

impl Times {
    /// The responsiveness; none while a kind of time lacks.
    pub fn responsiveness(&self) -> Option<Responsiveness> {
        let [tcp, tls, http, loaded] =
            [&self.tcp, &self.tls, &self.http, &self.loaded].map(|times| trimmed_mean(times));
        let foreign = MINUTE / ((tcp? + tls? + http?) / 3.0);
        let loaded = MINUTE / loaded?;
        Some(Responsiveness {
            foreign,
            loaded,
            rpm: (foreign + loaded) / 2.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_twentieth_is_left_out() {
        let mut values = vec![10.0; 19];
        values.push(1000.0);
        assert_eq!(trimmed_mean(&values), Some(10.0));
        assert_eq!(trimmed_mean(&[30.0]), Some(30.0));
        assert_eq!(trimmed_mean(&[]), None);
    }

    #[test]
    fn as_the_draft_reckons() {
        let mut times = Times {
            tcp: vec![20.0],
            tls: vec![30.0],
            http: vec![10.0],
            loaded: Vec::new(),
        };
        assert_eq!(times.responsiveness(), None);
        times.loaded = vec![60.0];
        let found = times.responsiveness().unwrap();
        assert_eq!(
            (found.foreign, found.loaded, found.rpm),
            (3000.0, 1000.0, 2000.0)
        );
    }
}
