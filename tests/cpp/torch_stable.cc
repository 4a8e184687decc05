// The ops of tests/bench/ffi with torch's stable C++ headers: one binary for several versions of torch, as ours is.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "torch_loops.h"

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

void Check(const Tensor& x, const char* op) {
  STD_TORCH_CHECK(x.scalar_type() == ScalarType::Float, op, ": expected float32");
}

// `torch::stable::contiguous` goes through the dispatcher, also where there is nothing to do.
Tensor Contiguous(const Tensor& x) { return x.is_contiguous() ? x : torch::stable::contiguous(x); }

const float* Data(const Tensor& x) { return static_cast<const float*>(x.const_data_ptr()); }

float* MutableData(const Tensor& x) { return static_cast<float*>(x.mutable_data_ptr()); }

void Negate(Tensor x) {
  Check(x, "negate_");
  STD_TORCH_CHECK(x.is_contiguous(), "negate_: expected a contiguous tensor");
  loops::Negate(MutableData(x), x.numel());
}

// What no kernel of the stable ABI goes below, without the wrappers of the headers: it asks for what tells it how to read
// the tensor, and deletes its argument, as every kernel has to.
void Look(StableIValue* stack, uint64_t, uint64_t) {
  auto x = torch::stable::detail::to<AtenTensorHandle>(stack[0]);
  int64_t rank, *sizes, *strides;
  int32_t dtype;
  void* data;
  aoti_torch_get_dim(x, &rank);
  aoti_torch_get_sizes(x, &sizes);
  aoti_torch_get_strides(x, &strides);
  aoti_torch_get_dtype(x, &dtype);
  aoti_torch_get_data_ptr(x, &data);
  aoti_torch_delete_tensor_object(x);
}

Tensor EmptyLike(Tensor x) {
  Check(x, "empty_like");
  return torch::stable::empty_like(x);
}

Tensor AddOne(Tensor given) {
  Check(given, "add_one");
  Tensor x = Contiguous(given), y = torch::stable::empty_like(x);
  loops::AddOne(Data(x), MutableData(y), x.numel());
  return y;
}

Tensor Mix(Tensor a, Tensor b, std::vector<Tensor> others, int64_t count, double scale, bool negative,
           std::string mode, std::vector<int64_t> axes, std::vector<double> weights, std::optional<Tensor> bias) {
  Check(a, "mix");
  Check(b, "mix");
  STD_TORCH_CHECK(a.sizes().equals(b.sizes()), "mix: `a` and `b` differ in shape");
  Tensor x = Contiguous(a), y = torch::stable::empty_like(x);
  double sum = Data(Contiguous(b))[0];
  if (bias) {
    Check(*bias, "mix");
    sum += Data(Contiguous(*bias))[0];
  }
  for (const Tensor& other : others) {
    Check(other, "mix");
    sum += Data(Contiguous(other))[0];
  }
  sum = scale * sum + static_cast<double>(count + axes[0] + static_cast<int64_t>(mode.size())) + weights[0];
  MutableData(y)[0] = Data(x)[0] + static_cast<float>(negative ? -sum : sum);
  return y;
}

std::tuple<Tensor, Tensor> TopK(Tensor given, int64_t k) {
  Check(given, "topk");
  STD_TORCH_CHECK(given.dim() > 0 && 0 <= k && k <= given.size(-1), "topk: k is out of range");
  Tensor x = Contiguous(given);
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  int64_t n = sizes.back();
  sizes.back() = k;
  Tensor values = torch::stable::new_empty(x, sizes);
  Tensor indices = torch::stable::new_empty(x, sizes, ScalarType::Long);
  loops::TopK(Data(x), n == 0 ? 0 : x.numel() / n, n, k, MutableData(values),
              static_cast<int64_t*>(indices.mutable_data_ptr()));
  return {values, indices};
}

}  // namespace

STABLE_TORCH_LIBRARY(peers_stable, m) {
  m.def("look_(Tensor(a!) x) -> ()");
  m.def("negate_(Tensor(a!) x) -> ()");
  m.def("empty_like(Tensor x) -> Tensor");
  m.def("add_one(Tensor x) -> Tensor");
  m.def(
      "mix(Tensor a, Tensor b, Tensor[] others, int count, float scale, bool negative, str mode, int[] axes, "
      "float[] weights, Tensor? bias=None) -> Tensor");
  m.def("topk(Tensor x, int k) -> (Tensor, Tensor)");
}

STABLE_TORCH_LIBRARY_IMPL(peers_stable, CPU, m) {
  m.impl("look_", &Look);
  m.impl("negate_", TORCH_BOX(&Negate));
  m.impl("empty_like", TORCH_BOX(&EmptyLike));
  m.impl("add_one", TORCH_BOX(&AddOne));
  m.impl("mix", TORCH_BOX(&Mix));
  m.impl("topk", TORCH_BOX(&TopK));
}
