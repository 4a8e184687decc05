// The device side of CUDA C on the CPU: each thread of a block is a coroutine, which the barriers of the block end a
// turn of. Blocks run one after another.
//
// All threads of a block have to come to the same barriers in the same order; where they do not, the launch fails, as
// it would hang on a GPU.

#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __restrict__
#define __launch_bounds__(...)

struct dim3 {
    unsigned int x = 1, y = 1, z = 1;
};

namespace shim {

enum Barrier { none, block_barrier, warp_barrier };

struct Thread {
    dim3 index;
    ucontext_t state;
    std::unique_ptr<char[]> stack;
    bool done = true;
    Barrier at = none;
    uint64_t shared_value = 0;
};

constexpr size_t kStack = 64 << 10;

inline Thread* current;
inline ucontext_t scheduler;
inline std::vector<Thread> threads;
inline dim3 block, grid, block_index;
inline void (*body)(void**);
inline void** arguments;

inline void wait(Barrier barrier) {
    Thread* self = current;
    self->at = barrier;
    swapcontext(&self->state, &scheduler);
}

inline void start() {
    body(arguments);
    current->done = true;
}

/// Runs the threads of one block; false if they came to different barriers.
inline bool run_block() {
    const size_t count = size_t(block.x) * block.y * block.z;
    if (threads.size() < count) threads.resize(count);
    for (size_t i = 0; i < count; ++i) {
        Thread& thread = threads[i];
        thread.index = {unsigned(i % block.x), unsigned(i / block.x % block.y), unsigned(i / block.x / block.y)};
        if (!thread.stack) thread.stack.reset(new char[kStack]);
        thread.done = false;
        getcontext(&thread.state);
        thread.state.uc_stack.ss_sp = thread.stack.get();
        thread.state.uc_stack.ss_size = kStack;
        thread.state.uc_link = &scheduler;
        makecontext(&thread.state, start, 0);
    }
    for (bool any = true; any;) {
        any = false;
        Barrier common = none;
        for (size_t i = 0; i < count; ++i) {
            if (threads[i].done) continue;
            current = &threads[i];
            swapcontext(&scheduler, &current->state);
            if (threads[i].done) continue;
            any = true;
            if (common != none && common != threads[i].at) return false;
            common = threads[i].at;
        }
    }
    return true;
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void** values, std::index_sequence<I...>) {
    kernel(*static_cast<std::decay_t<A>*>(values[I])...);
}

template <auto kernel, class... A>
bool launch(void (*)(A...), dim3 grid_size, dim3 block_size, void** values) {
    body = [](void** values) { call(kernel, values, std::index_sequence_for<A...>{}); };
    arguments = values;
    grid = grid_size;
    block = block_size;
    for (block_index.z = 0; block_index.z < grid.z; ++block_index.z)
        for (block_index.y = 0; block_index.y < grid.y; ++block_index.y)
            for (block_index.x = 0; block_index.x < grid.x; ++block_index.x)
                if (!run_block()) return false;
    return true;
}

/// Sizes of the parameters, negative for pointers; returns their number.
template <class... A>
int parameters(void (*)(A...), int* sizes) {
    int i = 0;
    ((sizes[i++] = std::is_pointer_v<A> ? -int(sizeof(A)) : int(sizeof(A))), ...);
    return i;
}

/// The value of another thread of the warp: of the one that `other` names for this one.
template <typename T, typename Other>
T exchange(T value, Other other) {
    static_assert(sizeof(T) <= 8);
    memcpy(&current->shared_value, &value, sizeof value);
    wait(warp_barrier);
    const Thread* first = threads.data();
    T found;
    memcpy(&found, &first[other(size_t(current - first))].shared_value, sizeof found);
    wait(warp_barrier);
    return found;
}

}  // namespace shim

#define threadIdx (shim::current->index)
#define blockIdx (shim::block_index)
#define blockDim (shim::block)
#define gridDim (shim::grid)

inline void __syncthreads() { shim::wait(shim::block_barrier); }
template <typename T>
T __shfl_xor_sync(unsigned int, T value, unsigned int lanes) {
    return shim::exchange(value, [=](size_t self) { return self ^ lanes; });
}
template <typename T>
T __shfl_sync(unsigned int, T value, unsigned int lane, unsigned int width = 32) {
    return shim::exchange(value, [=](size_t self) { return self / width * width + lane; });
}
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }

namespace oxcall {

inline unsigned int float_bits(float x) {
    unsigned int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float bits_float(unsigned int bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
inline float quotient(float x, float y) { return x / y; }
inline float f16_to_float(unsigned short bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const float sign = bits >> 15 ? -1.0f : 1.0f;
    if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf(1024 + mantissa, exponent - 25) : ldexpf(mantissa, -24));
}
inline unsigned short float_to_f16(float x) {
    const unsigned short sign = std::signbit(x) ? 0x8000 : 0;
    if (x != x) return sign | 0x7e00;
    const float size = fabsf(x);
    if (size >= 65520.0f) return sign | 0x7c00;
    if (size < ldexpf(1, -14)) return sign | (unsigned short)nearbyintf(ldexpf(size, 24));
    int exponent;
    const float part = frexpf(size, &exponent);
    const unsigned int mantissa = (unsigned int)nearbyintf(part * 2048);
    return sign | (unsigned short)(((exponent + 14) << 10) + (mantissa - 1024));
}

}  // namespace oxcall

/// The functions of a kernel that the fake driver calls.
#define SHIM_ENTRY(name)                                                                                       \
    extern "C" __global__ int shim_launch_##name(dim3 grid, dim3 block, void** values) {                       \
        return shim::launch<&name>(&name, grid, block, values);                                                \
    }                                                                                                          \
    extern "C" __global__ int shim_parameters_##name(int* sizes) { return shim::parameters(&name, sizes); }
