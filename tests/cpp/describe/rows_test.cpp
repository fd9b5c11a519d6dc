#include "describe/rows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sluice/describe.h"

namespace sluice {
namespace {

std::string table_of(std::string_view text) {
  Subject subject;
  subject.head = subject.tail = as_bytes(text);
  subject.size_bytes = text.size();
  tell_text(text, subject);
  return subject.table;
}

std::string records(size_t count) {
  std::string text = "id,name,value\n";
  for (size_t i = 0; i < count; ++i) {
    text += std::to_string(i) + ",\"name, \"\"" + std::to_string(i) + "\"\"\n\",0.5\n";
  }
  return text;
}

TEST(DescribeRows, RowsColumnsAndHeader) {
  const std::string header = " (from the file): \"id\", \"name\", \"value\"";
  EXPECT_EQ(table_of(records(12'000)), ", 12,000 rows, 3 columns" + header);
  EXPECT_EQ(table_of(records(2)), ", 2 rows, 3 columns" + header);
  EXPECT_EQ(table_of("\xef\xbb\xbf" + records(2)), ", 2 rows, 3 columns" + header);
}

TEST(DescribeRows, FiveNamesAreQuotedAtMost) {
  EXPECT_EQ(table_of("a,b,c,d,e,f,g\n1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n"),
            ", 2 rows, 7 columns (from the file): \"a\", \"b\", \"c\", \"d\", \"e\" and more");
  EXPECT_EQ(table_of("\"<b>\",\"x \"\"y\"\"\",\n1,2,3\n1,2,3\n"),
            ", 2 rows, 3 columns (from the file): \"‹b›\", \"x \\\"\\\"y\\\"\\\"\"");
}

TEST(DescribeRows, WordsStandAboveAndBelow) {
  const std::string header = ", 3 columns (from the file): \"a\", \"b\", \"c\"";
  const std::string table = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n";
  EXPECT_EQ(table_of("Title\n" + table), ", 3 rows, 1 line above" + header);
  EXPECT_EQ(table_of("Query OK, 3 rows:\r\n\r\n" + table), ", 3 rows, 2 lines above" + header);
  std::string many = "a,b,c\n";
  for (int i = 0; i < 900; ++i) many += "1,2,3\n";
  EXPECT_EQ(table_of("# Title\n\n```csv\n" + many + "```\n\nMore, ask for page 2.\n"),
            ", 900 rows, 3 lines above, 3 lines below" + header);
  EXPECT_EQ(table_of(many + "# truncated at 3 of 9 rows"), ", 900 rows, 1 line below" + header);
  EXPECT_EQ(table_of(many + "\nShowing 3 of 48,211 rows, go on.\n"),
            ", 900 rows, 1 line below" + header);
  EXPECT_EQ(table_of("Title,,\n" + table), ", 3 rows, 1 line above" + header);
}

TEST(DescribeRows, RaggedRowsAreNoWords) {
  EXPECT_EQ(table_of("a,b\nx,y,z,0\n1,2,3,0\n4,5,6,0\n7,8,9,0\n"), "");
  EXPECT_TRUE(table_of(records(2'000) + "1,2\n")
                  .starts_with(", 2,001 rows, 1 of another width, at line 4002, 3 columns"))
      << "a cut row";
  EXPECT_EQ(table_of("Some words, and more.\nOthers, too.\nA third, and a fourth.\n"), "");
}

TEST(DescribeRows, WithoutAHeaderAllRowsCount) {
  EXPECT_EQ(table_of("1,2,3\n4,5,6\n7,8,9\n"), ", 3 rows without a header, 3 columns");
  EXPECT_EQ(table_of("x,-2,3\nx,5,6\nx,8,9\n"), ", 3 rows without a header, 3 columns");
}

TEST(DescribeRows, AHeaderDiffersFromTheRowsBelow) {
  for (const char* table :
       {"id,1st\n1,x\n2,y\n3,z\n", "name,2024\na,1\nb,2\nc,3\n", "at,2024-01-02\na,1\nb,2\nc,-\n",
        ",0,1,2\na,1,5,6\nb,5,6,7\n", "city,country\nOslo,NO\nBergen,NO\nRome,IT\n"}) {
    EXPECT_NE(table_of(table).find("(from the file)"), std::string::npos) << table;
  }
  for (const char* table : {"a,5\na,6\nb,7\nc,8\n", "NO,Oslo\nNO,Bergen\nNO,Hamar\nIT,Rome\n",
                            "2024,x\n2025,y\n2026,z\n2027,z\n"}) {
    EXPECT_TRUE(table_of(table).starts_with(", 4 rows without a header, ")) << table;
  }
}

TEST(DescribeRows, AnotherTableBeginsBehindAGap) {
  std::string table = "a,b,c\n";
  for (int i = 0; i < 12; ++i) table += "1,2,3\n";
  const std::string header = ", 3 columns (from the file): \"a\", \"b\", \"c\"";
  const auto other = [&](const char* line) {
    return ", 12 rows, another table from line " + std::string(line) + header;
  };
  EXPECT_EQ(table_of(table + "\n" + table), other("15"));
  EXPECT_EQ(table_of(table + "Title\n" + table), other("15"));
  EXPECT_EQ(table_of(table + "\n\nTitle\n\nx,y\n1,2\n"), other("18"));
  EXPECT_EQ(table_of(table + "\nTitle, of the second:\nx,y,z\n1,2,3\n"), other("16"));
  EXPECT_EQ(table_of(table + "\n10,11,12\n"), ", 13 rows" + header);
  EXPECT_EQ(table_of(table + "\nTotal,all,x\n"), ", 13 rows" + header) << "one record is no table";
  EXPECT_EQ(table_of(table + "ERROR\n1,2,3\n"),
            ", 14 rows, 1 of another width, at line 14" + header);
  std::string many;
  for (int i = 0; i < 20; ++i) many += table + "\n";
  EXPECT_EQ(table_of(many),
            ", 12 rows, more tables from lines 15, 29, 43, 57, 71, 85, 99" + header);
}

TEST(DescribeRows, LineEndsAndTheLastRow) {
  const std::string header = " (from the file): \"a\", \"b\", \"c\"";
  EXPECT_EQ(table_of("a,b,c\r\n1,2,3\r\n4,5,6\r\n"), ", 2 rows, 3 columns" + header);
  EXPECT_EQ(table_of("a,b,c\r1,2,3\r4,5,6"), ", 2 rows, 3 columns" + header);
  EXPECT_EQ(table_of("a,b,c\n1,2,3\n4,5,6"), ", 2 rows, 3 columns" + header);
  std::string blank = records(2'000) + "\n\n";
  EXPECT_TRUE(table_of(blank).starts_with(", 2,000 rows, ")) << "empty lines are no rows";
}

TEST(DescribeRows, SemicolonsAndTabs) {
  EXPECT_EQ(table_of("a;b\n1;2,5\n3;4,5\n5;6,5\n"),
            ", 3 rows, 2 columns (from the file): \"a\", \"b\"");
  EXPECT_EQ(Rows("a\tb\n1\t2\n3\t4\n5\t6\n", true).delimiter(), '\t');
}

TEST(DescribeRows, OtherTextIsNoTable) {
  for (const char* text : {
           "",
           "a,b\n",
           "a,b\n1,2\n3,4\n",
           "a,b,c\n1,2,3\n",
           "a,b,c\n1,2\n1,2,3\n1,2,3\n",
           "Dear Ada, hello\nSee you, soon\nYours, Bob\nMore, lines\nAnd, more\n",
           "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n",
           "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n",
           "<a,b,c>\n<a,b,c>\n<a,b,c>\n",
           "a,\"b,c\n1,2,3\n1,2,3\n",
           ",\n",
           "\n\n\n\n",
       }) {
    EXPECT_EQ(table_of(text), "") << text;
  }
}

TEST(DescribeRows, RowsAreLeftOutWhereAQuotationHasNoEnd) {
  const std::string text = records(1'000) + "1,\"never ends,3\n4,5,6\n";
  EXPECT_TRUE(table_of(text).starts_with(", 3 columns (from the file): ")) << table_of(text);
}

TEST(DescribeRows, QuotationMarksInsideAFieldAreCharacters) {
  const std::string text = records(1'000) + "1,5\" pipe,3\n4,6\" pipe,6\n7,8\",9\n";
  EXPECT_TRUE(table_of(text).starts_with(", 1,003 rows, ")) << table_of(text);
}

TEST(DescribeRows, LinesAreCountedWithoutATable) {
  const auto lines = [](std::string_view text) { return Rows(text, true).lines(); };
  EXPECT_EQ(lines(""), 0u);
  EXPECT_EQ(lines("a"), 1u);
  EXPECT_EQ(lines("a\r\nb\rc\n\n"), 4u);
  EXPECT_EQ(lines("say \"a\nb\" \\\n"), 2u);
}

TEST(DescribeRows, AreTheSameForEveryChunking) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text = round % 3 == 0 ? "prose \"x\r\n\\y\" " : "a,b,c\n1,2,3\n4,5,6\n7,8,9\n";
    while (text.size() < kSniffHead) text += "x,\"\r\n y\","[random() % 10];
    static constexpr std::string_view kLines[] = {"1,2,3\r\n", "a,b,c\n",      "\n", "Title\r\n",
                                                  "x,y\n",     "1,\"\n\",3\n", "\""};
    while (text.size() < kSniffHead + 400) text += kLines[random() % 7];
    const std::string_view head = std::string_view(text).substr(0, kSniffHead);
    Rows whole(head, false);
    whole.push(as_bytes(std::string_view(text).substr(kSniffHead)));
    Rows pieces(head, false);
    for (size_t at = kSniffHead; at < text.size();) {
      const size_t size = 1 + random() % 9;
      pieces.push(as_bytes(std::string_view(text).substr(at, size)));
      at += size;
    }
    ASSERT_EQ(pieces.lines(), whole.lines()) << text;
    ASSERT_EQ(pieces.facts({}), whole.facts({})) << text;
  }
}

TEST(DescribeText, WhatBeginsAsJsonIsNotCounted) {
  std::string text = "[";
  while (text.size() < 2 * kSniffHead) text += "1,\n";
  Subject subject;
  subject.type = {"text/plain", "txt", "text"};
  tell_text(text, subject);
  EXPECT_TRUE(subject.outline.ends_with(" integer, cut off")) << subject.outline;
  EXPECT_EQ(subject.lines, 0u);
  EXPECT_EQ(subject.type.mime_type, "application/json");
}

TEST(DescribeTail, IsTheLastBytesForEveryChunking) {
  std::mt19937 random(11);
  std::string file(3 * kDescribeTail, '\0');
  for (char& byte : file) byte = static_cast<char>(random());
  for (const size_t size :
       {kDescribeHead, kDescribeHead + 1, kDescribeHead + 40'000, file.size() - 1, file.size()}) {
    const std::string_view whole = std::string_view(file).substr(0, size);
    for (const size_t most : {1'000u, 70'000u, 150'000u}) {
      Tail tail;
      for (size_t at = kDescribeHead; at < size;) {
        const size_t piece = std::min(1 + random() % most, size - at);
        tail.push(whole.substr(at, piece));
        at += piece;
      }
      ASSERT_EQ(tail.finish(whole.substr(0, kDescribeHead)),
                whole.substr(size - std::min(size, kDescribeTail)));
    }
  }
}

TEST(DescribeTail, IsWantedWhereTheEndSaysMore) {
  const auto wants = [](std::string_view head) { return wants_tail(as_bytes(head)); };
  EXPECT_TRUE(wants("%PDF-1.7"));
  EXPECT_TRUE(wants("PK\3\4"));
  EXPECT_TRUE(wants("OggS"));
  EXPECT_TRUE(
      wants(std::string_view("\0\0\0\x18"
                             "ftypmp42",
                             12)));
  EXPECT_FALSE(wants("RIFF"));
  EXPECT_FALSE(wants(""));
}

}  // namespace
}  // namespace sluice
