//! Results that are not to be believed fail a command with `--strict`.

use command::Refused;
use measure::RunResult;
use report::doubts;

/// Refuses results that are not to be believed, if that is `strict`.
pub fn checked(results: &[RunResult], strict: bool) -> Result<(), Refused> {
    refused(&doubts::told(results), strict)
}

/// Refuses results of which this was told, if that is `strict`.
pub fn refused(told: &str, strict: bool) -> Result<(), Refused> {
    if told.is_empty() || !strict {
        return Ok(());
    }
    let help = "run it where the processor has nothing else to do, or on a slower link";
    Err(Refused::failed(&told.trim_end().replace('\n', "; "), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_to_be_believed_fails_if_that_is_strict() {
        let mut run = RunResult::default();
        assert!(checked(&[run.clone()], true).is_ok());
        run.invalid.push("this host was too slow".to_owned());
        let runs = [run];
        assert!(checked(&runs, false).is_ok());
        let failed = checked(&runs, true).unwrap_err();
        assert!(failed.tried() && failed.to_string().contains("this host was too slow"));
    }
}
