// How facts stand in a description.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Appends `, 14 pages`, `, 1 page`: a noun that ends in `y` becomes `…ies`.
void append_count(std::string& line, uint64_t count, std::string_view noun);

/// Texts quoted from a file, together: `, untrusted file text: "a", "b", …`. The first that is one
/// brings the words before it; a sixth becomes an ellipsis, and what shows nothing is left out.
class Quotes {
 public:
  /// `intro` stands before the words, with the comma.
  explicit Quotes(std::string& line, std::string_view intro = ",") : line_(line), intro_(intro) {}

  /// False once no further one is shown.
  bool add(std::string_view text);

 private:
  std::string& line_;
  std::string_view intro_;
  int count_ = 0;
};

}  // namespace sluice
