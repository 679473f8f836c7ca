//! Traces in which packets take more memory than their length.

/// Whether a packet's memory is not its length, in an operation of so many words: the discipline in
/// Rust knows only one of them.
pub fn tells_memory(operations: &str, words: usize) -> bool {
    operations
        .lines()
        .any(|line| line.starts_with("e ") && line.split_whitespace().count() == words)
}
