// Text that is not UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sluice/bytes.h"

namespace sluice {

/// Text in UTF-16 or UTF-32.
struct Wide {
  size_t width = 0;     ///< bytes of a unit
  bool big = false;     ///< the highest byte comes first
  bool marked = false;  ///< a byte order mark says so
};

/// Which of them bytes are: by their mark (Unicode 15 §23.8), or where nearly all is printable;
/// nothing for other bytes.
std::optional<Wide> find_wide_text(Bytes head);

/// Whether bytes are text in no encoding: a NUL stands in UTF-16 and UTF-32 alone.
bool is_no_text(Bytes head);

/// Its first line, or the beginning of it, as UTF-8.
std::string read_first_line(const Wide& wide, Bytes head);

/// Whether bytes may be text in an older encoding: nothing stands in them that no text has.
bool may_be_old_text(Bytes head);

/// Whether they are: mostly letters of ASCII, and not all.
bool is_old_text(Bytes head);

}  // namespace sluice
