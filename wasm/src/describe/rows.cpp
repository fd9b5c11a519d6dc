#include "describe/rows.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

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
/// Lines of words above a table, and below it.
constexpr size_t kMostWords = 8;

bool is_line_end(char character) {
  return character == '\n' || character == '\r';
}

/// A record of a table (RFC 4180).
struct Record {
  size_t columns = 0;
  bool spaced = false;     ///< a space stands behind a delimiter
  bool numeric = false;    ///< a field begins like a number
  bool complete = false;   ///< it has an end
  bool empty = false;      ///< a line with nothing in it
  bool ended = false;      ///< its last field is empty
  bool statement = false;  ///< its last field ends in a semicolon
  bool spoken = false;     ///< its first field has three words
  size_t filled = 0;       ///< fields with something in them

  /// Whether it is a line of words in or beside a table of so many columns.
  bool is_words(size_t usual) const {
    return filled < 2 || (spaced && spoken) || ((spaced || spoken) && columns != usual);
  }
};

/// Reads the record that begins `text`, whose fields `quotes` shows if it is given, and moves
/// behind it.
Record take_record(std::string_view& text, char delimiter, Quotes* quotes) {
  Record record;
  size_t begin = 0;
  bool quoted = false;
  for (size_t at = 0;; ++at) {
    const bool end = at >= text.size();
    if (!end && text[at] == '"') quoted = !quoted;
    if (!end && (quoted || (text[at] != delimiter && !is_line_end(text[at])))) continue;
    std::string_view field = text.substr(begin, at - begin);
    const bool wrapped = field.size() > 1 && field.starts_with('"') && field.ends_with('"');
    if (wrapped) field = field.substr(1, field.size() - 2);
    if (record.columns++ == 0) record.spoken = std::count(field.begin(), field.end(), ' ') > 1;
    if (field.starts_with(' ')) {
      record.spaced = true;
      field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
    }
    record.filled += field.empty() ? 0 : 1;
    record.numeric = record.numeric || (!field.empty() && field[0] >= '+' && field[0] <= '9');
    if (quotes && !quotes->add(field)) quotes = nullptr;
    begin = at + 1;
    if (!end && text[at] == delimiter) continue;
    record.complete = !end;
    record.ended = field.empty();
    record.empty = at == 0;
    record.statement = field.ends_with(';');
    text = text.substr(end ? text.size() : at + (text.substr(at, 2) == "\r\n" ? 2 : 1));
    return record;
  }
}

/// The columns of a text that is evidently, or `declared`, a table; 0 when it is not.
size_t columns_of(std::string_view text, char delimiter, bool whole, bool declared) {
  size_t records = 0;
  size_t columns = 0;
  bool ended = true;
  bool statements = true;
  while (!text.empty()) {
    const Record record = take_record(text, delimiter, nullptr);
    if (!record.complete && !whole) break;
    if (record.empty && declared) continue;
    if (columns == 0) columns = record.columns;
    if (record.columns != columns || columns < 2 || (record.spaced && !declared)) return 0;
    ended = ended && record.ended;
    statements = statements && record.statement;
    ++records;
  }
  // A semicolon ends a statement, a comma an item of a list: they separate nothing.
  if (statements && !declared) return 0;
  if (ended && columns > 0 && !declared && --columns < 2) return 0;
  if (declared) return records > 0 ? columns : 0;
  return records >= kFewestRecords && records * columns >= kFewestFields ? columns : 0;
}

}  // namespace

Rows::Rows(std::string_view head, bool whole, char declared, bool other) {
  std::string_view text = head.starts_with("\xef\xbb\xbf") ? head.substr(3) : head;
  // A first line `sep=;` tells a spreadsheet what stands between the columns.
  constexpr std::string_view kSeparator = "sep=";
  const size_t end = text.find_first_of("\r\n");
  if (text.starts_with(kSeparator) && end == kSeparator.size() + 1) {
    declared = text[kSeparator.size()];
    text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
    has_separator_ = true;
  }
  if (!other && !text.empty() && !is_among(text[0], "{[<")) find_table(text, whole, declared);
  push(as_bytes(head));
}

