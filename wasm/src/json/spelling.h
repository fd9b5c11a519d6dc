// How a text was spelled as a string of JSON that is the text of a string itself. There restoring
// has to write each character as it came: which were escaped, and how.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// One spelling for each character, learnt while the source passes. What was not seen yet is
/// spelled as `append_escaped` does.
class Spelling {
 public:
  Spelling();

  /// Takes the source of a string (valid, its escapes whole, pairs of surrogates among them, UTF-8
  /// cut anywhere). Returns how many of its bytes have one spelling with what came before. What is
  /// behind them has another.
  size_t learn(std::string_view source);

  /// Appends `text` in this spelling.
  void write(std::string_view text, std::string& out) const;

  /// `json`, and what differs from the usual spelling: `json-X-n-s-u3c3e`. `X` digits A to F in
  /// upper case; as `\uXXXX`: `n` from U+0080 to U+FFFF, `m` above U+FFFF, `l` the line separators
  /// U+2028 and U+2029; `s` `\/`; `u` ASCII characters as `\uXXXX`.
  std::string name() const;
  /// Reads what `name` writes; nothing when it is anything else.
  static std::optional<Spelling> parse(std::string_view name);

 private:
  enum class How : uint8_t { open, plain, brief, unit };
  enum Kind : uint8_t { basic, beyond, separator };

  bool settle(How& known, How how);
  bool settle_case(std::string_view digits);
  size_t take_escape(std::string_view source);
  size_t take_plain(std::string_view source);
  void watch();
  template <typename Bytes>
  auto stops(Bytes bytes) const;

  std::array<How, 128> ascii_{};
  std::array<How, 3> others_{};  // by Kind
  bool upper_ = false;
  bool case_known_ = false;
  std::array<char, 9> watched_{};  // of what is seldom escaped: where it may still differ
};

/// The names of spellings from the innermost string outwards, each `.` a string around it.
void append_spelled(std::string& out, std::string_view text, const std::vector<Spelling>& levels);
std::optional<std::vector<Spelling>> parse_spellings(std::string_view names);

}  // namespace sluice
