// Text from a file, made fit to stand in a prompt, a terminal or a page, and the beginning of a
// text, cut where nothing breaks.
#include <algorithm>
#include <utility>

#include "sluice/describe.h"
#include "sluice/segment.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

// --- quotations ------------------------------------------------------------------------------

namespace {

/// The look-alike of a character that means something to Markdown or HTML. None of them has a
/// compatibility decomposition, so NFKC does not bring the original back. An underscore can at most
/// set words in italics, and a model copies the names of columns and files that it stands in.
char32_t look_alike(char32_t value) {
  constexpr std::u32string_view kLive = U"`<>[]()!*#|~";
  constexpr std::u32string_view kLookAlike =
      U"'\u2039\u203a\u2772\u2773\u2768\u2769\u01c3\u2217\u266f\u2223\u223c";
  static_assert(kLive.size() == kLookAlike.size());
  const size_t at = kLive.find(value);
  return at == kLive.npos ? value : kLookAlike[at];
}

/// A tag, a comment or a declaration begins with `<` and a letter, `/`, `!` or `?` (HTML
/// §13.2.5.6), a link with `<` and a character of an address (CommonMark §6.5), a token of a model
/// with `<|`. Before white space, a digit and a sign of comparison it is none of them: such an
/// address would have to end in `>`, which stands as itself only where none can end.
bool opens_nothing(char32_t next) {
  return next == 0 || is_space(next) || is_digit(next) || next == '=' || next == '<' || next == '-';
}

/// Behind white space `>` is a comparison, behind `=` or a single `-` an arrow, behind another one
/// a shift. An address has no white space and does not end in any of them; a comment ends in `-->`.
bool closes_nothing(char32_t last, char32_t before) {
  return (last == ' ' && before != 0) || last == '=' || last == '>' ||
         (last == '-' && before != '-');
}

/// Schemes that do something without `//`.
constexpr std::array<std::string_view, 10> kSchemes = {
    "data", "javascript", "vbscript", "mailto", "file", "blob", "about", "tel", "sms", "xmpp"};

bool ends_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  const std::string_view tail = text.substr(text.size() - word.size());
  for (size_t i = 0; i < word.size(); ++i) {
    if (to_lower(tail[i]) != word[i]) return false;
  }
  return true;
}

/// Whether `next`, standing right behind `text`, would complete the part of a link or an entity
/// that makes it one.
bool completes_link(std::string_view text, char32_t next) {
  if (next == '/') return text.ends_with(":/");
  if (next == '.') return ends_with_word(text, "www");
  if (is_letter(next)) return text.ends_with('&');
  if (next != ':') return false;
  for (const std::string_view scheme : kSchemes) {
    if (ends_with_word(text, scheme)) return true;
  }
  return false;
}

/// The inside of the quotes, while it grows.
class Quote {
 public:
  explicit Quote(size_t limit) : limit_(limit) {}

  /// Adds one code point, white space as a space; `next` stands behind it, 0 at the end. False once
  /// the limit is passed.
  bool add(char32_t value, char32_t next) {
    if (is_space(value)) {
      space_ = !text_.empty();
      return true;
    }
    const char32_t last = space_ ? U' ' : last_;
    const char32_t before = space_ ? last_ : before_;
    const char32_t shown = defused(value, next, last, before);
    if (space_ || completes_link(text_, shown)) put(U' ');
    space_ = false;
    if (value == '"' || value == '\\') {
      text_.push_back('\\');
      ++count_;
    }
    put(shown);
    before_ = last;
    last_ = shown == U'\u2773' ? U']' : shown;
    if (count_ < limit_) cut_ = text_.size();
    return count_ <= limit_;
  }

  std::string finish() && {
    if (count_ > limit_) {
      text_.resize(cut_);
      if (limit_ > 0) text_ += "…";
    }
    text_.insert(0, 1, '"');
    text_.push_back('"');
    return std::move(text_);
  }

