// Kernels of rows: a block computes one.

using oxcall::computed_t;
using oxcall::is_aligned;
using oxcall::load;
using oxcall::Pack;
using oxcall::read;
using oxcall::store;
using oxcall::write;

template <typename W> __device__ W inverse_rms(W sum_of_squares, unsigned long long n, double eps) {
    return W(1) / oxcall::sqrt(sum_of_squares / W(n) + W(eps));
}

template <typename T, int V>
__device__ void rms_norm_row(const T* x, T* y, unsigned long long n, double eps) {
    using W = computed_t<T>;
    const unsigned long long first = threadIdx.x * V, step = blockDim.x * V;
    W squares = 0;
    for (unsigned long long i = first; i < n; i += step) {
        const auto pack = read<V>(x + i);
        for (int k = 0; k < V; ++k) squares += load(pack.elements[k]) * load(pack.elements[k]);
    }
    const W scale = inverse_rms(oxcall::reduce<oxcall::sum>(squares), n, eps);
    for (unsigned long long i = first; i < n; i += step) {
        auto pack = read<V>(x + i);
        for (int k = 0; k < V; ++k) pack.elements[k] = store<T>(load(pack.elements[k]) * scale);
        write(y + i, pack);
    }
}

template <typename T> __device__ void rms_norm(const T* x, T* y, unsigned long long n, double eps) {
    x += blockIdx.x * n, y += blockIdx.x * n;
    if (is_aligned<T>(x, n) && is_aligned<T>(y, n)) {
        rms_norm_row<T, 16 / sizeof(T)>(x, y, n, eps);
    } else {
        rms_norm_row<T, 1>(x, y, n, eps);
    }
}

template <typename T, int V>
__device__ void rms_norm_vjp_row(const T* x, const T* dy, T* dx, unsigned long long n, double eps) {
    using W = computed_t<T>;
    const unsigned long long first = threadIdx.x * V, step = blockDim.x * V;
    W squares = 0, products = 0;
    for (unsigned long long i = first; i < n; i += step) {
        const auto xs = read<V>(x + i), dys = read<V>(dy + i);
        for (int k = 0; k < V; ++k) {
            squares += load(xs.elements[k]) * load(xs.elements[k]);
            products += load(dys.elements[k]) * load(xs.elements[k]);
        }
    }
    const W scale = inverse_rms(oxcall::reduce<oxcall::sum>(squares), n, eps);
    const W shift = scale * scale * scale * oxcall::reduce<oxcall::sum>(products) / W(n);
    for (unsigned long long i = first; i < n; i += step) {
        const auto xs = read<V>(x + i), dys = read<V>(dy + i);
        Pack<T, V> pack;
        for (int k = 0; k < V; ++k)
            pack.elements[k] = store<T>(scale * load(dys.elements[k]) - shift * load(xs.elements[k]));
        write(dx + i, pack);
    }
}

template <typename T>
__device__ void rms_norm_vjp(const T* x, const T* dy, T* dx, unsigned long long n, double eps) {
    x += blockIdx.x * n, dy += blockIdx.x * n, dx += blockIdx.x * n;
    if (is_aligned<T>(x, n) && is_aligned<T>(dy, n) && is_aligned<T>(dx, n)) {
        rms_norm_vjp_row<T, 16 / sizeof(T)>(x, dy, dx, n, eps);
    } else {
        rms_norm_vjp_row<T, 1>(x, dy, dx, n, eps);
    }
}

template <typename T, int V> __device__ void softmax_row(const T* x, T* y, unsigned long long n) {
    using W = computed_t<T>;
    const unsigned long long first = threadIdx.x * V, step = blockDim.x * V;
    W top = -oxcall::infinity<W>();
    for (unsigned long long i = first; i < n; i += step) {
        const auto pack = read<V>(x + i);
        for (int k = 0; k < V; ++k) top = oxcall::maximum::combine(top, load(pack.elements[k]));
    }
    top = oxcall::reduce<oxcall::maximum>(top);
    W total = 0;
    for (unsigned long long i = first; i < n; i += step) {
        const auto pack = read<V>(x + i);
        for (int k = 0; k < V; ++k) total += oxcall::exp(load(pack.elements[k]) - top);
    }
    const W scale = W(1) / oxcall::reduce<oxcall::sum>(total);
    for (unsigned long long i = first; i < n; i += step) {
        auto pack = read<V>(x + i);
        for (int k = 0; k < V; ++k)
            pack.elements[k] = store<T>(oxcall::exp(load(pack.elements[k]) - top) * scale);
        write(y + i, pack);
    }
}

template <typename T> __device__ void softmax(const T* x, T* y, unsigned long long n) {
    x += blockIdx.x * n, y += blockIdx.x * n;
    if (is_aligned<T>(x, n) && is_aligned<T>(y, n)) {
        softmax_row<T, 16 / sizeof(T)>(x, y, n);
    } else {
        softmax_row<T, 1>(x, y, n);
    }
}

// Blocks of 1024 threads need kernels of at most 64 registers for each.
#define KERNEL extern "C" __global__ void __launch_bounds__(1024)
#define KERNELS(T, dtype)                                                                                        \
    KERNEL rms_norm_##dtype(const T* x, T* y, unsigned long long n, double eps) { rms_norm<T>(x, y, n, eps); }   \
    KERNEL rms_norm_vjp_##dtype(const T* x, const T* dy, T* dx, unsigned long long n, double eps) {              \
        rms_norm_vjp<T>(x, dy, dx, n, eps);                                                                      \
    }                                                                                                            \
    KERNEL softmax_##dtype(const T* x, T* y, unsigned long long n) { softmax<T>(x, y, n); }
OXCALL_FOR_FLOATS(KERNELS)
