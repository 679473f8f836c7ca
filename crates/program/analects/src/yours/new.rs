//! `analects new`: begins a program of somebody's own, from the files in `template/`.

use command::Refused;
use command::files::unwritable;
use command::print;
use std::fs;
use std::path::Path;

/// Each file, and its text. In the tree no file is called `.gitignore`: git would take it for its own.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../../template/Cargo.toml")),
    ("README.md", include_str!("../../template/README.md")),
    (".gitignore", include_str!("../../template/gitignore")),
    (
        "scenario.toml",
        include_str!("../../template/scenario.toml"),
    ),
    ("src/main.rs", include_str!("../../template/src/main.rs")),
    (
        "src/control.rs",
        include_str!("../../template/src/control.rs"),
    ),
    (
        "src/discipline.rs",
        include_str!("../../template/src/discipline.rs"),
    ),
    (
        "src/metric.rs",
        include_str!("../../template/src/metric.rs"),
    ),
    (
        "src/traffic.rs",
        include_str!("../../template/src/traffic.rs"),
    ),
];
/// The program's name in the template.
const NAME: &str = "my-lab";
/// Where the template needs the library.
const LIBRARY: &str = "{ path = \"LIBRARY\" }";
/// The folder that this program was built from.
const SOURCES: &str = env!("CARGO_MANIFEST_DIR");
/// The longest name.
const LONGEST: usize = 40;

/// Makes the folder.
pub fn run(folder: &Path) -> Result<(), Refused> {
    let name = name_of(folder)?;
    if folder.exists() {
        let message = format!("{} exists", folder.display());
        return Err(Refused::new(&message, "name a folder that does not"));
    }
    let library = library();
    let place = |name: &str| folder.join(name);
    fs::create_dir_all(place("src")).map_err(|error| unwritable(folder, &error))?;
    for (file, text) in FILES {
        let text = text.replace(LIBRARY, &library).replace(NAME, name);
        fs::write(place(file), text).map_err(|error| unwritable(&place(file), &error))?;
    }
    // The versions that the library was tested with, where they are known.
    let lock = Path::new(SOURCES).join("../../../Cargo.lock");
    if lock.exists() {
        let to = place("Cargo.lock");
        fs::copy(lock, &to).map_err(|error| unwritable(&to, &error))?;
    }
    print(&format!(
        "{} is begun. Its README.md says what is in it; try it:\n\
         cd {0} && cargo run -- run scenario.toml --columns stall,spoilt,bulk_rate --repeat 5\n",
        folder.display()
    ))
}

/// The folder's last part, if a package can be called so.
fn name_of(folder: &Path) -> Result<&str, Refused> {
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_name = name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
    // A package cannot depend on another one of its name.
    if is_name && name != env!("CARGO_PKG_NAME") {
        return Ok(name);
    }
    let message = format!(
        "new: {:?} cannot be a program's name",
        folder.display().to_string()
    );
    let help = format!(
        "write a letter and then letters, digits, - and _, all small, at most {LONGEST}, as in {NAME}"
    );
    Err(Refused::new(&message, &help))
}

/// The library for the manifest: this program's own sources, or the repository's if they are not here.
fn library() -> String {
    if Path::new(SOURCES).join("Cargo.toml").exists() {
        format!("{{ path = {SOURCES:?}, default-features = false }}")
    } else {
        format!(
            "{{ git = {:?}, default-features = false }}",
            env!("CARGO_PKG_REPOSITORY")
        )
    }
}
