#include "gate/run/run.h"

#include <algorithm>

#include "gate/run/probe.h"

namespace sluice::gate {

namespace {

// The length of a line break at `at`: `\n` or `\r\n`, however escaped, and its indentation. 0 if
// there is none, -1 if the available bytes end inside it.
int64_t read_break(const uint8_t* at, const uint8_t* end, bool final, bool uri) {
  const uint8_t* p = at;
  Token token = read_token(p, end, final, uri);
  if (token.kind == TokenKind::need) return -1;
  if (token.kind == TokenKind::carriage) {
    p += token.length;
    if (p == end) return final ? 0 : -1;
    token = read_token(p, end, final, uri);
    if (token.kind == TokenKind::need) return -1;
  }
  if (token.kind != TokenKind::line_feed) return 0;
  p += token.length;
  for (;;) {
    if (p - at > static_cast<int64_t>(kMaxBreak)) return 0;
    if (p == end) return final ? p - at : -1;
    if (*p == ' ') {
      ++p;
      continue;
    }
    if (*p != '\\') return p - at;
    token = read_token(p, end, final);
    if (token.kind == TokenKind::need) return -1;
    if (token.kind != TokenKind::tab) return p - at;
    p += token.length;
  }
}

// How many items of a list are tested for the signature of a file: the second one, and, if each
// item could be a file by itself, all in the first characters of the run.
constexpr size_t kLongItem = 512;
constexpr size_t kExamined = 16'384;

// What follows the quote that ends an item of a list.
struct ItemEnd {
  enum class Kind : uint8_t { need, next, comma, close, other };
  Kind kind = Kind::other;
  size_t size = 0;  // next: bytes up to the first character of the next item, both quotes included
};

ItemEnd read_item_end(const uint8_t* at, const uint8_t* end, bool final, std::string_view quote,
                      size_t feed) {
  using Kind = ItemEnd::Kind;
  const bool bare = quote.size() == 1;
  const uint8_t* p = at + feed + quote.size();
  bool comma = false;
  for (;;) {
    if (p - at > static_cast<int64_t>(kMaxItemBreak)) break;
    if (p == end) return {final ? Kind::other : Kind::need, 0};
    if (*p == ' ' || (bare && (*p == '\n' || *p == '\r' || *p == '\t'))) {
      ++p;
      continue;
    }
    if (*p == ',' && !comma) {
      comma = true;
      ++p;
      continue;
    }
    if (*p == ']' && !comma) return {Kind::close, 0};
    if (*p != '"' && (*p != '\\' || bare)) break;
    const Token token = read_token(p, end, final);
    if (token.kind == TokenKind::need) return {Kind::need, 0};
    if (token.kind == TokenKind::quote && comma && as_text({p, token.length}) == quote) {
      return {Kind::next, static_cast<size_t>(p - at) + token.length};
    }
    if (token.kind != TokenKind::line_feed && token.kind != TokenKind::carriage &&
        token.kind != TokenKind::tab) {
      break;
    }
    p += token.length;
  }
  return {comma ? Kind::comma : Kind::other, 0};
}

}  // namespace

std::optional<size_t> read_feed(const uint8_t* at, const uint8_t* end, bool final,
                                std::string_view quote) {
  size_t size = 0;
  for (const TokenKind kind : {TokenKind::carriage, TokenKind::line_feed}) {
    if (at + size == end) return final ? std::optional<size_t>(0) : std::nullopt;
    const Token token = read_token(at + size, end, final);
    if (token.kind == TokenKind::need) return std::nullopt;
    if (token.kind == kind) size += token.length;
  }
  const std::string_view behind = as_text(at + size, end).substr(0, quote.size());
  if (behind.size() < quote.size() && !final && quote.starts_with(behind)) return std::nullopt;
  return behind == quote ? size : 0;
}

Run Run::item(std::string_view quote, const std::vector<Signature>& signatures) {
  Run run(false);
  run.quote_ = quote;
  run.signatures_ = &signatures;
  return run;
}

Alphabet Run::alphabet() const {
  if (hex_) return Alphabet::hex;
  return form_.encoding == Encoding::base64url ? Alphabet::url : Alphabet::standard;
}

bool Run::is_plain() const {
  // A first line that is short may still turn out to be wrapped.
  return !hex_ && breaks_ == 0 && is_plainly_spelled() && canon_.empty() && total_ >= kMaxColumn;
}

void Run::passed(size_t characters) {
  total_ += characters;
  in_line_ += characters;
  source_ += characters;
}

size_t Run::room_in_line() const {
  if (breaks_ == 0) return SIZE_MAX;
  return column_ != 0 ? column_ - in_line_ : kMaxColumn - in_line_;
}

void Run::take(const uint8_t* at, size_t count) {
  in_line_ += count;
  source_ += count;
  if (breaks_ == 0) {
    canon_.append(as_text({at, count}));
    total_ += count;
  } else {
    line_.append(as_text({at, count}));
    line_source_.append(as_text({at, count}));
  }
}

// Counts the hex digits at `at` that have the case of those before.
size_t Run::same_case(const uint8_t* at, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (at[i] <= '9') continue;
    const bool upper = at[i] <= 'F';
    if (alphabet_known_ && upper != (form_.encoding == Encoding::hex_upper)) return i;
    alphabet_known_ = true;
    form_.encoding = upper ? Encoding::hex_upper : Encoding::hex;
  }
  return count;
}

