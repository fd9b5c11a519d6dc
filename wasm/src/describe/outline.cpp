// The shape of a JSON document in one pass: a push lexer (RFC 8259) that keeps only its position
// and its counts.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "describe/shape.h"
#include "describe/values.h"
#include "json/scan.h"
#include "sluice/describe.h"
#include "sluice/segment.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice {

/// `state_` and a few counters are the whole position, so a chunk may end anywhere.
class Outline::Reader {
 public:
  explicit Reader(bool valid) : valid_(valid) {}
  void push(Bytes bytes);

  /// Whether one whole array or object has been read, or several, each on a line of its own, and
  /// white space alone behind it.
  bool complete() const { return state_ == State::done || state_ == State::words; }
  bool failed() const { return state_ == State::failed; }
  /// Whether it is the beginning of one value.
  bool is_open() const { return !failed() && !complete() && !shape_.is_lines() && depth_ > 0; }
  /// Whether some of it was read whole, and its end is missing.
  bool is_cut() const { return is_open() && parted_; }
  /// Whether the last element of the array that the shape tells of is not whole.
  bool is_in_element() const {
    const bool in_value = state_ == State::text || state_ == State::escape ||
                          state_ == State::unicode || state_ == State::literal;
    return depth() > shape_.list_depth() || (depth() == shape_.list_depth() && in_value);
  }
  /// Whether a number was NaN or infinite.
  bool has_nan() const { return nan_; }
  /// Lines of words behind lines of JSON.
  uint64_t below() const { return below_ + ((words_ > 0 && !word_ended_) || is_in_line() ? 1 : 0); }
  /// Whether the last of several lines is no document: it was cut.
  bool has_broken_line() const { return (broken_ && !failed()) || is_in_line(); }
  const outline::Shape& shape() const { return shape_; }
  const outline::Values& values() const { return values_; }

 private:
  enum class State : uint8_t {
    mark,            // inside a byte order mark
    start,           // before the root
    element,         // before a value
    first_element,   // before a value or `]`
    member,          // before a key
    first_member,    // before a key or `}`
    colon,           // behind a key
    after,           // behind a value
    done,            // behind the root, or behind a line's
    words,           // in lines of words behind lines of JSON
    text,            // inside a string
    escape,          // behind a backslash
    unicode,         // inside the digits of \uXXXX
    literal,         // inside true, false, null
    marker,          // inside a marker that stands for a value
    minus,           // number: behind `-`
    zero,            //   behind a leading 0
    digits,          //   inside the integer part
    point,           //   behind `.`
    fraction,        //   behind a digit of the fraction
    exponent,        //   behind `e`
    sign,            //   behind the exponent's sign
    power,           //   behind a digit of the exponent
    skipped,         // in a container that does not matter
    skipped_text,    // in a string there
    skipped_escape,  // behind a backslash in it
    failed,          // not JSON
  };
  static constexpr uint32_t kMaxDepth = 1'000'000;
  static constexpr size_t kKeyBytes = 256;
  static constexpr uint64_t kMostWords = 2'048;
  static constexpr uint64_t kFewestLines = 3;
  static constexpr size_t kKeptEnd = 1'024;

  const uint8_t* step(const uint8_t* at, const uint8_t* end);
  const uint8_t* structure(const uint8_t* at, const uint8_t* end);
  const uint8_t* text(const uint8_t* at, const uint8_t* end);
  const uint8_t* number(const uint8_t* at, const uint8_t* end);
  const uint8_t* skip(const uint8_t* at, const uint8_t* end);
  const uint8_t* skip_blocks(const uint8_t* at, const uint8_t* end);
  void root(uint8_t byte);
  const uint8_t* space(const uint8_t* at, const uint8_t* end);
  void next_root(uint8_t byte);
  const uint8_t* words(const uint8_t* at, const uint8_t* end);
  void value(uint8_t byte);
  void after(uint8_t byte);
  void begin_text(bool key);
  void end_text();
  void escaped(uint8_t byte);
  void literal(uint8_t byte);
  void begin_literal(outline::Kind kind, const char* rest);
  void begin_number(State state);
  void end_number();
  void open(outline::Kind kind);
  void close();
  void keep(const uint8_t* from, const uint8_t* to);
  void keep_value(const uint8_t* from, const uint8_t* to);
  void begin_value(uint8_t byte);
  void end_value();
  void end_key();
  bool is_in_line() const {
    return !failed() && !complete() && shape_.is_lines() && shape_.list().count > kFewestLines;
  }
  void break_line(bool ended);
  void begin_element();
  void begin_skipped(uint8_t byte);
  /// Whether the values of members of the innermost container are told.
  bool tells_values() const {
    const bool fits = lists_ == 0 || (lists_ == 1 && elements_ <= outline::kValueElements);
    return fits && depth_ > 0 && depth_ <= outline::kValueDepth && !shape_.is_lines();
  }
  void tell(outline::Kind kind) {
    if (depth() <= outline::Shape::kWatched) shape_.value(kind, depth());
  }
  /// Lines count as the elements of an array around them.
  uint32_t depth() const { return depth_ + (shape_.is_lines() ? 1 : 0); }

