// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/pattern.h"
#include "symbolize/named_profile.h"

namespace bobbin::store {

// Which samples: conditions on their labels, all of which have to hold. As Prometheus writes them:
//   unit="nginx.service", comm=~"nginx.*", container!="", pid="42"
// Labels: unit comm thread container cgroup cpu pid tid, and any other that samples have; one that
// a sample does not have is empty. Braces around the whole, and a word without quotes, are taken
// too. A regular expression is POSIX's extended one and has to match the whole text.
class Where {
public:
    // Error: what is wrong and where in the text.
    static Result<Where> parse(std::string_view text);
    // Units added are alternatives to each other: "nginx", "nginx.service", "user.slice" with all
    // that is below it.
    void add_unit(std::string unit);

    [[nodiscard]] bool is_everything() const { return conditions_.empty() && units_.empty(); }
    [[nodiscard]] bool matches(const symbolize::SampleLabels& labels) const;
    // Leaves the stacks that match, and what they refer to.
    void keep_matching(symbolize::NamedProfile& profile) const;

private:
    struct Condition {
        std::string label;
        std::string text;
        std::shared_ptr<const report::Pattern> pattern;  // of =~ and !~, anchored at both ends
        bool is_negated = false;
    };
    friend class WhereParser;

    std::vector<Condition> conditions_;
    std::vector<std::string> units_;
};

}  // namespace bobbin::store
