// A library that speaks the C boundary of oxcall op libraries, written by hand from its specification: the tests of the
// Python package check against it that the boundary, not our Rust code, is what the package relies on.
//
// Built variants: -DBIAS=n adds n to every result of `scale`; -DABI=n reports that boundary version; -DERRORS lists a
// mistake in the manifest.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "xla/ffi/api/c_api.h"

#ifndef BIAS
#define BIAS 0
#endif
#ifndef ABI
#define ABI 1
#endif

namespace {

struct Span {
  const char* ptr;
  size_t len;
};

struct Handler {
  size_t struct_size;
  Span name, platform;
  uint32_t api_version, traits;
  void *instantiate, *prepare, *initialize, *execute, *record;
  void *cpu_v1, *cpu_v2, *cpu_v3, *gpu_v1, *gpu_v2;
};

struct Library {
  size_t struct_size;
  uint32_t abi_version, reserved;
  size_t num_handlers;
  const Handler* const* handlers;
  Span manifest;
};

using Sink = void (*)(void* user, const char* ptr, size_t len);

std::string g_dump;  // What the last call of `inspect` saw.
std::string g_last_error;

// True if the frame is the version query that XLA sends at registration.
bool is_query(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start == nullptr) return false;
  auto* metadata = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
  metadata->api_version.major_version = 0;
  metadata->api_version.minor_version = 1;
  metadata->traits = 0;
  return true;
}

int64_t count(const XLA_FFI_Buffer* buffer) {
  int64_t n = 1;
  for (int64_t i = 0; i < buffer->rank; ++i) n *= buffer->dims[i];
  return n;
}

const XLA_FFI_Buffer* arg(XLA_FFI_CallFrame* frame, int i) {
  return static_cast<const XLA_FFI_Buffer*>(frame->args.args[i]);
}

const XLA_FFI_Buffer* ret(XLA_FFI_CallFrame* frame, int i) {
  return static_cast<const XLA_FFI_Buffer*>(frame->rets.rets[i]);
}

float scalar_f32(XLA_FFI_CallFrame* frame, int i) {
  auto* scalar = static_cast<const XLA_FFI_Scalar*>(frame->attrs.attrs[i]);
  return scalar->dtype == XLA_FFI_DataType_F32 ? *static_cast<const float*>(scalar->value) : -1;
}

void scale_values(const float* in, float* out, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] * factor + BIAS;
}

XLA_FFI_Error* scale(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  scale_values(static_cast<const float*>(arg(frame, 0)->data), static_cast<float*>(ret(frame, 0)->data),
               count(arg(frame, 0)), scalar_f32(frame, 0));
  return nullptr;
}

// (x, y, dy) -> dx
XLA_FFI_Error* scale_vjp(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  auto* dy = static_cast<const float*>(arg(frame, 2)->data);
  auto* dx = static_cast<float*>(ret(frame, 0)->data);
  float factor = scalar_f32(frame, 0);
  for (int64_t i = 0; i < count(arg(frame, 2)); ++i) dx[i] = dy[i] * factor;
  return nullptr;
}

XLA_FFI_Error* increment(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  auto* in = static_cast<const float*>(arg(frame, 0)->data);
  auto* out = static_cast<float*>(ret(frame, 0)->data);
  g_dump = in == out ? "aliased" : "separate";
  for (int64_t i = 0; i < count(arg(frame, 0)); ++i) out[i] = in[i] + 1;
  return nullptr;
}

// (bias?, *xs) -> y: the sum.
XLA_FFI_Error* total(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  auto* out = static_cast<float*>(ret(frame, 0)->data);
  for (int64_t i = 0; i < count(ret(frame, 0)); ++i) {
    out[i] = 0;
    for (int64_t a = 0; a < frame->args.size; ++a) out[i] += static_cast<const float*>(arg(frame, a)->data)[i];
  }
  return nullptr;
}

// (t, x) -> (t2, y): copies x.
XLA_FFI_Error* ordered(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  std::memcpy(ret(frame, 1)->data, arg(frame, 1)->data, count(arg(frame, 1)) * sizeof(float));
  g_dump = arg(frame, 0)->dtype == XLA_FFI_DataType_TOKEN && ret(frame, 0)->dtype == XLA_FFI_DataType_TOKEN ? "tokens" : "";
  return nullptr;
}

