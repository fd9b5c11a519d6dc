// Kinds of text that say by their first lines what they are: XML by its root, JSON by its members,
// and formats that begin with a word of theirs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/describe.h"

namespace sluice {

/// What a text is to the people who work with it.
struct TextFormat {
  std::string_view label;  ///< empty: nothing that is known
  std::string_view token;  ///< what stands once in each of its parts, or `cells: array`
  std::string_view noun;   ///< what a part is called
  bool has_title = false;  ///< one that people gave to what they wrote

  bool is_known() const { return !label.empty(); }
};

/// What begins each row of a table in HTML, where it is counted.
inline constexpr std::string_view kTableRow = "<tr";

/// The kind of a text that begins with `head`; of JSON, which `outline` tells, by its members.
TextFormat find_text_format(std::string_view head, std::string_view outline = {});

/// Appends what is said of a kind: the number of its parts, its title, its version.
void append_format_facts(std::string& line, const TextFormat& kind, const Subject& subject);

/// The pages and the title of PostScript, RTF and HTML; false where nothing is said.
bool append_page_facts(std::string& line, const Subject& subject);

/// Whether a text holds a private key, which is never shown.
bool is_private_key(std::string_view head);

/// Counts a token in a text that comes in pieces of any size.
class TokenCount {
 public:
  explicit TokenCount(std::string_view token) : token_(token), seam_("\n") {}

  void push(std::string_view text);
  uint64_t count() const { return count_; }
  std::string_view token() const { return token_; }

 private:
  std::string_view token_;
  std::string seam_;  // the last bytes, fewer than the token has; a line begins the text
  uint64_t count_ = 0;
};

}  // namespace sluice
