// What a JSON text says, apart from white space and spelling.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sluice/segment.h"

namespace sluice {
namespace {

Fingerprint source(std::string_view json) {
  SourcePrint print;
  print.push(json);
  return print.finish();
}

Fingerprint content(std::string_view text) {
  ContentPrint print;
  print.push(text);
  return print.finish();
}

const std::string kPlain = R"({"a":[1.5,true,null],"b":"é \" \\ / 😀 )"
                           "\n"
                           R"(","c":{},"d":""})";
const std::string kSpaced =
    "\t{ \"a\" : [ 1.5 , true,null ] ,\r\n \"b\": \"\\u00E9 \\\" \\\\ \\/ \\ud83d\\uDE00 \\n\", "
    "\"c\" : { } , \"\\u0064\":\"\" } ";

TEST(Fingerprint, IsTheSameForAnyWhiteSpaceAndSpelling) {
  EXPECT_EQ(source(kSpaced), source(kPlain));
}

TEST(Fingerprint, IsTheSameForAnyChunking) {
  for (size_t cut = 0; cut <= kSpaced.size(); ++cut) {
    SourcePrint print;
    print.push(std::string_view(kSpaced).substr(0, cut));
    print.push(std::string_view(kSpaced).substr(cut));
    EXPECT_EQ(print.finish(), source(kPlain)) << cut;
  }
  SourcePrint print;
  for (const char c : kSpaced) print.push({&c, 1});
  EXPECT_EQ(print.finish(), source(kPlain));
}

TEST(Fingerprint, DiffersForWhatIsNotTheSame) {
  const std::vector<std::string> texts = {
      R"(["x","y"])",
      R"(["x\",\"y"])",
      R"(["xy"])",
      "[12]",
      "[1 2]",
      "[1,2]",
      "[1,2] and more",
      "[1,2,3]",
      "[\"1\",2]",
      R"(["\ud83d"])",
      R"(["\\ud83d"])",
      R"(["\q"])",
      R"(["q"])",
      R"(["\u0001"])",
      R"(["\\u0001"])",
      R"({"a":1,"b":2})",
      R"({"a":12})",
      R"({"b":2,"a":1})",

      "[true false]",
      "[truefalse]",

      "[]",
      "{}",
  };
  for (const std::string& one : texts) {
    for (const std::string& other : texts) {
      EXPECT_EQ(source(one) == source(other), &one == &other) << one << " and " << other;
    }
  }
}

TEST(Fingerprint, IsNotKnownOfAStringWithoutEnd) {
  for (const char* text : {R"(["\"])", R"(["\u12"])", R"(["\u1)", "\""}) {
    EXPECT_EQ(source(text).length, 0u) << text;
  }
}

TEST(Fingerprint, OfTextsInARowIsMadeOfBoth) {
  Fingerprint whole, first, second;
  whole.add("one text, and another one");
  first.add("one text, ");
  second.add("and another one");
  first.add(second);
  EXPECT_EQ(first, whole);
}

TEST(Fingerprint, WhatWasTakenOutOfSourceIsPartOfIt) {
  Segment rows;
  rows.kind = SegmentKind::json;
  rows.bare = true;
  rows.source_print = source("[ 1, 2 ]");
  Segment log;
  log.kind = SegmentKind::text;
  log.content_print = content("a \"b\"\n\\");
  SourcePrint print;
  print.push("{\"rows\":\"");
  print.refer(rows);
  print.push("\",\"log\":\"");
  print.refer(log);
  print.push("\"}");
  EXPECT_EQ(print.finish(), source(R"({"rows":[1,2],"log":"a \"b\"\n\\"})"));

  print = SourcePrint();
  print.push("\"");
  Segment unknown;
  unknown.kind = SegmentKind::text;
  print.refer(unknown);
  print.push("\"");
  EXPECT_EQ(print.finish().length, 0u);
}

TEST(Fingerprint, ArraysOfBytesStandWithoutQuotes) {
  Segment bytes;
  bytes.bare = true;
  SourcePrint structured;
  structured.push("{\"data\":\"");
  structured.refer(bytes);
  structured.push("\",\"n\":1}");
  bytes.bare = false;
  SourcePrint text;
  text.push("{ \"data\": ");
  text.refer(bytes);
  text.push(", \"n\":1}");
  EXPECT_EQ(structured.finish(), text.finish());
  SourcePrint quoted;
  quoted.push("{\"data\":\"");
  quoted.refer(bytes);
  quoted.push("\",\"n\":1}");
  EXPECT_NE(quoted.finish(), text.finish());
}

}  // namespace
}  // namespace sluice
