// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bobbin::test {

// What breaks the rules of speedscope's file format: those of its published JSON schema (draft 7,
// https://www.speedscope.app/file-format-schema.json), no member beside the schema's, and what its
// importer (src/lib/file-format.ts) takes for granted: one weight a sample, frames that exist.
std::vector<std::string> check_speedscope(const std::string& text);

}  // namespace bobbin::test
