// What a JSON text says, in three numbers: the same for any white space and spelling of strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

struct Segment;

/// 128 bits of hash and a length. Texts that differ by accident do not share one; those of two
/// texts in a row are made of those of both.
struct Fingerprint {
  uint64_t one = 0;
  uint64_t other = 0;
  uint64_t length = 0;  ///< 0: not known

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
  void flush();
  void open_quote();
  void quote();
  void escaped(char c);
  void unit();
  size_t outside(std::string_view source);

  Fingerprint print_;
  std::string out_;      // what is not in print_ yet
  std::string escape_;   // behind a backslash, while it is not complete
  uint32_t high_ = 0;    // half of a surrogate pair that ends what came so far
  char last_ = '[';      // the last character outside of strings
  bool gap_ = false;     // white space behind it
  bool inside_ = false;  // a string
  bool opened_ = false;  // … whose quote is not in out_: a value that stands bare has none
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
  std::string out_;
};

}  // namespace sluice
