// Kernels of rows: a block of threads computes one.

using oxcall::computed_t;
using oxcall::load;
using oxcall::store;

template <typename T> __device__ void log_softmax(const T* x, T* y, unsigned long long n) {
    x += blockIdx.x * n, y += blockIdx.x * n;
    computed_t<T> top = -oxcall::infinity<computed_t<T>>();
    for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x)
        top = oxcall::maximum::combine(top, load(x[i]));
    top = oxcall::reduce<oxcall::maximum>(top);
    computed_t<T> sum = 0;
    for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x)
        sum += oxcall::exp(load(x[i]) - top);
    const computed_t<T> log_sum = oxcall::log(oxcall::reduce<oxcall::sum>(sum));
    for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = store<T>(load(x[i]) - top - log_sum);
}

template <typename T> __device__ void log_softmax_vjp(const T* y, const T* dy, T* dx, unsigned long long n) {
    y += blockIdx.x * n, dy += blockIdx.x * n, dx += blockIdx.x * n;
    computed_t<T> total = 0;
    for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x)
        total += load(dy[i]);
    total = oxcall::reduce<oxcall::sum>(total);
    for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x)
        dx[i] = store<T>(load(dy[i]) - oxcall::exp(load(y[i])) * total);
}

// `log_softmax_f32`, `log_softmax_f64`, ...
#define KERNELS(T, dtype)                                                                                 \
    extern "C" __global__ void log_softmax_##dtype(const T* x, T* y, unsigned long long n) {              \
        log_softmax<T>(x, y, n);                                                                          \
    }                                                                                                     \
    extern "C" __global__ void log_softmax_vjp_##dtype(const T* y, const T* dy, T* dx, unsigned long long n) { \
        log_softmax_vjp<T>(y, dy, dx, n);                                                                 \
    }
OXCALL_FOR_FLOATS(KERNELS)
