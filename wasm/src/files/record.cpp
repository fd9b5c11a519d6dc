#include "files/record.h"

#include <algorithm>
#include <cstddef>

#include "sluice/segment.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice::files {

namespace {

/// The value of `12`, `12.0`; nothing for other numbers, and above 15 digits.
std::optional<uint64_t> whole_number(std::string_view source) {
  constexpr size_t kMaxDigits = 15;
  const size_t point = source.find('.');
  const std::string_view digits = source.substr(0, point);
  if (point != std::string_view::npos &&
      source.find_first_not_of('0', point + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  return decimal(digits, kMaxDigits);
}

std::string one_of(std::span<const std::string_view> words) {
  std::string rule = "one of ";
  for (const std::string_view& word : words) {
    if (&word != words.data()) rule += ", ";
    rule += word;
  }
  return rule;
}

/// How many are listed; the others are counted.
constexpr size_t kMaxListed = 16;

}  // namespace

void Dropped::add(std::string_view field, std::string_view rule) {
  if (++count_ > kMaxListed) return;
  if (count_ > 1) fields_ += ',';
  fields_ += Object().text("field", field).text("rule", rule).end();
}

std::string Dropped::json() const {
  if (count_ == 0) return {};
  return Object().number("count", count_).source("fields", '[' + fields_ + ']').end();
}

std::string string_of(Length length) {
  std::string what = "a string of ";
  what += length.least == 0 ? "at most" : std::to_string(length.least) + " to";
  return what + ' ' + std::to_string(length.most) + " characters";
}

std::string element_path(std::string_view path, size_t index) {
  return std::string(path) + '[' + std::to_string(index) + ']';
}

bool is_object(const Tape& tape, size_t node) {
  const Type type = tape[node].type;
  return type == Type::object || (type == Type::string && is_reference(tape.string(node)));
}

std::string Record::path_of(std::string_view key) const {
  std::string path = path_;
  if (!path.empty() && !key.empty()) path += '.';
  return path.append(key);
}

void Record::drop(std::string_view key, std::string_view rule) {
  dropped_.add(path_of(key), rule);
}

std::optional<size_t> Record::find(std::string_view key) const {
  const std::optional<size_t> found = tape_.find(node_, key);
  return found && tape_[*found].type == Type::null ? std::nullopt : found;
}

std::optional<std::string> Record::need_text(std::string_view key, Length length) {
  const std::optional<size_t> node = find(key);
  if (node && tape_[*node].type == Type::string) {
    std::string text = tape_.string(*node);
    const size_t chars = count_chars(text);
    if (chars >= length.least && chars <= length.most) return text;
  }
  drop(key, "must be " + string_of(length));
  return std::nullopt;
}

void Record::keep_object(std::string_view key) {
  const std::optional<size_t> node = find(key);
  if (!node) return;
  if (!is_object(tape_, *node)) return drop(key, "must be an object");
  out_.source(key, tape_.source(*node));
}

void Record::keep_line(std::string_view key, Length length) {
  const std::optional<size_t> node = find(key);
  if (!node) return;
  if (tape_[*node].type != Type::string) return drop(key, "must be " + string_of(length));
  const std::string line = one_line(tape_.string(*node));
  if (count_chars(line) > length.most) return drop(key, "must be " + string_of(length));
  if (!line.empty()) out_.text(key, line);
}

void Record::keep_word(std::string_view key, std::span<const std::string_view> words,
                       std::string_view fallback) {
  const std::optional<size_t> node = find(key);
  for (const std::string_view word : words) {
    if (!node || !tape_.is_string(*node, word)) continue;
    out_.text(key, word);
    return;
  }
  if (node) drop(key, "must be " + one_of(words));
  if (!fallback.empty()) out_.text(key, fallback);
}

void Record::keep_flag(std::string_view key, std::optional<bool> fallback) {
  const std::optional<size_t> node = find(key);
  if (node && tape_[*node].type == Type::boolean) {
    out_.source(key, tape_.source(*node));
    return;
  }
  if (node) drop(key, "must be true or false");
  if (fallback) out_.flag(key, *fallback);
}

std::optional<uint64_t> Record::number(std::string_view key, uint64_t least, uint64_t most) {
  const std::optional<size_t> node = find(key);
  if (!node) return std::nullopt;
  const std::optional<uint64_t> value =
      tape_[*node].type == Type::number ? whole_number(tape_.source(*node)) : std::nullopt;
  if (value && *value >= least && *value <= most) return value;
  drop(key, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<size_t> Record::array(std::string_view key, std::string_view things) {
  const std::optional<size_t> node = find(key);
  if (!node || tape_[*node].type == Type::array) return node;
  // The core diverts what would fill an observation alone.
  const bool is_diverted = is_reference(tape_.string(*node));
  drop(key, is_diverted ? "must be shorter: it is too large for a result"
                        : "must be an array of " + std::string(things));
  return std::nullopt;
}

void Record::drop_rest(std::string_view key, size_t most, std::string_view things) {
  drop(key, "may have at most " + std::to_string(most) + ' ' + std::string(things) +
                ": the others are left out");
}

// --- base64 ----------------------------------------------------------------------------------

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_white(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Takes characters one by one.
class Collector {
 public:
  explicit Collector(size_t most) { digits_.reserve(most); }

  bool take(char c) {
    if (is_white(c)) return true;
    if (c == '=') return ++padding_ <= 2;
    if (padding_ > 0) return false;
    if (c == '-' || c == '_') {
      url_ = true;
      c = c == '-' ? '+' : '/';
    } else if (c == '+' || c == '/') {
      standard_ = true;
    } else if (!is_alphanumeric(c)) {
      return false;
    }
    digits_ += c;
    return true;
  }

  std::optional<std::string> finish() && {
    const size_t rest = digits_.size() % 4;
    const bool whole = padding_ == 0 || (digits_.size() + padding_) % 4 == 0;
    if (rest == 1 || !whole || (standard_ && url_)) return std::nullopt;
    if (rest != 0) {
      // Two digits hold one byte and four bits more, three hold two bytes and two.
      const size_t unused = rest == 2 ? 0xF : 0x3;
      if ((kDigits.find(digits_.back()) & unused) != 0) return std::nullopt;
      digits_.append(4 - rest, '=');
    }
    return std::move(digits_);
  }

 private:
  std::string digits_;
  size_t padding_ = 0;
  bool standard_ = false;
  bool url_ = false;
};

}  // namespace

std::optional<std::string> standard_base64(std::string_view text) {
  Collector collector(text.size() + 2);
  for (const char c : text) {
    if (!collector.take(c)) return std::nullopt;
  }
  return std::move(collector).finish();
}

// --- media types -----------------------------------------------------------------------------

namespace {

constexpr size_t kMaxChars = 255;
constexpr size_t kMaxName = 127;

/// The length of the letters, digits and `others` that a text begins with.
size_t span_of(std::string_view text, std::string_view others) {
  const auto end = std::find_if_not(
      text.begin(), text.end(), [&](char c) { return is_alphanumeric(c) || is_among(c, others); });
  return static_cast<size_t>(end - text.begin());
}

/// Takes a restricted name off the front.
bool take_name(std::string_view& rest) {
  const size_t length = span_of(rest, "!#$&-^_.+");
  if (length == 0 || length > kMaxName || !is_alphanumeric(rest[0])) return false;
  rest.remove_prefix(length);
  return true;
}

bool take_token(std::string_view& rest) {
  const size_t length = span_of(rest, "!#$%&'*+-.^_`|~");
  rest.remove_prefix(length);
  return length > 0;
}

bool take(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

void skip_space(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
}

/// Behind the opening quote.
bool take_quoted(std::string_view& rest) {
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '"') return true;
    const char shown = c == '\\' && !rest.empty() ? rest[0] : c;
    if (c == '\\' && !take(rest, shown)) return false;
    if (shown != '\t' && (shown < ' ' || shown > '~')) return false;
  }
  return false;
}

/// `; charset=utf-8; name="a b"`; a semicolon may stand without a parameter.
bool are_parameters(std::string_view rest) {
  while (!rest.empty()) {
    skip_space(rest);
    if (!take(rest, ';')) return false;
    skip_space(rest);
    if (rest.empty() || rest[0] == ';') continue;
    if (!take_token(rest) || !take(rest, '=')) return false;
    if (!(take(rest, '"') ? take_quoted(rest) : take_token(rest))) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> media_type(std::string_view declared) {
  std::string_view rest = declared;
  if (declared.size() > kMaxChars || !take_name(rest) || !take(rest, '/') || !take_name(rest) ||
      !are_parameters(rest)) {
    return std::nullopt;
  }
  const size_t named = declared.size() - rest.size();
  std::string type = lowered(declared.substr(0, named)).append(declared.substr(named));
  return type;
}

// --- references ------------------------------------------------------------------------------

namespace {

constexpr size_t kMaxRest = 1'024;

/// RFC 3986 §2, without the brackets of IP addresses.
bool stands_in_uri(char c) {
  constexpr std::string_view kOthers = "-._~:/?#@!$&'()*+,;=%";
  return is_alphanumeric(c) || is_among(c, kOthers);
}

}  // namespace

bool is_reference(std::string_view text) {
  if (!text.starts_with(kScheme)) return false;
  text.remove_prefix(kScheme.size());
  return !text.empty() && text.size() <= kMaxRest &&
         std::all_of(text.begin(), text.end(), stands_in_uri);
}

// --- lines -----------------------------------------------------------------------------------

std::string one_line(std::string_view text) {
  std::string line;
  bool space = false;
  for (size_t at = 0; at < text.size();) {
    if (const size_t sequence = ansi_length(text, at); sequence > 0) {
      at += sequence;
      continue;
    }
    const CodePoint point = read_code_point(text, at);
    at += point.length;
    if (is_space(point.value)) {
      space = !line.empty();
    } else if (!is_control(point.value) && !is_invisible(point.value)) {
      if (space) line += ' ';
      space = false;
      append_code_point(line, point.value);
    }
  }
  return line;
}

}  // namespace sluice::files
