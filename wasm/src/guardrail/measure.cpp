#include "guardrail/measure.h"

#include <algorithm>
#include <cstring>

#include "guardrail/cut.h"
#include "text/ascii.h"

namespace sluice::guardrail {

// --- references ------------------------------------------------------------------------------

namespace {

constexpr std::string_view kWord = "artifact";

/// The next `artifact` from `at` on. Searches for its `f`, the rarest letter in both prose and
/// base64.
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

/// Takes the reference that contains the word at `at`, if any. Returns where to continue.
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

/// The last node that begins at or before an offset: its string, if it is in one.
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
  const size_t next = text.find_first_not_of(kWhite, tape_[node].end);
  asked_ = node;
  answer_ = next != std::string_view::npos && text[next] == ':';
  return answer_;
}

// --- sizes -----------------------------------------------------------------------------------

namespace {

constexpr size_t kMaxLimit = size_t{1} << 30;

/// What the summary of a reference asks for, so that both stay together.
constexpr uint32_t kSummaryChars = 200;

bool is_container(const Node& node) {
  return node.type == Type::array || node.type == Type::object;
}

}  // namespace

Measure::Measure(const Tape& tape, const GuardrailOptions& options)
    : tape_(tape),
      references_(tape),
      suffix_(options.truncation_suffix),
      limit_(std::clamp(options.max_observation_chars, kMinObservationChars, kMaxLimit)),
      field_chars_(std::clamp(options.max_field_chars, size_t{1}, limit_)),
      sizes_(tape.size()) {
  if (!references_.all().empty()) needs_.resize(tape.size());
  // Children follow their containers, so a backward pass has all their sums.
  for (size_t node = tape.size(); node-- > 0;) {
    if (tape[node].type == Type::string)
      sizes_[node] = string_size(node);
    else if (!is_container(tape[node]))
      sizes_[node] = saturated(tape[node].end - tape[node].begin);
  }
  place_references();
  for (size_t node = tape.size(); node-- > 0;)
    if (is_container(tape[node]) && !whole(node)) sum(node);
}

bool Measure::whole(size_t node) const {
  if (need(node) == 0) return false;
  const auto inside = references_.of(node);
  return !inside.empty() && inside.front().node == node && references_.whole(inside.front());
}

void Measure::place_references() {
  for (const Reference& reference : references_.all()) {
    const size_t node = reference.node;
    if (references_.whole(reference)) {
      sizes_[node] = saturated(count_chars(minified(tape_.source(node))));
      needs_[node] = sizes_[node];
    } else if (needs_[node] == 0) {
      const uint64_t listed = listed_chars(references_.of(node));
      needs_[node] = std::min(sizes_[node], saturated(2 + suffix_.chars() + listed));
    }
  }
}

void Measure::sum(size_t container) {
  const bool object = tape_[container].type == Type::object;
  if (object && !needs_.empty()) want_summary(container);
  uint64_t size = 2;
  uint64_t need = 0;
  bool more = false;
  for (size_t at = container + 1; at < tape_[container].next; at = tape_[at].next) {
    if (size > 2) ++size;
    uint32_t lead = 0;
    if (object) {
      lead = sizes_[at] = key_size(at);
      ++at;
    }
    size += lead + sizes_[at];
    if (this->need(at) > 0)
      need += 1 + lead + needs_[at];
    else
      more = true;
  }
  sizes_[container] = saturated(size);
  if (need > 0)
    needs_[container] =
        std::min(sizes_[container], saturated(2 + need + (more ? 1 + kNoteChars : 0)));
}

/// Counts the summary beside an `artifact` member as part of the reference.
void Measure::want_summary(size_t object) {
  size_t summary = 0;
  bool artifact = false;
  for (size_t key = object + 1; key < tape_[object].next; key = tape_[key + 1].next) {
    const size_t value = key + 1;
    if (tape_[value].type == Type::object)
      artifact |= whole(value);
    else if (tape_.is_string(key, "summary") && tape_[value].type == Type::string)
      summary = value;
  }
  if (artifact && summary != 0 && needs_[summary] == 0)
    needs_[summary] = std::min(sizes_[summary], kSummaryChars);
}

uint32_t Measure::string_size(size_t node) const {
  const uint64_t bytes = tape_[node].end - tape_[node].begin;
  const uint64_t listed = listed_chars(references_.of(node));
  const uint64_t cut = 2 + field_chars_ + suffix_.chars() + listed;
  if (bytes <= cut) return saturated(count_chars(tape_.source(node)));
  // A code point has at most four bytes.
  if (bytes > cut * 4) return saturated(cut);
  return saturated(std::min<uint64_t>(cut, count_chars(tape_.source(node))));
}

uint32_t Measure::key_size(size_t node) const {
  const uint64_t bytes = tape_[node].end - tape_[node].begin;
  const uint64_t cut = 2 + kKeyChars;
  const uint64_t chars = bytes > cut * 4 ? cut : count_chars(tape_.source(node));
  return static_cast<uint32_t>(std::min(cut, chars) + 1);
}

uint32_t Measure::saturated(uint64_t chars) const {
  return static_cast<uint32_t>(std::min<uint64_t>(chars, limit_ + 1));
}

uint64_t listed_chars(std::span<const Reference> references) {
  uint64_t chars = 0;
  for (const Reference& reference : references) chars += 1 + reference.end - reference.begin;
  return chars;
}

std::string minified(std::string_view source) {
  std::string out;
  const char* const end = source.data() + source.size();
  bool inside = false;
  for (const char* at = source.data(); at < end; ++at) {
    const char c = *at;
    if (!inside && is_white(c)) continue;
    out += c;
    if (c == '"') inside = !inside;
    if (c == '\\') out += *++at;
  }
  return out;
}

}  // namespace sluice::guardrail