// Below a title or a sentence, which may have a comma too, a table needs an empty line or three
// columns.
void Rows::find_table(std::string_view text, bool whole, char declared) {
  const std::string_view all = text;
  const std::string_view delimiters = declared == ';' ? ";\t," : declared == '\t' ? "\t,;" : ",\t;";
  bool apart = true;
  for (; above_ <= kMostWords && !text.empty(); ++above_) {
    for (const char delimiter : delimiters) {
      std::string_view rest = text;
      const Record first = take_record(rest, delimiter, nullptr);
      if (first.filled < 2 && first.columns != 2) continue;
      columns_ = columns_of(text, delimiter, whole, declared != '\0' && above_ == 0);
      if (columns_ == 0 || (!apart && columns_ < 3)) continue;
      for (rest = all; !apart && rest.size() > text.size();) {
        // Rows of different lengths are no table.
        if (!take_record(rest, delimiter, nullptr).is_words(columns_)) return;
      }
      delimiter_ = delimiter;
      Quotes names(header_, "");
      has_header_ = !take_record(text, delimiter_, &names).numeric;
      return;
    }
    const std::string_view line = text.substr(0, text.find('\n'));
    apart = line.find_first_not_of("\r") == line.npos || declared != '\0';
    words_above_ += line.find_first_not_of("\r") == line.npos ? 0 : 1;
    if (line.size() == text.size()) break;
    text.remove_prefix(line.size() + 1);
  }
  above_ = words_above_ = 0;
}

namespace {

/// `, 1 line above, 2 lines below`
void append_beside(std::string& facts, uint64_t above, uint64_t below) {
  if (above > 0) append_count(facts, above, "line"), facts += " above";
  if (below > 0) append_count(facts, below, "line"), facts += " below";
}

}  // namespace

void Rows::end_line(char end) {
  const bool second_half = end == '\n' && last_ == '\r';
  if (second_half) return;
  ++lines_;
  if (quoted_) return;
  rows_ += filled_ ? 1 : 0;
  filled_ = false;
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

void Rows::push(Bytes bytes) {
  const std::string_view text = as_text(delimiter_ == '\0' ? count_lines(bytes) : bytes);
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const stop =
        find_first(at, end, [](auto some) { return some.is('"') | some.is('\n') | some.is('\r'); });
    if (stop != at) {
      last_ = stop[-1];
      filled_ = true;
    }
    if (stop == end) return;
    if (is_line_end(*stop)) {
      end_line(*stop);
    } else {
      // A quotation begins with a field; the second of two quotation marks goes on with it.
      const bool begins = last_ == delimiter_ || last_ == '"' || is_line_end(last_);
      quoted_ = !quoted_ && begins && delimiter_ != '\0';
      filled_ = true;
    }
    last_ = *stop;
    at = stop + 1;
  }
}

std::string Rows::facts(std::string_view tail) const {
  std::string facts;
  if (delimiter_ == '\0') return facts;
  uint64_t rows =
      rows_ + (filled_ ? 1 : 0) - (has_header_ ? 1 : 0) - (has_separator_ ? 1 : 0) - words_above_;
  uint64_t below = 0;
  uint64_t words = 0;
  if (tail.ends_with('\n')) tail.remove_suffix(1);
  for (size_t seen = 1; seen <= kMostWords && !quoted_; ++seen) {
    const size_t end = tail.rfind('\n');
    if (end == tail.npos) break;
    std::string_view line = tail.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    tail = tail.substr(0, end);
    if (line.empty()) continue;
    // The end of a record whose field has a line end in it has an odd number of quotation marks.
    const bool ends_quotation = std::count(line.begin(), line.end(), '"') % 2 != 0;
    if (ends_quotation || !take_record(line, delimiter_, nullptr).is_words(columns_)) {
      rows -= std::min(rows, words);
      append_beside(facts, above_, below);
      break;
    }
    ++words;
    below = seen;
  }
  std::string counted;
  if (!quoted_) append_count(counted, rows, "row");
  append_count(facts, columns_, "column");
  if (has_header_) facts += header_;
  return counted + facts;
}

// --- facts about a text ----------------------------------------------------------------------

struct TextFacts::State {
  State(std::string_view head, bool whole, char declared, bool json)
      : outline(json),
        rows(head, whole, declared, kind_of(head, whole, declared, json)),
        parts(head.starts_with('<') && head.find("<table") != head.npos
                  ? kTableRow
                  : find_text_format(head).token) {
    const std::string_view values = json ? head : skip_words(head);
    outline.push(as_bytes(values));
    parts.push(head);
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
  TokenCount parts;
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
