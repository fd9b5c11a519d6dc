// The guardrail: divides the budget of an observation among its values, writes them, and holds the
// bound.
#include "sluice/guardrail.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "guardrail/cut.h"
#include "guardrail/measure.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {

namespace guardrail {

// --- who gets how much of a container's budget -----------------------------------------------

namespace {

/// A child that stays. In an object, its key is the node before `value`.
struct Child {
  uint32_t value = 0;
  uint32_t ordinal = 0;  ///< its place among its siblings, from 1
  uint32_t lead = 0;     ///< code points in front of it: comma, key, colon
  uint32_t floor = 0;    ///< least code points it is worth showing with
  uint32_t budget = 0;   ///< most code points it may take
};

/// The children that stay, in source order.
struct Share {
  std::vector<Child> kept;
  uint64_t left_out = 0;  ///< children that do not; with some, a note has been budgeted
};

/// The least room to show part of a value with references.
constexpr size_t kPartChars = 120;

/// Divides `budget` code points among the children of a container that does not fit. References
/// come first, then the first of the others. Small children get all they ask for, large ones equal
/// parts of the rest:
///
///   level ┄┄┄┄┄┄┄┄┄┄█┄┄┄█┄┄
///                █  █ ▄ █       a child's column is its size, cut at the level
///
/// No child stays if nothing fits, or if the object's own reference does not fit.
class Sharer {
 public:
  Sharer(const Measure& measure, size_t container, size_t budget)
      : measure_(measure),
        tape_(measure.tape()),
        container_(container),
        object_(tape_[container].type == Type::object),
        room_(budget - 2),
        detail_(static_cast<uint32_t>(std::clamp<size_t>(budget / 128, 80, 400))) {}

  Share divide() {
    if (!take_all(detail_) && !(object_ && take_all(kNoteChars))) take_some();
    if (!share_.kept.empty()) pour();
    return std::move(share_);
  }

 private:
  Child child_at(size_t at, uint32_t ordinal) const {
    Child child;
    child.value = static_cast<uint32_t>(object_ ? at + 1 : at);
    child.ordinal = ordinal;
    child.lead = object_ ? 1 + measure_.size(at) : 1;
    return child;
  }

  template <typename Visit>
  void each(Visit visit) const {
    uint32_t ordinal = 0;
    for (size_t at = container_ + 1; at < tape_[container_].next;) {
      const Child child = child_at(at, ++ordinal);
      if (!visit(child)) return;
      at = tape_[child.value].next;
    }
  }

  uint32_t floor(const Child& child, uint32_t detail) const {
    return std::max(measure_.need(child.value), std::min(measure_.size(child.value), detail));
  }

  /// Keeps `child` with its minimum size if there is room.
  bool take(Child child) {
    const uint64_t cost = uint64_t{child.lead} + child.floor;
    if (cost > room_) return false;
    room_ -= static_cast<size_t>(cost);
    share_.kept.push_back(child);
    return true;
  }

  bool take_all(uint32_t detail) {
    const size_t room = room_;
    bool all = true;
    each([&](Child child) {
      child.floor = floor(child, detail);
      return all = take(child);
    });
    if (all) return true;
    room_ = room;
    share_.kept.clear();
    return false;
  }

  void take_some() {
    room_ -= std::min(room_, 1 + kNoteChars);
    bool broken = false;
    if (measure_.need(container_) > 0) broken = !take_references();
    if (broken) share_.kept.clear();
    if (!broken) take_head();
    share_.left_out = tape_.count(container_) - share_.kept.size();
  }

  /// Keeps the children with references that fit. False if an `artifact` member does not fit.
  bool take_references() {
    bool unbroken = true;
    each([&](Child child) {
      child.floor = measure_.need(child.value);
      if (child.floor == 0 || take(child)) return true;
      if (measure_.whole(child.value)) {
        unbroken = !object_ || tape_[child.value].type != Type::object;
      } else if (room_ >= child.lead + kPartChars && some_fit(child, room_ - child.lead)) {
        child.floor = static_cast<uint32_t>(room_ - child.lead);
        take(child);
      }
      return unbroken;
    });
    return unbroken;
  }

  /// Whether part of a child can show a reference at all.
  bool some_fit(const Child& child, size_t room) const {
    const auto inside = measure_.references().of(child.value);
    return std::any_of(inside.begin(), inside.end(), [&](const Reference& reference) {
      return reference.end - reference.begin + kNoteChars < room;
    });
  }

  /// Keeps children from the front, between those kept for their references.
  void take_head() {
    const std::vector<Child> references = std::move(share_.kept);
    share_.kept.clear();
    auto next = references.begin();
    each([&](Child child) {
      if (next != references.end() && next->value == child.value) {
        share_.kept.push_back(*next++);
        return true;
      }
      child.floor = std::min(measure_.size(child.value), detail_);
      return take(child);
    });
    share_.kept.insert(share_.kept.end(), next, references.end());
  }

  uint32_t grant(const Child& child, size_t level) const {
    return std::max(child.floor,
                    static_cast<uint32_t>(std::min<size_t>(measure_.size(child.value), level)));
  }

  /// Raises the level as far as there is room.
  void pour() {
    const auto fits = [&](size_t level) {
      uint64_t extra = 0;
      for (const Child& child : share_.kept) extra += grant(child, level) - child.floor;
      return extra <= room_;
    };
    size_t low = 0;
    for (size_t high = measure_.limit() + 1; high - low > 1;) {
      const size_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    for (Child& child : share_.kept) child.budget = grant(child, low);
  }

  const Measure& measure_;
  const Tape& tape_;
  size_t container_;
  bool object_;
  size_t room_;
  uint32_t detail_;
  Share share_;
};

// --- the writer ------------------------------------------------------------------------------

/// Writes one value. Every step stays within its budget, so the whole does. The depth of the tape
/// bounds the recursion.
class Writer {
 public:
  explicit Writer(const Measure& measure) : measure_(measure), tape_(measure.tape()) {}

