// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "serve/http_message.h"

namespace bobbin::service {

// /ui/: when what ran, and the page of the profile of a chosen range. It loads nothing but from
// /api/v1/: its policy, with another nonce for each answer, allows its own script and style alone.
serve::HttpAnswer ui_page();

}  // namespace bobbin::service
