// The kernels of a cubin, which is an ELF file, with the sizes of their parameters: what the real NVRTC compiled, read
// as the driver does.

#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace cubin {

inline bool is_cubin(const char* image) { return memcmp(image, "\177ELF", 4) == 0; }

template <typename T>
T at(const char* address) {
    T value;
    memcpy(&value, address, sizeof value);
    return value;
}

/// Sizes of parameters in their order, by the names of kernels.
inline std::map<std::string, std::vector<int>> kernels(const char* image) {
    const char* headers = image + at<uint64_t>(image + 0x28);
    const size_t size = at<uint16_t>(image + 0x3a), count = at<uint16_t>(image + 0x3c);
    const auto content = [&](size_t section) { return image + at<uint64_t>(headers + section * size + 0x18); };
    const char* names = content(at<uint16_t>(image + 0x3e));
    std::map<std::string, std::vector<int>> found;
    for (size_t section = 0; section < count; ++section) {
        const std::string name = names + at<uint32_t>(headers + section * size), prefix = ".nv.info.";
        if (name.rfind(prefix, 0) != 0) continue;
        std::vector<int>& sizes = found[name.substr(prefix.size())];
        const char* end = content(section) + at<uint64_t>(headers + section * size + 0x20);
        for (const char* entry = content(section); entry < end;) {
            // A format, an attribute, and a value, or the size of what follows: EIFMT_SVAL.
            const bool is_sized = entry[0] == 4;
            const uint16_t value = at<uint16_t>(entry + 2);
            // EIATTR_KPARAM_INFO: an index, the ordinal, the offset, and the size above other bits.
            if (is_sized && entry[1] == 0x17) {
                const size_t ordinal = at<uint16_t>(entry + 8);
                if (sizes.size() <= ordinal) sizes.resize(ordinal + 1);
                sizes[ordinal] = at<uint32_t>(entry + 12) >> 18 & 0x3fff;
            }
            entry += 4 + (is_sized ? value : 0);
        }
    }
    return found;
}

}  // namespace cubin
