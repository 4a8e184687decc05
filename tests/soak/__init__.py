"""What each kind of call leaves behind: `cargo xtask soak`."""

DEVICES = 2
