// Root-mean-square norm with a weight, for PyTorch.

// --- forward
#include <torch/library.h>

#include <ATen/ATen.h>
#include <cmath>
#include <tuple>
#include <vector>

static double inverse_rms(const float* x, int64_t n, double eps) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double(x[i]) * x[i];
  return 1 / std::sqrt(sum / n + eps);
}

static void check(const at::Tensor& x, const at::Tensor& w) {
  TORCH_CHECK(x.dim() >= 1 && w.dim() == 1 && w.size(0) == x.size(-1), "rms_norm: x must be [..., n] and w [n]");
  TORCH_CHECK(x.scalar_type() == at::kFloat && w.scalar_type() == at::kFloat, "rms_norm: expected float32");
}

static at::Tensor rms_norm(const at::Tensor& x_, const at::Tensor& w_, double eps) {
  check(x_, w_);
  at::Tensor x = x_.contiguous(), w = w_.contiguous(), y = at::empty_like(x);
  const float *xp = x.const_data_ptr<float>(), *wp = w.const_data_ptr<float>();
  float* yp = y.mutable_data_ptr<float>();
  int64_t n = w.size(0);
  for (int64_t row = 0; row < x.numel(); row += n) {
    double r = inverse_rms(xp + row, n, eps);
    for (int64_t i = 0; i < n; ++i) yp[row + i] = wp[i] * xp[row + i] * r;
  }
  return y;
}

// --- gradient
static std::tuple<at::Tensor, at::Tensor> rms_norm_vjp(const at::Tensor& x_, const at::Tensor& w_,
                                                       const at::Tensor& dy_, double eps) {
  check(x_, w_);
  at::Tensor x = x_.contiguous(), w = w_.contiguous(), dy = dy_.contiguous();
  at::Tensor dx = at::empty_like(x), dw = at::empty_like(w);
  const float *xp = x.const_data_ptr<float>(), *wp = w.const_data_ptr<float>(), *dyp = dy.const_data_ptr<float>();
  float *dxp = dx.mutable_data_ptr<float>(), *dwp = dw.mutable_data_ptr<float>();
  int64_t n = w.size(0);
  std::vector<double> sums(n);
  for (int64_t row = 0; row < x.numel(); row += n) {
    double r = inverse_rms(xp + row, n, eps), dot = 0;
    for (int64_t i = 0; i < n; ++i) dot += double(xp[row + i]) * dyp[row + i] * wp[i];
    double shift = r * r * r * dot / n;
    for (int64_t i = 0; i < n; ++i) {
      dxp[row + i] = r * wp[i] * dyp[row + i] - shift * xp[row + i];
      sums[i] += dyp[row + i] * xp[row + i] * r;
    }
  }
  for (int64_t i = 0; i < n; ++i) dwp[i] = sums[i];
  return {dx, dw};
}

// --- forward
TORCH_LIBRARY(lines_cpp, m) {
  m.def("rms_norm(Tensor x, Tensor w, float eps) -> Tensor");
  // --- gradient
  m.def("rms_norm_vjp(Tensor x, Tensor w, Tensor dy, float eps) -> (Tensor, Tensor)");
  // --- forward
}

TORCH_LIBRARY_IMPL(lines_cpp, CPU, m) {
  m.impl("rms_norm", rms_norm);
  // --- gradient
  m.impl("rms_norm_vjp", rms_norm_vjp);
  // --- forward
}
