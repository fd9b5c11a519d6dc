// What stands compressed in a file, as far as a description wants it.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/bytes.h"

namespace sluice {

/// The first bytes, at most `limit`, of a DEFLATE stream (RFC 1951) that `source` begins. What
/// comes before an error or the end of `source` counts. Time is linear in `source` and `limit`.
std::string inflate(Bytes source, size_t limit);

/// The same of a stream with the header of zlib (RFC 1950), or of gzip (RFC 1952); empty when it
/// has neither.
std::string inflate_wrapped(Bytes source, size_t limit);

}  // namespace sluice
