// Questions of texts in memory, whose answers are text: cells between bars, rows between line ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/tables.h"

namespace sluice {

/// A host whose artifacts are texts, and which gives at most `most` bytes at a time.
inline ReadArtifact read_from(std::vector<std::string> texts, size_t most = SIZE_MAX) {
  return [texts = std::move(texts), most](uint32_t artifact, uint64_t offset,
                                          std::span<char> into) -> ptrdiff_t {
    const std::string& text = texts.at(artifact);
    const size_t from = std::min(static_cast<size_t>(offset), text.size());
    const size_t count = std::min({text.size() - from, into.size(), most});
    text.copy(into.data(), count, from);
    return static_cast<ptrdiff_t>(count);
  };
}

inline std::string write_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

/// The cells as `TableQuery::read_rows` writes them.
inline std::string show_cells(std::string_view cells, size_t columns) {
  std::string shown;
  for (size_t count = 0; !cells.empty(); ++count) {
    if (count > 0) shown += count % columns == 0 ? '\n' : '|';
    const char tag = cells[0];
    cells.remove_prefix(1);
    if (tag == 'd') {
      double number = 0;
      std::memcpy(&number, cells.data(), sizeof number);
      cells.remove_prefix(sizeof number);
      shown += write_number(number);
    } else if (tag == 't') {
      uint32_t size = 0;
      std::memcpy(&size, cells.data(), sizeof size);
      shown += cells.substr(sizeof size, size);
      cells.remove_prefix(sizeof size + size);
    } else {
      shown += "NULL";
    }
  }
  return shown;
}

/// All rows of an answer, or why there is none.
inline std::string answer(TableQuery& query, std::string_view sql) {
  std::string cells;
  bool goes_on = query.prepare(sql);
  while (goes_on && !query.is_over()) goes_on = query.read_rows(cells, cells.size() + 1024);
  if (!goes_on) return "failure: " + query.failure().message;
  return show_cells(cells, query.columns().size());
}

inline std::string ask_csv(const std::string& text, std::string_view sql,
                           const QueryLimits& limits = {}) {
  TableQuery query(read_from({text}), limits);
  query.add_csv("rows", 0, 0, ',', '\n', false);
  return answer(query, sql);
}

}  // namespace sluice
