// Rows: elements read and written in packs, and what all threads of a row have together.

namespace oxcall {

/// Elements that one instruction reads: up to 16 bytes, where addresses allow it.
template <typename T, int V> struct alignas(V * sizeof(T)) Pack {
    T elements[V];
};
template <int V, typename T> __device__ __forceinline__ Pack<T, V> read(const T* x) {
    return *reinterpret_cast<const Pack<T, V>*>(x);
}
template <typename T, int V> __device__ __forceinline__ void write(T* y, const Pack<T, V>& pack) {
    *reinterpret_cast<Pack<T, V>*>(y) = pack;
}
/// Whether each of the rows of `n` elements at an address is one of packs of 16 bytes.
template <typename T> __device__ __forceinline__ bool is_aligned(const void* address, unsigned long long n) {
    return (reinterpret_cast<unsigned long long>(address) | n * sizeof(T)) % 16 == 0;
}

/// What all threads of a row have together, for each of them: a warp has a row where blocks are `(32, rows)`, or else a
/// block of one dimension, all of whose threads must call it.
template <typename Op, typename W> __device__ __forceinline__ W reduce_row(W x) {
    if (blockDim.x > 32) return reduce<Op>(x);
    for (int lanes = 16; lanes > 0; lanes /= 2) x = Op::combine(x, __shfl_xor_sync(0xffffffffu, x, lanes));
    // Zeros of either sign are equally large: one for all.
    return __shfl_sync(0xffffffffu, x, 0);
}

/// What rounding a number to `W` takes from it; 0 of one that is not finite then.
template <typename W> __device__ __forceinline__ W rest(double x) {
    const double rounded = double(W(x));
    return rounded - rounded == 0 ? W(x - rounded) : W(0);
}

}  // namespace oxcall
