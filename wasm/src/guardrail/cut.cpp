#include "guardrail/cut.h"

#include "json/unescape.h"
#include "json/utf8.h"
#include "sluice/tape.h"

namespace sluice::guardrail {

namespace {

constexpr std::string_view kScheme = "artifact:";

bool is_uri_char(char c) {
  const char lower = static_cast<char>(c | 0x20);
  if ((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("-._~:/?=&%+@,;").find(c) != std::string_view::npos;
}

bool may_end_sentence(char c) {
  return std::string_view(".,;:?").find(c) != std::string_view::npos;
}

/// 1 for `/`, 2 for `\/`, else 0.
size_t slash_at(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '/') return 1;
  return text.substr(at < text.size() ? at : text.size(), 2) == "\\/" ? 2 : 0;
}

size_t escape_length(std::string_view text, size_t at) {
  if (at + 1 >= text.size() || text[at + 1] != 'u') return 2;
  if (text.size() - at < 12 || text[at + 6] != '\\' || text[at + 7] != 'u') return 6;
  const bool high = (hex4(text.data() + at + 2) & 0xFC00) == 0xD800;
  const bool low = (hex4(text.data() + at + 8) & 0xFC00) == 0xDC00;
  return high && low ? 12 : 6;
}

/// Length of the piece at `at` that must not be divided.
size_t unit_length(std::string_view text, size_t at) {
  const auto byte = static_cast<uint8_t>(text[at]);
  if (byte == '\\') return escape_length(text, at);
  if (byte == 'a')
    if (const size_t length = reference_at(text, at)) return length;
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

size_t reference_at(std::string_view text, size_t at) {
  if (text.substr(at, kScheme.size()) != kScheme) return 0;
  size_t end = at + kScheme.size();
  for (int slashes = 0; slashes < 2; ++slashes) {
    const size_t slash = slash_at(text, end);
    if (slash == 0) return 0;
    end += slash;
  }
  const size_t begin = end;
  for (;;) {
    if (const size_t slash = slash_at(text, end))
      end += slash;
    else if (end < text.size() && is_uri_char(text[end]))
      ++end;
    else
      break;
  }
  while (end > begin && may_end_sentence(text[end - 1])) --end;
  return end > begin ? end - at : 0;
}

size_t escaped_chars(std::string_view text) {
  size_t chars = count_chars(text);
  for (const char c : text) chars += c == '"' || c == '\\' || (c >= '\t' && c <= '\r');
  return chars;
}

Head cut_head(std::string_view text, size_t limit, Spelling spelling) {
  Head head;
  while (head.bytes < text.size()) {
    const size_t length = unit_length(text, head.bytes);
    const std::string_view unit = text.substr(head.bytes, length);
    const size_t chars = spelling == Spelling::source ? count_chars(unit) : escaped_chars(unit);
    if (chars > limit - head.chars) break;
    head.bytes += unit.size();
    head.chars += chars;
  }
  return head;
}

}  // namespace sluice::guardrail