  const bool valid_;  // the document is JSON: only what matters is read
  State state_ = State::start;
  bool in_array_ = false;     // what the innermost container is
  bool is_key_ = false;       // the string at hand is a key
  bool kept_ = false;         // and the shape wants it, or it is told with its value
  bool valued_ = false;       // the value at hand is told
  bool integer_ = true;       // the number at hand is one
  bool nan_ = false;          // one was none of JSON's
  bool parted_ = false;       // a comma stood between two values
  bool broken_ = false;       // a line that began as JSON is words
  bool line_ended_ = false;   // since the root, behind which a line's end stands
  bool spans_lines_ = false;  // a line ended inside a root
  bool word_ended_ = false;   // a line of words
  uint64_t words_ = 0;        // bytes of them
  uint64_t below_ = 0;        // lines that ended since the root, without its own
  uint8_t left_ = 0;          // digits of \uXXXX, bytes of the byte order mark
  uint32_t depth_ = 0;
  uint32_t skipped_ = 0;      // containers around the text at hand, from the one that is skipped
  const char* rest_ = "";     // of the literal at hand
  std::vector<bool> arrays_;  // of the open containers: which are arrays
  uint64_t lists_ = 0;        // how many are
  uint64_t elements_ = 0;     // of the outermost one that is open, begun so far
  outline::Key key_;
  outline::Shape shape_;
  std::string pointer_;  // of the member at hand, its keys as they are spelled
  size_t places_[outline::kValueDepth + 1] = {};  // where its keys begin in it
  std::string value_;                             // the beginning of its value
  std::string value_end_;                         // what is seen last of it
  uint64_t value_bytes_ = 0;
  outline::Values values_;
  outline::Values listed_;  // those in the outermost list that is open
};

void Outline::Reader::push(Bytes bytes) {
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size();
  while (at != end && state_ != State::failed) {
    at = step(at, end);
    if (state_ == State::failed) break_line(at != bytes.data() && at[-1] == '\n');
  }
}

/// A line that was cut is one of words, as the mark of the cut behind it; `ended` where it fails.
void Outline::Reader::break_line(bool ended) {
  if (broken_ || words_ > 0 || !shape_.is_lines() || shape_.list().count <= kFewestLines) return;
  broken_ = true;
  state_ = State::words;
  words_ = 1;
  below_ = ended ? 1 : 0;
  word_ended_ = ended;
}

/// Reads at least one byte, or leaves the state in which it may not be read.
const uint8_t* Outline::Reader::step(const uint8_t* at, const uint8_t* end) {
  switch (state_) {
    case State::text:
      return text(at, end);
    case State::escape:
    case State::unicode:
      escaped(*at);
      return at + 1;
    case State::literal:
      literal(*at);
      return at + 1;
    case State::marker:
      if (--left_ == 0) state_ = State::after;
      return at + 1;
    case State::minus:
    case State::zero:
    case State::digits:
    case State::point:
    case State::fraction:
    case State::exponent:
    case State::sign:
    case State::power: {
      const uint8_t* const behind = number(at, end);
      if (valued_) keep_value(at, behind);
      return behind;
    }
    case State::words:
      return words(at, end);
    case State::skipped:
    case State::skipped_text:
    case State::skipped_escape:
      return skip(at, end);
    default:
      return structure(at, end);
  }
}

