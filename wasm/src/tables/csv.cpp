#include "tables/csv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tables/number.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice::tables {

namespace {

constexpr size_t kBits = 64;

/// Rows that tell the types of columns.
constexpr size_t kSampleRows = 1000;

/// Columns that SQLite takes.
constexpr size_t kMaxColumns = 30000;

/// The first bit that is set at `from` or behind it, below `end`; else `end`.
size_t find_bit(const std::vector<uint64_t>& bits, size_t from, size_t end) {
  size_t word = from / kBits;
  uint64_t found = bits[word] & (~uint64_t{0} << (from % kBits));
  const size_t last = (end + kBits - 1) / kBits;
  while (found == 0) {
    if (++word >= last) return end;
    found = bits[word];
  }
  return std::min(end, word * kBits + static_cast<size_t>(std::countr_zero(found)));
}

}  // namespace

CsvScanner::CsvScanner(Read read, Dialect dialect, size_t window)
    : window_(std::move(read), window), dialect_(dialect) {}

void CsvScanner::begin(uint64_t offset, size_t fields) {
  window_.seek(offset);
  begin_ = at_ = 0;
  wanted_ = fields;
  ends_.clear();
}

bool CsvScanner::refill() {
  if (!window_.refill(at_)) return false;
  at_ = 0;
  find_marks();
  return true;
}

void CsvScanner::find_marks() {
  const size_t blocks = (window_.size() + kBits - 1) / kBits;
  marks_.resize(std::max(marks_.size(), blocks + 1));
  breaks_.resize(marks_.size());
  const auto delimiter = static_cast<uint8_t>(dialect_.delimiter);
  const auto newline = static_cast<uint8_t>(dialect_.newline);
  const char* const bytes = window_.data();
  bool is_quoted = false;
  size_t closed = SIZE_MAX;
  for (size_t block = 0; block < blocks; ++block) {
    const size_t start = block * kBits;
    const Blocks some(reinterpret_cast<const uint8_t*>(bytes) + start);
    uint64_t breaks = some.bits([newline](Block each) { return each.is(newline); });
    uint64_t marks = breaks | some.bits([delimiter](Block each) { return each.is(delimiter); });
    const auto is_quote = [](Block each) { return each.is('"'); };
    if (is_quoted || some.any(is_quote)) {
      uint64_t quotes = some.bits(is_quote);
      // Bits of what is inside quotes, and those behind the last quote.
      uint64_t inside = 0;
      uint64_t opened = 0;  // from which bit on it is quoted
      while (quotes != 0) {
        const auto bit = static_cast<unsigned>(std::countr_zero(quotes));
        quotes &= quotes - 1;
        const size_t place = start + bit;
        if (is_quoted) {
          inside |= (uint64_t{1} << bit) - (uint64_t{1} << opened);
          is_quoted = false;
          closed = place;
          continue;
        }
        const char before = place == 0 ? dialect_.newline : bytes[place - 1];
        const bool opens = before == dialect_.delimiter || before == dialect_.newline ||
                           (closed != SIZE_MAX && closed + 1 == place);
        if (!opens) continue;
        is_quoted = true;
        opened = bit;
      }
      if (is_quoted) inside |= ~uint64_t{0} << opened;
      marks &= ~inside;
      breaks &= ~inside;
    }
    marks_[block] = marks;
    breaks_[block] = breaks;
  }
}

CsvScanner::Found CsvScanner::find_record() {
  const size_t filled = window_.size();
  ends_.clear();
  begin_ = at_;
  size_t from = at_;
  size_t end = filled;
  bool has_ended = false;
  while (!has_ended && ends_.size() < wanted_) {
    end = from < filled ? find_bit(marks_, from, filled) : filled;
    ends_.push_back(end);
    if (end == filled) break;
    from = end + 1;
    has_ended = window_.data()[end] == dialect_.newline;
  }
  if (!has_ended) {
    end = from < filled ? find_bit(breaks_, from, filled) : filled;
    if (end == filled && !window_.is_last()) return Found::kNeedsMore;
  }
  at_ = std::min(end + 1, filled);
  // The return of CR LF is no part of the last cell.
  const bool has_return = end > begin_ && window_.data()[end - 1] == '\r';
  if (end - begin_ == (has_return ? 1 : 0)) return Found::kEmpty;
  if (has_return && !ends_.empty() && ends_.back() == end) --ends_.back();
  return Found::kRecord;
}

