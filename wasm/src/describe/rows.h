// The lines of a text, and its rows and columns if it is a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  /// no end; those of the first table, where others begin behind an empty line or one of words.
  /// `tail` is the end of the text, its first line perhaps cut.
  std::string facts(std::string_view tail) const;

 private:
  /// How many rows, those with another number of columns among them, and the line of the first one.
  struct Counted {
    uint64_t rows = 0;
    uint64_t odd = 0;
    uint64_t odd_line = 0;
  };
  /// A table that begins behind the first one.
  struct Other {
    size_t width = 0;
    uint64_t line = 0;
  };
  /// Bits for the characters of a block that mean something.
  struct Marks {
    uint64_t quotes = 0;
    uint64_t ends = 0;
    uint64_t delimiters = 0;
  };
  /// What was met last: an empty line or one of words, and a record of another width behind it.
  enum class Gap : uint8_t { none, open, other };

  static constexpr size_t kMostOthers = 7;
  static constexpr size_t kLongestHeld = 1'024;

  bool ends_open() const { return last_ != '\n' && last_ != '\r'; }
  size_t find_table(std::string_view text, bool whole, char declared);
  void end_line(char end, std::string_view line);
  void end_record(std::string_view line);
  void begin_table();
  void take_block(const char* at, size_t size, Marks marks, const char*& line);
  Bytes count_lines(Bytes bytes);

  char delimiter_ = '\0';
  size_t columns_ = 0;
  size_t width_ = 0;    // fields of a record: a last one that is empty everywhere is no column
  uint64_t above_ = 0;  // lines before the table
  bool has_header_ = false;
  bool numbered_ = false;    // the first column has numbers alone
  bool numeric_ = false;     // some column has no words
  std::string header_;       // as it is shown
  std::string header_line_;  // as it stands there
  uint64_t lines_ = 0;
  uint64_t line_ = 0;  // where the record at hand begins
  uint64_t rows_ = 0;
  uint64_t odd_ = 0;
  uint64_t odd_line_ = 0;
  Counted before_;  // at the last gap
  Counted first_;   // of the first table, where others follow
  std::vector<uint64_t> others_;
  Other other_;
  Gap gap_ = Gap::none;
  std::string held_;  // of a record behind a gap
  bool quoted_ = false;
  bool filled_ = false;  // the row at hand has something in it
  size_t delimiters_ = 0;
  char last_ = '\n';
};

}  // namespace sluice
