// The event log's records, byte for byte.
#include <gtest/gtest.h>

#include "sluice/segment.h"

namespace sluice {
namespace {

TEST(EventTest, WritesLittleEndianRecords) {
  std::string log;
  append_event(log, EventKind::open, 0x01020304);
  append_event(log, EventKind::data, 2, "ab");
  EXPECT_EQ(log, std::string("\x01\0\0\0\x04\x03\x02\x01\0\0\0\0"
                             "\x02\0\0\0\x02\0\0\0\x02\0\0\0ab",
                             26));
}

TEST(EventTest, KeepsPayloadsWithZeroBytes) {
  std::string log = "before";
  append_event(log, EventKind::reference, 0, std::string_view("\x05\0\0\0", 4));
  EXPECT_EQ(log.size(), 6 + 12 + 4u);
  EXPECT_EQ(log.substr(18), std::string("\x05\0\0\0", 4));
}

}  // namespace
}  // namespace sluice