/// White space and structural characters, up to the first character inside a string, number or
/// literal.
const uint8_t* Outline::Reader::structure(const uint8_t* at, const uint8_t* end) {
  const uint8_t byte = *at;
  if (is_white(byte) && state_ != State::mark) return space(at, end);
  switch (state_) {
    case State::mark:
    case State::start:
      root(byte);
      break;
    case State::first_element:
    case State::element:
      value(byte);
      break;
    case State::first_member:
    case State::member:
      if (byte == '"') {
        begin_text(true);
      } else if (byte == '}' && state_ == State::first_member) {
        close();
      } else {
        state_ = State::failed;
      }
      break;
    case State::colon:
      state_ = byte == ':' ? State::element : State::failed;
      break;
    case State::after:
      after(byte);
      break;
    default:
      next_root(byte);
  }
  return at + 1;
}

/// Behind the white space at `at`; notes whether a line ends there.
const uint8_t* Outline::Reader::space(const uint8_t* at, const uint8_t* end) {
  const uint8_t* const stop = std::find_if(at, end, [](uint8_t next) { return !is_white(next); });
  if (const auto ends = std::count(at, stop, '\n'); ends > 0) {
    below_ += static_cast<uint64_t>(ends) - (line_ended_ ? 0 : 1);
    line_ended_ = true;
    spans_lines_ = spans_lines_ || depth_ > 0;
  }
  return stop;
}

/// A line more, if each so far was one line.
void Outline::Reader::next_root(uint8_t byte) {
  const bool fits = state_ == State::done && line_ended_ && !spans_lines_;
  const bool begins = byte == '{' || (byte == '[' && !shape_.has_objects());
  if (!fits || !begins) {
    state_ = fits && shape_.is_lines() && shape_.list().count >= kFewestLines ? State::words
                                                                              : State::failed;
    words_ = 1;
    return;
  }
  below_ = 0;
  shape_.begin_lines();
  values_.clear();
  listed_.clear();
  value(byte);
}

/// Some lines: a notice, a fence.
const uint8_t* Outline::Reader::words(const uint8_t* at, const uint8_t* end) {
  words_ += static_cast<uint64_t>(end - at);
  below_ += static_cast<uint64_t>(std::count(at, end, '\n'));
  word_ended_ = end[-1] == '\n';
  if (words_ > kMostWords) state_ = State::failed;
  return end;
}

/// The root is a container; a byte order mark (EF BB BF) may stand before it.
void Outline::Reader::root(uint8_t byte) {
  if (state_ == State::mark) {
    const bool fits = byte == (left_ == 2 ? 0xbb : 0xbf);
    if (--left_ == 0) state_ = State::start;
    if (!fits) state_ = State::failed;
  } else if (byte == '{' || byte == '[') {
    value(byte);
  } else if (byte == 0xef) {
    state_ = State::mark;
    left_ = 2;
  } else {
    state_ = State::failed;
  }
}

void Outline::Reader::value(uint8_t byte) {
  if (in_array_ && lists_ == 1 && byte != ']') {
    begin_element();
    if (state_ >= State::skipped) return begin_skipped(byte);
  }
  if (byte != '{' && byte != '[' && byte != ']' && byte != kMarkerOpen) begin_value(byte);
  switch (byte) {
    case '"':
      return begin_text(false);
    case '{':
      return open(outline::Kind::object);
    case '[':
      return open(outline::Kind::array);
    case 't':
      return begin_literal(outline::Kind::boolean, "rue");
    case 'f':
      return begin_literal(outline::Kind::boolean, "alse");
    case 'n':
      return begin_literal(outline::Kind::null, "ull");
    case '-':
      return begin_number(State::minus);
    case 'N':
      nan_ = true;
      return begin_literal(outline::Kind::number, "aN");
    case 'I':
      nan_ = true;
      return begin_literal(outline::Kind::number, "nfinity");
    case '0':
      return begin_number(State::zero);
    case ']':
      if (state_ == State::first_element) return close();
      break;
    case kMarkerOpen:
      tell(outline::Kind::string);
      state_ = State::marker;
      left_ = kMarkerBytes - 1;
      return;
    default:
      if (is_digit(byte)) return begin_number(State::digits);
  }
  state_ = State::failed;
}

