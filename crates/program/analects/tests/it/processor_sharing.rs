//! The simulator's fair queue compared with the formula for processor sharing between actors.

use measure::RunResult;
use scenario::{Choice, Document, Names};
use sim::Simulator;

fn run(actors: &str) -> RunResult {
    let text = format!(
        r#"
        duration = "60s"
        warmup = "5s"
        disciplines = ["fq_fifo"]
        link = {{ rate = "100mbit", rtt = "0.2ms" }}
        traffic = [{{ name = "actors", kind = "actors", control = "cubic", {actors} }}]
        "#
    );
    let simulator = Simulator::default();
    let names: &dyn Names = &simulator;
    let scenario = Document::parse("actors", &text)
        .and_then(|text| text.resolve(names))
        .unwrap();
    measure::run(&simulator, &scenario, &Choice::plain("fq_fifo"), 1, false).unwrap()
}

/// Of the distribution of sizes only the mean matters: one size, and exponential ones.
#[test]
fn actors_under_a_fair_queue_take_what_the_formula_has() {
    for sizes in ["150kB", "exponential:150kB"] {
        let result = run(&format!(r#"count = 20, think = "150ms", size = "{sizes}""#));
        let figure = result
            .figures
            .iter()
            .find(|figure| figure.figure == "actors_fct");
        let simulated = figure.unwrap().value.unwrap();
        // 1448 of 1500 bytes are TCP's.
        let alone = 150e3 * 8.0 / (100e6 * 1448.0 / 1500.0);
        let formula = 1e3 * theory::ages::closed_loop(20, 0.15, alone, |_| 1.0);
        let off = simulated / formula - 1.0;
        assert!(
            off.abs() < 0.05,
            "{sizes}: {simulated} ms, {formula} by the formula"
        );
    }
}
