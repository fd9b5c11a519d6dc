#include "tables/json_rows.h"

#include <array>
#include <bitset>
#include <cstdlib>
#include <optional>

#include "json/scan.h"
#include "sluice/tape.h"
#include "tables/number.h"
#include "text/ascii.h"
#include "text/block.h"

namespace sluice::tables {

namespace {

/// Rows whose members are the columns, and most of these.
constexpr size_t kSampleRows = 1000;
constexpr size_t kMaxColumns = 2000;

/// The byte order mark of UTF-8.
constexpr std::string_view kMark = "\xef\xbb\xbf";

bool is_bracket_or_quote(char character) {
  return is_among(character, "\"{}[]");
}

/// What stands between quotes, or nothing where an escape is wrong.
bool unescape(std::string_view inside, std::string& text) {
  for (size_t at = inside.find('\\'); at != std::string_view::npos; at = inside.find('\\', at)) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(inside.data());
    const size_t length = escape_bytes(bytes + at, bytes + inside.size());
    if (length == 0) return false;
    at += length;
  }
  text.clear();
  append_unescaped(text, inside);
  return true;
}

}  // namespace

JsonScanner::JsonScanner(Read read, JsonPlace place, size_t window)
    : place_(std::move(place)), window_(std::move(read), window) {}

// --- to the rows -----------------------------------------------------------------------------

/// The next character that is no space, or NUL at the end. What is before it is dropped.
char JsonScanner::peek() {
  for (;;) {
    while (at_ < window_.size()) {
      if (!is_white(window_.data()[at_])) return window_.data()[at_];
      ++at_;
    }
    if (window_.is_last() || has_failed_) return '\0';
    has_failed_ = !window_.refill(at_);
    at_ = 0;
  }
}

/// Skips a value of any size, which need not fit the window.
Step JsonScanner::skip_far() {
  std::bitset<kMaxDepth> objects;
  size_t depth = 0;
  const char first = peek();
  if (first == '\0' || is_among(first, ",:]}")) return fail();
  const bool is_plain = !is_bracket_or_quote(first);
  bool is_quoted = false;
  for (;;) {
    const char* const data = window_.data();
    while (at_ < window_.size()) {
      const char character = data[at_];
      if (is_quoted) {
        const char* const stop = find_first(data + at_, data + window_.size(),
                                            [](auto some) { return some.is('"') | some.is('\\'); });
        at_ = static_cast<size_t>(stop - data);
        if (at_ >= window_.size()) break;
        if (*stop == '\\') {
          if (at_ + 1 >= window_.size()) {
            if (window_.is_last()) return Step::kDamaged;
            break;
          }
          at_ += 2;
          continue;
        }
        is_quoted = false;
        ++at_;
        if (depth == 0) return Step::kRow;
        continue;
      }
      if (is_plain && (is_white(character) || is_among(character, ",]}"))) return Step::kRow;
      if (character == '"') {
        is_quoted = true;
      } else if (character == '{' || character == '[') {
        if (depth == kMaxDepth) return Step::kDamaged;
        objects[depth++] = character == '{';
      } else if (character == '}' || character == ']') {
        if (depth == 0 || objects[depth - 1] != (character == '}')) return Step::kDamaged;
        if (--depth == 0) {
          ++at_;
          return Step::kRow;
        }
      }
      ++at_;
    }
    if (window_.is_last()) return is_plain ? Step::kRow : Step::kDamaged;
    if (!window_.refill(at_)) return Step::kUnread;
    at_ = 0;
  }
}

/// Reads a key and what stands behind it.
Step JsonScanner::take_name(std::string& name) {
  if (peek() != '"') return fail();
  for (;;) {
    size_t at = at_;
    const Found found = skip_string(at);
    if (found == Found::kYes) {
      if (!unescape({window_.data() + at_ + 1, at - at_ - 2}, name)) return Step::kDamaged;
      at_ = at;
      if (peek() != ':') return fail();
      ++at_;
      return Step::kRow;
    }
    if (found == Found::kNo) return Step::kDamaged;
    if (window_.size() - at_ > kMaxRow) return Step::kTooLong;
    if (!window_.refill(at_)) return Step::kUnread;
    at_ = 0;
  }
}

/// Goes to the member or element that a token names.
Step JsonScanner::enter(std::string_view token) {
  const char open = peek();
  if (open != '{' && open != '[') return open == '\0' ? fail() : Step::kEnd;
  const auto wanted = decimal(token, 15);
  if (open == '[' && !wanted) return Step::kEnd;
  ++at_;
  std::string name;
  for (uint64_t index = 0;; ++index) {
    const char next = peek();
    if (next == (open == '{' ? '}' : ']')) return Step::kEnd;
    if (index > 0) {
      if (next != ',') return fail();
      ++at_;
    }
    if (open == '{') {
      const Step step = take_name(name);
      if (step != Step::kRow) return step;
      if (name == token) return Step::kRow;
    } else if (index == *wanted) {
      return Step::kRow;
    }
    const Step step = skip_far();
    if (step != Step::kRow) return step;
  }
}