void Outline::Reader::after(uint8_t byte) {
  if (byte == ',') {
    parted_ = true;
    state_ = in_array_ ? State::element : State::member;
  } else if (byte == (in_array_ ? ']' : '}')) {
    close();
  } else {
    state_ = State::failed;
  }
}

void Outline::Reader::open(outline::Kind kind) {
  if (depth_ == kMaxDepth) {
    state_ = State::failed;
    return;
  }
  tell(kind);
  in_array_ = kind == outline::Kind::array;
  arrays_.push_back(in_array_);
  lists_ += in_array_ ? 1 : 0;
  if (in_array_ && lists_ == 1) elements_ = 0;
  ++depth_;
  line_ended_ = false;
  state_ = in_array_ ? State::first_element : State::first_member;
  if (!valid_ || shape_.wants_values(depth()) || tells_values()) return;
  state_ = State::skipped;
  skipped_ = 1;
}

namespace {

/// Four blocks of JSON; the first byte's bit is the lowest. Right only if there are no `escapes`.
struct Brackets {
  Brackets(Blocks blocks, bool in_text)
      : escapes(blocks.any([](Block bytes) { return bytes.is('\\'); })),
        texts(blocks.bits([](Block bytes) { return bytes.is('"'); })) {
    // Each bit becomes the number of quotes up to it, odd or even.
    for (int step = 1; step < 64; step *= 2) texts ^= texts << step;
    if (in_text) texts = ~texts;
    // What lies between two brackets stands nowhere else in JSON.
    places = ~texts & blocks.bits([](Block bytes) {
      return bytes.from('[', ']' - '[') | bytes.from('{', '}' - '{');
    });
  }

  bool escapes;
  uint64_t texts;   // bytes in strings
  uint64_t places;  // of brackets outside of them
};

}  // namespace

/// Behind whole blocks without escapes, or behind the container that ends in one.
const uint8_t* Outline::Reader::skip_blocks(const uint8_t* at, const uint8_t* end) {
  for (; end - at >= static_cast<ptrdiff_t>(Blocks::kBytes); at += Blocks::kBytes) {
    const Brackets brackets(Blocks(at), state_ == State::skipped_text);
    if (brackets.escapes) break;
    for (uint64_t left = brackets.places; left != 0; left &= left - 1) {
      const uint8_t* const bracket = at + std::countr_zero(left);
      const bool opens = *bracket == '{' || *bracket == '[';
      skipped_ += opens ? 1 : UINT32_MAX;
      if (skipped_ == 0) return bracket + 1;
    }
    state_ = brackets.texts >> 63 == 0 ? State::skipped : State::skipped_text;
  }
  return at;
}

/// To the end of a container: only strings and brackets are told apart.
const uint8_t* Outline::Reader::skip(const uint8_t* at, const uint8_t* end) {
  if (state_ != State::skipped_escape) at = skip_blocks(at, end);
  while (at != end && skipped_ > 0) {
    if (state_ == State::skipped_text) {
      at = skip_plain(at, end);
      if (at == end) return end;
      if (*at == '"') state_ = State::skipped;
      if (*at == '\\') state_ = State::skipped_escape;
    } else if (state_ == State::skipped_escape || *at == '"') {
      state_ = State::skipped_text;
    } else if (*at == '{' || *at == '[') {
      ++skipped_;
    } else if (*at == '}' || *at == ']') {
      --skipped_;
    }
    ++at;
  }
  if (skipped_ == 0) close();
  return at;
}

void Outline::Reader::close() {
  --depth_;
  lists_ -= arrays_.back() ? 1 : 0;
  if (arrays_.back() && lists_ == 0) {
    values_.add(listed_);
    listed_.clear();
  }
  arrays_.pop_back();
  if (depth() <= outline::Shape::kWatched) shape_.close(depth());
  state_ = depth_ == 0 ? State::done : State::after;
  if (depth_ > 0) in_array_ = arrays_.back();
}

void Outline::Reader::begin_text(bool key) {
  state_ = State::text;
  is_key_ = key;
  const bool shaped = depth() <= outline::Shape::kWatched && shape_.wants_key(depth());
  kept_ = key && (shaped || tells_values());
  if (kept_) key_ = {};
  if (!key) tell(outline::Kind::string);
}

