// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bobbin::cfi {

// DWARF 5 section 7.24; the last three are GNU's, from LSB 5.0 section 10.5.2 and binutils.
enum Opcode : std::uint8_t {
    kNop = 0x00,
    kSetLoc = 0x01,
    kAdvanceLoc1 = 0x02,
    kAdvanceLoc2 = 0x03,
    kAdvanceLoc4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRememberState = 0x0a,
    kRestoreState = 0x0b,
    kDefCfa = 0x0c,
    kDefCfaRegister = 0x0d,
    kDefCfaOffset = 0x0e,
    kDefCfaExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSf = 0x11,
    kDefCfaSf = 0x12,
    kDefCfaOffsetSf = 0x13,
    kValOffset = 0x14,
    kValOffsetSf = 0x15,
    kValExpression = 0x16,
    kGnuArgsSize = 0x2e,
    kGnuNegativeOffsetExtended = 0x2f,
};

// The upper two bits of an opcode that carries its operand in the lower six.
enum PrimaryOpcode : std::uint8_t { kExtended = 0, kAdvanceLoc = 1, kOffset = 2, kRestore = 3 };

}  // namespace bobbin::cfi
