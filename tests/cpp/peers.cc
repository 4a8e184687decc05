// The same ops as an XLA user would write them in C++, with the headers that jaxlib ships: what ours are timed against,
// and the foreign handlers that the host side is tried with. Each handler is an exported symbol, `peer_*`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using F32 = ffi::Buffer<ffi::F32>;

// Decoding alone: one argument, one result; the first element shows that the buffers arrived.
static ffi::Error Identity(F32 x, ffi::Result<F32> y) {
  y->typed_data()[0] = x.typed_data()[0];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_identity, Identity, ffi::Ffi::Bind().Arg<F32>().Ret<F32>());

// Decoding alone: four arguments, one result, four attributes, all of which reach the first element.
static ffi::Error Four(F32 a, F32 b, F32 c, F32 d, ffi::Result<F32> y, ffi::Span<const int64_t> axes, int64_t count,
                       std::string_view mode, float scale) {
  float sum = a.typed_data()[0] + b.typed_data()[0] + c.typed_data()[0] + d.typed_data()[0];
  y->typed_data()[0] = scale * sum + static_cast<float>(count + axes[2] + static_cast<int64_t>(mode.size()));
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_four, Four,
                              ffi::Ffi::Bind()
                                  .Arg<F32>()
                                  .Arg<F32>()
                                  .Arg<F32>()
                                  .Arg<F32>()
                                  .Ret<F32>()
                                  .Attr<ffi::Span<const int64_t>>("axes")
                                  .Attr<int64_t>("count")
                                  .Attr<std::string_view>("mode")
                                  .Attr<float>("scale"));

// y = x / sqrt(mean(x^2) + eps) over the last axis.
static ffi::Error RmsNorm(F32 x, ffi::Result<F32> y, float eps) {
  auto dims = x.dimensions();
  if (dims.size() == 0 || x.element_count() != y->element_count()) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, "peer_rms_norm: x must be an array of y's shape");
  }
  int64_t n = dims[dims.size() - 1];
  int64_t size = static_cast<int64_t>(x.element_count());
  for (int64_t start = 0; start < size; start += n) {
    const float* in = x.typed_data() + start;
    float* out = y->typed_data() + start;
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += in[i] * in[i];
    float factor = 1 / std::sqrt(sum / static_cast<float>(n) + eps);
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] * factor;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_rms_norm, RmsNorm, ffi::Ffi::Bind().Arg<F32>().Ret<F32>().Attr<float>("eps"));

// Fails with the code and message that it is given.
static ffi::Error Fail(int64_t code, std::string_view message) {
  return ffi::Error(static_cast<ffi::ErrorCode>(code), std::string(message));
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_fail, Fail,
                              ffi::Ffi::Bind().Attr<int64_t>("code").Attr<std::string_view>("message"));

// Leaves by an exception: a standard one, or one of its own.
static ffi::Error Throw(std::string_view what) {
  if (what.empty()) throw 7;
  throw std::runtime_error(std::string(what));
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_throw, Throw, ffi::Ffi::Bind().Attr<std::string_view>("what"));

// A state made by the instantiate stage. Its type is registered by the host, through the symbols below.
struct Counter {
  static ffi::TypeId id;
  static std::atomic<int64_t> alive;

  explicit Counter(int64_t start) : next(start) { ++alive; }
  ~Counter() { --alive; }

  std::atomic<int64_t> next;
};
ffi::TypeId Counter::id = {};
std::atomic<int64_t> Counter::alive = 0;

static ffi::ErrorOr<std::unique_ptr<Counter>> NewCounter(int64_t start) { return std::make_unique<Counter>(start); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_counter_instantiate, NewCounter,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));

// Older headers insist that a handler binds every attribute, so `start` is bound here too.
static ffi::Error Count(Counter* counter, int64_t, ffi::Result<ffi::BufferR0<ffi::S64>> y) {
  *y->typed_data() = counter->next++;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    peer_counter, Count,
    ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Attr<int64_t>("start").Ret<ffi::BufferR0<ffi::S64>>());

extern "C" XLA_FFI_TypeId* peer_counter_type_id() { return &Counter::id; }
extern "C" int64_t peer_counters_alive() { return Counter::alive; }
// How a host destroys a state of this type; API 0.1 has it in the call that sets the state instead.
extern "C" void peer_counter_delete(void* state) { delete static_cast<Counter*>(state); }
#if XLA_FFI_API_MINOR >= 2
extern "C" const XLA_FFI_TypeInfo* peer_counter_type_info() {
  static const XLA_FFI_TypeInfo info = ffi::MakeTypeInfo<Counter>();
  return &info;
}
#endif

