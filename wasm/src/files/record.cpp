#include "files/record.h"

#include "files/values.h"

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
  if (digits.size() > kMaxDigits) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return value;
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
  drop(key, is_diverted ? "must be shorter: it is too large to stand in a result"
                        : "must be an array of " + std::string(things));
  return std::nullopt;
}

void Record::drop_rest(std::string_view key, size_t most, std::string_view things) {
  drop(key, "may have at most " + std::to_string(most) + ' ' + std::string(things) +
                ": the others are left out");
}

}  // namespace sluice::files
