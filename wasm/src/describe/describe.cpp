// One line about a stored thing.
#include "sluice/describe.h"

#include <algorithm>

#include "describe/image/dimensions.h"

namespace sluice {
namespace {

std::string label_of(const Subject& subject) {
  const std::string& label = subject.type.label;
  if (!subject.outline.empty() && (label.empty() || label == "text")) return "JSON";
  if (!label.empty()) return label;
  return subject.text ? "text" : "data";
}

/// Line ends are LF, CR LF or CR; a last line without one counts.
uint64_t count_lines(std::string_view text) {
  uint64_t lines = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (text[at] == '\n' || (text[at] == '\r' && !pair)) ++lines;
  }
  const bool open = !text.empty() && text.back() != '\n' && text.back() != '\r';
  return lines + (open ? 1 : 0);
}

/// `, 240 lines, first line untrusted file text: "…"`
std::string text_facts(std::string_view text, bool complete) {
  std::string facts;
  if (complete && !text.empty()) {
    const uint64_t lines = count_lines(text);
    facts = ", " + grouped(lines) + (lines == 1 ? " line" : " lines");
  }
  const std::string first = quote_untrusted(text.substr(0, text.find_first_of("\r\n")));
  if (first != "\"\"") facts += ", first line untrusted file text: " + first;
  return facts;
}

}  // namespace

std::string describe(const Subject& subject) {
  const Bytes head = subject.head.first(std::min(subject.head.size(), kDescribeHead));
  const bool complete = subject.complete && head.size() == subject.head.size();
  const bool is_image = subject.type.mime_type.starts_with("image/");
  std::string line = label_of(subject);
  if (const auto seen = is_image ? image::dimensions(head) : std::nullopt) {
    line += ", " + grouped(seen->width) + " × " + grouped(seen->height);
  }
  line += ", " + human_size(subject.size_bytes);
  if (!subject.outline.empty()) return line + ": " + subject.outline;
  if (subject.text && !is_image) line += text_facts(as_text(head), complete);
  return line;
}

}  // namespace sluice