  /// Appends a value as at most `budget` code points. A budget below kNoteChars is enough only for
  /// a value of that size.
  void value(size_t node, size_t budget);

  const std::string& text() const { return out_; }

  /// Whether a string, key or number was cut, and whether a container was.
  bool cut_fields() const { return cut_fields_; }
  bool cut_structure() const { return cut_structure_; }

 private:
  void string(size_t node, size_t budget);
  void number(size_t node);
  void all_of(size_t container);
  void part_of(size_t container, size_t budget);
  void children(size_t container, const Share& share, size_t budget);
  void key(size_t node, size_t ordinal);
  void more(size_t container, const Share& share);
  std::string free_key(const Share& share) const;
  void append(std::string_view text);

  const Measure& measure_;
  const Tape& tape_;
  std::string out_;
  size_t chars_ = 0;
  bool cut_fields_ = false;
  bool cut_structure_ = false;
};

/// Room for `… [key 33,554,432 of 4,294,967,295 chars]`.
constexpr size_t kKeyNoteChars = 42;

constexpr std::string_view kNote = "…";

/// The number in the key of a note: 12 of `… 12`, 1 of `…`; nothing usable for other texts.
size_t number_in(std::string_view text) {
  if (text == kNote) return 1;
  size_t number = 0;
  for (const char c : text.substr(0, kNote.size() + 10))
    if (is_digit(c)) number = number * 10 + static_cast<size_t>(c - '0');
  return number;
}

/// `…`, `… 2`, `… 3`, …
std::string numbered(size_t number) {
  std::string text(kNote);
  if (number > 1) text.append(1, ' ').append(std::to_string(number));
  return text;
}

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
  const Share divided = Sharer(measure_, container, budget).divide();
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
    // What others did not use goes to the first child that can use it.
    value(child.value, std::min<size_t>(child.budget + spare, measure_.size(child.value)));
    spare += child.lead + child.budget - (chars_ - before);
  }
  if (share.left_out > 0) more(container, share);
  append(object ? "}" : "]");
}

void Writer::key(size_t node, size_t ordinal) {
  const std::string_view source = tape_.source(node);
  // Such a long size may be saturated. Only then the characters are counted.
  const size_t chars = measure_.size(node) <= 2 + kKeyChars ? 0 : count_chars(source) - 2;
  if (chars <= kKeyChars) {
    append(source);
  } else {
    cut_fields_ = true;
    const std::string_view inside = source.substr(1, source.size() - 2);
    append("\"");
    append(inside.substr(0, cut_head(inside, kKeyChars - kKeyNoteChars).bytes));
    // The number distinguishes keys that begin alike.
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

/// `…`, or `… 2`, `… 3` and so on if a kept key already reads like that.
std::string Writer::free_key(const Share& share) const {
  // There is one number more than keys, so one of them is free.
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

// --- the guardrail -------------------------------------------------------------------------------

/// The document with long values cut.
void cut_values(const Measure& measure, Clamped& clamped) {
  Writer writer(measure);
  writer.value(0, measure.limit());
  clamped.text = writer.text();
  clamped.method = writer.cut_structure() ? "structure" : writer.cut_fields() ? "fields" : "space";
}

/// The beginning of the document's source as one string.
void cut_source(const Measure& measure, Clamped& clamped) {
  const Node& root = measure.tape()[0];
  clamped.text = '"';
  clamped.text += cut_text(measure, root.begin, root.end, measure.limit() - 2, Spelling::escaped);
  clamped.text += '"';
  clamped.method = "text";
}

/// The only exit. Whatever happened before, the output is JSON within the limit.
void hold_bound(size_t limit, Clamped& clamped) {
  clamped.clamped_chars = count_chars(clamped.text);
  Tape tape;
  if (clamped.clamped_chars <= limit && Tape::parse(clamped.text, tape, kMaxTapeDepth, false).ok())
    return;
  clamped.text = nothing_fits_note(clamped.original_chars);
  clamped.method = "text";
  clamped.clamped_chars = count_chars(clamped.text);
}

/// Counts a text, and takes it as it is if it is within the limit.
bool takes_whole(std::string_view json, const GuardrailOptions& options, Clamped& clamped) {
  clamped.original_chars = clamped.clamped_chars = count_chars(json);
  const size_t limit = std::max<size_t>(options.max_observation_chars, kMinObservationChars);
  if (clamped.original_chars > limit) return false;
  clamped.text = json;
  clamped.method = "none";
  return true;
}

}  // namespace

}  // namespace guardrail

Clamped clamp(std::string_view json, const GuardrailOptions& options) {
  Clamped clamped;
  Tape tape;
  clamped.status = Tape::parse(json, tape, kMaxTapeDepth, false);
  if (!clamped.status.ok() || guardrail::takes_whole(json, options, clamped)) return clamped;
  clamped.changed = true;
  const guardrail::Measure measure(tape, options);
  if (options.preserve_structure || tape[0].type == Type::string)
    guardrail::cut_values(measure, clamped);
  else
    guardrail::cut_source(measure, clamped);
  guardrail::hold_bound(measure.limit(), clamped);
  return clamped;
}

Clamped clamp_own(std::string_view json, const GuardrailOptions& options) {
  Clamped clamped;
  return guardrail::takes_whole(json, options, clamped) ? clamped : clamp(json, options);
}

}  // namespace sluice
