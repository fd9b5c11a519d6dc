// Small files of the families that describe knows, and the line about each.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sluice/describe.h"

namespace sluice {

/// An integer as `bytes` bytes, the lowest first or the highest.
inline std::string le(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return out;
}
inline std::string be(uint64_t value, size_t bytes) {
  const std::string out = le(value, bytes);
  return {out.rbegin(), out.rend()};
}
inline std::string zeros(size_t count) {
  return std::string(count, '\0');
}

/// The facts that describe adds to label and size for a file whose ends are seen as they are when
/// it streams by.
inline std::string facts_of(std::string_view file, std::string_view mime,
                            std::string_view extension, size_t head_bytes = kDescribeHead) {
  Subject subject;
  subject.type = {std::string(mime), std::string(extension), "file"};
  subject.size_bytes = file.size();
  subject.head = as_bytes(file.substr(0, head_bytes));
  const size_t tail = file.size() < kDescribeTail ? file.size() : kDescribeTail;
  subject.tail = as_bytes(file.substr(file.size() - tail));
  const std::string line = describe(subject);
  const std::string known = "file, " + human_size(file.size());
  return line.starts_with(known) ? line.substr(known.size()) : "unexpected: " + line;
}

/// A box of an ISO base media file.
inline std::string box(std::string_view type, const std::string& content) {
  return be(content.size() + 8, 4) + std::string(type) + content;
}

}  // namespace sluice