// y = x^2 from another thread, a little later; or the message, as an error, where there is one.
static ffi::Future AsyncSquare(F32 x, ffi::Result<F32> y, std::string_view message) {
  ffi::Promise promise;
  ffi::Future future(promise);
  std::thread([promise = std::move(promise), x, y, message = std::string(message)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!message.empty()) return promise.SetError(ffi::Error(ffi::ErrorCode::kAborted, message));
    for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = x.typed_data()[i] * x.typed_data()[i];
    promise.SetAvailable();
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_async_square, AsyncSquare,
                              ffi::Ffi::Bind().Arg<F32>().Ret<F32>().Attr<std::string_view>("message"));

// How many threads the pool has.
static ffi::Error NumThreads(ffi::ThreadPool pool, ffi::Result<ffi::BufferR1<ffi::S64>> y) {
  y->typed_data()[0] = pool.num_threads();
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_num_threads, NumThreads,
                              ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ret<ffi::BufferR1<ffi::S64>>());

// How many of eight tasks ran on threads of the pool. The last one wakes this thread: inline tasks would not hang it.
static ffi::Error RunTasks(ffi::ThreadPool pool, ffi::Result<ffi::BufferR0<ffi::S64>> y) {
  auto left = std::make_shared<std::atomic<int64_t>>(8);
  for (int i = 0; i < 8; ++i) {
    pool.Schedule([left] {
      if (--*left == 0) left->notify_all();
    });
  }
  for (int64_t now = left->load(); now != 0; now = left->load()) left->wait(now);
  *y->typed_data() = 8 - left->load();
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_run_tasks, RunTasks,
                              ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ret<ffi::BufferR0<ffi::S64>>());

// The elements of all arguments together, and the entries of a nested dictionary.
static ffi::Error Describe(ffi::RemainingArgs args, ffi::Result<ffi::BufferR1<ffi::S64>> y, ffi::Dictionary attrs) {
  int64_t elements = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    auto arg = args.get<ffi::AnyBuffer>(i);
    if (!arg.has_value()) return arg.error();
    elements += static_cast<int64_t>(arg->element_count());
  }
  auto lo = attrs.get<int64_t>("lo"), hi = attrs.get<int64_t>("hi");
  if (!lo.has_value()) return lo.error();
  if (!hi.has_value()) return hi.error();
  y->typed_data()[0] = elements;
  y->typed_data()[1] = *hi - *lo;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    peer_describe, Describe,
    ffi::Ffi::Bind().RemainingArgs().Ret<ffi::BufferR1<ffi::S64>>().Attr<ffi::Dictionary>("range"));

// Data of the execution, of a type that the host registers.
struct Label {
  static ffi::TypeId id;
  int64_t value;
};
ffi::TypeId Label::id = {};
extern "C" XLA_FFI_TypeId* peer_label_type_id() { return &Label::id; }

static ffi::Error ReadLabel(Label* label, ffi::Result<ffi::BufferR0<ffi::S64>> y) {
  *y->typed_data() = label->value;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_read_label, ReadLabel,
                              ffi::Ffi::Bind().Ctx<ffi::UserData<Label>>().Ret<ffi::BufferR0<ffi::S64>>());

#if XLA_FFI_API_MINOR >= 2
// Which execution this is, and where.
static ffi::Error Whereabouts(ffi::RunId run, int32_t device, ffi::Result<ffi::BufferR1<ffi::S64>> y) {
  y->typed_data()[0] = run.run_id;
  y->typed_data()[1] = device;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    peer_whereabouts, Whereabouts,
    ffi::Ffi::Bind().Ctx<ffi::RunId>().Ctx<ffi::DeviceOrdinal>().Ret<ffi::BufferR1<ffi::S64>>());
#endif

#if XLA_FFI_API_MINOR >= 3
// A state of each stage: those of prepare and initialize live for one execution.
static ffi::ErrorOr<std::unique_ptr<Counter>> PrepareCounter() { return std::make_unique<Counter>(100); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_stages_prepare, PrepareCounter, ffi::Ffi::BindPrepare());

static ffi::ErrorOr<std::unique_ptr<Counter>> InitializeCounter() { return std::make_unique<Counter>(10); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_stages_initialize, InitializeCounter, ffi::Ffi::BindInitialize());

static ffi::Error CountStages(Counter* instantiated, Counter* prepared, Counter* initialized,
                              ffi::Result<ffi::BufferR0<ffi::S64>> y) {
  *y->typed_data() = instantiated->next++ + prepared->next++ + initialized->next++;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(peer_stages, CountStages,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::State<Counter>>()
                                  .Ctx<ffi::Prepared<Counter>>()
                                  .Ctx<ffi::Initialized<Counter>>()
                                  .Ret<ffi::BufferR0<ffi::S64>>());
#endif