// Counts the characters at `at` before a plain `+` or `/` that was escaped earlier in the run.
size_t Run::plainly_spelled(const uint8_t* at, size_t count) {
  if (form_.encoding == Encoding::base64url) return count;
  for (size_t i = 0; i < count && (plus_ != "+" || slash_ != "/"); ++i) {
    if (at[i] != '+' && at[i] != '/') continue;
    std::string& spelling = at[i] == '+' ? plus_ : slash_;
    if (spelling.size() > 1) return i;
    spelling = static_cast<char>(at[i]);
    alphabet_known_ = true;
  }
  return count;
}

// Reads plain characters of the alphabet. False if the line is longer than the others or a hex
// digit changed its case: the run has ended.
bool Run::take_letters(const uint8_t*& at, const uint8_t* end, size_t budget) {
  const size_t left = budget - std::min(budget, characters());
  const size_t room = room_in_line();
  const size_t want =
      std::min({static_cast<size_t>(end - at), left, room == SIZE_MAX ? room : room + 1});
  size_t count = alphabet_span({at, want}, alphabet());
  count = hex_ ? same_case(at, count) : plainly_spelled(at, count);
  if (count > room) return false;
  take(at, count);
  at += count;
  return true;
}

// Reads one special character, escaped or not. False if it does not fit the form.
bool Run::take_special(TokenKind kind, std::string_view source) {
  if (hex_) return false;
  const bool url = kind == TokenKind::minus || kind == TokenKind::underscore;
  if (alphabet_known_ && url != (form_.encoding == Encoding::base64url)) return false;
  if (room_in_line() == 0) return false;
  const bool plus = kind == TokenKind::plus || kind == TokenKind::minus;
  std::string& spelling = plus ? plus_ : slash_;
  if (spelling.empty()) {
    spelling = source;
  } else if (spelling != source) {
    return false;
  }
  alphabet_known_ = true;
  if (url) form_.encoding = Encoding::base64url;
  const char canonical = url ? (plus ? '-' : '_') : (plus ? '+' : '/');
  ++in_line_;
  source_ += source.size();
  if (breaks_ == 0) {
    canon_ += canonical;
    ++total_;
  } else {
    line_ += canonical;
    line_source_ += source;
  }
  return true;
}

// Whether the line that ended has the length of the others. The second line sets it.
bool Run::accept_line() {
  if (column_ != 0) return in_line_ == column_;
  if (in_line_ < first_) return false;
  column_ = in_line_;
  return true;
}

Run::Step Run::take_break(const uint8_t*& at, const uint8_t* end, bool final) {
  const int64_t size = read_break(at, end, final, uri_);
  if (size < 0) return Step::more;
  const uint8_t* next = at + size;
  if (size > 0 && next == end && !final) return Step::more;
  terminator_ = TokenKind::line_feed;
  if (column_ != 0 && in_line_ == column_ && size > 0 && next < end) {
    const Token ahead = token(next, end, final);
    if (ahead.kind == TokenKind::need) return Step::more;
    if (ahead.kind == TokenKind::pad) return take_padding(at, end, final);
  }
  if (size == 0 || next >= end || in_line_ == 0) return Step::ended;
  bool goes_on = is_base64_letter(*next);
  if (*next == '\\' || *next == '%') {
    const Token ahead = token(next, end, final);
    if (ahead.kind == TokenKind::need) return Step::more;
    goes_on = ahead.kind == TokenKind::plus || ahead.kind == TokenKind::slash;
  }
  const std::string_view source = as_text({at, static_cast<size_t>(size)});
  if (breaks_ == 0) {
    if (in_line_ < kMinColumn || in_line_ > kMaxColumn || !goes_on) return Step::ended;
    break_ = source;
    first_ = in_line_;
    first_source_ = source_;
  } else {
    if (!accept_line()) return Step::ended;
    settle_line(true);
    if (!goes_on || source != break_) return Step::ended;
  }
  next_line(source);
  at = next;
  return Step::full;
}

