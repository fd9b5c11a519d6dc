// Kinds of file by the trade of the people who use them: what a description says first of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "facts/kinds.h"

namespace sluice::families {

/// Writes the names of the tables of an SQLite database, with their comma: data.cpp.
void append_tables(std::string& line, const Glimpse& file);

/// The text from `at` on, at most `size` bytes of it.
std::string_view read_text(Bytes bytes, uint64_t at, uint64_t size);

}  // namespace sluice::families
