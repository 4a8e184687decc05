"""The checks that `cargo xtask matrix` makes of the plugin with every jaxlib, with the newest."""


def test_checks_of_the_matrix(matrix_checks):
    assert not matrix_checks("plugin.py")