// x -> y: doubles x, and records how many rows one call saw.
XLA_FFI_Error* rowwise(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  g_dump = std::to_string(arg(frame, 0)->dims[0]);
  auto* in = static_cast<const float*>(arg(frame, 0)->data);
  for (int64_t i = 0; i < count(arg(frame, 0)); ++i) static_cast<float*>(ret(frame, 0)->data)[i] = 2 * in[i];
  return nullptr;
}

void dump_attrs(const XLA_FFI_Attrs* attrs, const std::string& prefix) {
  for (int64_t i = 0; i < attrs->size; ++i) {
    std::string name = prefix + std::string(attrs->names[i]->ptr, attrs->names[i]->len);
    switch (attrs->types[i]) {
      case XLA_FFI_AttrType_ARRAY: {
        auto* array = static_cast<const XLA_FFI_Array*>(attrs->attrs[i]);
        g_dump += name + "=array:" + std::to_string(array->dtype) + ":" + std::to_string(array->size) + "\n";
        break;
      }
      case XLA_FFI_AttrType_SCALAR: {
        auto* scalar = static_cast<const XLA_FFI_Scalar*>(attrs->attrs[i]);
        g_dump += name + "=scalar:" + std::to_string(scalar->dtype) + "\n";
        break;
      }
      case XLA_FFI_AttrType_STRING: {
        auto* text = static_cast<const XLA_FFI_ByteSpan*>(attrs->attrs[i]);
        g_dump += name + "=string:" + std::string(text->ptr, text->len) + "\n";
        break;
      }
      default:
        g_dump += name + "=dict\n";
        dump_attrs(static_cast<const XLA_FFI_Attrs*>(attrs->attrs[i]), name + ".");
    }
  }
}

XLA_FFI_Error* inspect(XLA_FFI_CallFrame* frame) {
  if (is_query(frame)) return nullptr;
  g_dump.clear();
  dump_attrs(&frame->attrs, "");
  std::memcpy(ret(frame, 0)->data, arg(frame, 0)->data, count(arg(frame, 0)) * sizeof(float));
  return nullptr;
}

// A reader of the call descriptor (docs/legacy-encoding.md) for `scale`: one operand, one result, attribute `factor`.
bool read_descriptor(const char* text, size_t len, int64_t* n, float* factor, bool* is_operand) {
  auto u32 = [&](size_t at) { uint32_t v; std::memcpy(&v, text + at, 4); return v; };
  auto i64 = [&](size_t at) { int64_t v; std::memcpy(&v, text + at, 8); return v; };
  if (len < 24 || std::memcmp(text, "OXC1", 4) != 0 || u32(4) != len) return false;
  if (u32(8) != 1 || u32(12) != 1 || u32(16) != 1 || (u32(20) & 1) != 0) return false;
  *is_operand = (u32(20) & 2) != 0;
  size_t at = 24;
  for (int buffer = 0; buffer < 2; ++buffer) {
    if (text[at] != XLA_FFI_DataType_F32) return false;
    uint32_t rank = u32(at + 4);
    at += 8;
    *n = 1;
    for (uint32_t i = 0; i < rank; ++i, at += 8) *n *= i64(at);
  }
  if (text[at] != XLA_FFI_AttrType_SCALAR || text[at + 1] != XLA_FFI_DataType_F32) return false;
  if (u32(at + 4) != 6 || i64(at + 8) != 1 || std::memcmp(text + at + 16, "factor\0\0", 8) != 0) return false;
  std::memcpy(factor, text + at + 24, 4);
  return at + 32 == len;
}

void scale_leading(void* out, const void** in, const char* api) {
  auto* text = static_cast<const char*>(in[0]);
  uint32_t len;
  std::memcpy(&len, text + 4, 4);
  int64_t n;
  float factor;
  bool is_operand;
  if (!read_descriptor(text, len, &n, &factor, &is_operand) || !is_operand) {
    g_last_error = std::string(api) + ": bad descriptor";
    return;
  }
  if (factor < 0) g_last_error = "scale: negative factor";
  scale_values(static_cast<const float*>(in[1]), static_cast<float*>(out), n, factor);
}

