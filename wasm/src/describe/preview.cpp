// The beginning of a text, cut where nothing breaks.
#include "describe/code_point.h"
#include "json/utf8.h"
#include "sluice/describe.h"
#include "sluice/segment.h"

namespace sluice {
namespace {

constexpr std::string_view kReference = "artifact://";
constexpr size_t kLongestReference = 1'024;

bool in_reference(char character) {
  constexpr std::string_view kPunctuation = "-._~:/?&=%+;,@$";
  const char low = static_cast<char>(character | 0x20);
  return (low >= 'a' && low <= 'z') || (character >= '0' && character <= '9') ||
         kPunctuation.find(character) != std::string_view::npos;
}

/// Characters (all ASCII) of the reference at the start of `text`; 0 when there is none or it is
/// longer than any of ours.
size_t reference_length(std::string_view text) {
  if (!text.starts_with(kReference)) return 0;
  size_t length = kReference.size();
  while (length < text.size() && in_reference(text[length])) {
    if (++length > kLongestReference) return 0;
  }
  return length;
}

/// Characters at `text[at]` that stay together: a marker, a reference; 0 when there is neither.
size_t unit_length(std::string_view text, size_t at) {
  if (text[at] == kMarkerOpen && marker_at(text, at) >= 0) return kMarkerBytes;
  return reference_length(text.substr(at));
}

}  // namespace

std::string preview(std::string_view text, size_t limit) {
  std::string out;
  size_t count = 0;
  for (size_t at = 0; at < text.size() && count < limit;) {
    if (const size_t unit = unit_length(text, at); unit > 0) {
      if (unit > limit - count) break;
      out.append(text.substr(at, unit));
      at += unit;
      count += unit;
      continue;
    }
    const CodePoint point = read_code_point(text, at);
    at += point.length;
    if (is_control(point.value) && point.value != '\t' && point.value != '\n') continue;
    append_code_point(out, point.value);
    ++count;
  }
  return out;
}

}  // namespace sluice
