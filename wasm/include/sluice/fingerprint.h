// What a JSON text says, in two numbers: the same for any white space and spelling of strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

struct Segment;

/// A polynomial over the bytes, modulo 2^64, and their number. Texts that differ by accident do not
/// share one (a text that was made to do so hides nothing but itself); that of two texts in a row
/// is made of those of both.
struct Fingerprint {
  /// Odd, so that no bit is lost.
  static constexpr uint64_t kBase = 0x9E3779B97F4A7C15;

  uint64_t hash = 0;
  uint64_t length = 0;  ///< 0: not known

  void add(char byte) {
    hash = hash * kBase + 1 + static_cast<uint8_t>(byte);
    ++length;
  }
  void add(std::string_view text);
  void add(const Fingerprint& behind);

  bool operator==(const Fingerprint&) const = default;
};

/// The fingerprint of JSON source that comes in pieces, cut anywhere: without white space between
/// tokens, strings in one spelling. Which artifacts stand in it is not part of it, only where.
class SourcePrint {
 public:
  void push(std::string_view source);

  /// The reference to a segment stands here.
  void refer(const Segment& segment);

  /// Not known where something inside is not.
  Fingerprint finish();

 private:
  void open_quote();
  void quote();
  void escaped(char c);
  void unit();
  const char* inside(const char* at, const char* end);
  const char* outside(const char* at, const char* end);

  Fingerprint print_;
  std::string escape_;   // behind a backslash, while it is not complete
  uint32_t high_ = 0;    // half of a surrogate pair that ends what came so far
  char last_ = '[';      // the last character outside of strings
  bool gap_ = false;     // white space behind it
  bool inside_ = false;  // a string
  bool opened_ = false;  // … whose quote is not in print_: a value that stands bare has none
  bool bare_ = false;    // … that is such a value
  bool escaping_ = false;
  bool unknown_ = false;
};

/// The fingerprint of text as it stands inside a JSON string, piece by piece.
class ContentPrint {
 public:
  void push(std::string_view text);
  void refer();
  const Fingerprint& finish() const { return print_; }

 private:
  Fingerprint print_;
};

}  // namespace sluice