// Reads the quote behind an item. The next item continues the run if it has the same length; a
// shorter one is the last.
Run::Step Run::take_item_end(const uint8_t*& at, const uint8_t* end, bool final, size_t feed) {
  using Kind = ItemEnd::Kind;
  terminator_ = TokenKind::quote;
  const ItemEnd found = read_item_end(at, end, final, quote_, feed);
  if (found.kind == Kind::need) return Step::more;
  feed_ = as_text(at, at + feed);
  closed_ = found.kind != Kind::other;
  last_item_ = found.kind == Kind::close;
  if (found.kind != Kind::next || items_ != (breaks_ > 0)) return Step::ended;
  if (items_ ? in_line_ != column_ : in_line_ < kMinColumn || in_line_ > kMaxItem) {
    return Step::ended;
  }
  const uint8_t* next = at + found.size;
  if (next == end) return final ? Step::ended : Step::more;
  const Token ahead = token(next, end, final);
  if (ahead.kind == TokenKind::need) return Step::more;
  if (items_ && ahead.kind == TokenKind::pad) return take_padding(at, end, final);
  const bool special = ahead.kind == TokenKind::plus || ahead.kind == TokenKind::slash;
  bool goes_on = is_base64_letter(*next) || special;
  const bool examined =
      items_ ? column_ >= kLongItem && characters() < kExamined : in_line_ >= kMinOpaqueItem;
  if (goes_on && examined) {
    const std::optional<bool> file = begins_file(next, end, final, *signatures_);
    if (!file) return Step::more;
    goes_on = !*file;
  }
  const std::string_view source = as_text({at, found.size});
  if (items_) {
    settle_line(true);
    if (!goes_on || source != break_) return Step::ended;
  } else {
    if (!goes_on) return Step::ended;
    items_ = true;
    break_ = source;
    first_ = column_ = in_line_;
    first_source_ = source_;
  }
  next_line(source);
  at = next;
  return Step::full;
}

void Run::next_line(std::string_view source) {
  ++breaks_;
  in_line_ = 0;
  closed_ = false;
  line_source_ = source;
  source_ += source.size();
}

Run Run::pairs(std::string_view mark) {
  Run run(true);
  run.pairs_ = true;
  run.first_ = run.column_ = 2;
  run.break_ = mark;
  run.breaks_ = 1;
  return run;
}

// Reads the prefix of the next pair, if a pair follows. Enough bytes are available.
bool Run::take_mark(const uint8_t*& at, const uint8_t* end) {
  const size_t size = break_.size();
  if (static_cast<size_t>(end - at) < size + 2 || as_text({at, size}) != break_) return false;
  if (alphabet_span({at + size, 2}, Alphabet::hex) != 2) return false;
  settle_line(true);
  next_line(break_);
  at += size;
  return true;
}

// Reads whole lines of the known length from the available bytes.
bool Run::take_full_lines(const uint8_t*& at, const uint8_t* end, size_t budget) {
  const size_t stride = column_ + break_.size();
  bool any = false;
  // The byte behind the line break decides whether the run continues, so the fast path needs it
  // plain.
  while (static_cast<size_t>(end - at) > stride && characters() + column_ <= budget &&
         as_text({at + column_, break_.size()}) == break_ && is_base64_letter(at[stride]) &&
         alphabet_span({at, column_}, alphabet()) == column_) {
    canon_.append(as_text({at, column_}));
    total_ += column_;
    source_ += stride;
    ++breaks_;
    at += stride;
    any = true;
  }
  if (any) line_source_ = break_;
  return any;
}

Run::Step Run::lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget) {
  while (characters() < budget) {
    if (column_ != 0 && in_line_ == 0 && !hex_ && is_plainly_spelled()) {
      take_full_lines(at, end, budget);
    }
    if (at == end) return final ? Step::ended : Step::more;
    if (pairs_ && in_line_ == column_) {
      if (static_cast<size_t>(end - at) < break_.size() + 2 && !final) return Step::more;
      if (!take_mark(at, end)) return Step::ended;
    }
    const uint8_t* before = at;
    if (!take_letters(at, end, budget)) {
      terminator_ = TokenKind::letter;
      return Step::ended;
    }
    if (characters() >= budget) break;
    if (pairs_ && in_line_ == column_) continue;
    if (at == end) return final ? Step::ended : Step::more;
    const Token next = token(at, end, final);
    switch (next.kind) {
      case TokenKind::need:
        return Step::more;
      case TokenKind::plus:
      case TokenKind::slash:
      case TokenKind::minus:
      case TokenKind::underscore:
        terminator_ = next.kind;
        if (!take_special(next.kind, as_text({at, next.length}))) return Step::ended;
        at += next.length;
        break;
      case TokenKind::pad:
        return take_padding(at, end, final);
      case TokenKind::line_feed:
      case TokenKind::carriage: {
        std::optional<size_t> feed = 0;
        if (!quote_.empty()) feed = read_feed(at, end, final, quote_);
        if (!feed) return Step::more;
        const Step step =
            *feed > 0 ? take_item_end(at, end, final, *feed) : take_break(at, end, final);
        if (step != Step::full) return step;
        break;
      }
      case TokenKind::quote:
        if (!quote_.empty() && as_text({at, next.length}) == quote_) {
          const Step step = take_item_end(at, end, final, 0);
          if (step != Step::full) return step;
          break;
        }
        [[fallthrough]];
      default:
        terminator_ = next.kind;
        terminator_byte_ = *at;
        return Step::ended;
    }
    if (at == before) return Step::ended;
  }
  return Step::full;
}

}  // namespace sluice::gate
