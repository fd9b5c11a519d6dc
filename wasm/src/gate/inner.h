// JSON in the text of a string, while the string streams by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gate/document.h"

namespace sluice::gate {

/// How many strings deep JSON in the text of a string is followed.
inline constexpr uint32_t kMaxInner = 8;

/// Reads a value (RFC 8259, with the NaN and Infinity of Python) from text in pieces cut anywhere,
/// and passes it to a document of its own. What leaves that document leaves the string. Runs were
/// found before: their markers stand in the text.
class Inner {
 public:
  /// `level`: strings around the value. `fields`: the configuration names places in it.
  Inner(const GateOptions& options, SegmentLog& log, uint32_t level, bool fields)
      : document_(options, log, level, fields) {}

  /// Reads text. Returns how many bytes of it were read: fewer than all if the value has ended, or
  /// what follows does not belong to JSON.
  size_t push(std::string_view text);
  /// The marker of a segment stands here. False if JSON cannot have it here.
  bool mark(uint32_t segment);
  /// Releases what no later decision needs; with `all`, everything that was read of a string.
  void flush(bool all) { document_.flush(all); }

  /// Whether the value has ended or was broken off. Nothing may be pushed then.
  bool is_over() const { return state_ >= State::done; }

  /// What stays of the value, or of its beginning. Call it once, last.
  std::string finish();

 private:
  enum class State : uint8_t {
    value,
    value_or_end,
    key,
    key_or_end,
    colon,
    comma_or_end,
    tail,     // behind a value that left as a whole
    word,     // inside a number, or true, false, null
    text,     // inside a string
    escape,   // behind a backslash
    unicode,  // inside the digits of \uXXXX
    done,
    broken,
  };

  const char* structure(const char* at, const char* end);
  const char* begin_value(const char* at, const char* end);
  const char* begin_string(const char* at, const char* end, bool key);
  const char* word(const char* at, const char* end);
  const char* string(const char* at, const char* end);
  void escaped(char c);
  void pass(std::string_view source);
  void lay(const char* upto);
  void end_value(const char* at);
  void end_string();

  Document document_;
  State state_ = State::value;
  bool key_ = false;
  uint8_t left_ = 0;            // digits of \uXXXX
  const char* laid_ = nullptr;  // of the piece at hand, outside of strings
  std::string held_;            // the escape, word or white space at hand
};

}  // namespace sluice::gate
