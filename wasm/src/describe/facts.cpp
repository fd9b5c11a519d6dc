// Counts, sizes and quotations as they stand in a description.
#include "describe/facts.h"

#include <array>

#include "sluice/describe.h"

namespace sluice {

std::string human_size(uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {" KB", " MB", " GB", " TB", " PB", " EB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  uint64_t whole = 0;
  uint64_t tenths = 0;
  size_t unit = 0;
  for (;; ++unit) {
    const uint64_t size = uint64_t{1} << (10 * (unit + 1));
    const uint64_t rest = bytes % size;
    whole = bytes / size;
    tenths = (rest * 10 + size / 2) / size;
    if (tenths == 10) {
      ++whole;
      tenths = 0;
    }
    if (whole < 1024 || unit + 1 == kUnits.size()) break;
  }
  return std::to_string(whole) + "." + std::to_string(tenths) + kUnits[unit];
}

void resize(Segment& segment, uint64_t bytes) {
  const std::string was = ", " + human_size(segment.bytes);
  // It stands behind the kind, where nothing is quoted yet.
  const size_t at = segment.description.find(was);
  if (at != std::string::npos) {
    segment.description.replace(at, was.size(), ", " + human_size(bytes));
  }
  segment.bytes = bytes;
}

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

namespace {

constexpr int kMostQuotes = 5;

}  // namespace

void append_count(std::string& line, uint64_t count, std::string_view noun) {
  line += ", ";
  line += grouped(count);
  line += ' ';
  line += noun;
  if (count == 1) return;
  if (noun.ends_with('y')) {
    line.pop_back();
    line += "ie";
  }
  line += 's';
}

bool Quotes::add(std::string_view text) {
  if (count_ == kMostQuotes) {
    line_ += ", …";
    return false;
  }
  const std::string quote = quote_untrusted(text);
  if (quote.size() == 2) return true;
  if (count_++ == 0) {
    line_ += intro_;
    line_ += " untrusted file text: ";
  } else {
    line_ += ", ";
  }
  line_ += quote;
  return true;
}

}  // namespace sluice
