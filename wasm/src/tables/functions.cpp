#include "tables/functions.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tables/number.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice::tables {

namespace {

/// The longest text of a number or a date.
constexpr size_t kMaxText = 64;

/// A character for each code point: `$` for any currency, one kind of space, apostrophe and minus,
/// letters without their marks, and `a` for other letters.
std::string simplify(std::string_view text) {
  // U+00C0 to U+00FF.
  constexpr std::string_view kLatin =
      "aaaaaaaceeeeiiiidnooooo*ouuuuytsaaaaaaaceeeeiiiidnooooo/ouuuuyty";
  std::string simple;
  for (size_t at = 0; at < text.size();) {
    const auto [point, length] = read_code_point(text, at);
    at += length;
    if (point == '$' || (point >= 0xA2 && point <= 0xA5) || (point >= 0x20A0 && point <= 0x20CF)) {
      simple += '$';
    } else if (point == '\t' || point == 0xA0 || (point >= 0x2000 && point <= 0x200A) ||
               point == 0x202F) {
      simple += ' ';
    } else if (point == 0x2019 || point == 0xB4) {
      simple += '\'';
    } else if (point == 0x2212 || point == 0x2013) {
      simple += '-';
    } else if (point < 0x80) {
      simple += static_cast<char>(point);
    } else if (point >= 0xC0 && point <= 0xFF) {
      simple += kLatin[point - 0xC0];
    } else {
      simple += 'a';
    }
  }
  return simple;
}

std::string_view trim(std::string_view text) {
  const size_t from = std::min(text.find_first_not_of(" \r\n"), text.size());
  text.remove_prefix(from);
  return text.substr(0, text.find_last_not_of(" \r\n") + 1);
}

/// Takes a character from the beginning, if it is there.
bool take(std::string_view& text, char character) {
  if (!text.starts_with(character)) return false;
  text.remove_prefix(1);
  return true;
}

void skip_spaces(std::string_view& text) {
  while (take(text, ' ')) {
  }
}

/// Takes as many characters as are of a kind.
template <typename Is>
std::string_view take_run(std::string_view& text, Is is) {
  size_t size = 0;
  while (size < text.size() && is(text[size])) ++size;
  const std::string_view run = text.substr(0, size);
  text.remove_prefix(size);
  return run;
}

std::string_view take_digits(std::string_view& text) {
  return take_run(text, [](char each) { return is_digit(each); });
}

std::string_view take_letters(std::string_view& text) {
  return take_run(text, [](char each) { return is_letter(each); });
}

/// What stands before the digits: signs, a currency such as `$`, `US$`, `USD` or `Rs.`, or `#`, `~`
/// and `<`.
bool take_prefix(std::string_view& text, bool& is_negative) {
  constexpr size_t kMostLetters = 3;
  bool has_sign = false;
  bool has_unit = false;
  for (;;) {
    skip_spaces(text);
    if (text.empty()) return false;
    const char first = text[0];
    if (first == '-' || first == '+') {
      if (has_sign) return false;
      has_sign = true;
      is_negative = first == '-';
      text.remove_prefix(1);
    } else if (first == '$' || first == '#' || first == '~' || first == '<' || first == '>') {
      if (has_unit) return false;
      has_unit = true;
      text.remove_prefix(1);
    } else if (is_letter(first)) {
      if (has_unit) return false;
      has_unit = true;
      const size_t letters = take_letters(text).size();
      const bool has_symbol = take(text, '$') || take(text, '.');
      // `SKU-12`, `A4` and `K9` are names.
      const bool is_apart = has_symbol || text.starts_with(' ') || letters == kMostLetters;
      if (letters > kMostLetters || !is_apart || text.starts_with('-')) return false;
    } else {
      return true;
    }
  }
}

/// The digits of a number, with `.` for the decimal sign and nothing between thousands.
bool take_number(std::string_view& text, char decimal, std::string& number) {
  constexpr size_t kMostDigits = 18;
  const std::string_view first = take_digits(text);
  number = first;
  if (first.size() > 1 && first[0] == '0') return false;
  const char mark = text.empty() ? '\0' : text[0];
  const bool is_mark = mark == ',' || mark == '.' || mark == '\'' || mark == ' ' || mark == '_';
  if (is_mark && mark != decimal && !first.empty() && first.size() <= 3) {
    // Two digits stand together in India, as in 12,34,567.
    size_t last = 3;
    while (text.size() > 2 && text[0] == mark && is_digit(text[1])) {
      std::string_view rest = text.substr(1);
      const std::string_view group = take_digits(rest);
      if (group.size() != 3 && (group.size() != 2 || mark != ',')) return false;
      last = group.size();
      number += group;
      text = rest;
    }
    if (last != 3) return false;
  }
  if (number.size() > kMostDigits) return false;
  if (text.size() > 1 && text[0] == decimal && is_digit(text[1])) {
    text.remove_prefix(1);
    if (number.empty()) number = "0";
    number += '.';
    number += take_digits(text);
  }
  return !number.empty();
}

/// What stands behind the digits: a unit such as `%`, `€`, `kg` or `km/h`, and a minus.
bool is_suffix(std::string_view text, bool& is_negative) {
  constexpr size_t kMostLetters = 8;
  if (take(text, '-')) {
    is_negative = !is_negative;
    if (text.empty()) return true;
  }
  skip_spaces(text);
  if (take(text, '$') || take(text, '%')) return text.empty();
  const auto is_unit = [](char each) { return is_letter(each) || each == '/'; };
  const size_t letters = take_run(text, is_unit).size();
  take(text, '.');
  return letters <= kMostLetters && text.empty();
}

}  // namespace

