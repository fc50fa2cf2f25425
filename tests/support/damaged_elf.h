// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bobbin::test {

// Copies of a program that still run, since the kernel reads program headers only and a program
// that throws nothing never reads its own unwind information.

// The section header of .eh_frame says 2^60 bytes.
void copy_with_absurd_eh_frame_size(const std::filesystem::path& from,
                                    const std::filesystem::path& to);

// .eh_frame is full of FDEs, each of which names itself as its CIE.
void copy_with_cyclic_cies(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace bobbin::test
