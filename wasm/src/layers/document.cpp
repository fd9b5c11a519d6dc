#include "layers/document.h"

#include <algorithm>

namespace sluice::layers {

Status Document::read(std::string text, size_t segments) {
  text_ = std::move(text);
  marks_.clear();
  Status status = Tape::parse(text_, tape_);
  if (!status.ok()) return status;
  for (size_t at = text_.find(kMarkerOpen); at != std::string::npos;
       at = text_.find(kMarkerOpen, at + kMarkerBytes)) {
    const int32_t segment = marker_at(text_, at);
    if (segment < 0 || static_cast<size_t>(segment) >= segments) {
      return {Code::misuse, 0, 0, {}, "A marker names a segment that does not exist."};
    }
    marks_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(segment)});
  }
  return {};
}

std::span<const Mark> Document::marks(size_t begin, size_t end) const {
  const auto before = [](const Mark& mark, size_t offset) { return mark.offset < offset; };
  const auto first = std::lower_bound(marks_.begin(), marks_.end(), begin, before);
  const auto last = std::lower_bound(first, marks_.end(), end, before);
  return std::span(marks_).subspan(static_cast<size_t>(first - marks_.begin()),
                                   static_cast<size_t>(last - first));
}

std::span<const Mark> Document::marks(size_t node) const {
  return marks(tape_[node].begin, tape_[node].end);
}

std::optional<uint32_t> Document::whole(size_t node) const {
  const Node& string = tape_[node];
  if (string.type != Type::string || string.end - string.begin != kMarkerBytes + 2) {
    return std::nullopt;
  }
  const std::span<const Mark> found = marks(node);
  if (found.empty()) return std::nullopt;
  return found.front().segment;
}

std::optional<uint32_t> Document::only(size_t node) const {
  const std::span<const Mark> found = marks(node);
  if (tape_[node].type != Type::string || found.size() != 1) return std::nullopt;
  const std::string value = tape_.string(node);
  const size_t first = value.find_first_not_of(" \t\r\n");
  if (marker_at(value, first) < 0 ||
      value.find_first_not_of(" \t\r\n", first + kMarkerBytes) != std::string::npos) {
    return std::nullopt;
  }
  return found.front().segment;
}

size_t Document::string_around(size_t offset) const {
  // Nodes stand in source order, and a string holds no other node: it is the last to begin before.
  size_t first = 0;
  size_t last = tape_.size();
  while (last - first > 1) {
    const size_t middle = first + (last - first) / 2;
    (tape_[middle].begin < offset ? first : last) = middle;
  }
  return first;
}

std::string_view Document::inside(size_t node) const {
  const std::string_view quoted = tape_.source(node);
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<uint32_t> Document::children(size_t node) const {
  std::vector<uint32_t> found;
  const Type type = tape_[node].type;
  if (type != Type::array && type != Type::object) return found;
  const size_t key = type == Type::object ? 1 : 0;
  for (size_t at = node + 1 + key; at < tape_[node].next; at = tape_[at].next + key) {
    found.push_back(static_cast<uint32_t>(at));
  }
  return found;
}

bool Document::is_block(size_t node, std::string_view name) const {
  const std::optional<size_t> type = tape_.find(node, "type");
  return type && tape_.is_string(*type, name);
}

}  // namespace sluice::layers
