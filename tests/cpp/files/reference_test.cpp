#include "files/reference.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::files {
namespace {

TEST(FilesReference, IsWhatTheCoreWritesAndNothingAround) {
  EXPECT_TRUE(is_reference("artifact://artifact_43861fd2907a?type=image/png&size=30029"));
  EXPECT_TRUE(is_reference("artifact://a"));
  for (const char* text : {"", "artifact://", "artifact:/a", " artifact://a", "artifact://a b",
                           "artifact://a\n", "Artifact://a", "artifact://\"a",
                           "artifact://\xC3\xA9", "data:text/csv;base64,artifact://a"})
    EXPECT_FALSE(is_reference(text)) << text;
}

TEST(FilesReference, IsBounded) {
  EXPECT_TRUE(is_reference("artifact://" + std::string(1'024, 'a')));
  EXPECT_FALSE(is_reference("artifact://" + std::string(1'025, 'a')));
}

}  // namespace
}  // namespace sluice::files