void Outline::Reader::end_text() {
  if (kept_) end_key();
  kept_ = false;
  state_ = is_key_ ? State::colon : State::after;
  if (!valued_) return;
  const uint8_t quote = '"';
  keep_value(&quote, &quote + 1);
  end_value();
}

void Outline::Reader::end_key() {
  if (depth() <= outline::Shape::kWatched && shape_.wants_key(depth())) shape_.key(key_, depth());
  if (!tells_values()) return;
  pointer_.resize(places_[depth_]);
  pointer_ += '/';
  for (const char c : key_.source) {
    if (c == '~' || c == '/') {
      pointer_ += c == '~' ? "~0" : "~1";
    } else {
      pointer_ += c;
    }
  }
  if (depth_ < outline::kValueDepth) places_[depth_ + 1] = pointer_.size();
}

/// The next element of the outermost list. Where there are many, none is told.
void Outline::Reader::begin_element() {
  if (++elements_ > outline::kValueElements) {
    listed_.clear();
    if (valid_ && !shape_.wants_values(depth())) state_ = State::skipped;
  } else if (depth_ <= outline::kValueDepth) {
    pointer_.resize(places_[depth_]);
    pointer_ += '/';
    pointer_ += std::to_string(elements_ - 1);
    if (depth_ < outline::kValueDepth) places_[depth_ + 1] = pointer_.size();
  }
}

/// The rest of a list goes, from the first byte of an element on.
void Outline::Reader::begin_skipped(uint8_t byte) {
  skipped_ = byte == '{' || byte == '[' ? 2 : 1;
  if (byte == '"') state_ = State::skipped_text;
}

/// Of the elements of a list its strings are told: numbers alone say little.
void Outline::Reader::begin_value(uint8_t byte) {
  valued_ = tells_values() && (!in_array_ || byte == '"');
  if (!valued_) return;
  value_.clear();
  value_end_.clear();
  value_bytes_ = 0;
  keep_value(&byte, &byte + 1);
}

void Outline::Reader::keep_value(const uint8_t* from, const uint8_t* to) {
  const auto size = static_cast<size_t>(to - from);
  value_bytes_ += size;
  const size_t taken = std::min(outline::kValueBytes - value_.size(), size);
  value_.append(from, from + taken);
  if (taken == size) return;
  from += std::max(taken, size - std::min(size, outline::kValueEnd));
  if (value_end_.size() > kKeptEnd) value_end_.erase(0, value_end_.size() - outline::kValueEnd);
  value_end_.append(from, to);
}

void Outline::Reader::end_value() {
  valued_ = false;
  if (value_end_.size() < outline::kValueEnd) value_end_.insert(0, value_);
  outline::Values& values = lists_ == 0 ? values_ : listed_;
  values.add(pointer_, depth_, value_, value_bytes_, value_end_);
}

const uint8_t* Outline::Reader::text(const uint8_t* at, const uint8_t* end) {
  while (at != end && state_ == State::text) {
    const uint8_t* const stop = skip_plain(at, end);
    if (kept_) keep(at, stop);
    if (valued_) keep_value(at, stop);
    if (stop == end) return end;
    at = stop + 1;
    if (*stop == '"') {
      end_text();
    } else if (*stop == '\\' || *stop == kMarkerOpen || *stop == kMarkerClose) {
      if (kept_) keep(stop, at);
      if (valued_) keep_value(stop, at);
      if (*stop != '\\') continue;
      state_ = State::escape;
      if (at != end) escaped(*at++);
    } else {
      state_ = State::failed;
    }
  }
  return at;
}

void Outline::Reader::escaped(uint8_t byte) {
  if (kept_) keep(&byte, &byte + 1);
  if (valued_) keep_value(&byte, &byte + 1);
  if (state_ == State::unicode) {
    const bool hex = is_hex_digit(byte);
    if (--left_ == 0) state_ = State::text;
    if (!hex) state_ = State::failed;
  } else if (byte == 'u') {
    state_ = State::unicode;
    left_ = 4;
  } else {
    state_ = is_short_escape(static_cast<char>(byte)) ? State::text : State::failed;
  }
}