void scale_v1(void* out, const void** in) { scale_leading(out, in, "v1"); }

void scale_v2(void* out, const void** in, void* /*status*/) { scale_leading(out, in, "v2"); }

void scale_v3(void* out, const void** in, const char* opaque, size_t len, void* /*status*/) {
  int64_t n;
  float factor;
  bool is_operand;
  if (!read_descriptor(opaque, len, &n, &factor, &is_operand) || is_operand) {
    g_last_error = "v3: bad descriptor";
    return;
  }
  scale_values(static_cast<const float*>(in[0]), static_cast<float*>(out), n, factor);
}

const char kManifest[] = {
#include "fake_manifest.inc"
    , 0};

template <size_t N>
constexpr Span span(const char (&text)[N]) {
  return {text, N - 1};
}

template <typename F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

Handler plain(Span name, Span platform, XLA_FFI_Error* (*execute)(XLA_FFI_CallFrame*)) {
  Handler handler = {};
  handler.struct_size = sizeof(Handler);
  handler.name = name;
  handler.platform = platform;
  handler.api_version = 4;
  handler.execute = address(execute);
  return handler;
}

Handler recordable(Handler handler) {
  handler.traits = XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
  return handler;
}

Handler legacy(Handler handler) {
  handler.cpu_v1 = address(scale_v1);
  handler.cpu_v2 = address(scale_v2);
  handler.cpu_v3 = address(scale_v3);
  return handler;
}

// In the order of the manifest.
const Handler g_handlers[] = {
    legacy(plain(span("scale"), span("Host"), scale)), plain(span("scale_vjp"), span("Host"), scale_vjp),
    plain(span("increment"), span("Host"), increment), plain(span("total"), span("Host"), total),
    plain(span("inspect"), span("Host"), inspect),     plain(span("inspect"), span("CUDA"), inspect),
    plain(span("filled"), span("Host"), scale),        plain(span("unpaired"), span("Host"), scale),
    plain(span("ordered"), span("Host"), ordered),     recordable(plain(span("rowwise"), span("Host"), rowwise)),
};
constexpr size_t kHandlers = sizeof(g_handlers) / sizeof(Handler);

}  // namespace

extern "C" {

const Library* oxcall_library() {
  static const Handler* pointers[kHandlers];
  for (size_t i = 0; i < kHandlers; ++i) pointers[i] = &g_handlers[i];
  static const Library library = {
      sizeof(Library), ABI, 0, kHandlers, pointers, {kManifest, sizeof(kManifest) - 1},
  };
  return &library;
}

// Every result has the type of the first argument; `ordered` takes f32[2].
void oxcall_infer(size_t handler, const char* request, size_t len, Sink sink, void* user) {
  std::string text(request, len);
  size_t start = text.find('{', 1), end = text.find('}', 1);
  std::string first = text.substr(start, end - start + 1);
  std::string answer = "{\"results\": [" + first + "]}";
  if (g_handlers[handler].execute == address(ordered)) {
    answer = "{\"results\": [{\"dtype\": \"token\", \"dims\": []}, {\"dtype\": \"f32\", \"dims\": [2]}]}";
  }
  if (first.find("dims") == std::string::npos || first.find("[0]") != std::string::npos) {
    std::string name(g_handlers[handler].name.ptr, g_handlers[handler].name.len);
    answer = "{\"error\": {\"code\": \"INVALID_ARGUMENT\", \"message\": \"" + name + ": no shape follows\"}}";
  }
  sink(user, answer.data(), answer.size());
}

void oxcall_last_error(Sink sink, void* user) {
  sink(user, g_last_error.data(), g_last_error.size());
  g_last_error.clear();
}

XLA_FFI_Error* foreign_handler(XLA_FFI_CallFrame* frame) {
  is_query(frame);
  return nullptr;
}

const char* fake_dump() { return g_dump.c_str(); }
}
