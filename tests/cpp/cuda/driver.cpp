// The CUDA driver without a GPU: two devices in host memory, on which kernels run when they are launched. What CUDA C
// became (nvrtc.cpp) runs as it is; kernels in PTX are emulated by their names; what the real NVRTC compiled is loaded
// alone.
//
// It checks what a GPU would not survive, or would not tell: which context is current, whose streams and memory a launch
// gets, writes beyond the end of an allocation, modules that are left behind.

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <regex>
#include <string>
#include <vector>

#include "cubin.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Code {
    success = 0,
    invalid_value = 1,
    not_initialized = 3,
    invalid_device = 101,
    invalid_context = 201,
    invalid_ptx = 218,
    invalid_handle = 400,
    not_found = 500,
    illegal_address = 700,
    launch_failed = 719,
};

constexpr int kDevices = 2;
constexpr size_t kGuard = 64;
constexpr unsigned char kGuardByte = 0xa7;

struct Dim3 {
    unsigned int x, y, z;
};
struct Context {
    int device;
    int retained = 0;
};
struct Stream {
    Context* context;
    bool capturing = false;
};
struct Module;
struct Function {
    Module* module;
    std::string name;
    std::vector<int> sizes;
    int (*run)(Dim3, Dim3, void**);
};
struct Module {
    Context* context;
    void* library = nullptr;
    std::map<std::string, Function> functions;
};
struct Allocation {
    int device;
    size_t size;
    uintptr_t start;
};

Context contexts[kDevices] = {{0}, {1}};
thread_local Context* current = nullptr;
std::mutex lock;
std::map<uintptr_t, Allocation> allocations;
std::map<std::string, std::pair<int, std::string>> failures;
bool initialized = false;
int sticky = 0;

/// What the tests ask for; all of them are of the same size.
struct Counts {
    long long launches, live_modules, loaded_modules, bad_contexts, unknown_streams, allocations;
    void* last_stream;
} counts;

std::vector<Stream*> streams;

bool is_stream(void* stream) {
    for (Stream* known : streams)
        if (known == stream) return true;
    return false;
}

/// The failure that a test has asked for, or the one that stays.
int failure(const char* function, std::string* log = nullptr) {
    if (sticky) return sticky;
    auto wanted = failures.find(function);
    if (wanted == failures.end()) return success;
    const int code = wanted->second.first;
    if (log) *log = wanted->second.second;
    failures.erase(wanted);
    if (code >= 700 && code < 800 && code != 701) sticky = code;
    return code;
}

