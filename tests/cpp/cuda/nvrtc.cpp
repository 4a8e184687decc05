// NVRTC without a GPU: compiles CUDA C with the machine's C++ compiler, to a library that the fake driver runs.
// Entry points are those that the crate `oxcall` uses.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum Result { success = 0, invalid_input = 3, compilation = 6 };

struct Program {
    std::string source, log, image;
};

std::string compiler, shim, folder;
int architecture_of_last = 0;

std::string read(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

/// The compiler's command, the header `shim.h`, and a folder for files.
EXPORT void fake_nvrtc_configure(const char* command, const char* header, const char* scratch) {
    compiler = command;
    shim = header;
    folder = scratch;
}

/// The architecture of the last compilation: negative for PTX.
EXPORT int fake_nvrtc_architecture() { return architecture_of_last; }

EXPORT int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char**, const char**) {
    *program = new Program{source, "", ""};
    return success;
}

EXPORT int nvrtcDestroyProgram(Program** program) {
    delete *program;
    *program = nullptr;
    return success;
}

EXPORT int nvrtcCompileProgram(Program* program, int count, const char** options) {
    for (int i = 0; i < count; ++i) {
        const std::string option = options[i];
        if (option.rfind("--gpu-architecture=sm_", 0) == 0) architecture_of_last = atoi(option.c_str() + 22);
        if (option.rfind("--gpu-architecture=compute_", 0) == 0) architecture_of_last = -atoi(option.c_str() + 27);
    }
    static int serial = 0;
    const std::string base = folder + "/module" + std::to_string(serial++);
    const std::string source = base + ".cpp", log = base + ".log", library = base + ".so";
    std::ofstream(source) << program->source;
    const std::string flags = " -std=c++17 -O1 -w -fPIC -ffp-contract=off -fvisibility=hidden -DOXCALL_SHIM -include " +
                              shim + " " + source;
    if (system((compiler + " -E -P" + flags + " -o " + base + ".i 2> " + log).c_str()) != 0) {
        program->log = read(log);
        return compilation;
    }
    const std::string text = read(base + ".i");
    const std::regex kernel(
        "extern \"C\" __attribute__\\(\\(visibility\\(\"default\"\\)\\)\\)\\s+void\\s+(\\w+)\\s*\\(");
    std::ofstream more(source, std::ios::app);
    for (std::sregex_iterator match(text.begin(), text.end(), kernel), end; match != end; ++match) {
        more << "\nSHIM_ENTRY(" << (*match)[1] << ")";
    }
    more << "\n";
    more.close();
    if (system((compiler + " -shared" + flags + " -o " + library + " 2> " + log).c_str()) != 0) {
        program->log = read(log);
        return compilation;
    }
    program->image = "FAKE CUBIN\n" + library;
    return success;
}

EXPORT int nvrtcGetProgramLogSize(Program* program, size_t* size) {
    *size = program->log.size() + 1;
    return success;
}
EXPORT int nvrtcGetProgramLog(Program* program, char* log) {
    memcpy(log, program->log.c_str(), program->log.size() + 1);
    return success;
}
EXPORT int nvrtcGetCUBINSize(Program* program, size_t* size) {
    *size = architecture_of_last > 0 ? program->image.size() + 1 : 0;
    return success;
}
EXPORT int nvrtcGetCUBIN(Program* program, char* image) {
    if (architecture_of_last <= 0) return invalid_input;
    memcpy(image, program->image.c_str(), program->image.size() + 1);
    return success;
}
EXPORT int nvrtcGetPTXSize(Program* program, size_t* size) {
    *size = program->image.size() + 1;
    return success;
}
EXPORT int nvrtcGetPTX(Program* program, char* image) {
    memcpy(image, program->image.c_str(), program->image.size() + 1);
    return success;
}
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
    *count = 3;
    return success;
}
EXPORT int nvrtcGetSupportedArchs(int* architectures) {
    architectures[0] = 75, architectures[1] = 80, architectures[2] = 90;
    return success;
}
EXPORT const char* nvrtcGetErrorString(int) { return "an error of the fake NVRTC"; }
EXPORT int nvrtcVersion(int* major, int* minor) {
    *major = 13, *minor = 0;
    return success;
}
