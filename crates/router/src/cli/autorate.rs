//! The arguments of `analects autorate`.

use clap::Args;

/// Which line is followed, and for whom.
#[derive(Debug, Args)]
pub struct AutorateArgs {
    /// The device towards the line, such as wan.
    #[arg(long, value_name = "DEVICE")]
    pub dev: String,
    /// Only look at passing packets, and say what would be set. Nothing is changed.
    #[arg(long, required = true)]
    pub observe: bool,
    /// What to spare where both cannot be: calls, both or downloads.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    pub favour: String,
    /// Print a JSON object for each line.
    #[arg(long)]
    pub json: bool,
}
