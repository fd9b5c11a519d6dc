// The strict reader behind the tape: RFC 8259, no recursion, every bound checked.
#include "json/scan.h"
#include "sluice/segment.h"
#include "sluice/tape.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

namespace {

/// Maximum characters of a number.
inline constexpr size_t kMaxNumberChars = 65'536;

/// Maximum nodes of a tape: 512 MiB of index.
inline constexpr size_t kMaxNodes = size_t{1} << 25;

/// Reads one text. Call `run` once; `nodes` is complete only if it succeeds.
class Reader {
 public:
  Reader(std::string_view text, std::vector<Node>& nodes, size_t max_depth, bool markers)
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        nodes_(nodes),
        max_depth_(max_depth),
        markers_(markers) {}

  Status run();

 private:
  bool document();
  bool value(bool& opened);
  bool rest(bool& done);
  bool open(Type type);
  void close();
  bool key();
  bool string();
  bool escape();
  bool unicode();
  bool control();
  bool number();
  bool digits();
  bool literal(std::string_view word, Type type);

  void skip_space();
  bool at_end() const { return at_ == end_; }
  bool add(Type type, const char* begin);
  uint32_t offset(const char* at) const { return static_cast<uint32_t>(at - begin_); }
  bool fail(Code code, std::string_view message);
  bool fail_here(std::string_view expected);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::vector<Node>& nodes_;
  std::vector<uint32_t> open_;
  size_t max_depth_;
  bool markers_;
  Status status_;
};

/// Line and column of an offset, both from 1. The column counts code points.
void locate(std::string_view before, Status& status) {
  status.line = 1;
  size_t start = 0;
  for (size_t at = before.find('\n'); at != std::string_view::npos; at = before.find('\n', start)) {
    ++status.line;
    start = at + 1;
  }
  status.column = 1 + count_chars(before.substr(start));
}

Status Reader::run() {
  if (static_cast<uint64_t>(end_ - begin_) > UINT32_MAX) {
    fail(Code::too_large, "the text is longer than 4 GiB: send it in parts");
    return status_;
  }
  if (!document()) locate({begin_, static_cast<size_t>(at_ - begin_)}, status_);
  return status_;
}

bool Reader::document() {
  skip_space();
  for (bool done = false; !done;) {
    bool opened = false;
    if (!value(opened)) return false;
    if (!opened && !rest(done)) return false;
  }
  return true;
}

/// Reads one value. Sets `opened` if it is a container with content, whose first value is next.
bool Reader::value(bool& opened) {
  if (at_end()) return fail_here("a value");
  switch (*at_) {
    case '"':
      return string();
    case '{':
      if (!open(Type::object)) return false;
      if (!at_end() && *at_ == '}') return close(), true;
      opened = true;
      return key();
    case '[':
      if (!open(Type::array)) return false;
      if (!at_end() && *at_ == ']') return close(), true;
      opened = true;
      return true;
    case 't':
      return literal("true", Type::boolean);
    case 'f':
      return literal("false", Type::boolean);
    case 'n':
      return literal("null", Type::null);
    default:
      return *at_ == '-' || is_digit(*at_) ? number() : fail_here("a value");
  }
}

/// Reads what is between a value and the next one: closing brackets, a comma, a key.
bool Reader::rest(bool& done) {
  for (;;) {
    skip_space();
    if (open_.empty()) {
      done = true;
      return at_end() || fail(Code::json_syntax, "nothing may follow the value: remove what does");
    }
    const bool object = nodes_[open_.back()].type == Type::object;
    const char closing = object ? '}' : ']';
    if (!at_end() && *at_ == ',') {
      ++at_;
      skip_space();
      return !object || key();
    }
    if (at_end() || *at_ != closing) return fail_here(object ? "a comma or '}'" : "a comma or ']'");
    close();
  }
}

bool Reader::open(Type type) {
  if (open_.size() >= max_depth_)
    return fail(Code::json_depth,
                "containers are nested deeper than " + std::to_string(max_depth_) + " levels");
  open_.push_back(static_cast<uint32_t>(nodes_.size()));
  if (!add(type, at_)) return false;
  ++at_;
  skip_space();
  return true;
}

void Reader::close() {
  ++at_;
  Node& node = nodes_[open_.back()];
  node.end = offset(at_);
  node.next = static_cast<uint32_t>(nodes_.size());
  open_.pop_back();
}

bool Reader::key() {
  if (at_end() || *at_ != '"') return fail_here("a member name in double quotes");
  if (!string()) return false;
  skip_space();
  if (at_end() || *at_ != ':') return fail_here("a colon");
  ++at_;
  skip_space();
  return true;
}

bool Reader::string() {
  const char* const begin = at_++;
  for (;;) {
    at_ = skip_plain(at_, end_, true);
    if (at_end()) return fail(Code::json_end, "the input ended inside a string");
    // Every few bytes of JSON within a string are one.
    if (*at_ == '\\' && end_ - at_ >= 2 && at_[1] == '"') {
      at_ += 2;
      continue;
    }
    if (*at_ == '"') {
      ++at_;
      return add(Type::string, begin);
    }
    if (static_cast<uint8_t>(*at_) >= 0x80) {
      // Stays here while text in other scripts lasts.
      do {
        const size_t length = utf8_length(at_, end_);
        if (length == 0)
          return fail(Code::json_syntax, "the text is not valid UTF-8: send JSON as UTF-8");
        at_ += length;
      } while (!at_end() && static_cast<uint8_t>(*at_) >= 0x80);
    } else if (*at_ == '\\' ? !escape() : !control()) {
      return false;
    }
  }
}

bool Reader::escape() {
  ++at_;
  if (at_end()) return fail(Code::json_end, "the input ended inside a string");
  if (*at_ == 'u') return unicode();
  if (!is_short_escape(*at_)) return fail_here("one of \" \\ / b f n r t u behind a backslash");
  ++at_;
  return true;
}

bool Reader::unicode() {
  ++at_;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_end()) return fail(Code::json_end, "the input ended inside a string");
    if (!is_hex_digit(*at_)) return fail_here("four hexadecimal digits behind \\u");
  }
  return true;
}

