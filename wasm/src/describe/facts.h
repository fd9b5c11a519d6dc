// The facts of a description, and how they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// Appends `, 14 pages`, `, 1 page`: a noun that ends in `y` becomes `…ies`.
void append_count(std::string& line, uint64_t count, std::string_view noun);

/// Appends one of several sides: `, 640`, then ` × 480`.
void append_side(std::string& line, uint64_t size, bool first);

/// Texts quoted from a file, as a list: `, names (from the file): "a", "b"`. The words in
/// parentheses are the mark that tells them from our own. A sixth becomes `and more`, and one that
/// shows nothing is left out.
class Quotes {
 public:
  /// `intro` says what the texts are, with its comma: `, names`.
  Quotes(std::string& line, std::string_view intro) : line_(line), intro_(intro) {}

  /// False if no further one is shown.
  bool add(std::string_view text);

 private:
  std::string& line_;
  std::string_view intro_;
  int count_ = 0;
};

/// As two digits.
void append_two_digits(std::string& line, uint64_t number);

/// `, 3:25 long`; nothing for 0 seconds, or more than any recording has.
void append_duration(std::string& line, uint64_t seconds);

/// As stored: a rotation that EXIF asks for is not applied, one of HEIF is. Neither is 0.
struct Dimensions {
  uint64_t width = 0;
  uint64_t height = 0;
  std::string_view unit = {};  ///< empty: pixels

  bool operator==(const Dimensions&) const = default;
};

/// `, 640 × 480`, `, 21 × 30 cm`. False where they are not known.
bool append_sides(std::string& line, const std::optional<Dimensions>& seen);

/// The dimensions of a PNG, a JPEG, a GIF or a WebP that begins with `head`; nothing for other
/// bytes, or when they are not to be seen there. Time is linear in the head.
std::optional<Dimensions> read_dimensions(Bytes head);

/// `, 20 frames` of an animation: PNG; GIF and WebP where all of it is seen.
void append_frames(std::string& line, Bytes head);

}  // namespace sluice
