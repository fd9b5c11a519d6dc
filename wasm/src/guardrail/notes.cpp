#include "guardrail/notes.h"

#include <algorithm>

#include "guardrail/cut.h"
#include "sluice/describe.h"
#include "text/utf8.h"

namespace sluice::guardrail {

namespace {

constexpr std::string_view kPlaceholder = "{truncated_chars}";
constexpr size_t kPatternBytes = 1'024;

/// The first kPatternBytes of a pattern as well-formed UTF-8.
std::string cleaned(std::string_view pattern) {
  std::string clean;
  const char* const end = pattern.data() + pattern.size();
  for (const char* at = pattern.data(); at < end && clean.size() < kPatternBytes;) {
    const size_t length = utf8_length(at, end);
    if (length == 0)
      append_code_point(clean, 0xFFFD);
    else
      clean.append(at, length);
    at += length == 0 ? 1 : length;
  }
  return clean;
}

std::string counted(uint64_t count, std::string_view noun) {
  std::string text = grouped(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace

Suffix::Suffix(std::string_view pattern) : pattern_(cleaned(pattern)) {
  chars_ = std::min(kSuffixChars, count_chars(filled(UINT32_MAX)));
}

std::string Suffix::filled(uint64_t left_out) const {
  std::string text;
  size_t at = 0;
  for (size_t hit = pattern_.find(kPlaceholder); hit != std::string::npos;
       hit = pattern_.find(kPlaceholder, at)) {
    text.append(pattern_, at, hit - at);
    text += std::to_string(left_out);
    at = hit + kPlaceholder.size();
  }
  text.append(pattern_, at);
  std::string inside;
  append_escaped(inside, text);
  return inside;
}

std::string Suffix::text(uint64_t left_out) const {
  std::string inside = filled(left_out);
  inside.resize(cut_head(inside, kSuffixChars).bytes);
  return inside;
}

std::string collapsed_note(Type type, uint64_t count) {
  std::string note = "\"… ";
  if (type == Type::object)
    note += "object with " + counted(count, "key");
  else if (type == Type::array)
    note += "array with " + counted(count, "item");
  else
    note += "number of " + counted(count, "character");
  note += '"';
  return note;
}

std::string more_note(Type container, uint64_t count) {
  return counted(count, container == Type::object ? "more key" : "more item");
}

std::string nothing_fits_note(uint64_t chars) {
  return "\"… observation of " + counted(chars, "character") + " left out\"";
}

}  // namespace sluice::guardrail
