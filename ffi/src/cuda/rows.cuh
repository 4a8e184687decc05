// Elements read and written in packs.

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
/// The elements of a pack of 16 bytes, or so many at most.
template <typename T> __device__ constexpr int pack_of(int most) {
    return 16 / int(sizeof(T)) < most ? 16 / int(sizeof(T)) : most;
}
/// Whether each of the rows of `n` elements at an address is one of packs of 16 bytes.
template <typename T> __device__ __forceinline__ bool is_aligned(const void* address, unsigned long long n) {
    return (reinterpret_cast<unsigned long long>(address) | n * sizeof(T)) % 16 == 0;
}

/// What rounding a number to `W` takes from it; 0 of one that is not finite then.
template <typename W> __device__ __forceinline__ W rest(double x) {
    const double rounded = double(W(x));
    return rounded - rounded == 0 ? W(x - rounded) : W(0);
}

}  // namespace oxcall
