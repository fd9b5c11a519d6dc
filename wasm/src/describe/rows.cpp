#include "describe/rows.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "describe/facts.h"
#include "describe/formats.h"
#include "describe/text_kind.h"
#include "sluice/describe.h"
#include "text/ascii.h"
#include "text/block.h"
#include "text/utf8.h"

namespace sluice {

// --- rows and columns ------------------------------------------------------------------------

namespace {

/// Records and fields that a text which is no table hardly has by chance.
constexpr size_t kFewestRecords = 3;
constexpr size_t kFewestFields = 8;
/// So many are a table even where a line of words follows.
constexpr size_t kManyRecords = 12;
/// Lines of words above a table, and below it.
constexpr size_t kMostWords = 8;

bool is_line_end(char character) {
  return character == '\n' || character == '\r';
}

/// What stands in a field, as a bit; in one that is empty, nothing.
enum Kind : uint8_t { kWords = 1, kNumber = 2, kYear = 4, kTime = 8, kMixed = 16 };

/// What a text of a field is. `12 items` and `3rd` are mixed, `2026-12-01` is a time.
uint8_t kind_of(std::string_view field) {
  constexpr std::string_view kNone[] = {"", "-", "NA", "N/A", "NULL", "null", "None", "NaN", "nan"};
  if (std::find(std::begin(kNone), std::end(kNone), field) != std::end(kNone)) return 0;
  const size_t sign = is_among(field[0], "+-.") && field.size() > 1 ? 1 : 0;
  if (!is_digit(field[sign])) return kWords;
  if (field.find_first_not_of("0123456789.,+-eE%") == field.npos &&
      field.find('-', sign + 1) == field.npos) {
    return field.size() == 4 && field >= "1900" && field <= "2100" ? kYear : kNumber;
  }
  return field.find_first_not_of("0123456789-/:.,+TZ ") == field.npos ? kTime : kMixed;
}

/// Whether a field has what names of columns seldom have: an address, a path, a number.
bool has_sign(std::string_view field) {
  return field.find_first_of("@/.:0123456789") != field.npos;
}

/// Whether a field opens a bracket that another one closes.
bool is_torn(std::string_view field) {
  int open = 0;
  for (const char character : field) {
    open += is_among(character, "([{") ? 1 : is_among(character, ")]}") ? -1 : 0;
  }
  return open > 0;
}

/// `name=`, as settings begin.
bool is_setting(std::string_view field) {
  const auto end = std::find_if_not(field.begin(), field.end(), [](char character) {
    return is_alphanumeric(character) || is_among(character, "_.-");
  });
  return end != field.begin() && end != field.end() && *end == '=';
}

/// A record of a table (RFC 4180).
struct Record {
  std::vector<std::string_view> fields;  ///< without quotation marks and spaces around them
  size_t filled = 0;                     ///< fields with something in them
  bool spaced = false;                   ///< a space stands behind a delimiter
  bool complete = false;                 ///< it has an end
  bool empty = false;                    ///< a line with nothing in it
  bool statement = false;                ///< its last field ends in a semicolon
  bool torn = false;                     ///< a delimiter stands within brackets
  bool opens = false;                    ///< it begins as JSON does

