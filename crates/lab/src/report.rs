//! x
use scenario::Scenario;
/// x
pub fn html(_s: &Scenario, _d: &crate::export::Document<'_>) -> String {
    String::new()
}
