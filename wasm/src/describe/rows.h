// The lines of a text, and its rows and columns if it is a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/bytes.h"

namespace sluice {

/// Counts in a text that streams by, in constant memory. The answer is the same for any chunking.
class Rows {
 public:
  /// `head` is the beginning of the text and decides whether it is a table: some records, all with
  /// the same number of fields, several columns, no space after commas as in prose (RFC 4180, with
  /// commas, semicolons or tabs). With `whole` nothing follows it. Push it too. If the text was
  /// `declared` a table, by its delimiter, one record of two columns is enough and spaces are
  /// allowed. A few lines of words may stand above: a title, a sentence, a fence. With `other` the
  /// text is known to be something else.
  Rows(std::string_view head, bool whole, char declared = '\0', bool other = false);

  void push(Bytes bytes);

  /// The delimiter, or 0 if the text is no table.
  char delimiter() const { return delimiter_; }
  /// Line ends are LF, CR LF or CR; a last line without one counts.
  uint64_t lines() const { return lines_ + (ends_open() ? 1 : 0); }
  /// `, 12,000 rows, 2 lines above, 8 columns (from the file): "id", "name", …`; the rows without
  /// the header and the lines of words that the text ends with, and left out when a quotation has
  /// no end. `tail` is the end of the text, its first line perhaps cut.
  std::string facts(std::string_view tail) const;

 private:
  bool ends_open() const { return last_ != '\n' && last_ != '\r'; }
  void find_table(std::string_view text, bool whole, char declared);
  void end_line(char end);
  Bytes count_lines(Bytes bytes);

  char delimiter_ = '\0';
  size_t columns_ = 0;
  uint64_t above_ = 0;        // lines before the table
  uint64_t words_above_ = 0;  // those with something in them
  bool has_header_ = false;
  bool has_separator_ = false;  // the first line only tells the delimiter
  std::string header_;          // as it is shown
  uint64_t lines_ = 0;
  uint64_t rows_ = 0;
  bool quoted_ = false;
  bool filled_ = false;  // the row at hand has something in it
  char last_ = '\n';
};

}  // namespace sluice
