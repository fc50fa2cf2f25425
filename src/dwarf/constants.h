// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The codes of DWARF 5 section 7 that the way from an address to its functions meets, and GNU's
// older ones for the same: split DWARF before version 5 (0x1f01, 0x1f02, 0x213x), dwz (0x1f20,
// 0x1f21). A constant is what the byte in the file says; the types are those of the fields.
namespace bobbin::dwarf {

enum Tag : std::uint16_t {
    kTagClass = 0x02,
    kTagEnumeration = 0x04,
    kTagLexicalBlock = 0x0b,
    kTagCompileUnit = 0x11,
    kTagStructure = 0x13,
    kTagUnion = 0x17,
    kTagInlinedSubroutine = 0x1d,
    kTagModule = 0x1e,
    kTagTryBlock = 0x32,
    kTagCatchBlock = 0x25,
    kTagSubprogram = 0x2e,
    kTagInterface = 0x38,
    kTagNamespace = 0x39,
    kTagSkeletonUnit = 0x4a,
};

enum AttributeName : std::uint16_t {
    kAtSibling = 0x01,
    kAtName = 0x03,
    kAtStmtList = 0x10,
    kAtLowPc = 0x11,
    kAtHighPc = 0x12,
    kAtLanguage = 0x13,
    kAtCompDir = 0x1b,
    kAtAbstractOrigin = 0x31,
    kAtDeclaration = 0x3c,
    kAtSpecification = 0x47,
    kAtRanges = 0x55,
    kAtCallFile = 0x58,
    kAtCallLine = 0x59,
    kAtLinkageName = 0x6e,
    kAtStrOffsetsBase = 0x72,
    kAtAddrBase = 0x73,
    kAtRnglistsBase = 0x74,
    kAtDwoName = 0x76,
    kAtMipsLinkageName = 0x2007,
    kAtGnuDwoName = 0x2130,
    kAtGnuDwoId = 0x2131,
    kAtGnuRangesBase = 0x2132,
    kAtGnuAddrBase = 0x2133,
};

enum Form : std::uint16_t {
    kFormAddr = 0x01,
    kFormBlock2 = 0x03,
    kFormBlock4 = 0x04,
    kFormData2 = 0x05,
    kFormData4 = 0x06,
    kFormData8 = 0x07,
    kFormString = 0x08,
    kFormBlock = 0x09,
    kFormBlock1 = 0x0a,
    kFormData1 = 0x0b,
    kFormFlag = 0x0c,
    kFormSdata = 0x0d,
    kFormStrp = 0x0e,
    kFormUdata = 0x0f,
    kFormRefAddr = 0x10,
    kFormRef1 = 0x11,
    kFormRef2 = 0x12,
    kFormRef4 = 0x13,
    kFormRef8 = 0x14,
    kFormRefUdata = 0x15,
    kFormIndirect = 0x16,
    kFormSecOffset = 0x17,
    kFormExprloc = 0x18,
    kFormFlagPresent = 0x19,
    kFormStrx = 0x1a,
    kFormAddrx = 0x1b,
    kFormRefSup4 = 0x1c,
    kFormStrpSup = 0x1d,
    kFormData16 = 0x1e,
    kFormLineStrp = 0x1f,
    kFormRefSig8 = 0x20,
    kFormImplicitConst = 0x21,
    kFormLoclistx = 0x22,
    kFormRnglistx = 0x23,
    kFormRefSup8 = 0x24,
    kFormStrx1 = 0x25,
    kFormStrx2 = 0x26,
    kFormStrx3 = 0x27,
    kFormStrx4 = 0x28,
    kFormAddrx1 = 0x29,
    kFormAddrx2 = 0x2a,
    kFormAddrx3 = 0x2b,
    kFormAddrx4 = 0x2c,
    kFormGnuAddrIndex = 0x1f01,
    kFormGnuStrIndex = 0x1f02,
    kFormGnuRefAlt = 0x1f20,
    kFormGnuStrpAlt = 0x1f21,
};

enum UnitType : std::uint8_t {
    kUnitCompile = 0x01,
    kUnitType = 0x02,
    kUnitPartial = 0x03,
    kUnitSkeleton = 0x04,
    kUnitSplitCompile = 0x05,
    kUnitSplitType = 0x06,
};

enum RangeListEntry : std::uint8_t {
    kRleEndOfList = 0x00,
    kRleBaseAddressx = 0x01,
    kRleStartxEndx = 0x02,
    kRleStartxLength = 0x03,
    kRleOffsetPair = 0x04,
    kRleBaseAddress = 0x05,
    kRleStartEnd = 0x06,
    kRleStartLength = 0x07,
};

enum LineOpcode : std::uint8_t {
    kLnsExtended = 0x00,
    kLnsCopy = 0x01,
    kLnsAdvancePc = 0x02,
    kLnsAdvanceLine = 0x03,
    kLnsSetFile = 0x04,
    kLnsSetColumn = 0x05,
    kLnsConstAddPc = 0x08,
    kLnsFixedAdvancePc = 0x09,
};

enum LineExtendedOpcode : std::uint8_t {
    kLneEndSequence = 0x01,
    kLneSetAddress = 0x02,
    kLneDefineFile = 0x03,
};

enum LineContent : std::uint8_t {
    kLnctPath = 0x01,
    kLnctDirectoryIndex = 0x02,
};

// Section numbers of a package's index, GNU's (version 2) and DWARF 5's (section 7.3.5.3).
enum PackageSection : std::uint8_t {
    kPackageInfo = 1,
    kPackageAbbrev = 3,
    kPackageStrOffsets = 6,
    kPackageRnglists = 8,  // version 2: macro
};

}  // namespace bobbin::dwarf
