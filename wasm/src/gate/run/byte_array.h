// Bytes in spellings other than base64 and hex: arrays and objects of byte values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sluice/codec.h"

namespace sluice::gate {

/// Longest white space inside an array or object, in bytes of source.
inline constexpr size_t kMaxSpace = 96;

/// Reads bytes in one spelling, which has to be uniform, from source in pieces cut anywhere.
class ByteReader {
 public:
  enum class Step : uint8_t {
    more,    ///< all available bytes were read, or they end inside an element
    full,    ///< the budget is used up
    closed,  ///< all of it was read
    broken,  ///< what follows is not an element of this form
  };

  virtual ~ByteReader() = default;

  /// Reads from `at`, and moves it, up to `budget` bytes of source in total. Appends the values to
  /// `bytes`.
  Step lex(const uint8_t*& at, const uint8_t* end, bool final, size_t budget, std::string& bytes);

  size_t source() const { return source_; }
  /// The source between elements, or behind the last one if the reader broke off.
  const std::string& separator() const { return separator_; }

  /// The form in terms of the decoded string. Valid once the reader has ended.
  virtual Form form(bool closed) const = 0;

 protected:
  /// Reads what stands before the first element: `full` if it is there.
  virtual Step open(const uint8_t*& at, const uint8_t* end, bool final) = 0;
  /// Reads an element with what shows that it is complete, and writes its bytes, at most
  /// kMaxElement. After `full` there is another.
  virtual Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t*& out) = 0;
  static constexpr size_t kMaxElement = 16;

  std::string separator_;  // in source

 private:
  size_t source_ = 0;
  bool opened_ = false;
};

/// How bytes stand in JSON, if they are no run.
enum class Spelled : uint8_t { array, object, latin1, python, dump };

/// A reader from the first byte of the spelling. `in_string`: it is text of a string.
std::unique_ptr<ByteReader> open_reader(Spelled spelled, bool in_string);

/// Reads one array of canonical integers, 0–255 or −128–127, or an object that has them by their
/// number, `{"0":37,"1":80}`, with the same separator throughout.
class ByteArray : public ByteReader {
 public:
  ByteArray(bool object, bool in_string) : object_(object), in_string_(in_string) {}
  Form form(bool closed) const override;

 private:
  Step open(const uint8_t*& at, const uint8_t* end, bool final) override;
  Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t*& out) override;
  int64_t read_space(const uint8_t* at, const uint8_t* end, bool final) const;
  Step read_quote(const uint8_t*& at, const uint8_t* end, bool final) const;
  Step read_key(const uint8_t*& at, const uint8_t* end, bool final, bool first);
  std::string text_of(const std::string& source) const;

  bool object_;
  bool in_string_;
  uint64_t elements_ = 0;
  int sign_ = 0;                         // of the values seen that only one kind of array has
  std::string prefix_, colon_, suffix_;  // in source
};

}  // namespace sluice::gate
