#include "files/base64.h"

#include <cstddef>

#include "files/ascii.h"

namespace sluice::files {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_white(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Takes characters one by one.
class Collector {
 public:
  explicit Collector(size_t most) { digits_.reserve(most); }

  bool take(char c) {
    if (is_white(c)) return true;
    if (c == '=') return ++padding_ <= 2;
    if (padding_ > 0) return false;
    if (c == '-' || c == '_') {
      url_ = true;
      c = c == '-' ? '+' : '/';
    } else if (c == '+' || c == '/') {
      standard_ = true;
    } else if (!is_alphanumeric(c)) {
      return false;
    }
    digits_ += c;
    return true;
  }

  std::optional<std::string> finish() && {
    const size_t rest = digits_.size() % 4;
    const bool whole = padding_ == 0 || (digits_.size() + padding_) % 4 == 0;
    if (rest == 1 || !whole || (standard_ && url_)) return std::nullopt;
    if (rest != 0) {
      // Two digits hold one byte and four bits more, three hold two bytes and two.
      const size_t unused = rest == 2 ? 0xF : 0x3;
      if ((kDigits.find(digits_.back()) & unused) != 0) return std::nullopt;
      digits_.append(4 - rest, '=');
    }
    return std::move(digits_);
  }

 private:
  std::string digits_;
  size_t padding_ = 0;
  bool standard_ = false;
  bool url_ = false;
};

}  // namespace

std::optional<std::string> standard_base64(std::string_view text) {
  Collector collector(text.size() + 2);
  for (const char c : text) {
    if (!collector.take(c)) return std::nullopt;
  }
  return std::move(collector).finish();
}

}  // namespace sluice::files
