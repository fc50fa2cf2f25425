// SPDX-License-Identifier: Apache-2.0
module go_profile

go 1.19
