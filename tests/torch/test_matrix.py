"""The checks that `cargo xtask matrix` makes with every torch, with the newest."""


def test_checks_of_the_matrix(matrix_checks):
    assert not matrix_checks("torch_ops.py")
