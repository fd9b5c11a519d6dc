#include "describe/facts.h"

#include "sluice/describe.h"

namespace sluice {
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