bool Reader::control() {
  if (markers_ && marker_at({begin_, static_cast<size_t>(end_ - begin_)}, offset(at_)) >= 0) {
    at_ += kMarkerBytes;
    return true;
  }
  return fail(Code::json_syntax, "a control character must be escaped inside a string");
}

bool Reader::number() {
  const char* const begin = at_;
  if (*at_ == '-') ++at_;
  if (!at_end() && *at_ == '0') {
    ++at_;
    if (!at_end() && is_digit(*at_))
      return fail(Code::json_syntax, "a number must not begin with a zero before another digit");
  } else if (!digits()) {
    return false;
  }
  if (!at_end() && *at_ == '.') {
    ++at_;
    if (!digits()) return false;
  }
  if (!at_end() && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (!at_end() && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!digits()) return false;
  }
  if (static_cast<size_t>(at_ - begin) > kMaxNumberChars) {
    at_ = begin;
    return fail(Code::json_number, "a number has more than 65,536 characters: send it as a string");
  }
  return add(Type::number, begin);
}

bool Reader::digits() {
  if (at_end() || !is_digit(*at_)) return fail_here("a digit");
  while (!at_end() && is_digit(*at_)) ++at_;
  return true;
}

bool Reader::literal(std::string_view word, Type type) {
  const char* const begin = at_;
  for (const char c : word) {
    if (at_end() || *at_ != c) return fail_here(word);
    ++at_;
  }
  return add(type, begin);
}

void Reader::skip_space() {
  while (at_ < end_ && is_white(*at_)) ++at_;
}

bool Reader::add(Type type, const char* begin) {
  if (nodes_.size() >= kMaxNodes)
    return fail(Code::too_large, "the document has more than 33,554,432 values: send it in parts");
  const auto next = static_cast<uint32_t>(nodes_.size() + 1);
  nodes_.push_back({type, offset(begin), offset(at_), next});
  return true;
}

bool Reader::fail(Code code, std::string_view message) {
  status_.code = code;
  status_.message = message;
  return false;
}

bool Reader::fail_here(std::string_view expected) {
  if (at_end()) return fail(Code::json_end, "the document ends before it is complete");
  return fail(Code::json_syntax, std::string(expected) + " was expected here");
}

}  // namespace

Status Tape::parse(std::string_view text, Tape& tape, size_t max_depth, bool markers) {
  tape.text_ = text;
  tape.nodes_.clear();
  Status status = Reader(text, tape.nodes_, max_depth, markers).run();
  if (!status.ok()) tape.nodes_.clear();
  return status;
}

}  // namespace sluice
