// Which reader describes what streams by: the one that its magic bytes ask for.
#include "sluice/describe.h"

#include <gtest/gtest.h>

#include <string>

#include "gate/gate_fixture.h"

namespace sluice::testing {
namespace {

std::string in_json(const std::string& text) {
  return "{\"a\":" + as_json(text) + "}";
}

// Nothing but ASCII, as many a PDF is that was written by hand or whose streams are encoded.
std::string ascii_pdf(size_t padding) {
  return "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n" +
         std::string(padding, '%') +
         "\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 14 >>\nendobj\ntrailer\n<< /Root 1 0 R "
         ">>\nstartxref\n0\n%%EOF\n";
}

TEST(GateDescribe, APdfThatReadsAsTextIsDescribedAsAPdf) {
  for (const size_t padding : {12'000, 300'000}) {
    const std::string pdf = ascii_pdf(padding);
    const std::string expected = "PDF, " + human_size(pdf.size()) + ", 14 pages";
    for (const std::string& text : {base64(pdf), "data:text/plain;base64," + base64(pdf), pdf}) {
      for (const size_t block : {size_t{0}, size_t{1'000}}) {
        const Passed passed = pass(in_json(text), {}, block);
        ASSERT_EQ(passed.segments.size(), 1u);
        EXPECT_EQ(passed.segments[0].mime_type, "application/pdf");
        EXPECT_EQ(passed.segments[0].description, expected);
        EXPECT_TRUE(passed.contents[0] == pdf);
      }
    }
  }
}

TEST(GateDescribe, WhatIsMadeOfTextIsDescribedAsText) {
  const std::string lines = "<p>one</p>\n<p>two</p>\n";
  const std::string html = "<html>\n" + lines + std::string(2'000, ' ') + "\n</html>\n";
  const Passed passed = pass(in_json("data:text/html;base64," + base64(html)));
  ASSERT_EQ(passed.segments.size(), 1u);
  EXPECT_NE(passed.segments[0].description.find(", 5 lines, first line"), std::string::npos)
      << passed.segments[0].description;
}

}  // namespace
}  // namespace sluice::testing