Step JsonScanner::begin() {
  window_.seek(0);
  at_ = 0;
  has_failed_ = is_over_ = is_object_ = false;
  is_first_ = true;
  do {
    if (!window_.refill(0)) return Step::kUnread;
  } while (window_.size() < kMark.size() && !window_.is_last());
  if (std::string_view(window_.data(), window_.size()).starts_with(kMark)) at_ = kMark.size();
  if (place_.is_lines) return Step::kRow;
  for (const std::string& token : place_.tokens) {
    const Step step = enter(token);
    if (step != Step::kRow) return step;
  }
  const char open = peek();
  if (open == '\0') return fail();
  if (place_.is_row) return Step::kRow;
  if (open != '{' && open != '[') return Step::kEnd;
  is_object_ = open == '{';
  ++at_;
  return Step::kRow;
}

// --- a row, which is whole in the window -----------------------------------------------------

void JsonScanner::skip_white(size_t& at) const {
  while (at < window_.size() && is_white(window_.data()[at])) ++at;
}

JsonScanner::Found JsonScanner::skip_string(size_t& at) const {
  const char* const data = window_.data();
  const char* const end = data + window_.size();
  for (const char* next = data + at + 1;;) {
    next = find_first(next, end, [](auto some) { return some.is('"') | some.is('\\'); });
    if (next >= end) return window_.is_last() ? Found::kNo : Found::kNeedsMore;
    if (*next == '"') {
      at = static_cast<size_t>(next - data) + 1;
      return Found::kYes;
    }
    next = std::min(next + 2, end);
  }
}

JsonScanner::Found JsonScanner::skip_value(size_t& at) const {
  const char* const data = window_.data();
  const size_t size = window_.size();
  if (at >= size) return window_.is_last() ? Found::kNo : Found::kNeedsMore;
  if (data[at] == '"') return skip_string(at);
  if (data[at] != '{' && data[at] != '[') {
    const size_t begin = at;
    while (at < size && !is_white(data[at]) && !is_among(data[at], ",:]}[{\"")) ++at;
    if (at == size && !window_.is_last()) return Found::kNeedsMore;
    return at > begin ? Found::kYes : Found::kNo;
  }
  std::bitset<kMaxDepth> objects;
  size_t depth = 0;
  while (at < size) {
    const char character = data[at];
    if (character == '"') {
      const Found found = skip_string(at);
      if (found != Found::kYes) return found;
      continue;
    }
    if (character == '{' || character == '[') {
      if (depth == kMaxDepth) return Found::kNo;
      objects[depth++] = character == '{';
    } else if (character == '}' || character == ']') {
      if (objects[depth - 1] != (character == '}')) return Found::kNo;
      if (--depth == 0) {
        ++at;
        return Found::kYes;
      }
    }
    ++at;
  }
  return window_.is_last() ? Found::kNo : Found::kNeedsMore;
}

/// Reads the members of the object, or the elements of the array, at `at`.
JsonScanner::Found JsonScanner::read_members(size_t& at) {
  const char* const data = window_.data();
  const bool is_object = data[at] == '{';
  const char close = is_object ? '}' : ']';
  const Found more = window_.is_last() ? Found::kNo : Found::kNeedsMore;
  ++at;
  for (bool is_first = true;; is_first = false) {
    skip_white(at);
    if (at >= window_.size()) return more;
    if (data[at] == close && is_first) break;
    if (!is_first) {
      if (data[at] == close) break;
      if (data[at] != ',') return Found::kNo;
      ++at;
      skip_white(at);
      if (at >= window_.size()) return more;
    }
    Member member;
    if (is_object) {
      if (data[at] != '"') return Found::kNo;
      const size_t name = at + 1;
      const Found found = skip_string(at);
      if (found != Found::kYes) return found;
      member.name = {data + name, at - 1 - name};
      skip_white(at);
      if (at >= window_.size()) return more;
      if (data[at] != ':') return Found::kNo;
      ++at;
      skip_white(at);
    }
    const size_t value = at;
    const Found found = skip_value(at);
    if (found != Found::kYes) return found;
    member.source = {data + value, at - value};
    members_.push_back(member);
  }
  ++at;
  return Found::kYes;
}

JsonScanner::Found JsonScanner::read_row(size_t& at) {
  const char* const data = window_.data();
  members_.clear();
  is_array_ = at < window_.size() && data[at] == '[';
  if (at >= window_.size()) return window_.is_last() ? Found::kNo : Found::kNeedsMore;
  if (data[at] == '{' || data[at] == '[') return read_members(at);
  const size_t value = at;
  const Found found = skip_value(at);
  if (found == Found::kYes) members_.push_back({{}, {data + value, at - value}});
  return found;
}

