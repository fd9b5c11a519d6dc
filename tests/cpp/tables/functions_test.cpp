#include "tables/functions.h"

#include <gtest/gtest.h>

namespace sluice::tables {
namespace {

double read_real(std::string_view text, char decimal = '.') {
  const Cell cell = read_amount(text, decimal);
  return cell.kind == Cell::Kind::kInteger ? static_cast<double>(cell.integer)
         : cell.kind == Cell::Kind::kReal  ? cell.real
                                           : -9999;
}

TEST(Amount, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(read_real("-$1,234.50"), -1234.5);
  EXPECT_EQ(read_real("$(5.00)"), -5);
  EXPECT_EQ(read_real("1.234,50 \u20ac", ','), 1234.5);
  EXPECT_EQ(read_real("\u22125 kg"), -5);
  EXPECT_EQ(read_real("\u20b912,34,567.00"), 1234567);
  EXPECT_EQ(read_amount("999999999999999999", '.').integer, 999999999999999999);
}

TEST(Amount, IsNoNameCodeAddressOrTime) {
  for (const char* text :
       {"", "-", "()", "SKU-12", "A4", "007", "10.0.0.1", "12:30", "1,23,4", "1,2345", "$$5", "--5",
        "5 5", "1.2.3", "12345678901234567890", "5 kg of it", "\xff\xfe", "$", "e5"}) {
    EXPECT_EQ(read_amount(text, '.').kind, Cell::Kind::kNull) << text;
  }
}

TEST(Date, IsIsoWhateverItsForm) {
  EXPECT_EQ(read_date("13/1/25", "dmy"), "2025-01-13");
  EXPECT_EQ(read_date("1/13/2025 2:30 PM", "MM/DD/YYYY"), "2025-01-13 14:30");
  EXPECT_EQ(read_date("Tue, 13 Jan 2025 10:00:00 GMT", ""), "2025-01-13 10:00:00Z");
  EXPECT_EQ(read_date("2025-01-13T10:00:00.5+0100", ""), "2025-01-13 10:00:00.5+01:00");
  EXPECT_EQ(read_date("20250113T100000Z", ""), "2025-01-13 10:00:00Z");
}

TEST(Date, IsNoneThatDoesNotExist) {
  for (const char* text :
       {"", "1/2/2025", "29.02.2025", "32.1.2025", "2025-13-01", "12", "1.2", "May", "Monday",
        "2025-01-01T", "2025-01-01 25:00", "2025-01-01 10:00 +1", "9999999999", "1/2/20255"}) {
    EXPECT_EQ(read_date(text, ""), "") << text;
  }
}

}  // namespace
}  // namespace sluice::tables
