"""What a call of an operator costs from Python: ours beside the same ones in C++ (`cargo xtask bench torch`)."""
