// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel_lines.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "elf/elf_file.h"
#include "symbolize/find_debug_file.h"
#include "symbolize/kernel_build_id.h"

namespace bobbin::symbolize {
namespace {

constexpr std::uint64_t kMaxImageNotesBytes = 65536;

std::string running_release() {
    struct utsname names{};
    return ::uname(&names) == 0 ? names.release : "";
}

std::vector<std::string> places_of_image(const KernelDebugInfo& info, const std::string& build_id) {
    const std::string release = info.release.empty() ? running_release() : info.release;
    std::vector<std::string> places = {
        fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", build_id.substr(0, 2),
                    build_id.substr(2)),
        "/usr/lib/debug/boot/vmlinux-" + release,
        "/usr/lib/debug/lib/modules/" + release + "/vmlinux",
        "/boot/vmlinux-" + release,
        "/lib/modules/" + release + "/vmlinux",
        "/lib/modules/" + release + "/build/vmlinux",
    };
    for (std::string& place : places) place.insert(0, info.root);
    return places;
}

// The kernel's linker script puts all notes into one section.
std::string build_id_of(const elf::ElfFile& file) {
    for (const std::string_view name : {".notes", ".note.gnu.build-id"}) {
        const auto section = file.read_section(name, kMaxImageNotesBytes);
        if (section && *section) return find_build_id((*section)->bytes);
    }
    return {};
}

// Core functions, which alone lie in vmlinux.
std::vector<std::size_t> find_core_functions(const NamesOfEach& names) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!names[i].empty() && names[i].front().module.empty()) found.push_back(i);
    }
    return found;
}

}  // namespace

KernelImage find_kernel_image(const KernelDebugInfo& info) {
    const std::string build_id = kernel_build_id("", info.sysfs);
    if (build_id.size() < 2) return {};
    for (std::string& place : places_of_image(info, build_id)) {
        FoundFile found = open_object_file(place);
        if (!found.fd.is_open()) continue;
        const auto file = elf::ElfFile::open(found.fd.get());
        if (!file || build_id_of(*file) != build_id) continue;
        // `_text` is the first byte of .text (arch/x86/kernel/vmlinux.lds.S).
        const auto text = file->find_section(".text");
        if (text) return {std::move(found.fd), std::move(place), text->file_vaddr};
    }
    return {};
}

void add_kernel_lines(std::span<const std::uint64_t> addresses, std::uint64_t image_start,
                      const KernelDebugInfo& info, NamesOfEach& names) {
    const std::vector<std::size_t> core = find_core_functions(names);
    if (core.empty() || image_start == 0 || !info.name_object) return;
    const KernelImage image = find_kernel_image(info);
    if (!image.fd.is_open()) return;

    std::vector<std::uint64_t> file_vaddrs;
    file_vaddrs.reserve(core.size());
    for (const std::size_t i : core) {
        file_vaddrs.push_back(addresses[i] - image_start + image.start_file_vaddr);
    }
    NamesOfEach object = info.name_object(image.fd.get(), image.path, file_vaddrs);
    object.resize(core.size());
    for (std::size_t i = 0; i < core.size(); ++i) {
        std::vector<NamedFrame>& frames = object[i];
        if (frames.empty()) continue;
        std::vector<NamedFrame>& function = names[core[i]];
        frames.back().system_name = std::move(function.back().system_name);
        function = std::move(frames);
    }
}

}  // namespace bobbin::symbolize
