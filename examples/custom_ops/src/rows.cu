// Kernels of rows: each element is read once, where a row has up to six packs for each thread.

using oxcall::computed_t;
using oxcall::is_aligned;
using oxcall::load;
using oxcall::Pack;
using oxcall::read;
using oxcall::store;
using oxcall::write;

/// The packs of a row that each thread keeps in registers, if these are all.
constexpr int KEPT = 6;

__device__ __forceinline__ bool fits(unsigned long long n, int V) { return n <= KEPT * blockDim.x * V; }

/// Calls `f(i, j)` with the index of the first element of each of the thread's packs, and the number of the pack.
template <int V, typename F> __device__ __forceinline__ void each(unsigned long long n, F f) {
    const unsigned long long first = threadIdx.x * V, step = blockDim.x * V;
    if (!fits(n, V)) {
        for (unsigned long long i = first; i < n; i += step) f(i, 0);
        return;
    }
#pragma unroll
    for (int j = 0; j < KEPT; ++j) {
        const unsigned long long i = first + j * step;
        if (i < n) f(i, j);
    }
}

/// The thread's elements of a row.
template <typename T, int V> struct Row {
    const T* x;
    const bool is_kept;
    Pack<T, V> packs[KEPT];

    __device__ __forceinline__ Row(const T* x, unsigned long long n) : x(x), is_kept(fits(n, V)) {
        if (is_kept) each<V>(n, [&](unsigned long long i, int j) { packs[j] = read<V>(x + i); });
    }

    __device__ __forceinline__ Pack<T, V> at(unsigned long long i, int j) const {
        return is_kept ? packs[j] : read<V>(x + i);
    }
};

template <typename W> __device__ W inverse_rms(W sum_of_squares, unsigned long long n, double eps) {
    return W(1) / oxcall::sqrt(sum_of_squares / W(n) + W(eps));
}

template <typename T, int V>
__device__ void rms_norm_row(const T* x, T* y, unsigned long long n, double eps) {
    using W = computed_t<T>;
    const Row<T, V> row(x, n);
    W squares = 0;
    each<V>(n, [&](unsigned long long i, int j) {
        const auto pack = row.at(i, j);
        for (int k = 0; k < V; ++k) squares += load(pack.elements[k]) * load(pack.elements[k]);
    });
    const W scale = inverse_rms(oxcall::reduce<oxcall::sum>(squares), n, eps);
    each<V>(n, [&](unsigned long long i, int j) {
        auto pack = row.at(i, j);
        for (int k = 0; k < V; ++k) pack.elements[k] = store<T>(load(pack.elements[k]) * scale);
        write(y + i, pack);
    });
}

template <typename T>
__device__ void rms_norm(const T* x, T* y, unsigned long long rows, unsigned long long n, double eps) {
    const unsigned long long skipped = oxcall::row(rows) * n;
    x += skipped, y += skipped;
    if (is_aligned<T>(x, n) && is_aligned<T>(y, n)) {
        rms_norm_row<T, 16 / sizeof(T)>(x, y, n, eps);
    } else {
        rms_norm_row<T, 1>(x, y, n, eps);
    }
}

template <typename T, int V>
__device__ void rms_norm_vjp_row(const T* x, const T* dy, T* dx, unsigned long long n, double eps) {
    using W = computed_t<T>;
    const Row<T, V> row(x, n), cotangents(dy, n);
    W squares = 0, products = 0;
    each<V>(n, [&](unsigned long long i, int j) {
        const auto xs = row.at(i, j), dys = cotangents.at(i, j);
        for (int k = 0; k < V; ++k) {
            squares += load(xs.elements[k]) * load(xs.elements[k]);
            products += load(dys.elements[k]) * load(xs.elements[k]);
        }
    });
    const W scale = inverse_rms(oxcall::reduce<oxcall::sum>(squares), n, eps);
    const W shift = scale * scale * scale * oxcall::reduce<oxcall::sum>(products) / W(n);
    each<V>(n, [&](unsigned long long i, int j) {
        const auto xs = row.at(i, j), dys = cotangents.at(i, j);
        Pack<T, V> pack;
        for (int k = 0; k < V; ++k)
            pack.elements[k] = store<T>(scale * load(dys.elements[k]) - shift * load(xs.elements[k]));
        write(dx + i, pack);
    });
}

template <typename T>
__device__ void rms_norm_vjp(
    const T* x, const T* dy, T* dx, unsigned long long rows, unsigned long long n, double eps) {
    const unsigned long long skipped = oxcall::row(rows) * n;
    x += skipped, dy += skipped, dx += skipped;
    if (is_aligned<T>(x, n) && is_aligned<T>(dy, n) && is_aligned<T>(dx, n)) {
        rms_norm_vjp_row<T, 16 / sizeof(T)>(x, dy, dx, n, eps);
    } else {
        rms_norm_vjp_row<T, 1>(x, dy, dx, n, eps);
    }
}

template <typename T, int V> __device__ void softmax_row(const T* x, T* y, unsigned long long n) {
    using W = computed_t<T>;
    const Row<T, V> row(x, n);
    W top = -oxcall::infinity<W>();
    each<V>(n, [&](unsigned long long i, int j) {
        const auto pack = row.at(i, j);
        for (int k = 0; k < V; ++k) top = oxcall::maximum::combine(top, load(pack.elements[k]));
    });
    top = oxcall::reduce<oxcall::maximum>(top);
    W total = 0;
    each<V>(n, [&](unsigned long long i, int j) {
        const auto pack = row.at(i, j);
        for (int k = 0; k < V; ++k) total += oxcall::exp(load(pack.elements[k]) - top);
    });
    const W scale = W(1) / oxcall::reduce<oxcall::sum>(total);
    each<V>(n, [&](unsigned long long i, int j) {
        auto pack = row.at(i, j);
        for (int k = 0; k < V; ++k) pack.elements[k] = store<T>(oxcall::exp(load(pack.elements[k]) - top) * scale);
        write(y + i, pack);
    });
}

template <typename T> __device__ void softmax(const T* x, T* y, unsigned long long rows, unsigned long long n) {
    const unsigned long long skipped = oxcall::row(rows) * n;
    x += skipped, y += skipped;
    if (is_aligned<T>(x, n) && is_aligned<T>(y, n)) {
        softmax_row<T, 16 / sizeof(T)>(x, y, n);
    } else {
        softmax_row<T, 1>(x, y, n);
    }
}

// Up to 128 registers for each thread.
#define KERNEL extern "C" __global__ void __launch_bounds__(512)
#define KERNELS(T, dtype)                                                                                         \
    KERNEL rms_norm_##dtype(const T* x, T* y, unsigned long long rows, unsigned long long n, double eps) {        \
        rms_norm<T>(x, y, rows, n, eps);                                                                          \
    }                                                                                                             \
    KERNEL rms_norm_vjp_##dtype(                                                                                  \
        const T* x, const T* dy, T* dx, unsigned long long rows, unsigned long long n, double eps) {              \
        rms_norm_vjp<T>(x, dy, dx, rows, n, eps);                                                                 \
    }                                                                                                             \
    KERNEL softmax_##dtype(const T* x, T* y, unsigned long long rows, unsigned long long n) {                     \
        softmax<T>(x, y, rows, n);                                                                                \
    }
OXCALL_FOR_FLOATS(KERNELS)
