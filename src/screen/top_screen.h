// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/function_table.h"
#include "report/pattern.h"
#include "screen/flame.h"
#include "screen/frame.h"
#include "screen/keys.h"
#include "screen/rows.h"
#include "screen/snapshot.h"

namespace bobbin::screen {

// What the person at the terminal looks at.
struct View {
    enum class What : std::uint8_t { kFunctions, kProcesses, kFlame };
    What what = What::kFunctions;
    report::Sort sort = report::Sort::kSelf;
    std::size_t first_row = 0;
    FlameView flame;
    bool is_paused = false;
    bool shows_help = false;
    std::string filter;                // what stands there; empty: none
    std::optional<std::string> typed;  // the next filter, while it is typed
    std::string problem;               // with what was typed
};

// `bobbin top` without a terminal: snapshots and keys go in, pages come out.
class TopScreen {
public:
    explicit TopScreen(Look look) : look_(look) {}

    // While paused it waits until that ends.
    void show(std::shared_ptr<const Snapshot> snapshot);

    enum class Answer : std::uint8_t { kStay, kQuit };
    Answer press(const Key& key);

    // Exactly as many lines as the screen has.
    Page draw(Size size);

    [[nodiscard]] const View& view() const { return view_; }

private:
    void press_character(char byte);
    void press_while_typing(const Key& key);
    void scroll(const Key& key);
    void move_in_flame(KeyKind kind);
    void keep_in_rows();
    void use_filter(const std::string& text);
    void look_at(View::What what);
    void refresh();
    std::vector<std::string> draw_body(Size size) const;
    std::string draw_foot(Size size) const;

    Look look_;
    View view_;
    std::shared_ptr<const Snapshot> shown_;
    std::shared_ptr<const Snapshot> latest_;
    std::optional<report::Pattern> pattern_;
    // What is shown, made from the snapshot when that, the view or the filter changed.
    bool is_stale_ = true;
    std::vector<Row> rows_;
    FlameGraph graph_;
    std::size_t page_rows_ = 1;  // rows of the body, as last drawn
};

}  // namespace bobbin::screen
