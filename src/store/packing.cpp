// SPDX-License-Identifier: Apache-2.0
#include "store/packing.h"

#include <zstd.h>

#include <cerrno>
#include <memory>

namespace bobbin::store {

Result<std::string> pack(std::string_view text, int level) {
    struct Free {
        void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    };
    const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
    if (context == nullptr) return fail_with(ENOMEM, "compress {} bytes", text.size());
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    const std::size_t size =
        ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size());
    if (ZSTD_isError(size) != 0) return fail("compress: {}", ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

Result<std::string> unpack(std::string_view packed, std::size_t max_bytes) {
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
        return fail("nothing packed is where it should be");
    }
    if (size > max_bytes) return fail("it is of more than {} bytes", max_bytes);
    std::string text(static_cast<std::size_t>(size), '\0');
    const std::size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) != 0) return fail("damaged: {}", ZSTD_getErrorName(got));
    if (got != text.size()) return fail("damaged: {} of {} bytes", got, text.size());
    return text;
}

}  // namespace bobbin::store