 private:
  /// A character as it is where it can do no harm.
  char32_t defused(char32_t value, char32_t next, char32_t last, char32_t before) {
    if (value == '<' && opens_nothing(next)) return value;
    if (value == '>' && closes_nothing(last, before)) return value;
    // A parenthesis is a link's only behind a bracket, which never stands as itself either.
    if (value == '(') {
      link_ = last == ']' || (last == ' ' && before == ']');
      if (!link_) return value;
    }
    if (value == ')' && !std::exchange(link_, false)) return value;
    return look_alike(value);
  }

  void put(char32_t value) {
    append_code_point(text_, value);
    ++count_;
  }

  size_t limit_;
  std::string text_;
  size_t count_ = 0;  // code points in text_
  size_t cut_ = 0;    // where text_ may be cut so that an ellipsis still fits
  char32_t last_ = 0;
  char32_t before_ = 0;
  bool space_ = false;
  bool link_ = false;  // a link's target is open
};

/// Bytes at `text[at]` that go as a whole: a terminal's control sequence or a marker.
size_t removed_length(std::string_view text, size_t at) {
  if (text[at] == kMarkerOpen && marker_at(text, at) >= 0) return kMarkerBytes;
  return ansi_length(text, at);
}

/// The next character that shows something, or white space; 0 behind the last. Moves behind it.
char32_t next_shown(std::string_view text, size_t& at) {
  while (at < text.size()) {
    if (const size_t removed = removed_length(text, at); removed > 0) {
      at += removed;
      continue;
    }
    CodePoint point = read_code_point(text, at);
    at += point.length;
    if (point.value >= 0xff01 && point.value <= 0xff5e) point.value -= 0xfee0;  // full-width ASCII
    if (is_space(point.value)) return point.value;
    if (!is_control(point.value) && !is_invisible(point.value)) return point.value;
  }
  return 0;
}

}  // namespace

std::string quote_untrusted(std::string_view text, size_t limit) {
  Quote quote(limit);
  size_t at = 0;
  for (char32_t value = next_shown(text, at); value != 0;) {
    const char32_t next = next_shown(text, at);
    if (!quote.add(value, next)) break;
    value = next;
  }
  return std::move(quote).finish();
}

// --- previews --------------------------------------------------------------------------------

namespace {

constexpr size_t kLongestReference = 1'024;

bool in_reference(char character) {
  return is_alphanumeric(character) || is_among(character, "-._~:/?&=%+;,@$");
}

/// Characters (all ASCII) of the reference at the start of `text`; 0 when there is none or it is
/// longer than any of ours.
size_t reference_length(std::string_view text) {
  if (!text.starts_with(kScheme)) return 0;
  size_t length = kScheme.size();
  while (length < text.size() && in_reference(text[length])) {
    if (++length > kLongestReference) return 0;
  }
  return length;
}

/// Characters at the start of `text` that show as they are and begin no reference.
size_t plain_length(std::string_view text) {
  const auto* const end = std::find_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~' || c == kScheme[0]; });
  return static_cast<size_t>(end - text.begin());
}

/// Characters at `text[at]` that stay together: a marker, a reference; 0 when there is neither.
size_t unit_length(std::string_view text, size_t at) {
  if (text[at] == kMarkerOpen && marker_at(text, at) >= 0) return kMarkerBytes;
  return reference_length(text.substr(at));
}

}  // namespace

std::string preview(std::string_view text, size_t limit) {
  std::string out;
  size_t count = 0;
  for (size_t at = 0; at < text.size() && count < limit;) {
    const size_t plain = plain_length(text.substr(at, limit - count));
    out.append(text.substr(at, plain));
    at += plain;
    count += plain;
    if (at == text.size() || count == limit) break;
    if (const size_t unit = unit_length(text, at); unit > 0) {
      if (unit > limit - count) break;
      out.append(text.substr(at, unit));
      at += unit;
      count += unit;
      continue;
    }
    const CodePoint point = read_code_point(text, at);
    at += point.length;
    if (is_control(point.value) && point.value != '\t' && point.value != '\n') continue;
    append_code_point(out, point.value);
    ++count;
  }
  return out;
}

}  // namespace sluice