Step CsvScanner::next() {
  for (;;) {
    const size_t record = at_;
    if (at_ < window_.size()) {
      const Found found = find_record();
      if (found == Found::kRecord) return Step::kRow;
      if (found == Found::kEmpty) continue;
      at_ = record;
      if (window_.size() - at_ > kMaxRecord) return Step::kTooLong;
    } else if (window_.is_last()) {
      return Step::kEnd;
    }
    if (!refill()) return Step::kUnread;
  }
}

bool CsvScanner::is_unclosed() const {
  if (at_ < window_.size() || !window_.is_last()) return false;
  bool is_quoted = false;
  bool may_open = true;
  for (size_t at = begin_; at < at_; ++at) {
    const char each = window_.data()[at];
    if (each == '"' && (is_quoted || may_open)) {
      is_quoted = !is_quoted;
      // Two stand for one, and open it again.
      may_open = true;
    } else {
      may_open = each == dialect_.delimiter;
    }
  }
  return is_quoted;
}

std::string_view CsvScanner::text(size_t field) {
  if (field >= ends_.size()) return {};
  const size_t from = field == 0 ? begin_ : ends_[field - 1] + 1;
  const std::string_view text(window_.data() + from, ends_[field] - from);
  return text.empty() || text.front() != '"' ? text : unquote(text, field);
}

std::string_view CsvScanner::unquote(std::string_view field, size_t index) {
  const size_t quote = field.find('"', 1);
  // Nearly all end with the quote that is next.
  if (quote == field.size() - 1) return field.substr(1, quote - 1);
  if (unquoted_.size() <= index) unquoted_.resize(index + 1);
  std::string& text = unquoted_[index];
  text.clear();
  size_t at = 1;
  for (size_t next = quote;; next = field.find('"', at)) {
    if (next == std::string_view::npos) return text.append(field.substr(at));
    text.append(field.substr(at, next - at));
    at = next + 1;
    if (at >= field.size() || field[at] != '"')
      return text.append(field.substr(std::min(at, field.size())));
    text.push_back('"');
    ++at;
  }
}

// --- the table -------------------------------------------------------------------------------

namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t from = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(from);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// Names are trimmed, and `column_3` where there is none.
void name_columns(CsvScanner& scanner, std::vector<Column>& columns) {
  ColumnNames names;
  const size_t count = std::min(scanner.fields(), kMaxColumns);
  for (size_t field = 0; field < count; ++field) {
    std::string_view text = trim(scanner.text(field));
    if (field == 0 && text.starts_with("\xef\xbb\xbf")) text = trim(text.substr(3));
    const std::string name =
        text.empty() ? "column_" + std::to_string(field + 1) : std::string(text);
    columns.push_back({names.add(name), Type::kText});
  }
}

/// What a column may still be.
struct Guess {
  bool has_cells = false;
  bool is_integer = true;
  bool is_number = true;

  /// Whether cells are separated by commas, so that one in a cell may as well separate thousands,
  /// or items.
  bool is_doubtful = false;
  bool may_have_commas = true;
  bool has_decimals = false;
  /// Nothing but a decimal comma has points before it, or two digits behind it in every cell.
  bool has_points = false;
  bool are_cents = true;
  size_t commas = 0;
  /// Where cells are separated by semicolons, points before three digits may separate thousands.
  bool may_have_points = false;
  size_t points = 0;

  void add(std::string_view text) {
    if (text.empty()) return;
    has_cells = true;
    if (may_have_points) {
      const size_t point = text.find('.');
      may_have_points =
          text[0] != '0' && (point == std::string_view::npos || text.size() - point == 4);
      if (point != std::string_view::npos) ++points;
    }
    if (may_have_commas) {
      const auto comma = find_comma(text);
      may_have_commas = comma.has_value();
      has_decimals = has_decimals || comma == Comma::kDecimal;
      const size_t place = text.find(',');
      if (place != std::string_view::npos) {
        ++commas;
        has_points = has_points || text.find('.') != std::string_view::npos;
        are_cents = are_cents && text.size() - place == 3;
      }
    }
    if (!is_number) return;
    const Cell::Kind kind = read_number(text).kind;
    is_number = kind != Cell::Kind::kText;
    is_integer = is_integer && kind == Cell::Kind::kInteger;
  }
  bool has_commas() const {
    const bool is_sure = !is_doubtful || has_points || (are_cents && commas > 1);
    return may_have_commas && has_decimals && is_sure;
  }
  Type type() const {
    if (has_commas()) return Type::kReal;
    if (!has_cells || !is_number || (may_have_points && points > 1)) return Type::kText;
    return is_integer ? Type::kInteger : Type::kReal;
  }
};

