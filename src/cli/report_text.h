// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/report.h"
#include "cli/standard_output.h"

namespace bobbin::cli {

// For people, for programs, and for a page of a forge.
std::string to_text(const ReportAnswer& report, const Terminal& terminal);
std::string to_json(const ReportAnswer& report);
std::string to_markdown(const ReportAnswer& report);

// 1'234'000'000 nanoseconds -> "1.23s", 5'000'000 bytes -> "5.0 MB", 7 count -> "7".
std::string value_text(std::uint64_t value, std::string_view unit);
// "profile.pb.gz: 47,301 samples, 477.79s of cpu in 30.0s: 15.93 cores"
std::string describe_whole(const ReportAnswer& report);
// What a row of the answer is: "function", "unit", the label's key.
std::string_view title_of(const report::Grouping& grouping);
// "main  app  main.cpp:40": printable, without the folders of module and file.
std::string describe(const report::Group& group);
// At most `columns` of a text in UTF-8, of which the last shows that there was more; 0: all of it.
std::string cut_to(std::string text, std::size_t columns);

}  // namespace bobbin::cli
