#include "guardrail/cut_text.h"

#include <vector>

namespace sluice::guardrail {

namespace {

/// Least head beside a suffix; with less room a short note does, and with less still an ellipsis.
constexpr size_t kLeastHead = 24;
constexpr size_t kLeastHeadOfNote = 12;

/// Room for `… 4294967295 more`.
constexpr size_t kShortNoteChars = 17;

class TextCutter {
 public:
  TextCutter(const Measure& measure, size_t begin, size_t end, Spelling spelling)
      : text_(measure.tape().text().substr(begin, end - begin)),
        begin_(begin),
        spelling_(spelling),
        suffix_(measure.suffix()),
        references_(measure.references().between(begin, end)) {}

  std::string cut(size_t room) {
    if (room < suffix_.chars() + kLeastHead) return cut_short(room);
    const size_t shared = room - suffix_.chars();
    // Twice, since a reference that the head reaches need not be listed.
    Head kept;
    for (int round = 0; round < 2; ++round) {
      const size_t listed = list(kept.bytes, shared - kept.chars);
      kept = head(shared - listed);
    }
    return compose(kept);
  }

 private:
  /// The head of at most `limit` characters that divides no reference.
  Head head(size_t limit) const {
    Head head = cut_head(text_, limit, spelling_);
    for (const Reference& reference : references_) {
      const size_t begin = reference.begin - begin_;
      const size_t end = reference.end - begin_;
      if (begin >= head.bytes) break;
      if (end > head.bytes) return {begin, chars(text_.substr(0, begin))};
    }
    return head;
  }

  std::string cut_short(size_t room) const {
    if (room < kShortNoteChars + kLeastHeadOfNote) return spelled(head(room - 1)) + "…";
    const Head kept = head(room - kShortNoteChars);
    const size_t left_out = count_chars(text_.substr(kept.bytes));
    return spelled(kept) + "… " + std::to_string(left_out) + " more";
  }

  /// Chooses the references behind `from` that fit in `room`; gives the characters they take.
  size_t list(size_t from, size_t room) {
    listed_.clear();
    size_t used = 0;
    for (const Reference& reference : references_) {
      if (reference.begin - begin_ < from) continue;
      const size_t cost = 1 + chars(source(reference));
      if (cost > room - used) continue;
      used += cost;
      listed_.push_back(reference);
    }
    return used;
  }

  std::string compose(const Head& kept) const {
    size_t left_out = count_chars(text_.substr(kept.bytes));
    std::string tail;
    for (const Reference& reference : listed_) {
      if (reference.begin - begin_ < kept.bytes) continue;
      left_out -= count_chars(source(reference));
      tail += ' ';
      append(tail, source(reference));
    }
    return spelled(kept) + suffix_.text(left_out) + tail;
  }

  std::string spelled(const Head& head) const {
    std::string out;
    append(out, text_.substr(0, head.bytes));
    return out;
  }

  void append(std::string& out, std::string_view source) const {
    if (spelling_ == Spelling::escaped)
      append_escaped(out, source);
    else
      out += source;
  }

  size_t chars(std::string_view source) const {
    return spelling_ == Spelling::escaped ? escaped_chars(source) : count_chars(source);
  }

  std::string_view source(const Reference& reference) const {
    return text_.substr(reference.begin - begin_, reference.end - reference.begin);
  }

  std::string_view text_;
  size_t begin_;
  Spelling spelling_;
  const Suffix& suffix_;
  std::span<const Reference> references_;
  std::vector<Reference> listed_;
};

}  // namespace

std::string cut_text(const Measure& measure, size_t begin, size_t end, size_t room,
                     Spelling spelling) {
  return TextCutter(measure, begin, end, spelling).cut(room);
}

}  // namespace sluice::guardrail
