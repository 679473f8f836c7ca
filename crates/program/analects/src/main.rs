//! The program `analects`; its commands are the library's.

use std::process::ExitCode;

fn main() -> ExitCode {
    analects::main()
}
