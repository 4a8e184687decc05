//! `cargo xtask release VERSION --rehearse`: a release of the current commit in a clone of the repository, with a
//! folder in the place of crates.io, and a project that uses what it made. Nothing of the repository changes.

use std::path::PathBuf;
use std::process::Command;

use super::version::Version;
use super::{check, packages, registry, steps};
use crate::shell::{self, Context, Result};
use crate::{progress, python, smoke, workspace};

/// The folders of a rehearsal.
struct Rehearsal {
    version: Version,
    /// Everything but `target`; empty at the start.
    folder: PathBuf,
    /// The target directory of the clone. In a shared one, cargo takes the crates of two checkouts for the same.
    target: PathBuf,
}

pub(super) fn rehearse(version: Version) -> Result<()> {
    let (folder, target) = (workspace::scratch("release/rehearsal")?, workspace::scratch("release/target")?);
    std::fs::remove_dir_all(&folder).and_then(|()| std::fs::create_dir(&folder)).context(folder.display())?;
    let rehearsal = Rehearsal { version, folder, target };
    rehearsal.clone_repository()?;
    // Twice: the second finds everything done.
    for _ in 0..2 {
        rehearsal.release()?;
    }
    let wheels = rehearsal.wheels()?;
    rehearsal.use_crates(&wheels)?;
    smoke::use_wheels(&python::default_venv()?, &wheels)?;
    rehearsal.show()
}

impl Rehearsal {
    fn clone_repository(&self) -> Result<()> {
        shell::run(shell::command("git").args(["clone", "--quiet"]).arg(workspace::root()).arg(self.source()))?;
        // The clone has the same virtual environments, so that it needs no network for them.
        python::release_venv()?;
        let (own, shared) = (self.target.join("xtask/venv"), workspace::scratch("venv")?);
        if own.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(self.target.join("xtask")).context(own.display())?;
        std::os::unix::fs::symlink(shared, &own).context(own.display())
    }

    fn source(&self) -> PathBuf {
        self.folder.join("source")
    }

    /// The folder in the place of crates.io.
    fn crates(&self) -> PathBuf {
        self.folder.join("crates")
    }

    /// The command of a release, run by the clone's own task runner.
    fn release(&self) -> Result<()> {
        let mut command = shell::cargo();
        command.args(["xtask", "release", &self.version.to_string()]).current_dir(self.source());
        command.env("CARGO_TARGET_DIR", &self.target).env(registry::FOLDER, self.crates());
        for (role, name) in [("AUTHOR", "author"), ("COMMITTER", "committer")] {
            command
                .env(format!("GIT_{role}_NAME"), name)
                .env(format!("GIT_{role}_EMAIL"), format!("{name}@example.org"));
        }
        shell::run(offline(&mut command))
    }

    fn wheels(&self) -> Result<Vec<PathBuf>> {
        let folder = steps::folder(&self.target, self.version);
        let entries = std::fs::read_dir(&folder).context(folder.display())?.flatten().map(|entry| entry.path());
        Ok(entries.filter(|path| path.extension().is_some_and(|kind| kind == "whl")).collect())
    }

    /// Makes a project with the command of the new wheel, and tests it with the new crates.
    fn use_crates(&self, wheels: &[PathBuf]) -> Result<()> {
        let venv = python::release_venv()?;
        let installed = self.folder.join("installed");
        let mut install = venv.python();
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]).arg(&installed);
        shell::run(install.args(wheels))?;
        let mut new = venv.python();
        new.args(["-m", "oxcall", "new", "my_ops"]).env("PYTHONPATH", &installed);
        shell::run(new.current_dir(&self.folder))?;
        let project = self.folder.join("my_ops");
        // A workspace of its own: the folder lies in that of this repository.
        let manifest = workspace::read(&project.join("Cargo.toml"))?;
        workspace::write(&project.join("Cargo.toml"), &format!("{manifest}\n[workspace]\n"))?;
        let packages: Vec<_> = packages::published()?.into_iter().map(|package| package.at(self.version)).collect();
        workspace::write(&project.join(".cargo/config.toml"), &check::patches(&packages, &self.crates()))?;
        let mut test = shell::cargo();
        test.arg("test").current_dir(&project).env("CARGO_TARGET_DIR", self.folder.join("target"));
        progress::command("testing a new project with the new crates", offline(&mut test))
    }

    /// What a release would do that a rehearsal does not.
    fn show(&self) -> Result<()> {
        println!("\nthe rehearsal of {} is done; the crates are in {}", self.version, self.crates().display());
        println!("a release makes this commit and this tag here, and publishes to crates.io, in this order:");
        for package in packages::published()? {
            println!("  cargo publish --no-verify --package {}", package.name);
        }
        println!("release.yml uploads to PyPI what {} has", steps::folder(&self.target, self.version).display());
        Ok(())
    }
}

fn offline(command: &mut Command) -> &mut Command {
    command.env("CARGO_NET_OFFLINE", "true")
}
