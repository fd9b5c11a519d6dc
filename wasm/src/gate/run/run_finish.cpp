// The end of a run: padding, last line and quantum, form, bytes. Part of Run.
#include <algorithm>

#include "gate/run/run.h"
#include "sluice/tape.h"

namespace sluice::gate {

namespace {

// Bytes that close a value in the formats found in strings. Unlike a space or a full stop, they do
// not follow a word of prose by chance.
bool closes_value(TokenKind kind, uint8_t byte) {
  if (kind == TokenKind::quote || kind == TokenKind::line_feed || kind == TokenKind::carriage) {
    return true;
  }
  return byte == '<' || byte == '>' || byte == '\'' || byte == '`' || byte == ')' || byte == ']' ||
         byte == '}';
}

// Whether the characters are of all kinds, which words and numbers are not.
bool is_mixed(std::string_view text) {
  const auto has = [text](char from, char to) {
    return std::any_of(text.begin(), text.end(), [=](char c) { return c >= from && c <= to; });
  };
  return text.size() >= kMinColumn && has('A', 'Z') && has('a', 'z') && has('0', '9');
}

}  // namespace

// Reads the padding that the number of characters requires, wrapped like them. Other padding does
// not belong to the run.
Run::Step Run::take_padding(const uint8_t*& at, const uint8_t* end, bool final) {
  terminator_ = TokenKind::pad;
  const size_t over = characters() % 4;
  if (hex_ || over < 2) return Step::ended;
  const size_t wanted = 4 - over;
  const uint8_t* p = at;
  std::string spelling;
  size_t in_line = in_line_;
  for (size_t i = 0; i < wanted; ++i, ++in_line) {
    if (column_ != 0 && in_line == column_) {
      const size_t size = std::min(break_.size(), static_cast<size_t>(end - p));
      if (as_text({p, size}) != std::string_view(break_).substr(0, size)) return Step::ended;
      if (size < break_.size()) return final ? Step::ended : Step::more;
      p += size;
      in_line = 0;
    }
    if (p == end) return final ? Step::ended : Step::more;
    const Token next = token(p, end, final);
    if (next.kind == TokenKind::need) return Step::more;
    if (next.kind != TokenKind::pad) return Step::ended;
    const std::string source(as_text({p, next.length}));
    if (i > 0 && source != spelling) return Step::ended;
    spelling = source;
    p += next.length;
  }
  pad_ = spelling;
  pad_source_ = as_text(at, p);
  if (items_) {
    const std::optional<size_t> feed = read_feed(p, end, final, quote_);
    if (!feed) return Step::more;
    feed_ = as_text(p, p + *feed);
    closed_ = as_text(p + *feed, end).starts_with(quote_);
  }
  pads_ = wanted;
  if (in_line > in_line_) in_line_ = in_line;
  at = p;
  took_padding_ = true;
  return Step::ended;
}

// Adds the held line to the run, or gives it back.
void Run::settle_line(bool certain) {
  if (certain) {
    canon_ += line_;
    total_ += line_.size();
  } else {
    given_back_ = line_source_ + pad_source_;
    if (items_) feed_ = break_.substr(0, break_.find(quote_));
    pads_ = 0;
    pad_source_.clear();
    --breaks_;
  }
  line_.clear();
  line_source_.clear();
}

// Whether the run may end with `over` characters of an open quantum, in either alphabet.
bool Run::is_tail(std::string_view characters, size_t over) const {
  uint8_t bytes[4];
  const std::string_view tail = characters.substr(characters.size() - over);
  return over == 0 || decode_tail(as_bytes(tail), alphabet(), bytes).has_value();
}

// Whether the held line belongs to the run.
bool Run::is_certain() const {
  if (line_.empty()) return false;
  if (pairs_) return line_.size() == column_;
  if (terminator_ == TokenKind::letter) return false;
  const size_t over = (total_ + line_.size()) % (hex_ ? 2 : 4);
  if (items_) {
    if (!closed_ || (terminator_ != TokenKind::quote && pads_ == 0)) return false;
    if (pads_ > 0 || line_.size() == column_) return true;
    // Without padding, the shorter item must end the list or at least a quantum. After a single
    // item that may be complete, it must not be a word.
    if (breaks_ == 1 && is_tail(canon_, total_ % 4) && !(over == 0 && is_mixed(line_)))
      return false;
    return last_item_ ? is_tail(canon_ + line_, over) : over == 0;
  }
  if (pads_ > 0 || terminator_ == TokenKind::quote) return true;
  return over == 0 && closes_value(terminator_, terminator_byte_);
}

void Run::finish() {
  if (finished_) return;
  finished_ = true;
  if (breaks_ > 0) {
    const bool certain = is_certain();
    if (certain && column_ == 0) column_ = std::max(first_, in_line_);
    if (!line_source_.empty()) settle_line(certain);
  }
  settle_tail();
  if (quote_.size() == 1) form_.suffix += feed_;
  bare_ = quote_.size() == 1 && (breaks_ > 0 || !form_.suffix.empty());
  const auto text_of = [this](std::string_view source) {
    std::string text;
    bare_ ? void(text = source) : append_unescaped(text, source);
    return text;
  };
  if (bare_) {
    form_.prefix = quote_;
    form_.suffix += quote_;
  }
  if (breaks_ > 0) {
    if (column_ == 0) column_ = first_;
    form_.column = static_cast<uint32_t>(column_);
    form_.first = first_ < column_ ? static_cast<uint32_t>(first_) : 0;
    form_.separator = text_of(break_);
  }
  const auto spell = [&](const std::string& source, std::string& text) {
    if (!source.empty()) text = text_of(source);
  };
  if (form_.encoding == Encoding::base64) {
    spell(plus_, form_.plus);
    spell(slash_, form_.slash);
  }
  spell(pads_ > 0 ? pad_ : std::string(), form_.pad);
}

// Decides about the last 1–3 characters, which fill no quantum: decoded if strictly valid,
// otherwise given back.
void Run::settle_tail() {
  const size_t quantum = hex_ ? 2 : 4;
  const size_t over = total_ % quantum;
  if (over == 0) return;
  uint8_t bytes[4];
  const Bytes tail(reinterpret_cast<const uint8_t*>(canon_.data()) + canon_.size() - over, over);
  const bool boundary = terminator_ != TokenKind::letter && terminator_ != TokenKind::plus &&
                        terminator_ != TokenKind::slash && terminator_ != TokenKind::minus &&
                        terminator_ != TokenKind::underscore && terminator_ != TokenKind::pad;
  if (!hex_ && over >= 2 && (pads_ > 0 || boundary) && decode_tail(tail, alphabet(), bytes)) {
    form_.padded = pads_ > 0;
    return;
  }
  const std::string source = source_of_tail(over) + pad_source_;
  // Outside of strings there is no text to give it back to, so the form holds it.
  if (quote_.size() == 1) {
    form_.suffix = source;
  } else {
    given_back_ = source + given_back_;
  }
  pads_ = 0;
  pad_source_.clear();
  canon_.resize(canon_.size() - over);
  total_ -= over;
}

// The source of the last `count` certain characters, including line breaks before them.
std::string Run::source_of_tail(size_t count) const {
  const std::string plain;
  std::string source;
  const size_t column = column_ != 0 ? column_ : first_;
  for (size_t i = 0; i < count; ++i) {
    const size_t index = total_ - count + i;
    const bool opens_line =
        breaks_ > 0 && index >= first_ && (column == 0 || (index - first_) % column == 0);
    if (opens_line) source += break_;
    const char c = canon_[canon_.size() - count + i];
    const std::string& spelling = c == '+' ? plus_ : c == '/' ? slash_ : plain;
    if (spelling.empty()) {
      source += c;
    } else {
      source += spelling;
    }
  }
  return source;
}

void Run::decode(std::string& bytes) {
  const size_t quantum = hex_ ? 2 : 4;
  size_t whole = canon_.size() / quantum * quantum;
  const size_t before = bytes.size();
  bytes.resize(before + decoded_capacity(canon_.size()));
  auto* out = reinterpret_cast<uint8_t*>(bytes.data()) + before;
  const auto* in = reinterpret_cast<const uint8_t*>(canon_.data());
  const Decoded done = sluice::decode({in, whole}, alphabet(), out);
  size_t written = done.written;
  if (finished_ && whole < canon_.size()) {
    written +=
        decode_tail({in + whole, canon_.size() - whole}, alphabet(), out + written).value_or(0);
    whole = canon_.size();
  }
  bytes.resize(before + written);
  canon_.erase(0, whole);
}

}  // namespace sluice::gate
