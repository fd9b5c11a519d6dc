// The central directory at the end of a ZIP archive (APPNOTE.TXT 6.3 §4.3).
#pragma once

#include <cstdint>
#include <optional>

#include "sniff/fields.h"

namespace sluice {

/// The central directory, as the end of the archive speaks of it.
struct ZipDirectory {
  uint64_t entries = 0;
  uint64_t shift = 0;  ///< bytes before the archive, which its own offsets leave out
  Bytes seen;          ///< from its first entry on, as far as that is seen; empty when it is not
};

/// Nothing where the end of the archive is not seen, or is not whole.
std::optional<ZipDirectory> zip_directory(const Glimpse& file);

}  // namespace sluice