class CsvRows : public Rows {
 public:
  CsvRows(Read read, const CsvTable& table)
      : scanner_(std::move(read), table.dialect), start_(table.rows), seen_(table.seen) {
    for (const Column& column : table.columns) {
      types_.push_back(column.type);
      has_commas_.push_back(column.has_commas ? 1 : 0);
    }
  }

  void begin(std::span<const char> wanted) override {
    size_t fields = 0;
    for (size_t column = 0; column < wanted.size(); ++column) {
      if (wanted[column]) fields = column + 1;
    }
    scanner_.begin(start_, fields);
  }
  Step next() override {
    const Step step = scanner_.next();
    if (step == Step::kRow && scanner_.is_unclosed()) seen_->is_unclosed = true;
    return step;
  }
  Cell cell(size_t column) override {
    const std::string_view text = scanner_.text(column);
    Cell cell;
    if (text.empty()) return cell;
    if (has_commas_[column] != 0 && find_comma(text)) {
      number_ = write_point(text);
      cell = read_number(number_);
      if (cell.kind != Cell::Kind::kText) return cell;
    } else if (types_[column] != Type::kText) {
      cell = read_number(text);
      if (cell.kind != Cell::Kind::kText) return cell;
    }
    if (types_[column] != Type::kText) count_odd(column, text);
    cell.kind = Cell::Kind::kText;
    cell.text = text;
    return cell;
  }
  uint64_t offset() const override { return scanner_.offset(); }

 private:
  CsvScanner scanner_;
  uint64_t start_;
  std::vector<Type> types_;
  std::vector<char> has_commas_;
  std::string number_;
  std::shared_ptr<Seen> seen_;

  void count_odd(size_t column, std::string_view text) {
    constexpr size_t kShown = 40;
    OddCells& odd = seen_->odd[column];
    // A condition may have read it before, and a join reads rows again.
    if (odd.count > 0 && scanner_.start() <= odd.place) return;
    if (odd.count == 0) odd.first = text.substr(0, kShown);
    ++odd.count;
    odd.place = scanner_.start();
  }
};

}  // namespace

Step open_csv(const Read& read, CsvTable& table) {
  CsvScanner scanner(read, table.dialect);
  scanner.begin(table.start, SIZE_MAX);
  const Step header = scanner.next();
  if (header != Step::kRow) return header;
  name_columns(scanner, table.columns);
  table.rows = scanner.offset();
  std::vector<Guess> guesses(table.columns.size());
  for (Guess& guess : guesses) {
    guess.is_doubtful = !table.has_commas;
    guess.may_have_points = table.dialect.delimiter == ';';
  }
  for (size_t row = 0; row < kSampleRows; ++row) {
    const Step step = scanner.next();
    if (step == Step::kEnd) break;
    // The row that is too long is told when it is asked.
    if (step == Step::kUnread) return step;
    if (step != Step::kRow) break;
    if (scanner.fields() > guesses.size()) ++table.longer;
    for (size_t column = 0; column < guesses.size(); ++column)
      guesses[column].add(scanner.text(column));
  }
  table.seen = std::make_shared<Seen>();
  table.seen->odd.resize(guesses.size());
  for (size_t column = 0; column < guesses.size(); ++column) {
    table.columns[column].type = guesses[column].type();
    table.columns[column].has_commas = guesses[column].has_commas();
  }
  return Step::kRow;
}

std::unique_ptr<Rows> make_csv_rows(Read read, const CsvTable& table) {
  return std::make_unique<CsvRows>(std::move(read), table);
}

}  // namespace sluice::tables