  size_t columns() const { return fields.size(); }
  /// Whether it has no numbers.
  bool is_wordy() const {
    return std::all_of(fields.begin(), fields.end(),
                       [](std::string_view field) { return kind_of(field) <= kWords; });
  }
  /// Whether its first field has three words.
  bool is_spoken() const { return std::count(fields[0].begin(), fields[0].end(), ' ') > 1; }
  /// Whether its first delimiter stands within a number: `10:00:00,123 INFO`, `48,211 rows`.
  bool has_broken_number() const {
    if (columns() < 2 || fields[0].empty() || !is_digit(fields[0].back())) return false;
    const std::string_view rest = fields[1];
    return kinds::count_digits(rest) == 3 && rest.substr(3, 1) == " ";
  }
  /// Whether its last field, of which the end may not be seen, is a long list or object of JSON.
  bool holds_list() const {
    constexpr size_t kLong = 64;
    std::string_view field = fields.back();
    if (field.starts_with('"')) field.remove_prefix(1);
    return field.size() > kLong && is_among(field[0], "[{");
  }
  /// Whether it is a line of words in or beside a table of so many columns, the first of which has
  /// numbers alone if that is so.
  bool is_words(size_t usual, bool numbered) const {
    if (filled < 2 || opens || (spaced && is_spoken())) return true;
    const bool named = numbered && kind_of(fields[0]) == kWords;
    return (named && has_broken_number()) ||
           (columns() != usual && (named || spaced || is_spoken() || has_broken_number()));
  }
};

/// Reads the record that begins `text`, and moves behind it.
Record take_record(std::string_view& text, char delimiter) {
  Record record;
  size_t begin = 0;
  bool quoted = false;
  record.opens = text.starts_with("{\"");
  for (size_t at = 0;; ++at) {
    const bool end = at >= text.size();
    if (!end && text[at] == '"') quoted = !quoted;
    if (!end && (quoted || (text[at] != delimiter && !is_line_end(text[at])))) continue;
    std::string_view field = text.substr(begin, at - begin);
    const bool wrapped = field.size() > 1 && field.starts_with('"') && field.ends_with('"');
    record.torn = record.torn || (!wrapped && delimiter != '\t' && is_torn(field));
    if (wrapped) field = field.substr(1, field.size() - 2);
    if (field.starts_with(' ')) {
      record.spaced = true;
      field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
    }
    record.filled += field.empty() ? 0 : 1;
    record.fields.push_back(field);
    begin = at + 1;
    if (!end && text[at] == delimiter) continue;
    record.complete = !end;
    record.empty = at == 0;
    record.statement = field.ends_with(';');
    text = text.substr(end ? text.size() : at + (text.substr(at, 2) == "\r\n" ? 2 : 1));
    return record;
  }
}

/// The columns of a text that is evidently, or `declared`, a table; 0 when it is not.
size_t count_columns(std::string_view text, char delimiter, bool whole, bool declared) {
  size_t records = 0, columns = 0, ended = 0, statements = 0, torn = 0, broken = 0, settings = 0;
  bool gap = false;
  bool lists = false;
  while (!text.empty()) {
    const Record record = take_record(text, delimiter);
    // A long list in a cell, as of an embedding, makes a record of it.
    lists = lists || (record.columns() <= columns && record.holds_list());
    if (!record.complete && !whole) break;
    const bool lone = record.columns() == 1 && records >= kManyRecords;
    if (lone || (record.empty && (declared || columns > 0))) {
      gap = true;
      continue;
    }
    if (columns == 0) columns = record.columns();
    // Behind an empty line something else may stand.
    if (gap && record.columns() != columns) break;
    if (gap && records < kFewestRecords && record.is_wordy() && !declared) return 0;
    gap = false;
    if (record.columns() != columns || columns < 2 || (record.spaced && !declared)) return 0;
    ended += record.fields.back().empty() ? 1 : 0;
    statements += record.statement ? 1 : 0;
    torn += record.torn ? 1 : 0;
    broken += record.has_broken_number() ? 1 : 0;
    settings += delimiter != '\t' && is_setting(record.fields[0]) ? 1 : 0;
    ++records;
  }
  if (declared) return records > 0 ? columns : 0;
  // A semicolon ends a statement, a comma an item of a list: they separate nothing.
  if (std::max({statements, broken, settings}) == records || torn * 2 > records) return 0;
  if (ended == records && columns > 0 && --columns < 2) return 0;
  const bool many = records >= kFewestRecords && records * columns >= kFewestFields;
  return many || (lists && columns > 2) ? columns : 0;
}

/// What is known of a table by its first records.
struct Columns {
  bool has_header = true;
  bool numbered = false;  ///< its first column has numbers alone
  bool numeric = false;   ///< its rows have numbers
};

/// Whether numbers follow each other behind a name: `country,2019,2020,2021`.
bool counts_up(const std::vector<std::string_view>& fields) {
  if (kind_of(fields[0]) > kWords) return false;
  size_t longest = 0;
  size_t run = 0;
  for (size_t at = 2; at < fields.size(); ++at) {
    const auto number = decimal(fields[at], 4);
    const auto before = decimal(fields[at - 1], 4);
    run = number && before && (*number == *before + 1 || *before == *number + 1) ? run + 1 : 0;
    const bool years = kind_of(fields[at]) == kYear;
    longest = std::max(longest, run + (years && run > 0 ? 1 : 0));
  }
  return longest > 1;
}

/// A header differs from the rows below it: it has words above numbers, or years above amounts. Of
/// words alone it is one, unless they stand below it again.
Columns read_columns(std::string_view text, char delimiter, bool whole) {
  constexpr size_t kLooked = 64;
  const Record first = take_record(text, delimiter);
  const size_t columns = std::min(first.columns(), kLooked);
  std::vector<uint8_t> kinds(columns);
  std::vector<size_t> repeats(columns);
  std::vector<size_t> plain(columns);
  while (!text.empty()) {
    const Record record = take_record(text, delimiter);
    if ((!record.complete && !whole) || record.columns() != first.columns()) break;
    if (record.fields == first.fields) continue;
    for (size_t at = 0; at < columns; ++at) {
      kinds[at] |= kind_of(record.fields[at]);
      plain[at] += has_sign(record.fields[at]) ? 0 : 1;
      repeats[at] += record.fields[at] == first.fields[at] && !first.fields[at].empty() ? 1 : 0;
    }
  }
  Columns found;
  bool words = true;
  bool repeated = false;
  bool differs = false;
  bool alike = false;
  for (size_t at = 0; at < columns; ++at) {
    const uint8_t above = kind_of(first.fields[at]);
    const uint8_t below = kinds[at];
    const bool wordless = below != 0 && (below & kWords) == 0;
    words = words && above < kNumber;
    repeated = repeated || repeats[at] > 1;
    // What all below it have, as an address or a path, a name above them has not.
    const bool signs = below != 0 && plain[at] == 0;
    const bool missed = signs && !has_sign(first.fields[at]);
    alike = alike || (signs && !missed);
    differs = differs || (above == kWords && wordless) || missed ||
              ((above == kYear || above == kTime) && below == kNumber);
    found.numeric = found.numeric || wordless;
    if (at == 0) found.numbered = wordless && (below & kMixed) == 0;
  }
  found.has_header = differs || (words && !repeated && !alike) || counts_up(first.fields);
  return found;
}

}  // namespace

Rows::Rows(std::string_view head, bool whole, char declared, bool other) {
  const std::string_view all = head;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  // A first line `sep=;` tells a spreadsheet what stands between the columns.
  constexpr std::string_view kSeparator = "sep=";
  const size_t end = head.find_first_of("\r\n");
  if (head.starts_with(kSeparator) && end == kSeparator.size() + 1) {
    declared = head[kSeparator.size()];
    head.remove_prefix(end + (head.substr(end, 2) == "\r\n" ? 2 : 1));
    lines_ = 1;
  }
  const bool open = other || head.empty() || is_among(head[0], "{[<");
  const size_t begin = open ? 0 : find_table(head, whole, declared);
  if (delimiter_ == '\0') lines_ = 0;
  lines_ += above_;
  line_ = lines_ + 1;
  push(as_bytes(delimiter_ == '\0' ? all : head.substr(begin)));
}

// Below a title or a sentence, which may have a comma too, a table needs an empty line, tabs, or
// three columns.
size_t Rows::find_table(std::string_view text, bool whole, char declared) {
  const std::string_view all = text;
  const std::string_view delimiters = declared == ';' ? ";\t," : declared == '\t' ? "\t,;" : ",\t;";
  bool apart = true;
  for (; above_ <= kMostWords && !text.empty(); ++above_) {
    for (const char delimiter : delimiters) {
      std::string_view rest = text;
      const Record first = take_record(rest, delimiter);
      if (first.filled < 2 && first.columns() != 2) continue;
      columns_ = count_columns(text, delimiter, whole, declared != '\0' && above_ == 0);
      if (columns_ == 0 || (!apart && columns_ < 3 && delimiter != '\t')) continue;
      for (rest = all; !apart && rest.size() > text.size();) {
        // Rows of different lengths are no table.
        if (take_record(rest, delimiter).is_words(first.columns(), false)) continue;
        above_ = 0;
        return 0;
      }
      delimiter_ = delimiter;
      width_ = first.columns();
      const Columns found = read_columns(text, delimiter, whole);
      has_header_ = found.has_header;
      numbered_ = found.numbered;
      numeric_ = found.numeric;
      if (has_header_) {
        header_line_ = text.substr(0, text.size() - rest.size());
        header_line_.erase(header_line_.find_last_not_of("\r\n") + 1);
        Quotes names(header_, "");
        for (const std::string_view field : first.fields) {
          if (!names.add(field)) break;
        }
      }
      return all.size() - text.size();
    }
    const std::string_view line = text.substr(0, text.find('\n'));
    apart = line.find_first_not_of("\r") == line.npos || declared != '\0';
    if (line.size() == text.size()) break;
    text.remove_prefix(line.size() + 1);
  }
  above_ = 0;
  return 0;
}

namespace {

/// `, 1 line above, 2 lines below`
void append_beside(std::string& facts, uint64_t above, uint64_t below) {
  if (above > 0) append_count(facts, above, "line"), facts += " above";
  if (below > 0) append_count(facts, below, "line"), facts += " below";
}

}  // namespace

// A record ends, which `line` is where it is looked at: the first two behind an empty line or a
// line of words, which may be those of another table.
void Rows::end_record(std::string_view line) {
  const size_t width = delimiters_ + 1;
  delimiters_ = 0;
  const bool lone = width == 1;
  if (!filled_ || lone) {
    if (gap_ == Gap::none) before_ = {rows_, odd_, odd_line_};
    gap_ = Gap::open;
  }
  if (!filled_) return;
  filled_ = false;
  ++rows_;
  if (width != width_) {
    if (odd_++ == 0) odd_line_ = line_;
  }
  if (gap_ == Gap::none || lone) return;
  std::string_view rest = line;
  const Record record = take_record(rest, delimiter_);
  if (line.empty() || record.is_words(width, false)) {
    gap_ = Gap::open;
    return;
  }
  if (gap_ == Gap::other && width == other_.width) return begin_table();
  // Another width, the same names again, or words where numbers were.
  const bool begins = width != width_ || line == header_line_ || (numeric_ && record.is_wordy());
  gap_ = begins ? Gap::other : Gap::none;
  other_ = {width, line_};
}

void Rows::begin_table() {
  gap_ = Gap::none;
  width_ = other_.width;
  if (others_.empty()) first_ = before_;
  if (others_.size() < kMostOthers) others_.push_back(other_.line);
}

// A line end outside of quotation marks ends a record.
void Rows::end_line(char end, std::string_view line) {
  const bool second_half = end == '\n' && last_ == '\r';
  if (second_half) return;
  ++lines_;
  if (quoted_) return;
  if (!held_.empty()) {
    held_ += line.substr(0, kLongestHeld - std::min(held_.size(), kLongestHeld));
    line = held_;
  }
  end_record(line.size() < kLongestHeld ? line : std::string_view());
  held_.clear();
  line_ = lines_ + 1;
}

/// Counts line ends in whole blocks, of which CR LF is one, and returns the bytes behind them.
Bytes Rows::count_lines(Bytes bytes) {
  const uint8_t* at = bytes.data();
  const uint8_t* const end = at + bytes.size() / Blocks::kBytes * Blocks::kBytes;
  const auto is_return = [](Block some) { return some.is('\r'); };
  uint64_t open = last_ == '\r' ? 1 : 0;
  uint64_t lines = lines_;
  for (; at != end; at += Blocks::kBytes) {
    const Blocks blocks(at);
    const uint64_t feeds = blocks.bits([](Block some) { return some.is('\n'); });
    const uint64_t returns = blocks.any(is_return) ? blocks.bits(is_return) : 0;
    //   CR LF       the bit of the one before stands where that of the other does
    const uint64_t pairs = feeds & (returns << 1 | open);
    lines +=
        static_cast<uint64_t>(std::popcount(feeds) + std::popcount(returns) - std::popcount(pairs));
    open = returns >> 63;
  }
  if (end != bytes.data()) last_ = static_cast<char>(end[-1]);
  lines_ = lines;
  return {end, bytes.data() + bytes.size()};
}

namespace {

/// For each bit whether the number of bits up to it is odd.
uint64_t count_odd(uint64_t bits) {
  for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
  return bits;
}

}  // namespace

// What stands in one block of at most 64 bytes, by its bits. `line` is where the record at hand
// begins, or the text. A quotation begins with a field, and the second of two quotation marks goes
// on with it: where that holds for all of them, they need not be looked at one by one.
void Rows::take_block(const char* at, size_t size, Marks marks, const char*& line) {
  if (size == 0) return;
  const bool separated = last_ == delimiter_ || last_ == '"' || is_line_end(last_);
  const uint64_t inside = count_odd(marks.quotes) ^ (quoted_ ? UINT64_MAX : 0);
  const uint64_t behind = (marks.delimiters | marks.ends | marks.quotes) << 1 | (separated ? 1 : 0);
  const bool plain = delimiter_ != '\0' && (marks.quotes & inside & ~behind) == 0;
  if (plain) marks.delimiters &= ~inside;
  size_t from = 0;
  const auto pass = [&](size_t to) {
    if (to == from) return;
    last_ = at[to - 1];
    filled_ = true;
    const uint64_t passed = marks.delimiters >> from << (64 - (to - from));
    if (plain || !quoted_) delimiters_ += static_cast<size_t>(std::popcount(passed));
  };
  for (uint64_t left = plain ? marks.ends : marks.ends | marks.quotes; left != 0;
       left &= left - 1) {
    const auto stop = static_cast<size_t>(std::countr_zero(left));
    pass(stop);
    from = stop + 1;
    if (plain) quoted_ = (inside >> stop & 1) != 0;
    if (is_line_end(at[stop])) {
      end_line(at[stop], {line, static_cast<size_t>(at + stop - line)});
      if (!quoted_) line = at + from;
    } else {
      quoted_ = !quoted_ && delimiter_ != '\0' &&
                (last_ == delimiter_ || last_ == '"' || is_line_end(last_));
      filled_ = true;
    }
    last_ = at[stop];
  }
  pass(size);
  if (plain) quoted_ = (inside >> (size - 1) & 1) != 0;
}

void Rows::push(Bytes bytes) {
  const std::string_view text = as_text(delimiter_ == '\0' ? count_lines(bytes) : bytes);
  const auto delimiter = static_cast<uint8_t>(delimiter_ == '\0' ? '\n' : delimiter_);
  const auto is_quote = [](auto some) { return some.is('"'); };
  const auto is_end = [](auto some) { return some.is('\n') | some.is('\r'); };
  const auto separates = [delimiter](auto some) { return some.is(delimiter); };
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* line = at;
  for (; end - at >= static_cast<ptrdiff_t>(Blocks::kBytes); at += Blocks::kBytes) {
    const Blocks blocks(reinterpret_cast<const uint8_t*>(at));
    take_block(at, Blocks::kBytes,
               {blocks.bits(is_quote), blocks.bits(is_end), blocks.bits(separates)}, line);
  }
  Marks marks;
  const auto size = static_cast<size_t>(end - at);
  for (size_t i = 0; i < size; ++i) {
    const Byte byte(at[i]);
    marks.quotes |= uint64_t{is_quote(byte)} << i;
    marks.ends |= uint64_t{is_end(byte)} << i;
    marks.delimiters |= uint64_t{separates(byte)} << i;
  }
  take_block(at, size, marks, line);
  if (gap_ == Gap::none || held_.size() >= kLongestHeld) return;
  held_.append(line, std::min(static_cast<size_t>(end - line), kLongestHeld));
}

std::string Rows::facts(std::string_view tail) const {
  std::string facts;
  if (delimiter_ == '\0') return facts;
  Counted counted = {rows_, odd_, odd_line_};
  if (others_.empty() && filled_) {
    ++counted.rows;
    if (delimiters_ + 1 != width_ && counted.odd++ == 0) counted.odd_line = line_;
  }
  if (!others_.empty()) counted = first_;
  counted.rows -= std::min<uint64_t>(counted.rows, has_header_ ? 1 : 0);
  uint64_t below = 0;
  Counted words;
  if (tail.ends_with('\n')) tail.remove_suffix(1);
  for (size_t seen = 1; seen <= kMostWords && !quoted_ && others_.empty(); ++seen) {
    const size_t end = tail.rfind('\n');
    if (end == tail.npos) break;
    std::string_view line = tail.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    tail = tail.substr(0, end);
    if (line.empty()) continue;
    // The end of a record whose field has a line end in it has an odd number of quotation marks.
    const bool ends_quotation = std::count(line.begin(), line.end(), '"') % 2 != 0;
    const Record record = take_record(line, delimiter_);
    if (ends_quotation || !record.is_words(width_, numbered_)) {
      counted.rows -= std::min(counted.rows, words.rows);
      counted.odd -= std::min(counted.odd, words.odd);
      break;
    }
    ++words.rows;
    words.odd += record.columns() != width_ ? 1 : 0;
    below = seen;
  }
  std::string told;
  if (!quoted_ || !others_.empty()) {
    append_count(told, counted.rows, "row");
    if (!has_header_) told += " without a header";
    if (counted.odd > 0) {
      told += ", " + grouped(counted.odd) + " of another width, ";
      told += counted.odd > 1 ? "the first at line " : "at line ";
      told += std::to_string(counted.odd_line);
    }
  }
  append_beside(told, above_, below);
  if (!others_.empty()) told += others_.size() > 1 ? ", more tables" : ", another table";
  for (size_t at = 0; at < others_.size(); ++at) {
    told += at > 0 ? ", " : others_.size() > 1 ? " from lines " : " from line ";
    told += std::to_string(others_[at]);
  }
  append_count(told, columns_, "column");
  return told + header_;
}

// --- facts about a text ----------------------------------------------------------------------

namespace {

constexpr std::string_view kTable = "<table";

/// Whether HTML begins behind a few lines of words.
bool has_page(std::string_view head) {
  for (size_t line = 0; line < kMostWords; ++line) {
    const size_t end = head.find('\n');
    if (end == head.npos) return false;
    head.remove_prefix(end + 1);
    const std::string begin = lowered(head.substr(0, 14));
    if (kinds::begins_with(begin, "|<!doctype html|<html|<table|")) return true;
  }
  return false;
}

/// Whether a text is an element of XML, none of HTML's: it ends with the tag that closes it.
bool is_element(std::string_view head, std::string_view end) {
  constexpr std::string_view kPages =
      " a article aside b body br button center code div dl fieldset font footer form h1 h2 h3 h4 "
      "h5 h6 "
      "head header hr html i iframe img input label li link main meta nav ol p pre script section "
      "select "
      "span strong style svg table tbody td template textarea thead title tr ul ";
  const size_t name = head.find_first_of(" \t\r\n/>");
  if (!head.starts_with('<') || name == head.npos || name < 2 || !is_letter(head[1])) return false;
  const std::string_view root = head.substr(1, name - 1);
  if (kPages.find(" " + lowered(root) + " ") != kPages.npos) return false;
  const std::string closing = "</" + std::string(root) + ">";
  end = end.substr(0, end.find_last_not_of(" \t\r\n") + 1);
  const size_t first = head.find(closing);
  return end.ends_with(closing) && (first == head.npos || first + closing.size() + 4 > head.size());
}

}  // namespace

struct TextFacts::State {
  State(std::string_view head, bool whole, char declared, bool json)
      : outline(json),
        rows(head, whole, declared, kind_of(head, whole, declared, json)),
        is_page(!kind && rows.delimiter() == '\0' && has_page(head)),
        parts((is_page || head.starts_with('<')) && head.find(kTable) != head.npos
                  ? kTableRow
                  : find_text_format(head).token),
        tables(parts.token() == kTableRow ? kTable : "") {
    const std::string_view values = json ? head : skip_words(head);
    outline.push(as_bytes(values));
    parts.push(head);
    tables.push(head);
    counts = whole || above > 0 || !outline.may_be();
    if (rows.delimiter() != '\0') kind.reset();
  }

