// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bobbin::service {

// Questions of other threads to the one that owns the state: it answers them when it looks, they
// wait.
class QuestionQueue {
public:
    static Result<std::unique_ptr<QuestionQueue>> open() {
        UniqueFd arrived(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!arrived.is_open()) return fail_with(errno, "eventfd");
        return std::unique_ptr<QuestionQueue>(new QuestionQueue(std::move(arrived)));
    }

    // Readable when there is one to answer.
    [[nodiscard]] int fd() const { return arrived_.get(); }

    // Any thread but the answering one. `question` gives a Result; an error once all is closed.
    template <class Question>
    auto ask(Question question) -> decltype(question()) {
        auto task =
            std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
        auto answer = task->get_future();
        {
            const std::scoped_lock lock(mutex_);
            if (is_closed_) return fail_with(ESHUTDOWN, "ask the service");
            questions_.push_back([task] { (*task)(); });
        }
        ::eventfd_write(arrived_.get(), 1);
        return answer.get();
    }

    // The answering thread.
    void answer_all() {
        eventfd_t count = 0;
        ::eventfd_read(arrived_.get(), &count);
        while (true) {
            std::function<void()> question;
            {
                const std::scoped_lock lock(mutex_);
                if (questions_.empty()) return;
                question = std::move(questions_.front());
                questions_.pop_front();
            }
            question();
        }
    }
    // Answers what there is; later questions fail at once.
    void refuse_more() {
        {
            const std::scoped_lock lock(mutex_);
            is_closed_ = true;
        }
        answer_all();
    }
    [[nodiscard]] bool is_closed() const {
        const std::scoped_lock lock(mutex_);
        return is_closed_;
    }

private:
    explicit QuestionQueue(UniqueFd arrived) : arrived_(std::move(arrived)) {}

    UniqueFd arrived_;  // eventfd
    mutable std::mutex mutex_;
    std::deque<std::function<void()>> questions_;
    bool is_closed_ = false;
};

}  // namespace bobbin::service
