// A push lexer for JSON (RFC 8259) that keeps nothing but where it stands and the document's shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "describe/shape.h"
#include "sluice/describe.h"

namespace sluice {

/// Where the reader stands between two bytes is all in `state_` and a few counters, so a chunk may
/// end anywhere.
class Outline::Reader {
 public:
  void push(Bytes bytes);

  /// Whether one whole array or object has been read, or several, each on a line of its own, and
  /// white space alone behind it.
  bool complete() const { return state_ == State::done; }
  bool failed() const { return state_ == State::failed; }
  const outline::Shape& shape() const { return shape_; }

 private:
  enum class State : uint8_t {
    mark,           // inside a byte order mark
    start,          // before the root
    element,        // before a value
    first_element,  // before a value or `]`
    member,         // before a key
    first_member,   // before a key or `}`
    colon,          // behind a key
    after,          // behind a value
    done,           // behind the root, or behind a line's
    text,           // inside a string
    escape,         // behind a backslash
    unicode,        // inside the digits of \uXXXX
    literal,        // inside true, false, null
    minus,          // number: behind `-`
    zero,           //   behind a leading 0
    digits,         //   inside the integer part
    point,          //   behind `.`
    fraction,       //   behind a digit of the fraction
    exponent,       //   behind `e`
    sign,           //   behind the exponent's sign
    power,          //   behind a digit of the exponent
    failed,         // not JSON
  };
  static constexpr uint32_t kMaxDepth = 1'000'000;
  static constexpr size_t kKeyBytes = 256;

  const uint8_t* step(const uint8_t* at, const uint8_t* end);
  const uint8_t* structure(const uint8_t* at, const uint8_t* end);
  const uint8_t* text(const uint8_t* at, const uint8_t* end);
  const uint8_t* number(const uint8_t* at, const uint8_t* end);
  void root(uint8_t byte);
  const uint8_t* space(const uint8_t* at, const uint8_t* end);
  void next_root(uint8_t byte);
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
  void tell(outline::Kind kind) {
    if (depth() <= outline::Shape::kWatched) shape_.value(kind, depth());
  }
  /// Lines count as the elements of an array around them.
  uint32_t depth() const { return depth_ + (shape_.is_lines() ? 1 : 0); }

  State state_ = State::start;
  bool in_array_ = false;     // what the innermost container is
  bool is_key_ = false;       // the string at hand is a key
  bool kept_ = false;         // and the shape wants it
  bool integer_ = true;       // the number at hand is one
  bool line_ended_ = false;   // since the root, behind which a line's end stands
  bool spans_lines_ = false;  // a line ended inside a root
  uint8_t left_ = 0;          // digits of \uXXXX, bytes of the byte order mark
  uint32_t depth_ = 0;
  const char* rest_ = "";     // of the literal at hand
  std::vector<bool> arrays_;  // of the open containers: which are arrays
  outline::Key key_;
  outline::Shape shape_;
};

}  // namespace sluice