#define BEGIN(function)                                \
    std::lock_guard<std::mutex> guard(lock);           \
    if (!initialized) return not_initialized;          \
    if (int code = failure(#function)) return code

/// `y = factor * x` of floats.
int scale(Dim3, Dim3, void** values) {
    const float* x = *static_cast<float**>(values[0]);
    float* y = *static_cast<float**>(values[1]);
    const uint64_t n = *static_cast<uint64_t*>(values[2]);
    const float factor = *static_cast<float*>(values[3]);
    for (uint64_t i = 0; i < n; ++i) y[i] = factor * x[i];
    return 1;
}

std::map<std::string, int (*)(Dim3, Dim3, void**)> emulated = {{"scale", scale}};

/// The kernels of a module in PTX: those with a known name.
bool read_ptx(const std::string& text, Module* module) {
    if (text.find(".version") == std::string::npos) return false;
    const std::regex entry("\\.entry\\s+(\\w+)\\s*\\(([^)]*)\\)"), parameter("\\.param\\s+\\.([a-z])(\\d+)");
    for (std::sregex_iterator match(text.begin(), text.end(), entry), end; match != end; ++match) {
        const std::string name = (*match)[1], list = (*match)[2];
        Function function{module, name, {}, emulated.count(name) ? emulated[name] : nullptr};
        for (std::sregex_iterator item(list.begin(), list.end(), parameter); item != end; ++item) {
            const int size = std::stoi((*item)[2]) / 8;
            function.sizes.push_back((*item)[1] == "u" && size == 8 ? size : size);
        }
        module->functions[name] = function;
    }
    return true;
}

/// The allocation that holds an address.
const Allocation* holding(uintptr_t address) {
    auto above = allocations.upper_bound(address);
    if (above == allocations.begin()) return nullptr;
    --above;
    return address < above->first + above->second.size || address == above->first ? &above->second : nullptr;
}

}  // namespace

// What tests call.

EXPORT void* fake_alloc(int device, size_t size) {
    std::lock_guard<std::mutex> guard(lock);
    unsigned char* memory = new unsigned char[size + kGuard];
    memset(memory, 0xff, size);
    memset(memory + size, kGuardByte, kGuard);
    const auto start = reinterpret_cast<uintptr_t>(memory);
    allocations[start] = {device, size, start};
    return memory;
}
/// Whether nothing was written beyond its end.
EXPORT int fake_free(void* memory) {
    std::lock_guard<std::mutex> guard(lock);
    auto found = allocations.find(reinterpret_cast<uintptr_t>(memory));
    if (found == allocations.end()) return 0;
    unsigned char* bytes = static_cast<unsigned char*>(memory);
    int whole = 1;
    for (size_t i = 0; i < kGuard; ++i) whole &= bytes[found->second.size + i] == kGuardByte;
    allocations.erase(found);
    delete[] bytes;
    return whole;
}
EXPORT void* fake_stream(int device) {
    std::lock_guard<std::mutex> guard(lock);
    streams.push_back(new Stream{&contexts[device]});
    return streams.back();
}
EXPORT void fake_capture(void* stream, int capturing) { static_cast<Stream*>(stream)->capturing = capturing; }
/// The next call of a function fails, and those after it too if the error ends the context.
EXPORT void fake_fail(const char* function, int code, const char* log) {
    std::lock_guard<std::mutex> guard(lock);
    failures[function] = {code, log};
}
EXPORT void fake_heal() {
    std::lock_guard<std::mutex> guard(lock);
    sticky = 0;
    failures.clear();
}
EXPORT void fake_counts(Counts* into) {
    std::lock_guard<std::mutex> guard(lock);
    *into = counts;
    into->allocations = static_cast<long long>(allocations.size());
}
EXPORT int fake_current_device() { return current ? current->device : -1; }
EXPORT void fake_set_device(int device) { current = device < 0 ? nullptr : &contexts[device]; }

// The driver.

EXPORT int cuInit(unsigned int) {
    initialized = true;
    std::lock_guard<std::mutex> guard(lock);
    return failure("cuInit");
}
EXPORT int cuDriverGetVersion(int* version) {
    *version = 13000;
    return success;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
    BEGIN(cuDeviceGet);
    if (ordinal < 0 || ordinal >= kDevices) return invalid_device;
    *device = ordinal;
    return success;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
    BEGIN(cuDeviceGetAttribute);
    // Compute capability 9.0 and 12.0; everything else is there.
    *value = attribute == 75 ? (device == 0 ? 9 : 12) : attribute == 76 ? 0 : 1;
    return success;
}
EXPORT int cuDevicePrimaryCtxRetain(Context** context, int device) {
    BEGIN(cuDevicePrimaryCtxRetain);
    contexts[device].retained++;
    *context = &contexts[device];
    return success;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
    BEGIN(cuDevicePrimaryCtxRelease);
    contexts[device].retained--;
    return success;
}
EXPORT int cuCtxGetCurrent(Context** context) {
    BEGIN(cuCtxGetCurrent);
    *context = current;
    return success;
}
EXPORT int cuCtxSetCurrent(Context* context) {
    BEGIN(cuCtxSetCurrent);
    current = context;
    return success;
}
EXPORT int cuCtxGetDevice(int* device) {
    BEGIN(cuCtxGetDevice);
    if (!current) return invalid_context;
    *device = current->device;
    return success;
}
EXPORT int cuStreamGetCtx(Stream* stream, Context** context) {
    BEGIN(cuStreamGetCtx);
    if (!is_stream(stream)) return invalid_handle;
    *context = stream->context;
    return success;
}
EXPORT int cuStreamIsCapturing(Stream* stream, int* status) {
    BEGIN(cuStreamIsCapturing);
    *status = stream && stream->capturing;
    return success;
}
EXPORT int cuStreamDestroy_v2(Stream*) {
    // Streams are XLA's and torch's.
    std::lock_guard<std::mutex> guard(lock);
    counts.unknown_streams++;
    return success;
}
EXPORT int cuModuleLoadDataEx(Module** module, const char* image, unsigned int count, int* options, void** values) {
    std::lock_guard<std::mutex> guard(lock);
    std::string log;
    int code = failure("cuModuleLoadDataEx", &log);
    if (!code && !current) code = invalid_context;
    auto loaded = new Module{current};
    const std::string text = image;
    if (code) {
    } else if (cubin::is_cubin(image)) {
        // Loaded, and not run.
        for (const auto& [name, sizes] : cubin::kernels(image)) {
            loaded->functions[name] = Function{loaded, name, sizes, nullptr};
        }
    } else if (text.rfind("FAKE CUBIN\n", 0) == 0) {
        loaded->library = dlopen(text.c_str() + 11, RTLD_NOW | RTLD_LOCAL);
        if (!loaded->library) code = invalid_ptx, log = dlerror();
    } else if (!read_ptx(text, loaded)) {
        code = invalid_ptx;
        log = "ptxas fatal : Unresolved directive";
    }
    if (code) {
        for (unsigned int i = 0; i < count; ++i) {
            // CU_JIT_ERROR_LOG_BUFFER
            if (options[i] == 5) strncpy(static_cast<char*>(values[i]), log.c_str(), 4095);
        }
        delete loaded;
        return code;
    }
    counts.live_modules++;
    counts.loaded_modules++;
    *module = loaded;
    return success;
}
EXPORT int cuModuleUnload(Module* module) {
    BEGIN(cuModuleUnload);
    if (module->context != current) counts.bad_contexts++;
    if (module->library) dlclose(module->library);
    delete module;
    counts.live_modules--;
    return success;
}
EXPORT int cuModuleGetFunction(Function** function, Module* module, const char* name) {
    BEGIN(cuModuleGetFunction);
    if (module->library && !module->functions.count(name)) {
        const std::string symbol = name;
        auto run = reinterpret_cast<int (*)(Dim3, Dim3, void**)>(
            dlsym(module->library, ("shim_launch_" + symbol).c_str()));
        auto parameters =
            reinterpret_cast<int (*)(int*)>(dlsym(module->library, ("shim_parameters_" + symbol).c_str()));
        if (!run || !parameters) return not_found;
        int sizes[64];
        const int count = parameters(sizes);
        module->functions[name] = Function{module, name, std::vector<int>(sizes, sizes + count), run};
    }
    auto found = module->functions.find(name);
    if (found == module->functions.end()) return not_found;
    *function = &found->second;
    return success;
}
EXPORT int cuFuncGetParamInfo(Function* function, size_t index, size_t* offset, size_t* size) {
    BEGIN(cuFuncGetParamInfo);
    if (index >= function->sizes.size()) return invalid_value;
    *offset = 0;
    *size = static_cast<size_t>(abs(function->sizes[index]));
    return success;
}
EXPORT int cuPointerGetAttributes(unsigned int count, int* attributes, void** data, unsigned long long address) {
    BEGIN(cuPointerGetAttributes);
    const Allocation* allocation = holding(address);
    for (unsigned int i = 0; i < count; ++i) {
        // CU_POINTER_ATTRIBUTE_MEMORY_TYPE and CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        if (attributes[i] == 2) *static_cast<unsigned int*>(data[i]) = allocation ? 2 : 0;
        if (attributes[i] == 9) *static_cast<int*>(data[i]) = allocation ? allocation->device : -2;
        // ..._RANGE_START_ADDR and ..._RANGE_SIZE
        if (attributes[i] == 11) *static_cast<uint64_t*>(data[i]) = allocation ? allocation->start : 0;
        if (attributes[i] == 12) *static_cast<uint64_t*>(data[i]) = allocation ? allocation->size : 0;
    }
    return success;
}
EXPORT int cuLaunchKernel(Function* function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                          unsigned int by, unsigned int bz, unsigned int, Stream* stream, void** values, void**) {
    BEGIN(cuLaunchKernel);
    if (!gx || !gy || !gz || !bx || !by || !bz || uint64_t(bx) * by * bz > 1024) return invalid_value;
    Context* expected = stream ? stream->context : current;
    if (stream && !is_stream(stream)) {
        counts.unknown_streams++;
        return invalid_handle;
    }
    if (!current || current != expected || function->module->context != current) {
        counts.bad_contexts++;
        return invalid_context;
    }
    for (size_t i = 0; i < function->sizes.size(); ++i) {
        if (function->sizes[i] >= 0) continue;
        const uintptr_t address = *static_cast<uintptr_t*>(values[i]);
        const Allocation* allocation = holding(address);
        if (address && (!allocation || allocation->device != current->device)) return sticky = illegal_address;
    }
    counts.launches++;
    counts.last_stream = stream;
    if (!function->run || !function->run({gx, gy, gz}, {bx, by, bz}, values)) return sticky = launch_failed;
    return success;
}

EXPORT int cuGetErrorName(int code, const char** name) {
    static const std::map<int, const char*> names = {
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {218, "CUDA_ERROR_INVALID_PTX"},
        {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {400, "CUDA_ERROR_INVALID_HANDLE"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
        {719, "CUDA_ERROR_LAUNCH_FAILED"},
    };
    auto found = names.find(code);
    if (found == names.end()) return invalid_value;
    *name = found->second;
    return success;
}
EXPORT int cuGetErrorString(int code, const char** text) { return cuGetErrorName(code, text); }
