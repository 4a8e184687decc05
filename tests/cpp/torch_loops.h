// The arithmetic of the torch peers: equal code behind both of torch's C++ interfaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace loops {

inline void Negate(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = -x[i];
}

inline void AddOne(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1;
}

// The k largest of each row, largest first; of equal ones the first.
inline void TopK(const float* x, int64_t rows, int64_t n, int64_t k, float* values, int64_t* indices) {
  std::vector<int64_t> order(n);
  for (int64_t row = 0; row < rows; ++row, x += n, values += k, indices += k) {
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](int64_t a, int64_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
    for (int64_t i = 0; i < k; ++i) {
      indices[i] = order[i];
      values[i] = x[order[i]];
    }
  }
}

}  // namespace loops
