// Rows of CSV and JSON whatever the window is: the same cells, and the same end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tables/csv.h"
#include "tables/json_rows.h"

namespace {

using namespace sluice::tables;

Read read_text(const std::string& text) {
  return [&text](uint64_t offset, std::span<char> into) -> ptrdiff_t {
    const size_t from = std::min(static_cast<size_t>(offset), text.size());
    return static_cast<ptrdiff_t>(text.copy(into.data(), into.size(), from));
  };
}

std::string read_csv(const std::string& text, size_t window, Dialect dialect) {
  CsvScanner scanner(read_text(text), dialect, window);
  scanner.begin(0, SIZE_MAX);
  std::string all;
  Step step = scanner.next();
  for (; step == Step::kRow; step = scanner.next()) {
    for (size_t field = 0; field < scanner.fields(); ++field) {
      all.append(scanner.text(field)) += '\0';
    }
    all += '\1';
  }
  return all += static_cast<char>(step);
}

std::string read_json(const std::string& text, size_t window, const JsonPlace& place) {
  JsonScanner scanner(read_text(text), place, window);
  std::string all;
  Step step = scanner.begin();
  if (step != Step::kRow) return all += static_cast<char>(step);
  for (step = scanner.next(); step == Step::kRow; step = scanner.next()) {
    all.append(scanner.key()) += '\2';
    for (const auto& [name, source] : scanner.members()) {
      all.append(name) += '\3';
      all.append(source) += '\0';
    }
    all += '\1';
  }
  return all += static_cast<char>(step);
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t window = 1 + data[0] % 130;
  const uint8_t choice = data[1];
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Dialect dialect{choice & 1 ? ';' : ',', choice & 2 ? '\r' : '\n'};
  require(read_csv(text, window, dialect) == read_csv(text, size + 1, dialect));
  JsonPlace place{(choice & 4) != 0, (choice & 8) != 0, {}};
  if (choice & 16) place.tokens = {"a"};
  if (choice & 32) place.tokens.emplace_back("1");
  require(read_json(text, window, place) == read_json(text, size + 1, place));
  return 0;
}