Step JsonScanner::next() {
  if (is_over_) return Step::kEnd;
  char next = peek();
  if (has_failed_) return Step::kUnread;
  if (place_.is_lines || place_.is_row) {
    is_over_ = place_.is_row || next == '\0';
    if (next == '\0') return place_.is_row || at_ < window_.size() ? Step::kDamaged : Step::kEnd;
  } else {
    if (next == (is_object_ ? '}' : ']')) {
      is_over_ = true;
      return Step::kEnd;
    }
    if (!is_first_) {
      if (next != ',') return fail();
      ++at_;
      peek();
    }
  }
  is_first_ = false;
  for (;;) {
    size_t at = at_;
    Found found = Found::kYes;
    size_t key_end = at;
    if (has_keys()) {
      if (at >= window_.size() || window_.data()[at] != '"') return fail();
      found = skip_string(at);
      key_end = at;
      skip_white(at);
      if (found == Found::kYes && at < window_.size() && window_.data()[at] != ':')
        return Step::kDamaged;
      if (found == Found::kYes && at >= window_.size())
        found = window_.is_last() ? Found::kNo : Found::kNeedsMore;
      ++at;
      if (found == Found::kYes) skip_white(at);
    }
    if (found == Found::kYes) found = read_row(at);
    if (found == Found::kYes && place_.is_lines) {
      while (at < window_.size() && is_among(window_.data()[at], " \t\r")) ++at;
      if (at == window_.size() && !window_.is_last())
        found = Found::kNeedsMore;
      else if (at < window_.size() && window_.data()[at] != '\n')
        found = Found::kNo;
    }
    if (found == Found::kYes) {
      if (has_keys()) key_ = {window_.data() + at_ + 1, key_end - at_ - 2};
      at_ = at;
      return Step::kRow;
    }
    if (found == Found::kNo) return Step::kDamaged;
    if (window_.size() - at_ > kMaxRow) return Step::kTooLong;
    has_failed_ = !window_.refill(at_);
    if (has_failed_) return Step::kUnread;
    at_ = 0;
  }
}

// --- the table -------------------------------------------------------------------------------

namespace {

constexpr std::string_view kValue = "value";

/// The value of a cell by its source. Text that has escapes is written to `text`.
Cell read_json(std::string_view source, std::string& text) {
  Cell cell;
  switch (source.empty() ? 'n' : source[0]) {
    case '"': {
      cell.kind = Cell::Kind::kText;
      const std::string_view inside = source.substr(1, source.size() - 2);
      if (inside.find('\\') == std::string_view::npos)
        cell.text = inside;
      else if (unescape(inside, text))
        cell.text = text;
      else
        cell.text = inside;
      return cell;
    }
    case '{':
    case '[':
      cell.kind = Cell::Kind::kText;
      cell.text = source;
      return cell;
    case 't':
    case 'f':
      cell.kind = Cell::Kind::kInteger;
      cell.integer = source[0] == 't' ? 1 : 0;
      return cell;
    default:
      break;
  }
  // Python writes NaN and Infinity, which no column of numbers can hold.
  if (source.empty() || (source[0] != '-' && !is_digit(source[0])) || source == "-Infinity")
    return cell;
  cell = read_number(source);
  const bool has_exponent = source.find_first_of("eE") != std::string_view::npos;
  if (cell.kind != Cell::Kind::kText || !has_exponent || source.size() > 40) return cell;
  std::array<char, 41> copy{};
  source.copy(copy.data(), 40);
  cell.kind = Cell::Kind::kReal;
  cell.real = std::strtod(copy.data(), nullptr);
  return cell;
}

/// The name of a cell that is no member of an object.
std::string name_element(const JsonScanner& scanner, size_t index) {
  return scanner.is_array() ? "column_" + std::to_string(index + 1) : std::string(kValue);
}

class JsonRows : public Rows {
 public:
  JsonRows(Read read, const JsonTable& table)
      : scanner_(std::move(read), table.place), has_keys_(table.has_keys), names_(table.members) {}

  void begin(std::span<const char> wanted) override {
    places_.clear();
    for (size_t column = has_keys_ ? 1 : 0; column < wanted.size(); ++column) {
      if (wanted[column] != 0) places_.emplace(names_[column], column);
    }
    sources_.assign(names_.size(), {});
    texts_.resize(names_.size());
    order_.clear();
    begun_ = scanner_.begin();
  }

