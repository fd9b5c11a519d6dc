#include "tables/csv.h"

#include <gtest/gtest.h>

#include "tables/tables_fixture.h"

namespace sluice::tables {
namespace {

/// Cells between bars, records between line ends, read with a window of some size.
std::string read_records(const std::string& text, size_t window, Dialect dialect = {}) {
  const ReadArtifact read = read_from({text}, window);
  CsvScanner scanner([&](uint64_t offset, std::span<char> into) { return read(0, offset, into); },
                     dialect, window);
  scanner.begin(0, SIZE_MAX);
  std::string shown;
  while (scanner.next() == Step::kRow) {
    for (size_t field = 0; field < scanner.fields(); ++field) {
      if (field > 0) shown += '|';
      shown += scanner.text(field);
    }
    shown += '\n';
  }
  return shown;
}

struct Example {
  const char* text;
  const char* records;
};

class Csv : public testing::TestWithParam<Example> {};

TEST_P(Csv, HasTheSameCellsWhateverTheWindow) {
  for (const size_t window : {1, 2, 3, 7, 63, 64, 65, 4096}) {
    EXPECT_EQ(read_records(GetParam().text, window), GetParam().records) << "window " << window;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Records, Csv,
    testing::Values(
        Example{"a,b\n1,2\n", "a|b\n1|2\n"}, Example{"a,b\r\n1,2", "a|b\n1|2\n"},
        Example{"a,,\n\n\r\n,b\n", "a||\n|b\n"},
        // Delimiters, line ends and doubled quotes belong to a quoted field.
        Example{"\"a,b\",\"c\nd\",\"e\"\"f\"\n", "a,b|c\nd|e\"f\n"},
        // What follows the closing quote belongs to it too; quotes inside other fields are
        // ordinary.
        Example{"\"a\"b,c\"d,5\" pipe\nx\n", "ab|c\"d|5\" pipe\nx\n"},
        Example{"\"\",\"\"\"\"\n", "|\"\n"}, Example{"\"never,closed\n1,2", "never,closed\n1,2\n"},
        Example{"", ""}, Example{"\n\n", ""},
        Example{"0123456789012345678901234567890123456789012345678901234567890\",x,y\n\",z\n",
                "0123456789012345678901234567890123456789012345678901234567890\"|x|y\n,z\n\n"}));

TEST(CsvDialect, EndsRecordsWithReturnsWhereItSaysSo) {
  EXPECT_EQ(read_records("a;b\r1;2\r", 3, {';', '\r'}), "a|b\n1|2\n");
}

TEST(CsvTable, HasTypesByItsFirstRows) {
  CsvTable table;
  const ReadArtifact read =
      read_from({"id,zip,total,mixed,empty, ,id\n1,007,2,5,,x,2\n2,10115,2.5,5 kg,,y,3\n"});
  const Read first = [&](uint64_t offset, std::span<char> into) { return read(0, offset, into); };
  ASSERT_EQ(open_csv(first, table), Step::kRow);
  std::string shown;
  for (const Column& column : table.columns) {
    shown += column.name + ':' + std::to_string(static_cast<int>(column.type)) + ' ';
  }
  EXPECT_EQ(shown, "id:1 zip:0 total:2 mixed:0 empty:0 column_6:0 id_2:1 ");
}

TEST(CsvTable, ReadsDecimalCommasWhereAColumnHasThem) {
  const auto ask = [](const std::string& text) {
    TableQuery query(read_from({text}), {});
    query.add_csv("rows", 0, 0, ';', '\n', true);
    return answer(query, "SELECT MAX(price), SUM(price), typeof(price) FROM rows");
  };
  EXPECT_EQ(ask("price\n1.499,50\n999,5\n"), "1499.5|2499|real");
  // `1,234` alone may as well be a thousand.
  EXPECT_EQ(ask("price\n1,234\n2,345\n"), "2,345|3|text");
}

TEST(CsvTable, RefusesARowThatIsTooLong) {
  TableQuery query(read_from({"a,b\n1,\"" + std::string(2 << 20, 'x')}), {});
  query.add_csv("rows", 0, 0, ',', '\n', false);
  answer(query, "SELECT COUNT(*) FROM rows");
  EXPECT_EQ(query.failure().fault, QueryFault::kRow);
  EXPECT_EQ(query.failure().row, 1u);
}

}  // namespace
}  // namespace sluice::tables
