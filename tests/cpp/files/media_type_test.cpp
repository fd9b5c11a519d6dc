#include "files/media_type.h"

#include <gtest/gtest.h>

namespace sluice::files {
namespace {

TEST(FilesMediaType, NamesAreRestrictedOnes) {
  for (const char* type :
       {"text/csv", "application/vnd.ms-excel", "image/svg+xml", "x-a/x_b", "a/b!#$&-^_.+1"})
    EXPECT_EQ(media_type(type), type);
  for (const char* type : {"", "text", "/", "text/", "/csv", "text//csv", "text/csv/x", "te xt/csv",
                           "text/c sv", ".a/b", "a/+b", "text/*", "*/*", "a/b\n", "a/\xC3\xA9"})
    EXPECT_EQ(media_type(type), std::nullopt) << type;
}

TEST(FilesMediaType, TheNamesComeInLowerCaseAndParametersAsTheyAre) {
  EXPECT_EQ(media_type("Text/CSV; Charset=UTF-8"), "text/csv; Charset=UTF-8");
  EXPECT_EQ(media_type("IMAGE/PNG"), "image/png");
}

TEST(FilesMediaType, ParametersAreTokensOrQuoted) {
  for (const char* type :
       {"a/b;c=d", "a/b ; c=d;e=f", "a/b;c=\"\"", "a/b;c=\"x;\\\"y\\\\ \t\"", "a/b;", "a/b; ;c=d;"})
    EXPECT_EQ(media_type(type), type);
  for (const char* type : {"a/b c=d", "a/b;c", "a/b;=d", "a/b;c=", "a/b;c =d", "a/b;c=\"",
                           "a/b;c=\"\\", "a/b;c=\"\n\"", "a/b;c=\"\\\n\"", "a/b;c=\"\xC3\xA9\"",
                           "a/b;c=d e", "a/b ", "a/b;c=\"d\"e"})
    EXPECT_EQ(media_type(type), std::nullopt) << type;
}

TEST(FilesMediaType, LengthsAreBounded) {
  const std::string name(127, 'a');
  EXPECT_TRUE(media_type(name + "/" + name).has_value());
  EXPECT_FALSE(media_type(name + "/" + name + "a").has_value());
  EXPECT_FALSE(media_type(name + "a/b").has_value());
  EXPECT_TRUE(media_type("a/b;c=" + std::string(249, 'd')).has_value());
  EXPECT_FALSE(media_type("a/b;c=" + std::string(250, 'd')).has_value());
}

}  // namespace
}  // namespace sluice::files