  /// What begins with the first of several lines of JSON, behind a few lines of words.
  std::string_view skip_words(std::string_view head) {
    std::string_view rest = head;
    if (rest.starts_with('[')) return head;
    while (above <= kMostWords && !rest.empty() && rest[0] != '{') {
      rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
      ++above;
    }
    if (above <= kMostWords && !rest.empty()) return rest;
    above = 0;
    return head;
  }

  /// Finds the kind of text, and says whether it has one without tables.
  bool kind_of(std::string_view head, bool whole, char declared, bool json) {
    const bool other = json || declared != '\0' || head.empty() || is_among(head[0], "{<");
    if (other) return false;
    kind.emplace(head, whole);
    if (!kind->is_known()) kind.reset();
    if (kind) kind->push(head);
    return kind && kind->label() != "Markdown";
  }

  Outline outline;
  std::optional<TextKind> kind;  // found before it is known whether it is a table
  Rows rows;
  std::optional<PlainText> plain;  // of a text with colours
  bool is_page;                    // HTML behind words
  TokenCount parts;
  TokenCount tables;
  uint64_t above = 0;  // lines of words before what the outline reads
  bool counts = true;  // lines and rows: of what begins as JSON they are not worth the time
};

TextFacts::TextFacts(std::string_view head, char declared, bool json) {
  const bool whole = head.size() < kSniffHead;
  if (head.find('\x1b') == head.npos) {
    state_ = std::make_unique<State>(head, whole, declared, json);
    return;
  }
  PlainText plain;
  state_ = std::make_unique<State>(plain.push(head), whole, declared, json);
  state_->plain = std::move(plain);
}
TextFacts::~TextFacts() = default;

void TextFacts::push(Bytes bytes) {
  std::string plain;
  if (state_->plain) {
    plain = state_->plain->push(as_text(bytes));
    bytes = as_bytes(plain);
  }
  state_->outline.push(bytes);
  state_->parts.push(as_text(bytes));
  state_->tables.push(as_text(bytes));
  if (state_->counts) state_->rows.push(bytes);
  if (state_->kind) state_->kind->push(as_text(bytes));
}

void TextFacts::tell(Subject& subject) const {
  const std::string_view mime = subject.type.mime_type;
  subject.outline = state_->outline.finish();
  subject.values = state_->outline.values();
  subject.is_lines = state_->outline.is_lines();
  if (subject.is_lines && !subject.outline.empty()) {
    append_beside(subject.outline, state_->above, state_->outline.below());
  } else if (state_->above > 0) {
    subject.outline.clear();
    subject.values.clear();
  }
  subject.token = state_->parts.token();
  subject.parts = state_->parts.count();
  subject.tables = state_->tables.count();
  if (state_->counts) subject.lines = state_->rows.lines();
  if (state_->counts) subject.table = state_->rows.facts(find_end(subject));
  if (state_->kind && (mime == "text/plain" || mime == "text/markdown")) {
    subject.kind = state_->kind->label();
    subject.kind_facts = state_->kind->facts();
    subject.headings = state_->kind->headings();
  }
  // With colours in between it is no file of that type.
  if (mime != "text/plain" || state_->plain) return;
  if (!subject.outline.empty()) {
    subject.type = type_of_mime(subject.is_lines ? "application/x-ndjson" : "application/json");
  } else if (!subject.table.empty()) {
    const bool tabs = state_->rows.delimiter() == '\t';
    subject.type = type_of_mime(tabs ? "text/tab-separated-values" : "text/csv");
  } else if (state_->is_page) {
    subject.type = type_of_mime("text/html");
  } else if (is_element(as_text(subject.head), find_end(subject))) {
    subject.type = type_of_mime("application/xml");
  }
}

char declared_delimiter(std::string_view mime_type, std::string_view filename) {
  std::string extension = type_of_mime(mime_type).extension;
  if (extension != "csv" && extension != "tsv") {
    extension = filename.substr(std::min(filename.rfind('.'), filename.size()));
    if (!extension.empty()) extension.erase(0, 1);
    extension = lowered(extension);
  }
  return extension == "csv" ? ',' : extension == "tsv" ? '\t' : '\0';
}

void tell_text(std::string_view text, Subject& subject) {
  const std::string_view head = text.substr(0, kSniffHead);
  TextFacts facts(head);
  facts.push(as_bytes(text.substr(head.size())));
  facts.tell(subject);
}

}  // namespace sluice
