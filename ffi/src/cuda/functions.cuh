// The functions of pointwise kernels, for `float` and `double`.

namespace oxcall {

#ifdef OXCALL_SHIM
template <typename W> W infinity() { return W(INFINITY); }
template <typename W> W not_a_number() { return W(NAN); }
#else
template <typename W> __device__ __forceinline__ W infinity() { return W(__int_as_float(0x7f800000)); }
template <typename W> __device__ __forceinline__ W not_a_number() { return W(__int_as_float(0x7fc00000)); }
#endif

#define OXCALL_UNARY(name, f, d)                                       \
    __device__ __forceinline__ float name(float x) { return ::f(x); }  \
    __device__ __forceinline__ double name(double x) { return ::d(x); }
#define OXCALL_BINARY(name, f, d)                                                        \
    __device__ __forceinline__ float name(float x, float y) { return ::f(x, y); }        \
    __device__ __forceinline__ double name(double x, double y) { return ::d(x, y); }
OXCALL_UNARY(abs, fabsf, fabs)
OXCALL_UNARY(floor, floorf, floor)
OXCALL_UNARY(ceil, ceilf, ceil)
OXCALL_UNARY(round, rintf, rint)
OXCALL_UNARY(sqrt, sqrtf, sqrt)
OXCALL_UNARY(exp, expf, exp)
OXCALL_UNARY(expm1, expm1f, expm1)
OXCALL_UNARY(log, logf, log)
OXCALL_UNARY(log1p, log1pf, log1p)
OXCALL_UNARY(tanh, tanhf, tanh)
OXCALL_UNARY(erf, erff, erf)
OXCALL_UNARY(erfc, erfcf, erfc)
OXCALL_UNARY(sin, sinf, sin)
OXCALL_UNARY(cos, cosf, cos)
OXCALL_UNARY(tan, tanf, tan)
OXCALL_UNARY(lgamma, lgammaf, lgamma)
OXCALL_BINARY(atan2, atan2f, atan2)
OXCALL_BINARY(pow, powf, pow)
#undef OXCALL_UNARY
#undef OXCALL_BINARY

struct minimum {
    template <typename W> static __device__ __forceinline__ W combine(W a, W b) { return a != a || a < b ? a : b; }
};
/// x / y, rounded to the nearest; in the computation of halves, to two units in the last place of a float.
template <typename T> __device__ __forceinline__ float divide(float x, float y) { return quotient(x, y); }
template <> __device__ __forceinline__ float divide<float>(float x, float y) { return x / y; }
template <typename T> __device__ __forceinline__ double divide(double x, double y) { return x / y; }
template <typename W> __device__ __forceinline__ W sign(W x) { return x > W(0) ? W(1) : x < W(0) ? W(-1) : x; }
__device__ __forceinline__ float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
__device__ __forceinline__ double fma(double a, double b, double c) { return ::fma(a, b, c); }
/// ln(e^x + e^y); of two equal infinities that infinity.
template <typename W> __device__ __forceinline__ W log_add_exp(W x, W y) {
    const W top = maximum::combine(x, y);
    return x == y ? top + W(0.69314718055994530942) : top + log1p(exp(-abs(x - y)));
}
__device__ __forceinline__ float logistic(float x) { return quotient(1.0f, 1.0f + exp(-x)); }
__device__ __forceinline__ double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

/// The derivative of lgamma, for positive numbers: its asymptotic series at 10 or more. M. Abramowitz and I. Stegun,
/// "Handbook of Mathematical Functions" (1964), 6.3.18.
inline __device__ double digamma_of_positive(double x) {
    // The positive root as a sum of two doubles, and Taylor's series at it: the sum of the terms below would lose its
    // digits there.
    const double t = (x - 1.4616321449683623) - 9.549995429965697e-17;
    if (t > -0.2 && t < 0.2) {
        const double series[] = {0.9676722454476212,     -0.4427631689835921,    0.258499760955651,
                                 -0.16394270544240652,   0.10782405069126237,    -0.07219956125645471,
                                 0.04880428816414311,    -0.03316112647484736,   0.022597648232218104,
                                 -0.01542476590494896,   0.010538791616612175,   -0.007204534386356869,
                                 0.004926781395729853,   -0.003369801655439328,  0.002305126326734928,
                                 -0.0015769367714301972, 0.0010788252019162967,  -0.0007380709389960052,
                                 0.000504953265834602,   -0.0003454680251063077, 0.00023635601564027053};
        double sum = 0;
        for (int k = 20; k >= 0; --k) sum = (sum + series[k]) * t;
        return sum;
    }
    double shifted = 0;
    for (; x < 10; x += 1) shifted += 1 / x;
    const double square = 1 / (x * x);
    const double series[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
    double sum = 0;
    for (int k = 6; k >= 0; --k) sum = (sum + series[k]) * square;
    return ::log(x) - 0.5 / x - sum - shifted;
}
/// The derivative of lgamma; NaN at its poles.
inline __device__ double digamma(double x) {
    const double pi = 3.14159265358979323846;
    if (x > 0) return digamma_of_positive(x);
    if (x == ::floor(x)) return not_a_number<double>();
    // 6.3.7; the argument of the tangent is the distance to the nearest integer, which is exact.
    return digamma_of_positive(1 - x) - pi / ::tan(pi * (x - ::rint(x)));
}
inline __device__ float digamma(float x) { return float(digamma(double(x))); }

/// The derivative of digamma of a positive order n: (-1)^(n+1) n! zeta(n + 1, x) (6.4.10), the sum of Hurwitz's zeta
/// function by Euler and Maclaurin's formula, as the CPU computes it.
inline __device__ double polygamma(int n, double x) {
    if (!(x == x)) return x;
    if (x <= 0 && x == ::floor(x)) return n % 2 ? infinity<double>() : not_a_number<double>();
    const double coefficients[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0,
                                   -3617.0 / 10670622842880000.0};
    const double s = n + 1;
    double sum = 0, factorial = 1;
    for (int k = 2; k <= n; ++k) factorial *= k;
    for (; x < 10 + n; x += 1) sum += ::pow(x, -s);
    const double power = ::pow(x, -s);
    sum += x * power / (s - 1) + power / 2;
    double factor = s * power / x;
    for (int k = 0; k < 8; ++k) {
        sum += coefficients[k] * factor;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (x * x);
    }
    return (n % 2 ? 1 : -1) * factorial * sum;
}

}  // namespace oxcall
