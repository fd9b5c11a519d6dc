#include "guardrail/cut.h"

#include <algorithm>
#include <vector>

#include "guardrail/measure.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice::guardrail {

// --- notes ---------------------------------------------------------------------------------------

namespace {

constexpr std::string_view kPlaceholder = "{truncated_chars}";
constexpr size_t kPatternBytes = 1'024;

/// The first kPatternBytes of a pattern as well-formed UTF-8.
std::string cleaned(std::string_view pattern) {
  std::string clean;
  const char* const end = pattern.data() + pattern.size();
  for (const char* at = pattern.data(); at < end && clean.size() < kPatternBytes;) {
    const size_t length = utf8_length(at, end);
    if (length == 0)
      append_code_point(clean, 0xFFFD);
    else
      clean.append(at, length);
    at += length == 0 ? 1 : length;
  }
  return clean;
}

std::string counted(uint64_t count, std::string_view noun) {
  std::string text = grouped(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace

Suffix::Suffix(std::string_view pattern) : pattern_(cleaned(pattern)) {
  chars_ = std::min(kSuffixChars, count_chars(filled(UINT32_MAX)));
}

std::string Suffix::filled(uint64_t left_out) const {
  std::string text;
  size_t at = 0;
  for (size_t hit = pattern_.find(kPlaceholder); hit != std::string::npos;
       hit = pattern_.find(kPlaceholder, at)) {
    text.append(pattern_, at, hit - at);
    text += std::to_string(left_out);
    at = hit + kPlaceholder.size();
  }
  text.append(pattern_, at);
  std::string inside;
  append_escaped(inside, text);
  return inside;
}

std::string Suffix::text(uint64_t left_out) const {
  std::string inside = filled(left_out);
  inside.resize(cut_head(inside, kSuffixChars).bytes);
  return inside;
}

std::string collapsed_note(Type type, uint64_t count) {
  std::string note = "\"… ";
  if (type == Type::object)
    note += "object with " + counted(count, "key");
  else if (type == Type::array)
    note += "array with " + counted(count, "item");
  else
    note += "number of " + counted(count, "character");
  note += '"';
  return note;
}

std::string more_note(Type container, uint64_t count) {
  return counted(count, container == Type::object ? "more key" : "more item");
}

std::string nothing_fits_note(uint64_t chars) {
  return "\"… observation of " + counted(chars, "character") + " left out\"";
}

// --- where a cut may fall --------------------------------------------------------------------

namespace {

constexpr std::string_view kScheme = "artifact:";

bool is_uri_char(char c) {
  return is_alphanumeric(c) || is_among(c, "-._~:/?=&%+@,;");
}

bool may_end_sentence(char c) {
  return is_among(c, ".,;:?");
}

/// 1 for `/`, 2 for `\/`, else 0.
size_t slash_at(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '/') return 1;
  return text.substr(at < text.size() ? at : text.size(), 2) == "\\/" ? 2 : 0;
}

size_t escape_length(std::string_view text, size_t at) {
  if (at + 1 >= text.size() || text[at + 1] != 'u') return 2;
  if (text.size() - at < 12 || text[at + 6] != '\\' || text[at + 7] != 'u') return 6;
  const bool high = (hex4(text.data() + at + 2) & 0xFC00) == 0xD800;
  const bool low = (hex4(text.data() + at + 8) & 0xFC00) == 0xDC00;
  return high && low ? 12 : 6;
}

/// The length of the unit at `at`, which must not be divided.
size_t unit_length(std::string_view text, size_t at) {
  const auto byte = static_cast<uint8_t>(text[at]);
  if (byte == '\\') return escape_length(text, at);
  if (byte == 'a')
    if (const size_t length = reference_at(text, at)) return length;
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

size_t reference_at(std::string_view text, size_t at) {
  if (text.substr(at, kScheme.size()) != kScheme) return 0;
  size_t end = at + kScheme.size();
  for (int slashes = 0; slashes < 2; ++slashes) {
    const size_t slash = slash_at(text, end);
    if (slash == 0) return 0;
    end += slash;
  }
  const size_t begin = end;
  for (;;) {
    if (const size_t slash = slash_at(text, end))
      end += slash;
    else if (end < text.size() && is_uri_char(text[end]))
      ++end;
    else
      break;
  }
  while (end > begin && may_end_sentence(text[end - 1])) --end;
  return end > begin ? end - at : 0;
}

size_t escaped_chars(std::string_view text) {
  size_t chars = count_chars(text);
  for (const char c : text) chars += c == '"' || c == '\\' || (c >= '\t' && c <= '\r');
  return chars;
}

Head cut_head(std::string_view text, size_t limit, Spelling spelling) {
  Head head;
  while (head.bytes < text.size()) {
    const size_t length = unit_length(text, head.bytes);
    const std::string_view unit = text.substr(head.bytes, length);
    const size_t chars = spelling == Spelling::source ? count_chars(unit) : escaped_chars(unit);
    if (chars > limit - head.chars) break;
    head.bytes += unit.size();
    head.chars += chars;
  }
  return head;
}

// --- a long text -----------------------------------------------------------------------------

namespace {

/// The shortest head with a suffix. With less room there is a short note, then only an ellipsis.
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
    // Runs twice, because references within the head need not be listed.
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

  /// Chooses the references after `from` that fit into `room`. Returns the characters they take.
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
