// Root-mean-square norm with a weight, for XLA's FFI.

// --- forward
#include <cmath>
#include <cstdint>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using F32 = ffi::Buffer<ffi::F32>;
using ResultF32 = ffi::ResultBuffer<ffi::F32>;

static double InverseRms(const float* x, int64_t n, float eps) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += double(x[i]) * x[i];
  return 1 / std::sqrt(sum / n + eps);
}

// Whether `w` has the length of the rows of `x`, which `n` becomes.
static bool Rows(const F32& x, const F32& w, int64_t& n) {
  auto dims = x.dimensions();
  if (dims.size() == 0 || w.element_count() != size_t(dims.back())) return false;
  n = dims.back();
  return true;
}

static ffi::Error RmsNormImpl(float eps, F32 x, F32 w, ResultF32 y) {
  int64_t n;
  if (!Rows(x, w, n)) return ffi::Error::InvalidArgument("rms_norm: x must be [..., n] and w [n]");
  for (int64_t row = 0; row < int64_t(x.element_count()); row += n) {
    const float* xr = x.typed_data() + row;
    double r = InverseRms(xr, n, eps);
    for (int64_t i = 0; i < n; ++i) y->typed_data()[row + i] = w.typed_data()[i] * xr[i] * r;
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(RmsNorm, RmsNormImpl,
                              ffi::Ffi::Bind().Attr<float>("eps").Arg<F32>().Arg<F32>().Ret<F32>());

// --- gradient
static ffi::Error RmsNormVjpImpl(float eps, F32 x, F32 w, F32 dy, ResultF32 dx, ResultF32 dw) {
  int64_t n;
  if (!Rows(x, w, n)) return ffi::Error::InvalidArgument("rms_norm_vjp: x must be [..., n] and w [n]");
  std::vector<double> sums(n);
  for (int64_t row = 0; row < int64_t(x.element_count()); row += n) {
    const float *xr = x.typed_data() + row, *dyr = dy.typed_data() + row, *wr = w.typed_data();
    double r = InverseRms(xr, n, eps), dot = 0;
    for (int64_t i = 0; i < n; ++i) dot += double(xr[i]) * dyr[i] * wr[i];
    double shift = r * r * r * dot / n;
    for (int64_t i = 0; i < n; ++i) {
      dx->typed_data()[row + i] = r * wr[i] * dyr[i] - shift * xr[i];
      sums[i] += dyr[i] * xr[i] * r;
    }
  }
  for (int64_t i = 0; i < n; ++i) dw->typed_data()[i] = sums[i];
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    RmsNormVjp, RmsNormVjpImpl,
    ffi::Ffi::Bind().Attr<float>("eps").Arg<F32>().Arg<F32>().Arg<F32>().Ret<F32>().Ret<F32>());

// --- tangent
static ffi::Error RmsNormJvpImpl(float eps, F32 x, F32 w, F32 tx, F32 tw, ResultF32 ty) {
  int64_t n;
  if (!Rows(x, w, n)) return ffi::Error::InvalidArgument("rms_norm_jvp: x must be [..., n] and w [n]");
  for (int64_t row = 0; row < int64_t(x.element_count()); row += n) {
    const float *xr = x.typed_data() + row, *txr = tx.typed_data() + row, *wr = w.typed_data();
    double r = InverseRms(xr, n, eps), dot = 0;
    for (int64_t i = 0; i < n; ++i) dot += double(xr[i]) * txr[i];
    double shift = r * r * r * dot / n;
    for (int64_t i = 0; i < n; ++i)
      ty->typed_data()[row + i] = r * (tw.typed_data()[i] * xr[i] + wr[i] * txr[i]) - shift * wr[i] * xr[i];
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    RmsNormJvp, RmsNormJvpImpl,
    ffi::Ffi::Bind().Attr<float>("eps").Arg<F32>().Arg<F32>().Arg<F32>().Arg<F32>().Ret<F32>());
