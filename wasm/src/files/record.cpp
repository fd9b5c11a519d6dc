#include "files/record.h"

#include "files/line.h"
#include "files/reference.h"

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

}  // namespace

std::string string_of(Length length) {
  std::string what = "a string of ";
  what += length.least == 0 ? "at most" : std::to_string(length.least) + " to";
  return what + ' ' + std::to_string(length.most) + " characters";
}

std::string element_path(std::string_view path, size_t index) {
  return std::string(path) + '[' + std::to_string(index) + ']';
}

std::string Record::path_of(std::string_view key) const {
  std::string path = path_;
  if (!path.empty() && !key.empty()) path += '.';
  return path.append(key);
}

void Record::refuse(std::string_view key, std::string rule) {
  if (broken()) return;
  breach_.field = path_of(key);
  breach_.rule = std::move(rule);
}

std::optional<size_t> Record::find(std::string_view key) const {
  if (broken()) return std::nullopt;
  const std::optional<size_t> found = tape_.find(node_, key);
  return found && tape_[*found].type == Type::null ? std::nullopt : found;
}

std::optional<size_t> Record::need(std::string_view key, std::string_view what) {
  const std::optional<size_t> found = find(key);
  if (!found) refuse(key, "must be given: " + std::string(what));
  return found;
}

std::optional<std::string> Record::need_text(std::string_view key, Length length) {
  const std::optional<size_t> node = need(key, string_of(length));
  if (!node) return std::nullopt;
  if (tape_[*node].type == Type::string) {
    std::string text = tape_.string(*node);
    const size_t chars = count_chars(text);
    if (chars >= length.least && chars <= length.most) return text;
  }
  refuse(key, "must be " + string_of(length));
  return std::nullopt;
}

void Record::keep_object(std::string_view key, bool needed) {
  const std::optional<size_t> node = needed ? need(key, "an object") : find(key);
  if (!node) return;
  const bool stands_in = tape_[*node].type == Type::string && is_reference(tape_.string(*node));
  if (tape_[*node].type != Type::object && !stands_in) return refuse(key, "must be an object");
  out_.source(key, tape_.source(*node));
}

void Record::keep_line(std::string_view key, Length length) {
  const std::optional<size_t> node = find(key);
  if (!node) return;
  if (tape_[*node].type != Type::string) return refuse(key, "must be " + string_of(length));
  const std::string line = one_line(tape_.string(*node));
  if (count_chars(line) > length.most) return refuse(key, "must be " + string_of(length));
  if (!line.empty()) out_.text(key, line);
}

void Record::keep_word(std::string_view key, std::span<const std::string_view> words,
                       std::string_view fallback) {
  const std::optional<size_t> node = find(key);
  if (!node) {
    if (!fallback.empty()) out_.text(key, fallback);
    return;
  }
  for (const std::string_view word : words) {
    if (!tape_.is_string(*node, word)) continue;
    out_.text(key, word);
    return;
  }
  refuse(key, "must be " + one_of(words));
}

void Record::keep_flag(std::string_view key, std::optional<bool> fallback) {
  const std::optional<size_t> node = find(key);
  if (!node) {
    if (fallback) out_.flag(key, *fallback);
    return;
  }
  if (tape_[*node].type != Type::boolean) return refuse(key, "must be true or false");
  out_.source(key, tape_.source(*node));
}

std::optional<uint64_t> Record::number(std::string_view key, uint64_t least, uint64_t most) {
  const std::optional<size_t> node = find(key);
  if (!node) return std::nullopt;
  const std::optional<uint64_t> value =
      tape_[*node].type == Type::number ? whole_number(tape_.source(*node)) : std::nullopt;
  if (value && *value >= least && *value <= most) return value;
  refuse(key,
         "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::vector<uint32_t> Record::elements(std::string_view key, size_t most, std::string_view things) {
  std::vector<uint32_t> found;
  const std::optional<size_t> node = find(key);
  if (!node) return found;
  if (tape_[*node].type == Type::array) {
    for (size_t at = *node + 1; at < tape_[*node].next && found.size() <= most;
         at = tape_[at].next) {
      found.push_back(static_cast<uint32_t>(at));
    }
    if (found.size() <= most) return found;
    found.clear();
  }
  // The core diverts what would fill an observation alone.
  if (is_reference(tape_.string(*node))) {
    refuse(key, "must be shorter: it is too large to stand in a result");
    return found;
  }
  refuse(key, "must be an array of at most " + std::to_string(most) + ' ' + std::string(things));
  return found;
}

}  // namespace sluice::files