/// Keeps the first bytes of a key; of those behind them a hash (FNV-1a).
void Outline::Reader::keep(const uint8_t* from, const uint8_t* to) {
  const size_t room = kKeyBytes - key_.source.size();
  const uint8_t* const middle = from + std::min(room, static_cast<size_t>(to - from));
  key_.source.append(from, middle);
  for (from = middle; from != to; ++from) {
    key_.rest = ((key_.rest == 0 ? 0xcbf29ce484222325 : key_.rest) ^ *from) * 0x100000001b3;
  }
}

void Outline::Reader::begin_literal(outline::Kind kind, const char* rest) {
  tell(kind);
  state_ = State::literal;
  rest_ = rest;
}

void Outline::Reader::literal(uint8_t byte) {
  if (static_cast<char>(byte) != *rest_) {
    state_ = State::failed;
    return;
  }
  if (valued_) keep_value(&byte, &byte + 1);
  if (*++rest_ != '\0') return;
  state_ = State::after;
  if (valued_) end_value();
}

void Outline::Reader::begin_number(State state) {
  state_ = state;
  integer_ = true;
}

void Outline::Reader::end_number() {
  tell(integer_ ? outline::Kind::integer : outline::Kind::number);
  state_ = State::after;
  if (valued_) end_value();
}

const uint8_t* Outline::Reader::number(const uint8_t* at, const uint8_t* end) {
  const uint8_t byte = *at;
  const uint8_t low = byte | 0x20;
  const bool whole = state_ == State::zero || state_ == State::digits;
  if (is_digit(byte)) {
    switch (state_) {
      case State::minus:
        state_ = byte == '0' ? State::zero : State::digits;
        break;
      case State::zero:
        state_ = State::failed;
        break;
      case State::point:
        state_ = State::fraction;
        break;
      case State::exponent:
      case State::sign:
        state_ = State::power;
        break;
      default:
        return std::find_if(at + 1, end, [](uint8_t next) { return !is_digit(next); });
    }
  } else if (byte == 'I' && state_ == State::minus) {
    nan_ = true;
    begin_literal(outline::Kind::number, "nfinity");
  } else if (byte == '.' && whole) {
    state_ = State::point;
    integer_ = false;
  } else if (low == 'e' && (whole || state_ == State::fraction)) {
    state_ = State::exponent;
    integer_ = false;
  } else if ((byte == '+' || byte == '-') && state_ == State::exponent) {
    state_ = State::sign;
  } else if (whole || state_ == State::fraction || state_ == State::power) {
    end_number();
    return at;
  } else {
    state_ = State::failed;
  }
  return at + 1;
}

// --- the public face -------------------------------------------------------------------------

namespace {

constexpr size_t kOutlineChars = 300;

}  // namespace

Outline::Outline(bool valid) : valid_(valid) {}
Outline::~Outline() = default;
Outline::Outline(Outline&&) noexcept = default;
Outline& Outline::operator=(Outline&&) noexcept = default;

void Outline::push(Bytes bytes) {
  if (bytes.empty()) return;
  if (!reader_) reader_ = std::make_unique<Reader>(valid_);
  reader_->push(bytes);
}

bool Outline::is_lines() const {
  return reader_ && reader_->shape().is_lines();
}

bool Outline::may_be() const {
  return reader_ && !reader_->failed();
}

bool Outline::is_open() const {
  return reader_ && reader_->is_open();
}

std::string Outline::values() const {
  const bool told = reader_ && (reader_->complete() || reader_->is_cut());
  return told ? reader_->values().finish() : std::string();
}

uint64_t Outline::below() const {
  return reader_ ? reader_->below() : 0;
}

std::string Outline::finish() const {
  const bool cut = reader_ && reader_->is_cut();
  if (!reader_ || (!cut && !reader_->complete() && !reader_->has_broken_line())) return {};
  const bool line = reader_->has_broken_line();
  const size_t partial = line || (cut && reader_->is_in_element()) ? 1 : 0;
  std::string text = outline::shape_text(reader_->shape(), kOutlineChars, partial);
  if (cut) text += ", cut off";
  if (reader_->has_nan()) text += ", with NaN or Infinity, which JSON does not have";
  return text;
}

}  // namespace sluice
