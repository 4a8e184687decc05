"""The lines that a user writes for a norm with a weight, in several systems (`cargo xtask bench lines`)."""