Cell read_amount(std::string_view written, char decimal) {
  Cell cell;
  if (written.empty() || written.size() > kMaxText) return cell;
  const std::string simple = simplify(written);
  std::string_view text = trim(simple);
  bool is_negative = false;
  bool is_enclosed = text.size() > 2 && text.front() == '(' && text.back() == ')';
  if (is_enclosed) text = text.substr(1, text.size() - 2);
  std::string number;
  if (!take_prefix(text, is_negative)) return cell;
  // `$(12.00)`
  if (!is_enclosed && text.starts_with('(') && text.ends_with(')')) {
    is_enclosed = true;
    text = text.substr(1, text.size() - 2);
  }
  if (!take_number(text, decimal, number) || !is_suffix(text, is_negative)) return cell;
  if (is_enclosed != is_negative) number.insert(0, 1, '-');
  cell = read_number(number);
  cell.text = {};
  if (cell.kind == Cell::Kind::kText) cell.kind = Cell::Kind::kNull;
  return cell;
}

namespace {

/// The month that a word is, in English, German, French, Spanish, Italian, Portuguese and Dutch.
int find_month(std::string_view word) {
  constexpr size_t kLongest = 10;
  constexpr std::array<std::pair<std::string_view, int>, 38> kMonths{{
      {"juin", 6}, {"juil", 7}, {"jan", 1},  {"ene", 1},  {"gen", 1},  {"feb", 2},  {"fev", 2},
      {"mar", 3},  {"mrz", 3},  {"mrt", 3},  {"maa", 3},  {"apr", 4},  {"avr", 4},  {"abr", 4},
      {"may", 5},  {"mai", 5},  {"mei", 5},  {"mag", 5},  {"jun", 6},  {"giu", 6},  {"jul", 7},
      {"lug", 7},  {"aug", 8},  {"aou", 8},  {"ago", 8},  {"sep", 9},  {"set", 9},  {"oct", 10},
      {"okt", 10}, {"ott", 10}, {"out", 10}, {"nov", 11}, {"dec", 12}, {"dez", 12}, {"dic", 12},
      {"mae", 3},  {"maj", 5},  {"maio", 5},
  }};
  if (word.size() < 3 || word.size() > kLongest) return 0;
  const std::string lower = lowered(word);
  for (const auto& [begin, month] : kMonths) {
    if (lower.starts_with(begin)) return month;
  }
  return 0;
}

int to_int(std::string_view digits) {
  int value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

struct Day {
  int year = 0;
  int month = 0;
  int day = 0;

  bool is_one() const {
    constexpr std::array<int, 12> kDays{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= kDays[static_cast<size_t>(month - 1)] && (month != 2 || day < 29 || is_leap);
  }
};

/// Years of two digits begin with 1969, as POSIX has it.
bool read_year(std::string_view digits, int& year) {
  if (digits.size() != 2 && digits.size() != 4) return false;
  year = to_int(digits);
  if (digits.size() == 2) year += year < 69 ? 2000 : 1900;
  return true;
}

/// The letters d, m and y of an order, each once.
std::string find_order(std::string_view text) {
  std::string order;
  for (const char each : text) {
    const char letter = to_lower(each);
    if ((letter == 'd' || letter == 'm' || letter == 'y') &&
        order.find(letter) == std::string::npos)
      order += letter;
  }
  return order.size() == 3 ? order : std::string();
}

bool is_separator(char each) {
  return each == ' ' || each == '-' || each == '/' || each == '.' || each == ',';
}

/// Takes what stands between the parts of a date, `de` too.
char take_separator(std::string_view& text) {
  const std::string_view run = take_run(text, is_separator);
  if (text.starts_with("de ")) text.remove_prefix(3);
  return run.empty() ? '\0' : run[0];
}

/// `5 Jan 2025`, `05-Jan-25`, `January 5th, 2025`: the one that begins with a word has it in
/// `month`.
bool take_named_day(std::string_view& text, int month, std::string_view first, Day& day) {
  if (month == 0) {
    take_separator(text);
    day.day = to_int(first);
    day.month = find_month(take_letters(text));
  } else {
    day.month = month;
    take_separator(text);
    const std::string_view digits = take_digits(text);
    if (digits.empty() || digits.size() > 2) return false;
    day.day = to_int(digits);
    take_letters(text);
  }
  take_separator(text);
  return read_year(take_digits(text), day.year);
}

bool take_day(std::string_view& text, const std::string& order, Day& day) {
  std::string_view word = take_letters(text);
  int month = find_month(word);
  if (!word.empty() && month == 0) {
    // The day of the week.
    take_separator(text);
    word = take_letters(text);
    month = find_month(word);
    if (!word.empty() && month == 0) return false;
  }
  if (month > 0) return take_named_day(text, month, {}, day);
  const std::string_view first = take_digits(text);
  if (first.size() == 8) {
    day = {to_int(first.substr(0, 4)), to_int(first.substr(4, 2)), to_int(first.substr(6))};
    return day.year >= 1800 && day.year < 2200;
  }
  if (first.empty() || first.size() > 4 || text.empty()) return false;
  std::string_view rest = text;
  take_separator(rest);
  if (!rest.empty() && is_letter(rest[0])) {
    return first.size() <= 2 && take_named_day(text, 0, first, day);
  }
  const char separator = text[0];
  if (separator != '-' && separator != '/' && separator != '.') return false;
  text.remove_prefix(1);
  const std::string_view second = take_digits(text);
  if (second.empty() || second.size() > 2 || !take(text, separator)) return false;
  const std::string_view third = take_digits(text);
  if (first.size() == 4) {
    day = {to_int(first), to_int(second), to_int(third)};
    return third.size() <= 2;
  }
  const std::string meant = order.empty() && separator == '.' ? "dmy" : order;
  if (meant.empty() || first.size() > 2) return false;
  const std::array<std::string_view, 3> parts{first, second, third};
  for (size_t part = 0; part < parts.size(); ++part) {
    if (meant[part] == 'y') {
      if (!read_year(parts[part], day.year)) return false;
    } else if (parts[part].size() > 2) {
      return false;
    } else {
      (meant[part] == 'd' ? day.day : day.month) = to_int(parts[part]);
    }
  }
  return true;
}

void append_two(std::string& out, int number) {
  out += static_cast<char>('0' + number / 10);
  out += static_cast<char>('0' + number % 10);
}

/// `10:30`, `10:30:05.25`, `1030`, `3:05 PM`.
bool take_time(std::string_view& text, std::string& out) {
  const std::string_view first = take_digits(text);
  int hour = 0;
  std::string rest;
  if (first.size() == 4 || first.size() == 6) {
    hour = to_int(first.substr(0, 2));
    append_two(rest += ':', to_int(first.substr(2, 2)));
    if (first.size() == 6) append_two(rest += ':', to_int(first.substr(4)));
  } else {
    if (first.empty() || first.size() > 2 || !text.starts_with(':')) return false;
    hour = to_int(first);
    for (int part = 0; part < 2 && take(text, ':'); ++part) {
      const std::string_view digits = take_digits(text);
      if (digits.size() != 2 || to_int(digits) > 60) return false;
      rest += ':';
      rest += digits;
    }
    if (text.starts_with('.') || text.starts_with(',')) {
      text.remove_prefix(1);
      const std::string_view digits = take_digits(text);
      if (digits.empty()) return false;
      rest += '.';
      rest += digits.substr(0, 3);
    }
  }
  std::string_view behind = text;
  skip_spaces(behind);
  const std::string word =
      lowered(take_run(behind, [](char each) { return is_letter(each) || each == '.'; }));
  const bool is_afternoon = word == "pm" || word == "p.m.";
  if (is_afternoon || word == "am" || word == "a.m.") {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (is_afternoon ? 12 : 0);
    text = behind;
  }
  if (hour > 24) return false;
  append_two(out += ' ', hour);
  out += rest;
  return true;
}

/// `Z`, `UTC`, `+0100`, `GMT+01:00`; names of other zones and what stands in parentheses are left
/// out.
bool take_zone(std::string_view text, std::string& out) {
  skip_spaces(text);
  const std::string word = lowered(take_letters(text));
  const bool is_utc = word == "z" || word == "utc" || word == "gmt";
  if (word.size() > 5) return false;
  if (text.starts_with('+') || text.starts_with('-')) {
    const char sign = text[0];
    text.remove_prefix(1);
    const std::string_view hours = take_digits(text);
    take(text, ':');
    const std::string_view minutes = hours.size() == 4 ? hours.substr(2) : take_digits(text);
    if (hours.size() < 2 || hours.size() == 3 || hours.size() > 4) return false;
    out += sign;
    out += hours.substr(0, 2);
    out += ':';
    out += minutes.size() == 2 ? minutes : std::string_view("00");
  } else if (is_utc) {
    out += 'Z';
  }
  skip_spaces(text);
  return text.empty() || (text.front() == '(' && text.back() == ')');
}

}  // namespace

std::string read_date(std::string_view written, std::string_view order) {
  if (written.empty() || written.size() > kMaxText) return {};
  const std::string simple = simplify(written);
  std::string_view text = trim(simple);
  Day day;
  if (!take_day(text, find_order(order), day) || !day.is_one()) return {};
  std::string out;
  append_two(out, day.year / 100);
  append_two(out, day.year % 100);
  append_two(out += '-', day.month);
  append_two(out += '-', day.day);
  if (text.empty()) return out;
  // `05/Jan/2025:10:00:00 +0100` is of a web server.
  const bool has_border = take(text, 'T') || take(text, ',') || take(text, ':') || text[0] == ' ';
  skip_spaces(text);
  if (!has_border || !take_time(text, out) || !take_zone(text, out)) return {};
  return out;
}

namespace {

std::string_view get_text(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<size_t>(sqlite3_value_bytes(value)));
}

void call_to_number(sqlite3_context* context, int count, sqlite3_value** values) {
  const int type = sqlite3_value_type(values[0]);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
    sqlite3_result_value(context, values[0]);
    return;
  }
  if (type != SQLITE_TEXT) return;
  const std::string_view sign = count > 1 ? get_text(values[1]) : ".";
  const std::string_view text = get_text(values[0]);
  const char decimal = sign == "," ? ',' : '.';
  Cell cell = decimal == '.' ? read_number(trim(text)) : Cell();
  if (cell.kind == Cell::Kind::kText || cell.kind == Cell::Kind::kNull)
    cell = read_amount(text, decimal);
  if (cell.kind == Cell::Kind::kInteger) sqlite3_result_int64(context, cell.integer);
  if (cell.kind == Cell::Kind::kReal) sqlite3_result_double(context, cell.real);
}

void call_to_date(sqlite3_context* context, int count, sqlite3_value** values) {
  const std::string date = read_date(get_text(values[0]), count > 1 ? get_text(values[1]) : "");
  if (date.empty()) return;
  sqlite3_result_text(context, date.data(), static_cast<int>(date.size()), SQLITE_TRANSIENT);
}

}  // namespace

int add_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  struct Function {
    const char* name;
    void (*call)(sqlite3_context*, int, sqlite3_value**);
  };
  constexpr std::array<Function, 2> kFunctions{
      {{"to_number", call_to_number}, {"to_date", call_to_date}}};
  for (const auto& [name, call] : kFunctions) {
    for (const int count : {1, 2}) {
      const int result = sqlite3_create_function_v2(database, name, count, kFlags, nullptr, call,
                                                    nullptr, nullptr, nullptr);
      if (result != SQLITE_OK) return result;
    }
  }
  return SQLITE_OK;
}

}  // namespace sluice::tables
