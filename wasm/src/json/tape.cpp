#include "sluice/tape.h"

#include "json/reader.h"
#include "json/unescape.h"

namespace sluice {

Status Tape::parse(std::string_view text, Tape& tape, size_t max_depth, bool markers) {
  tape.text_ = text;
  tape.nodes_.clear();
  Status status = json::Reader(text, tape.nodes_, max_depth, markers).run();
  if (!status.ok()) tape.nodes_.clear();
  return status;
}

std::string_view Tape::source(size_t index) const {
  const Node& node = nodes_[index];
  return text_.substr(node.begin, node.end - node.begin);
}

std::string Tape::string(size_t index) const {
  std::string value;
  if (nodes_[index].type != Type::string) return value;
  const std::string_view quoted = source(index);
  append_unescaped(value, quoted.substr(1, quoted.size() - 2));
  return value;
}

bool Tape::is_string(size_t index, std::string_view value) const {
  if (nodes_[index].type != Type::string) return false;
  const std::string_view quoted = source(index);
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  // An escape writes a byte of the value in six characters at most, so most strings differ by
  // length.
  if (inside.size() < value.size() || inside.size() / 6 > value.size()) return false;
  if (inside.find('\\') == std::string_view::npos) return inside == value;
  return string(index) == value;
}

std::optional<size_t> Tape::find(size_t object, std::string_view key) const {
  std::optional<size_t> found;
  if (nodes_[object].type != Type::object) return found;
  for (size_t at = object + 1; at < nodes_[object].next; at = nodes_[at + 1].next)
    if (is_string(at, key)) found = at + 1;
  return found;
}

size_t Tape::count(size_t container) const {
  const Node& node = nodes_[container];
  if (node.type != Type::array && node.type != Type::object) return 0;
  const size_t key = node.type == Type::object ? 1 : 0;
  size_t count = 0;
  for (size_t at = container + 1; at < node.next; at = nodes_[at + key].next) ++count;
  return count;
}

size_t count_chars(std::string_view text) {
  size_t chars = 0;
  for (const char c : text) chars += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return chars;
}

}  // namespace sluice
