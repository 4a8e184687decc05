"""Functions that NumPy lacks, in 80 bits: some 60 of their bits are right, fewer beside zeros between integers."""

import numpy as np

_EULER = np.longdouble("0.577215664901532860606512090082402431")
_PI = np.longdouble("3.14159265358979323846264338327950288")


def erf(x):
    """The error function."""
    square, term = 2 * x * x, np.where(np.abs(x) < 8, x, 0)
    total = term
    for n in range(400):
        term = term * square / (2 * n + 3)
        total = total + term
    return np.where(np.abs(x) < 8, 2 / np.sqrt(_PI) * np.exp(-x * x) * total, np.sign(x))


def erfc(x):
    """The complementary error function."""
    large = np.maximum(x, 0.75)
    tail = large
    for n in range(800, 0, -1):  # a continued fraction
        tail = large + np.longdouble(n) / 2 / tail
    return np.where(x < 0.75, 1 - erf(x), np.exp(-large * large) / np.sqrt(_PI) / tail)


def _zeta():
    """Riemann's function of 2, 3..., less 1: a sum of 50 powers, and Euler's formula for the others."""
    n, k, end = np.arange(2, 80, dtype=np.longdouble), np.arange(2, 50, dtype=np.longdouble), np.longdouble(50)
    total = (k ** -n[:, None]).sum(1) + end ** (1 - n) / (n - 1) + end**-n / 2
    term = n * end ** (-n - 1)
    for order, number in enumerate(_BERNOULLI, 1):
        total += number * term / _factorial(2 * order)
        term = term * (n + 2 * order - 1) * (n + 2 * order) / end**2
    return total


def _factorial(n):
    return np.prod(np.arange(1, n + 1, dtype=np.longdouble))


_BERNOULLI = [
    np.longdouble(a) / b
    for a, b in [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798)]
]
_ZETA = _zeta()


def _shifted(x):
    """A number of [1.5, 2.5) that differs from a positive one by an integer, the product and the sum of the inverses of
    the numbers between."""
    near, product, total = x, np.ones_like(x), np.zeros_like(x)
    for _ in range(40):
        above, below = near >= 2.5, near < 1.5
        near = np.where(above, near - 1, near)
        product = np.where(above, product * near, np.where(below, product / near, product))
        total = np.where(above, total + 1 / near, np.where(below, total - 1 / near, total))
        near = np.where(below, near + 1, near)
    return near, product, total


def lgamma(x):
    """The logarithm of the gamma function's size."""
    positive = np.where(x < 0, 1 - x, x)
    near, product, _ = _shifted(np.minimum(positive, 30))
    z, small = near - 2, (1 - _EULER) * (near - 2)
    for n, zeta in enumerate(_ZETA, 2):
        small = small + (-z) ** n * zeta / n
    large = np.maximum(positive, 30)
    stirling = (large - 0.5) * np.log(large) - large + np.log(2 * _PI) / 2
    for n, number in enumerate(_BERNOULLI, 1):
        stirling = stirling + number / (2 * n * (2 * n - 1)) / large ** (2 * n - 1)
    result = np.where(positive < 30, small + np.log(product), stirling)
    sine = np.sin(_PI * (x - np.round(x)))
    return np.where(x < 0, np.log(_PI / np.abs(sine)) - result, result)


def digamma(x):
    """The logarithmic derivative of the gamma function."""
    positive = np.where(x < 0, 1 - x, x)
    near, _, total = _shifted(np.minimum(positive, 30))
    z, small = near - 2, np.full_like(near, 1 - _EULER)
    for n, zeta in enumerate(_ZETA, 2):
        small = small - (-z) ** (n - 1) * zeta
    large = np.maximum(positive, 30)
    series = np.log(large) - 1 / (2 * large)
    for n, number in enumerate(_BERNOULLI, 1):
        series = series - number / (2 * n) / large ** (2 * n)
    result = np.where(positive < 30, small + total, series)
    return np.where(x < 0, result - _PI / np.tan(_PI * (x - np.round(x))), result)
