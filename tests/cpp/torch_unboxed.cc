// The ops of tests/bench/ffi as a torch user writes them in C++: `TORCH_LIBRARY`, whose kernels torch calls unboxed. The
// binary fits one version of torch.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "torch_loops.h"

namespace {

void Check(const at::Tensor& x, const char* op) {
  TORCH_CHECK(x.scalar_type() == at::kFloat, op, ": expected float32, got ", x.scalar_type());
}

void Look(at::Tensor& x) {
  Check(x, "look_");
  TORCH_CHECK(x.is_contiguous() && x.mutable_data_ptr<float>() != nullptr, "look_: expected a contiguous tensor");
}

void Negate(at::Tensor& x) {
  Check(x, "negate_");
  TORCH_CHECK(x.is_contiguous(), "negate_: expected a contiguous tensor");
  loops::Negate(x.mutable_data_ptr<float>(), x.numel());
}

at::Tensor EmptyLike(const at::Tensor& x) {
  Check(x, "empty_like");
  return at::empty_like(x);
}

at::Tensor AddOne(const at::Tensor& given) {
  Check(given, "add_one");
  at::Tensor x = given.contiguous(), y = at::empty_like(x);
  loops::AddOne(x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.numel());
  return y;
}

at::Tensor Mix(const at::Tensor& a, const at::Tensor& b, at::TensorList others, int64_t count, double scale,
               bool negative, c10::string_view mode, at::IntArrayRef axes, at::ArrayRef<double> weights,
               const std::optional<at::Tensor>& bias) {
  Check(a, "mix");
  Check(b, "mix");
  TORCH_CHECK(a.sizes() == b.sizes(), "mix: `a` and `b` differ in shape");
  at::Tensor x = a.contiguous(), y = at::empty_like(x);
  double sum = b.contiguous().const_data_ptr<float>()[0];
  if (bias) {
    Check(*bias, "mix");
    sum += bias->contiguous().const_data_ptr<float>()[0];
  }
  for (const at::Tensor& other : others) {
    Check(other, "mix");
    sum += other.contiguous().const_data_ptr<float>()[0];
  }
  sum = scale * sum + static_cast<double>(count + axes[0] + static_cast<int64_t>(mode.size())) + weights[0];
  y.mutable_data_ptr<float>()[0] = x.const_data_ptr<float>()[0] + static_cast<float>(negative ? -sum : sum);
  return y;
}

std::tuple<at::Tensor, at::Tensor> TopK(const at::Tensor& given, int64_t k) {
  Check(given, "topk");
  TORCH_CHECK(given.dim() > 0 && 0 <= k && k <= given.size(-1), "topk: k is out of range");
  at::Tensor x = given.contiguous();
  auto sizes = x.sizes().vec();
  int64_t n = sizes.back();
  sizes.back() = k;
  at::Tensor values = at::empty(sizes, x.options());
  at::Tensor indices = at::empty(sizes, x.options().dtype(at::kLong));
  loops::TopK(x.const_data_ptr<float>(), n == 0 ? 0 : x.numel() / n, n, k, values.mutable_data_ptr<float>(),
              indices.mutable_data_ptr<int64_t>());
  return {values, indices};
}

}  // namespace

TORCH_LIBRARY(peers_unboxed, m) {
  m.def("look_(Tensor(a!) x) -> ()");
  m.def("negate_(Tensor(a!) x) -> ()");
  m.def("empty_like(Tensor x) -> Tensor");
  m.def("add_one(Tensor x) -> Tensor");
  m.def(
      "mix(Tensor a, Tensor b, Tensor[] others, int count, float scale, bool negative, str mode, int[] axes, "
      "float[] weights, Tensor? bias=None) -> Tensor");
  m.def("topk(Tensor x, int k) -> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(peers_unboxed, CPU, m) {
  m.impl("look_", Look);
  m.impl("negate_", Negate);
  m.impl("empty_like", EmptyLike);
  m.impl("add_one", AddOne);
  m.impl("mix", Mix);
  m.impl("topk", TopK);
}
