#include "guardrail/writer.h"

#include <algorithm>
#include <vector>

#include "guardrail/cut_text.h"
#include "sluice/describe.h"

namespace sluice::guardrail {

namespace {

/// Room for `… [key 33,554,432 of 4,294,967,295 chars]`.
constexpr size_t kKeyNoteChars = 42;

constexpr std::string_view kNote = "…";

/// What may stand for the number of a note's key: 12 of `… 12`, 1 of `…`, nothing usable of other
/// texts.
size_t number_in(std::string_view text) {
  if (text == kNote) return 1;
  size_t number = 0;
  for (const char c : text.substr(0, kNote.size() + 10))
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<size_t>(c - '0');
  return number;
}

/// `…`, `… 2`, `… 3`, …
std::string numbered(size_t number) {
  std::string text(kNote);
  if (number > 1) text.append(1, ' ').append(std::to_string(number));
  return text;
}

}  // namespace

void Writer::value(size_t node, size_t budget) {
  const bool fits = measure_.size(node) <= budget;
  const bool container = tape_[node].type == Type::array || tape_[node].type == Type::object;
  if (fits && measure_.size(node) == tape_[node].end - tape_[node].begin)
    append(tape_.source(node));  // As many characters as bytes: nothing to cut, no space.
  else if (fits && measure_.whole(node))
    append(minified(tape_.source(node)));
  else if (tape_[node].type == Type::string)
    string(node, budget);
  else if (!container)
    number(node);
  else if (fits)
    all_of(node);
  else
    part_of(node, budget);
}

void Writer::string(size_t node, size_t budget) {
  const std::string_view source = tape_.source(node);
  const size_t limit = std::min<size_t>(budget, measure_.size(node));
  if (source.size() / 4 <= limit && count_chars(source) <= limit) return append(source);
  cut_fields_ = true;
  std::string inside = "…";
  if (!measure_.whole(node))
    inside =
        cut_text(measure_, tape_[node].begin + 1, tape_[node].end - 1, limit - 2, Spelling::source);
  append("\"");
  append(inside);
  append("\"");
}

void Writer::number(size_t node) {
  cut_fields_ = true;
  append(collapsed_note(Type::number, tape_.source(node).size()));
}

void Writer::all_of(size_t container) {
  const bool object = tape_[container].type == Type::object;
  append(object ? "{" : "[");
  size_t ordinal = 0;
  for (size_t at = container + 1; at < tape_[container].next; at = tape_[at].next) {
    if (++ordinal > 1) append(",");
    if (object) key(at++, ordinal);
    value(at, measure_.size(at));
  }
  append(object ? "}" : "]");
}

void Writer::part_of(size_t container, size_t budget) {
  const Share divided = share(measure_, container, budget);
  if (divided.kept.empty() || divided.left_out > 0) cut_structure_ = true;
  if (divided.kept.empty())
    append(collapsed_note(tape_[container].type, tape_.count(container)));
  else
    children(container, divided, budget);
}

void Writer::children(size_t container, const Share& share, size_t budget) {
  const bool object = tape_[container].type == Type::object;
  size_t spare = budget - 2 - (share.left_out > 0 ? 1 + kNoteChars : 0);
  for (const Child& child : share.kept) spare -= child.lead + child.budget;
  append(object ? "{" : "[");
  for (const Child& child : share.kept) {
    const size_t before = chars_;
    if (&child != share.kept.data()) append(",");
    if (object) key(child.value - 1, child.ordinal);
    // What others did not use goes to the first that can.
    value(child.value, std::min<size_t>(child.budget + spare, measure_.size(child.value)));
    spare += child.lead + child.budget - (chars_ - before);
  }
  if (share.left_out > 0) more(container, share);
  append(object ? "}" : "]");
}

void Writer::key(size_t node, size_t ordinal) {
  const std::string_view source = tape_.source(node);
  // A size that long may be saturated: only then is counting needed.
  const size_t chars = measure_.size(node) <= 2 + kKeyChars ? 0 : count_chars(source) - 2;
  if (chars <= kKeyChars) {
    append(source);
  } else {
    cut_fields_ = true;
    const std::string_view inside = source.substr(1, source.size() - 2);
    append("\"");
    append(inside.substr(0, cut_head(inside, kKeyChars - kKeyNoteChars).bytes));
    // The number keeps keys apart that begin alike.
    append("… [key " + grouped(ordinal) + " of " + grouped(chars) + " chars]\"");
  }
  append(":");
}

void Writer::more(size_t container, const Share& share) {
  append(",\"");
  if (tape_[container].type == Type::object)
    append(free_key(share) + "\":\"");
  else
    append("… ");
  append(more_note(tape_[container].type, share.left_out));
  append("\"");
}

/// `…`, or `… 2`, `… 3` and so on where a kept key reads so already.
std::string Writer::free_key(const Share& share) const {
  // One number more than there are keys: one of them is free.
  std::vector<uint8_t> taken(share.kept.size() + 2);
  for (const Child& child : share.kept) {
    const size_t key = child.value - 1;
    // Longer source cannot spell a candidate, however it is escaped.
    if (tape_.source(key).size() > 80) continue;
    const std::string text = tape_.string(key);
    const size_t number = number_in(text);
    if (number < taken.size() && text == numbered(number)) taken[number] = 1;
  }
  size_t number = 1;
  while (taken[number] != 0) ++number;
  return numbered(number);
}

void Writer::append(std::string_view text) {
  out_ += text;
  chars_ += count_chars(text);
}

}  // namespace sluice::guardrail
