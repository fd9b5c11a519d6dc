#include "config/nearest.h"

#include <algorithm>
#include <vector>

#include "config/value.h"
#include "json/utf8.h"

namespace sluice::config {

namespace {

/// Longer keys are nobody's slip of a finger.
constexpr size_t kLongestTypo = 64;

/// Single-character edits between two texts (Levenshtein), `_`, `-` and case aside.
size_t distance(std::string_view a, std::string_view b) {
  const auto plain = [](char c) { return c == '-' ? '_' : static_cast<char>(c | 0x20); };
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (plain(a[i]) != plain(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view nearest(std::string_view key, std::span<const std::string_view> known) {
  if (key.size() > kLongestTypo) return {};
  std::string_view best;
  size_t least = std::max<size_t>(2, key.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const size_t edits = distance(key, candidate);
    if (edits >= least) continue;
    least = edits;
    best = candidate;
  }
  return best;
}

/// The first kLongestTypo bytes of a key, whole characters only.
std::string_view shortened(std::string_view key) {
  size_t end = std::min(key.size(), kLongestTypo);
  while (end > 0 && end < key.size() && is_continuation(key[end])) --end;
  return key.substr(0, end);
}

std::string listed(std::span<const std::string_view> known) {
  std::string list;
  for (const std::string_view key : known) {
    if (!list.empty()) list += key == known.back() ? " and " : ", ";
    list += key;
  }
  return list;
}

}  // namespace

Status unknown_key(const std::string& prefix, std::string_view key,
                   std::span<const std::string_view> known) {
  Status status;
  status.code = Code::config_key;
  status.path = path_below(prefix, shortened(key));
  const std::string_view suggestion = nearest(key, known);
  status.message = status.path + " is not a configuration key: ";
  if (suggestion.empty())
    status.message +=
        (prefix.empty() ? "" : "below " + prefix + " ") + "there are " + listed(known);
  else
    status.message += "did you mean " + path_below(prefix, suggestion) + "?";
  return status;
}

}  // namespace sluice::config
