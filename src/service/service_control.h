// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "service/control.h"

namespace bobbin::service {

class Service;

// Asks `service`, which outlives it, by its questions.
std::unique_ptr<Control> make_control(Service& service);

}  // namespace bobbin::service
