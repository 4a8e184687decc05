// What oxcall puts before the CUDA C of a module. It includes nothing: NVRTC alone compiles it.

/// Halves in memory; numbers are computed as `float`.
struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};

/// `M(T, dtype)` for each float dtype.
#define OXCALL_FOR_FLOATS(M) M(f16, f16) M(bf16, bf16) M(float, f32) M(double, f64)

namespace oxcall {

/// The number that an element is computed as.
template <typename T> struct computed { using type = float; };
template <> struct computed<double> { using type = double; };
template <typename T> using computed_t = typename computed<T>::type;

/// The number in which a few elements are summed, without an error that shows in the element's format.
template <typename T> struct summed { using type = float; };
template <> struct summed<float> { using type = double; };
template <> struct summed<double> { using type = double; };
template <typename T> using summed_t = typename summed<T>::type;

#ifdef OXCALL_SHIM
float f16_to_float(unsigned short bits);
unsigned short float_to_f16(float x);
float quotient(float x, float y);
unsigned int float_bits(float x);
float bits_float(unsigned int bits);
#else
__device__ __forceinline__ float f16_to_float(unsigned short bits) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
__device__ __forceinline__ unsigned short float_to_f16(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}
/// x / y, to two units in the last place.
__device__ __forceinline__ float quotient(float x, float y) {
    float z;
    asm("div.full.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}
__device__ __forceinline__ unsigned int float_bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ float bits_float(unsigned int bits) { return __uint_as_float(bits); }
#endif

/// An element as a number.
__device__ __forceinline__ float load(float x) { return x; }
__device__ __forceinline__ double load(double x) { return x; }
__device__ __forceinline__ float load(f16 x) { return f16_to_float(x.bits); }
__device__ __forceinline__ float load(bf16 x) { return bits_float((unsigned int)x.bits << 16); }

/// A number as an element, rounded to the nearest, halfway to even.
template <typename T> __device__ __forceinline__ T store(computed_t<T> x) { return x; }
template <> __device__ __forceinline__ f16 store<f16>(float x) { return f16{float_to_f16(x)}; }
template <> __device__ __forceinline__ bf16 store<bf16>(float x) {
#if !defined(OXCALL_SHIM) && __CUDA_ARCH__ >= 800
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#else
    const unsigned int bits = float_bits(x);
    // A NaN stays one: rounding could carry into the exponent.
    if (x != x) return bf16{(unsigned short)((bits >> 16) | 0x40)};
    return bf16{(unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
#endif
}

/// The index of the thread in the grid, and the number of threads, along the first dimension.
__device__ __forceinline__ unsigned long long index() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned long long threads() { return (unsigned long long)gridDim.x * blockDim.x; }

struct sum {
    template <typename W> static __device__ __forceinline__ W combine(W a, W b) { return a + b; }
};
/// The larger number; NaN if one is.
struct maximum {
    template <typename W> static __device__ __forceinline__ W combine(W a, W b) { return a != a || a > b ? a : b; }
};

/// The row of the thread, of so many, in a grid of `Launch::rows_of`. Threads beyond the last row compute it too, so that
/// all lanes of their warp come to the same reductions.
__device__ __forceinline__ unsigned long long row(unsigned long long rows) {
    const unsigned long long row = (unsigned long long)blockIdx.x * blockDim.y + threadIdx.y;
    return row < rows ? row : rows - 1;
}

/// What the threads of a row have together, for each of them: those of a block of one dimension and of whole warps, or
/// the lanes of one `threadIdx.y` in a block of `(lanes, rows)`, of which 32 are a multiple. All threads must call it.
template <typename Op, typename W> __device__ W reduce(W x) {
    __shared__ W of_warps[32];
    const unsigned int width = blockDim.x < 32 ? blockDim.x : 32, warps = blockDim.x / 32;
    for (unsigned int lanes = 16; lanes > 0; lanes /= 2) {
        if (lanes < width) x = Op::combine(x, __shfl_xor_sync(0xffffffffu, x, lanes));
    }
    if (warps > 1) {
        const unsigned int lane = threadIdx.x % 32;
        // The reduction before has read the same memory.
        __syncthreads();
        if (lane == 0) of_warps[threadIdx.x / 32] = x;
        __syncthreads();
        x = of_warps[lane < warps ? lane : 0];
        for (unsigned int lanes = 16; lanes > 0; lanes /= 2) {
            const W other = __shfl_xor_sync(0xffffffffu, x, lanes);
            if ((lane ^ lanes) < warps) x = Op::combine(x, other);
        }
    }
    // Zeros of either sign are equally large: one for all.
    return __shfl_sync(0xffffffffu, x, 0, width);
}

}  // namespace oxcall