  Step next() override {
    if (begun_ != Step::kRow) return begun_;
    const Step step = scanner_.next();
    if (step != Step::kRow) return step;
    for (const size_t column : filled_) sources_[column] = {};
    filled_.clear();
    const auto members = scanner_.members();
    for (size_t index = 0; index < members.size(); ++index) {
      const auto column = find_column(members[index].name, index);
      if (!column) continue;
      sources_[*column] = members[index].source;
      filled_.push_back(*column);
    }
    return Step::kRow;
  }

  Cell cell(size_t column) override {
    if (has_keys_ && column == 0) {
      Cell cell;
      cell.kind = Cell::Kind::kText;
      cell.text =
          unescape(scanner_.key(), texts_[0]) ? std::string_view(texts_[0]) : scanner_.key();
      return cell;
    }
    return read_json(sources_[column], texts_[column]);
  }
  uint64_t offset() const override { return scanner_.offset(); }

 private:
  /// Members nearly always come in the same order, and with the same names.
  std::optional<size_t> find_column(std::string_view name, size_t index) {
    if (name.data() == nullptr) return find_element(index);
    if (index < order_.size() && order_[index].name == name) return order_[index].column;
    std::optional<size_t> found;
    const bool has_escapes = name.find('\\') != std::string_view::npos;
    const auto place =
        places_.find(has_escapes && unescape(name, name_) ? name_ : std::string(name));
    if (place != places_.end()) found = place->second;
    if (index == order_.size() && index < kMaxColumns) order_.push_back({std::string(name), found});
    return found;
  }
  std::optional<size_t> find_element(size_t index) {
    const auto place = places_.find(name_element(scanner_, index));
    return place == places_.end() ? std::nullopt : std::optional(place->second);
  }

  struct Known {
    std::string name;
    std::optional<size_t> column;
  };

  JsonScanner scanner_;
  bool has_keys_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, size_t> places_;
  std::vector<Known> order_;
  std::vector<std::string_view> sources_;
  std::vector<size_t> filled_;
  std::vector<std::string> texts_;
  std::string name_;
  Step begun_ = Step::kEnd;
};

/// What a column may still be.
struct Guess {
  bool has_cells = false;
  bool is_integer = true;
  bool is_number = true;
  bool is_text = true;

  void add(std::string_view source) {
    std::string text;
    const Cell::Kind kind = read_json(source, text).kind;
    if (kind == Cell::Kind::kNull) return;
    has_cells = true;
    is_integer = is_integer && kind == Cell::Kind::kInteger;
    is_number = is_number && kind != Cell::Kind::kText;
    is_text = is_text && kind == Cell::Kind::kText;
  }
  Type type() const {
    if (!has_cells || (!is_text && !is_number)) return Type::kAny;
    return is_text ? Type::kText : is_integer ? Type::kInteger : Type::kReal;
  }
};

}  // namespace

Step open_json(const Read& read, JsonTable& table, std::span<const std::string> wanted) {
  JsonScanner scanner(read, table.place);
  const Step begun = scanner.begin();
  if (begun != Step::kRow) return begun;
  table.has_keys = scanner.has_keys();
  table.is_open = true;
  std::unordered_map<std::string, size_t> places;
  std::vector<Guess> guesses;
  std::string name;
  for (size_t row = 0; row < kSampleRows; ++row) {
    const Step step = scanner.next();
    table.is_open = step != Step::kEnd;
    if (step == Step::kEnd) break;
    if (step == Step::kUnread) return step;
    // A row that is wrong is told when it is asked, but the first one, without which there are no
    // columns.
    if (step != Step::kRow && row == 0) return step;
    if (step != Step::kRow) break;
    const auto members = scanner.members();
    for (size_t index = 0; index < members.size(); ++index) {
      const auto& [written, source] = members[index];
      if (written.data() != nullptr) {
        if (!unescape(written, name)) name = written;
      } else {
        name = name_element(scanner, index);
      }
      const auto [place, is_new] = places.try_emplace(name, guesses.size());
      if (is_new && guesses.size() == kMaxColumns) {
        places.erase(place);
        continue;
      }
      if (is_new) {
        guesses.emplace_back();
        table.members.push_back(name);
      }
      guesses[place->second].add(source);
    }
  }
  for (const std::string& member : wanted) {
    if (!table.is_open || !places.try_emplace(member, guesses.size()).second) continue;
    guesses.emplace_back();
    table.members.push_back(member);
  }
  if (table.has_keys) {
    table.members.insert(table.members.begin(), places.contains("key") ? "_key" : "key");
    guesses.insert(guesses.begin(), Guess{true, false, false, true});
  }
  ColumnNames names;
  for (size_t column = 0; column < guesses.size(); ++column) {
    table.columns.push_back({names.add(table.members[column]), guesses[column].type()});
  }
  return Step::kRow;
}

std::unique_ptr<Rows> make_json_rows(Read read, const JsonTable& table) {
  return std::make_unique<JsonRows>(std::move(read), table);
}

}  // namespace sluice::tables
