// What OLE compound files say: documents of Office 97, and messages of Outlook.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "describe/describe_fixture.h"

namespace sluice {
namespace {

using namespace std::string_literals;

constexpr size_t kSector = 512;
constexpr uint32_t kEnd = 0xffff'fffe;

std::string padded(std::string bytes, size_t unit) {
  bytes.resize((bytes.size() + unit - 1) / unit * unit, '\0');
  return bytes;
}

/// Text in UTF-16.
std::string wide(std::string_view text) {
  std::string out;
  for (const char c : text) out += c + "\0"s;
  return out;
}

std::string chain(size_t from, size_t count) {
  std::string out;
  for (size_t i = 1; i < count; ++i) out += le(from + i, 4);
  return out + le(kEnd, 4);
}

std::string entry(std::string_view name, int type, uint64_t start, uint64_t size) {
  std::string out = wide(name);
  out.resize(64, '\0');
  out += le(2 * name.size() + 2, 2) + static_cast<char>(type);
  out.resize(116, '\0');
  return out + le(start, 4) + le(size, 8);
}

/// A compound file of small streams ([MS-CFB]): a table of sectors, the directory, the table of
/// pieces, and the pieces.
std::string compound(const std::vector<std::pair<std::string, std::string>>& streams) {
  std::string pieces;
  std::string small;
  std::string entries;
  for (const auto& [name, content] : streams) {
    const std::string stream = padded(content, 64);
    entries += entry(name, 2, pieces.size() / 64, content.size());
    small += chain(pieces.size() / 64, stream.size() / 64);
    pieces += stream;
  }
  const size_t directory = (streams.size() + 1 + 3) / 4;
  const size_t behind = 2 + directory;
  entries.insert(0, entry("Root Entry", 5, behind, pieces.size()));
  const std::string sectors = padded(pieces, kSector);
  const std::string table = le(0xffff'fffd, 4) + chain(1, directory) + le(kEnd, 4) +
                            chain(behind, sectors.size() / kSector);
  std::string header = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"s + zeros(16) + le(0x3e, 2) + le(3, 2) +
                       le(0xfffe, 2) + le(9, 2) + le(6, 2) + zeros(10) + le(1, 4) + le(1, 4) +
                       zeros(4) + le(4'096, 4) + le(behind - 1, 4) + le(1, 4) + le(kEnd, 4) +
                       zeros(4) + le(0, 4);
  header.resize(kSector, '\xff');
  return header + padded(table, kSector) + padded(entries, kSector) + padded(small, kSector) +
         sectors;
}

/// A property set of one section: numbers, and a title in Windows-1252.
std::string properties(const std::vector<std::pair<uint32_t, uint32_t>>& numbers,
                       const std::string& title) {
  const size_t count = numbers.size() + 2;
  std::string pairs;
  std::string values;
  const auto add = [&](uint32_t id, const std::string& value) {
    pairs += le(id, 4) + le(8 + 8 * count + values.size(), 4);
    values += padded(value, 4);
  };
  add(1, le(2, 4) + le(1'252, 2));
  add(2, le(0x1e, 4) + le(title.size() + 1, 4) + title + "\0"s);
  for (const auto& [id, value] : numbers) add(id, le(3, 4) + le(value, 4));
  return zeros(44) + le(48, 4) + le(8 + pairs.size() + values.size(), 4) + le(count, 4) + pairs +
         values;
}

std::string sheet(const std::string& name) {
  return le(0x85, 2) + le(8 + name.size(), 2) + zeros(6) + static_cast<char>(name.size()) + "\0"s +
         name;
}

std::string facts(const std::string& file, std::string_view extension) {
  return facts_of(file, "application/x", extension);
}

TEST(DescribeCompound, DocumentsHavePagesWordsAndATitle) {
  const auto file = [](uint32_t words) {
    return compound({{"WordDocument", "x"},
                     {"\5SummaryInformation", properties({{14, 3}, {15, words}}, "Caf\xe9")}});
  };
  EXPECT_EQ(facts(file(812), "doc"), ", 3 pages, 812 words, title (from the file): \"Café\"");
  EXPECT_EQ(facts(file(0), "doc"), ", title (from the file): \"Café\"");
}

TEST(DescribeCompound, WorkbooksHaveSheetsAndSlidesAreCounted) {
  const std::string book = le(0x809, 2) + le(4, 2) + zeros(4) + sheet("Sales") + sheet("Costs") +
                           le(0x0a, 2) + zeros(2) + sheet("behind the end");
  EXPECT_EQ(facts(compound({{"Workbook", book}}), "xls"),
            ", 2 sheets (from the file): \"Sales\", \"Costs\"");
  EXPECT_EQ(facts(compound({{"PowerPoint Document", "x"},
                            {"\5DocumentSummaryInformation", properties({{7, 12}}, "")},
                            {"_VBA_PROJECT", "x"}}),
                  "ppt"),
            ", 12 slides, with macros");
}

TEST(DescribeCompound, MessagesHaveASubjectAndNoAddress) {
  const auto message = [](std::string_view sender) {
    return facts(compound({{"__attach_version1.0_#00000000", ""},
                           {"__substg1.0_0037001F", wide("Minutes")},
                           {"__substg1.0_0C1A001F", wide(sender)}}),
                 "msg");
  };
  EXPECT_EQ(
      message("Ada"),
      ", 1 attachment, subject (from the file): \"Minutes\", sender (from the file): \"Ada\"");
  EXPECT_EQ(message("ada@example.org"), ", 1 attachment, subject (from the file): \"Minutes\"");
}

TEST(DescribeCompound, WhatIsCutAnywhereTellsLessAndEnds) {
  const std::string whole =
      compound({{"\5SummaryInformation", properties({{14, 3}, {15, 9}}, "Title")}});
  for (size_t size = 0; size < whole.size(); size += 37) {
    const std::string line = facts(whole.substr(0, size), "doc");
    EXPECT_TRUE(line.empty() || line.starts_with(", 3 pages")) << line;
  }
  // A chain that leads to itself.
  std::string loop = whole;
  loop.replace(kSector + 4, 4, le(1, 4));
  facts(loop, "doc");
}

}  // namespace
}  // namespace sluice
