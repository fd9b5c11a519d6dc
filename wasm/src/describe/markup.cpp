#include "describe/markup.h"

#include <algorithm>

#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// No title or name is longer.
constexpr size_t kMostText = 512;

bool ends_name(std::string_view text, size_t at) {
  return at >= text.size() || is_among(text[at], " \t\r\n/>");
}

/// Appends what `&…;` at the beginning of `text` stands for, and returns how long it is; 0 for what
/// is no entity.
size_t append_entity(std::string& out, std::string_view text) {
  static constexpr std::string_view kNames[][2] = {
      {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}};
  for (const auto& [name, character] : kNames) {
    if (!text.starts_with(name)) continue;
    out += character;
    return name.size();
  }
  const bool hex = text.starts_with("&#x");
  size_t at = hex ? 3 : 2;
  if (!text.starts_with("&#")) return 0;
  uint32_t point = 0;
  for (; at < text.size() && at < 12 && text[at] != ';'; ++at) {
    const char low = static_cast<char>(text[at] | 0x20);
    const bool letter = hex && low >= 'a' && low <= 'f';
    if (!is_digit(text[at]) && !letter) return 0;
    point = point * (hex ? 16 : 10) + static_cast<uint32_t>(letter ? low - 'a' + 10 : low - '0');
  }
  if (at >= text.size() || text[at] != ';') return 0;
  append_code_point(out, point);
  return at + 1;
}

}  // namespace

std::string_view find_tag(std::string_view xml, std::string_view name) {
  for (size_t at = 0; (at = xml.find(name, at)) != xml.npos; at += name.size()) {
    if (at > 0 && xml[at - 1] == '<' && ends_name(xml, at + name.size())) return xml.substr(at);
  }
  return {};
}

std::string resolve_entities(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = text[at] == '&' ? append_entity(out, text.substr(at)) : 0;
    if (length == 0) out += text[at];
    at += std::max<size_t>(length, 1);
  }
  return out;
}

std::string read_element(std::string_view xml, std::string_view name) {
  const std::string_view tag = find_tag(xml, name);
  const size_t begin = tag.find('>');
  if (begin == tag.npos || (begin > 0 && tag[begin - 1] == '/')) return {};
  const std::string_view text = tag.substr(begin + 1, kMostText);
  size_t end = text.find('<');
  // `a < b`, as some write it.
  while (end != text.npos && end + 1 < text.size() && is_among(text[end + 1], " =<")) {
    end = text.find('<', end + 1);
  }
  if (end == text.npos && text.size() < kMostText) return {};  // it never ends
  return resolve_entities(text.substr(0, end));
}

std::string read_attribute(std::string_view tag, std::string_view name) {
  if (name.empty()) return {};
  tag = tag.substr(0, tag.find('>'));
  for (size_t at = 0; (at = tag.find(name, at)) != tag.npos; at += name.size()) {
    const std::string_view rest = tag.substr(at + name.size());
    const bool quoted = rest.starts_with("=\"") || rest.starts_with("='");
    if (at == 0 || !is_among(tag[at - 1], " \t\r\n") || !quoted) continue;
    const std::string_view value = rest.substr(2, kMostText);
    return resolve_entities(value.substr(0, value.find(rest[1])));
  }
  return {};
}

uint64_t read_count(std::string_view xml, std::string_view name) {
  const std::string text = read_element(xml, name);
  if (!text.empty()) return read_number(text);
  const size_t at = xml.find(name);
  if (at == xml.npos) return 0;
  xml = xml.substr(at + name.size());
  return xml.starts_with("=\"") ? read_number(xml.substr(2)) : 0;
}

uint64_t count_tags(std::string_view xml, std::string_view name) {
  uint64_t count = 0;
  while (!(xml = find_tag(xml, name)).empty()) {
    ++count;
    xml.remove_prefix(name.size());
  }
  return count;
}

uint64_t read_number(std::string_view text) {
  constexpr size_t kMostDigits = 15;
  uint64_t value = 0;
  size_t digits = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits) {
    if (digits == kMostDigits) return 0;
    value = value * 10 + static_cast<uint64_t>(text[digits] - '0');
  }
  return value;
}

}  // namespace sluice
