// Lines of a text as rows, with the columns `number` and `line`.
#pragma once

#include <memory>
#include <vector>

#include "tables/rows.h"

namespace sluice::tables {

/// The longest line that is asked whole; of a longer one the beginning is.
inline constexpr size_t kMaxLine = size_t{64} * 1024;

std::vector<Column> list_line_columns();
std::unique_ptr<Rows> make_line_rows(Read read);

}  // namespace sluice::tables
