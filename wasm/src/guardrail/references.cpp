#include "guardrail/references.h"

#include <algorithm>
#include <cstring>

#include "guardrail/cut.h"

namespace sluice::guardrail {

namespace {

constexpr std::string_view kWord = "artifact";

/// The next `artifact` from `at` on. Its `f` is its rarest letter, in prose as in base64.
size_t find_word(std::string_view text, size_t at) {
  constexpr size_t kRare = kWord.find('f');
  for (at += kRare; at < text.size(); ++at) {
    const void* const hit = std::memchr(text.data() + at, 'f', text.size() - at);
    if (hit == nullptr) break;
    at = static_cast<size_t>(static_cast<const char*>(hit) - text.data());
    if (text.substr(at - kRare, kWord.size()) == kWord) return at - kRare;
  }
  return std::string_view::npos;
}

}  // namespace

References::References(const Tape& tape) : tape_(tape) {
  const std::string_view text = tape.text();
  for (size_t at = find_word(text, 0); at != std::string_view::npos; at = find_word(text, at))
    at = take(at);
}

std::span<const Reference> References::between(size_t begin, size_t end) const {
  const auto by_begin = [](const Reference& reference, size_t at) { return reference.begin < at; };
  const auto first = std::lower_bound(found_.begin(), found_.end(), begin, by_begin);
  const auto last = std::lower_bound(first, found_.end(), end, by_begin);
  return std::span(found_).subspan(static_cast<size_t>(first - found_.begin()),
                                   static_cast<size_t>(last - first));
}

bool References::whole(const Reference& reference) const {
  const Node& node = tape_[reference.node];
  if (node.type == Type::object) return true;
  return node.begin + 1 == reference.begin && node.end - 1 == reference.end;
}

/// Takes the reference that the word at `at` belongs to, if any; gives where to look on.
size_t References::take(size_t at) {
  const size_t node = node_at(at);
  const bool inside = tape_[node].type == Type::string && at < tape_[node].end;
  if (!inside) return at + kWord.size();
  if (tape_[node].begin + 1 == at && tape_[node].end == at + kWord.size() + 1 && is_key(node))
    return take_member(node);
  return take_uri(at, node);
}

size_t References::take_uri(size_t at, size_t node) {
  const size_t length = reference_at(tape_.text(), at);
  if (length == 0) return at + kWord.size();
  if (length <= kReferenceBytes && !is_key(node))
    found_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(at + length),
                      static_cast<uint32_t>(node)});
  return at + length;
}

size_t References::take_member(size_t key) {
  const size_t value = key + 1;
  const Node& node = tape_[value];
  if (node.type != Type::object || node.end - node.begin > kReferenceBytes) return node.begin;
  const auto id = tape_.find(value, "id");
  if (!id || tape_[*id].type != Type::string) return node.begin;
  found_.push_back({node.begin, node.end, static_cast<uint32_t>(value)});
  return node.end;
}

/// The last node that begins at or before an offset: the string that holds it, if one does.
size_t References::node_at(size_t offset) const {
  size_t low = 0;
  for (size_t high = tape_.size(); high - low > 1;) {
    const size_t middle = low + (high - low) / 2;
    (tape_[middle].begin <= offset ? low : high) = middle;
  }
  return low;
}

bool References::is_key(size_t node) {
  if (node == asked_) return answer_;
  const std::string_view text = tape_.text();
  const size_t next = text.find_first_not_of(" \t\r\n", tape_[node].end);
  asked_ = node;
  answer_ = next != std::string_view::npos && text[next] == ':';
  return answer_;
}

}  // namespace sluice::guardrail
