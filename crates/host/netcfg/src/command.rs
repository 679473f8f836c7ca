//! Commands.

use core::fmt;

/// A program that changes the network, or looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Queue disciplines, classes and filters.
    Tc,
    /// Devices.
    Ip,
    /// Tables of packet rules.
    Nft,
    /// Packet rules of IPv4, as they were before nftables.
    Iptables,
    /// The same of IPv6.
    Ip6tables,
    /// Settings of the kernel.
    Sysctl,
    /// Modules of the kernel.
    Modprobe,
}

impl Program {
    /// The file's name.
    pub fn name(self) -> &'static str {
        match self {
            Program::Tc => "tc",
            Program::Ip => "ip",
            Program::Nft => "nft",
            Program::Iptables => "iptables",
            Program::Ip6tables => "ip6tables",
            Program::Sysctl => "sysctl",
            Program::Modprobe => "modprobe",
        }
    }
}

/// A program with its arguments; no shell reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program to run.
    pub program: Program,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Command {
    /// `tc` with these words, separated by spaces. Values that are put into them are typed ones,
    /// whose text has no space.
    pub fn tc(words: &str) -> Self {
        Command::new(Program::Tc, words)
    }

    /// `ip` with these words, separated by spaces.
    pub fn ip(words: &str) -> Self {
        Command::new(Program::Ip, words)
    }

    /// `nft` with a script, whose lines are one transaction.
    pub fn nft(script: impl Into<String>) -> Self {
        Command {
            program: Program::Nft,
            args: vec![script.into()],
        }
    }

    /// `sysctl` with these words, separated by spaces.
    pub fn sysctl(words: &str) -> Self {
        Command::new(Program::Sysctl, words)
    }

    /// `iptables` with these words, separated by spaces.
    pub fn iptables(words: &str) -> Self {
        Command::new(Program::Iptables, words)
    }

    /// `modprobe` with the name of a module.
    pub fn modprobe(module: &str) -> Self {
        Command::new(Program::Modprobe, module)
    }

    /// A program with these words, separated by spaces.
    pub(crate) fn new(program: Program, words: &str) -> Self {
        let args = words.split_ascii_whitespace().map(str::to_owned).collect();
        Command { program, args }
    }
}

/// As it would be typed. No argument has a quotation mark of the shell's in it.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program.name())?;
        for arg in &self.args {
            match arg {
                script if script.contains('\n') => write!(f, " '\n{script}'")?,
                words if words.contains(' ') => write!(f, " '{words}'")?,
                word => write!(f, " {word}")?,
            }
        }
        Ok(())
    }
}

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Whether it succeeded.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}
