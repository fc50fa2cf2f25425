// SPDX-License-Identifier: Apache-2.0
#include "screen/top_screen.h"

#include <algorithm>
#include <utility>

#include "screen/page_parts.h"

namespace bobbin::screen {
namespace {

constexpr std::size_t kMaxFilterBytes = 200;

}  // namespace

void TopScreen::show(std::shared_ptr<const Snapshot> snapshot) {
    latest_ = std::move(snapshot);
    if (view_.is_paused && shown_) return;
    shown_ = latest_;
    is_stale_ = true;
}

void TopScreen::look_at(View::What what) {
    view_.what = what;
    view_.first_row = 0;
    is_stale_ = true;
}

void TopScreen::use_filter(const std::string& text) {
    view_.problem.clear();
    if (text.empty()) {
        pattern_.reset();
    } else {
        auto pattern = report::Pattern::compile(text);
        if (!pattern) {
            view_.problem = pattern.error().message();
            return;
        }
        pattern_ = std::move(*pattern);
    }
    view_.filter = text;
    view_.first_row = 0;
    is_stale_ = true;
}

void TopScreen::press_while_typing(const Key& key) {
    std::string& typed = *view_.typed;
    switch (key.kind) {
        case KeyKind::kCharacter:
            if (typed.size() < kMaxFilterBytes) typed += key.byte;
            view_.problem.clear();
            break;
        case KeyKind::kBackspace:
            // All bytes of a character of UTF-8.
            while (!typed.empty() && (typed.back() & 0xc0) == 0x80) typed.pop_back();
            if (!typed.empty()) typed.pop_back();
            view_.problem.clear();
            break;
        case KeyKind::kEnter:
            use_filter(typed);
            if (view_.problem.empty()) view_.typed.reset();
            break;
        case KeyKind::kEscape:
            view_.typed.reset();
            view_.problem.clear();
            break;
        default:
            break;
    }
}

void TopScreen::press_character(char byte) {
    switch (byte) {
        case 's':
            view_.sort =
                view_.sort == report::Sort::kSelf ? report::Sort::kTotal : report::Sort::kSelf;
            look_at(View::What::kFunctions);
            break;
        case 'p':
            look_at(view_.what == View::What::kProcesses ? View::What::kFunctions
                                                         : View::What::kProcesses);
            break;
        case 'f':
            look_at(view_.what == View::What::kFlame ? View::What::kFunctions : View::What::kFlame);
            break;
        case ' ':
            view_.is_paused = !view_.is_paused;
            if (!view_.is_paused && latest_) show(latest_);
            break;
        case '/':
            view_.typed = "";
            break;
        case 'j':
            scroll({.kind = KeyKind::kDown});
            break;
        case 'k':
            scroll({.kind = KeyKind::kUp});
            break;
        default:
            break;
    }
}

void TopScreen::move_in_flame(KeyKind kind) {
    if (kind == KeyKind::kUp) step(graph_, FlameStep::kUp, view_.flame);
    if (kind == KeyKind::kDown) step(graph_, FlameStep::kDown, view_.flame);
    if (kind == KeyKind::kLeft) step(graph_, FlameStep::kLeft, view_.flame);
    if (kind == KeyKind::kRight) step(graph_, FlameStep::kRight, view_.flame);
    if (kind == KeyKind::kEnter) zoom_in(view_.flame);
    if (kind == KeyKind::kBackspace) zoom_out(view_.flame);
    if (kind == KeyKind::kHome) view_.flame = {};
}

void TopScreen::scroll(const Key& key) {
    if (view_.what == View::What::kFlame) return move_in_flame(key.kind);
    std::size_t& first = view_.first_row;
    if (key.kind == KeyKind::kUp) first -= std::min<std::size_t>(first, 1);
    if (key.kind == KeyKind::kDown) ++first;
    if (key.kind == KeyKind::kPageUp) first -= std::min(first, page_rows_);
    if (key.kind == KeyKind::kPageDown) first += page_rows_;
    if (key.kind == KeyKind::kHome) first = 0;
    if (key.kind == KeyKind::kEnd) first = rows_.size();
    keep_in_rows();
}

// Rows go with each snapshot, and the screen may grow.
void TopScreen::keep_in_rows() {
    const std::size_t last = rows_.size() - std::min(rows_.size(), page_rows_);
    view_.first_row = std::min(view_.first_row, last);
}

TopScreen::Answer TopScreen::press(const Key& key) {
    if (view_.typed) {
        press_while_typing(key);
        return Answer::kStay;
    }
    const bool is_character = key.kind == KeyKind::kCharacter;
    const bool wants_help = is_character && (key.byte == '?' || key.byte == 'h');
    if (view_.shows_help || wants_help) {
        view_.shows_help = !view_.shows_help;
        return Answer::kStay;
    }
    if (is_character && (key.byte == 'q' || key.byte == 'Q')) return Answer::kQuit;
    refresh();
    if (is_character) {
        press_character(key.byte);
    } else if (key.kind == KeyKind::kEscape) {
        use_filter("");
    } else {
        scroll(key);
    }
    return Answer::kStay;
}

void TopScreen::refresh() {
    if (!shown_ || !std::exchange(is_stale_, false)) return;
    rows_.clear();
    if (view_.what == View::What::kFlame) {
        if (pattern_) {
            symbolize::NamedProfile matching = shown_->profile;
            keep_matching(*pattern_, matching);
            graph_ = make_flame_graph(matching);
        } else {
            graph_ = make_flame_graph(shown_->profile);
        }
        return;
    }
    rows_ = view_.what == View::What::kProcesses ? make_process_rows(shown_->profile)
                                                 : make_function_rows(shown_->profile, view_.sort);
    if (pattern_) keep_matching(*pattern_, rows_);
}

std::vector<std::string> TopScreen::draw_body(Size size) const {
    if (view_.shows_help) return draw_help(size, look_);
    if (!shown_) return {Line(look_, size.columns).add("waiting for the first samples").text()};
    if (view_.what == View::What::kFlame) {
        return draw_flame_part(graph_, view_.flame, size, look_);
    }
    const TablePart table{.rows = rows_,
                          .first_row = view_.first_row,
                          .sample_count = shown_->profile.sample_count,
                          .is_of_processes = view_.what == View::What::kProcesses,
                          .sort = view_.sort};
    return draw_table(table, size, look_);
}

std::string TopScreen::draw_foot(Size size) const {
    Line line(look_, size.columns);
    if (!view_.problem.empty()) {
        return line.add(view_.problem, Style::kWarning).add(": ").add(*view_.typed).text();
    }
    if (view_.typed) {
        return line.add("filter: /", Style::kBold)
            .add(*view_.typed)
            .add(" ", Style::kSelected)
            .text();
    }
    if (!view_.filter.empty()) {
        line.add("/", Style::kBold).add(view_.filter, Style::kBold).add("  Esc all  ");
    }
    return draw_hints(std::move(line), view_.what == View::What::kFlame);
}

Page TopScreen::draw(Size size) {
    refresh();
    Page page{.size = size, .lines = {}};
    constexpr std::size_t kLeastRows = 4;
    constexpr std::size_t kLeastColumns = 20;
    if (size.rows < kLeastRows || size.columns < kLeastColumns) {
        page.lines.push_back(Line(look_, size.columns).add("too small").text());
    } else {
        page.lines = draw_head(shown_.get(), view_.is_paused, size, look_);
        const std::size_t rows = size.rows - page.lines.size() - 1;
        page_rows_ = std::max<std::size_t>(1, rows - 1);
        keep_in_rows();
        std::vector<std::string> body = draw_body({.columns = size.columns, .rows = rows});
        body.resize(rows, Line(look_, size.columns).text());
        std::ranges::move(body, std::back_inserter(page.lines));
        page.lines.push_back(draw_foot(size));
    }
    page.lines.resize(size.rows, Line(look_, size.columns).text());
    return page;
}

}  // namespace bobbin::screen
