#include <gtest/gtest.h>

#include <string>

#include "sluice/session.h"

namespace sluice {
namespace {

std::string table(int rows) {
  std::string text = "id,name\n";
  for (int row = 0; row < rows; ++row) text += std::to_string(row) + ",n\n";
  return text;
}

std::string looked(std::string_view bytes, size_t chunk, std::string_view mime_type = {},
                   std::string_view filename = {}) {
  FileLook look(mime_type, filename);
  for (size_t at = 0; at < bytes.size(); at += chunk) look.push(bytes.substr(at, chunk));
  return look.finish();
}

TEST(FileLook, TellsOfTheWholeWhatTheHeadDoesNot) {
  const std::string told = looked(table(50'000), 4096);
  EXPECT_NE(told.find("\"mime_type\":\"text/csv\""), std::string::npos) << told;
  EXPECT_NE(told.find("50,000 rows"), std::string::npos) << told;
}

TEST(FileLook, TellsTheSameForAnyChunks) {
  const std::string text = table(20'000);
  const std::string whole = looked(text, text.size());
  for (const size_t chunk : {1u, 7u, 511u, 65'536u}) EXPECT_EQ(looked(text, chunk), whole);
}

TEST(FileLook, AShortTextIsATableWhereItsTypeOrNameSaysSo) {
  const auto said = [](std::string_view text, std::string_view mime_type,
                       std::string_view filename) {
    const std::string told = looked(text, 3, mime_type, filename);
    const size_t begin = told.find("\"description\":\"") + 15;
    return told.substr(begin, told.find('"', begin) - begin);
  };
  EXPECT_EQ(said("a,b\n1,2\n", "", "x.csv"),
            "CSV, 8 B, 1 row, 2 columns, header untrusted file text: \\");
  EXPECT_EQ(said("1,2\n", "", "x.CSV"), "CSV, 4 B, 1 row, 2 columns");
  EXPECT_EQ(said("1,2", "text/x-csv", ""), "CSV, 3 B, 1 row, 2 columns");
  EXPECT_EQ(said("1, 2\n\n3, 4\n", "", "x.csv"), "CSV, 11 B, 2 rows, 2 columns");
  EXPECT_EQ(said("1,5\t2,5\n1,5\t2,5\n", "", "x.tsv"), "TSV, 16 B, 2 rows, 2 columns");
  EXPECT_EQ(said("1\t2\n", "text/tab-separated-values", "x.txt"), "TSV, 4 B, 1 row, 2 columns");
  for (const char* name : {"", "x", "x.txt", "csv", "x.csv.txt"})
    EXPECT_TRUE(said("1,2\n", "", name).starts_with("text, 4 B, 1 line")) << name;
  for (const char* text : {"one\ntwo\n", "a,b\nc\n", "", "\n", "{a,b}"})
    EXPECT_EQ(said(text, "", "x.csv").find("row"), std::string::npos) << text;
}

TEST(FileLook, TellsOfNothingAndOfBytes) {
  EXPECT_NE(FileLook().finish().find("\"size_bytes\":0"), std::string::npos);
  const std::string bytes("\x00\xff\x01\xfe", 4);
  EXPECT_NE(looked(bytes, 1).find("application/octet-stream"), std::string::npos);
}

TEST(FileLook, TellsJsonWhateverTheLengthOfItsStrings) {
  for (const size_t size : {60'000u, 65'536u, 1'000'000u}) {
    const std::string json = "{\"id\":1,\"text\":\"" + std::string(size, 'x') + "\"}";
    const std::string told = looked(json, 4'096);
    EXPECT_NE(told.find("\"application/json\""), std::string::npos) << told;
    EXPECT_NE(told.find("object {id: integer, text: string}"), std::string::npos) << told;
    // By its head alone.
    const std::string head = describe_file(json.substr(0, 50'000), json.size());
    EXPECT_NE(head.find("\"application/json\""), std::string::npos) << head;
  }
  const std::string lines = "{\"a\":1}\n{\"a\":2}\n";
  EXPECT_NE(describe_file(lines, 90'000).find("application/x-ndjson"), std::string::npos);
  for (const std::string text : {"[link](x) and", "{ braces } in text", "\"string\"", "text"}) {
    EXPECT_NE(describe_file(text, 90'000).find("\"text/plain\""), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace sluice
