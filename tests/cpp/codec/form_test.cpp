// Names of forms, and writing bytes in them: against a reference that works on the whole at once.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"

namespace {

using sluice::Encoding;
using sluice::Form;
using sluice::form_name;
using sluice::parse_form;

constexpr std::string_view kPng = "image/png";

std::string some_bytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t seed = static_cast<uint32_t>(size) + 1;
  for (char& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    // Half of all bytes come from 0xfb…0xff, so that `+` and `/` are frequent.
    byte = static_cast<char>(seed & 0x10000 ? seed >> 24 : 0xfb + (seed >> 24) % 5);
  }
  return bytes;
}

std::string naive_canonical(const Form& form, std::string_view bytes) {
  std::string out;
  if (form.encoding == Encoding::hex || form.encoding == Encoding::hex_upper) {
    for (const char byte : bytes) {
      char digits[3];
      std::snprintf(digits, sizeof digits, form.encoding == Encoding::hex ? "%02x" : "%02X",
                    static_cast<unsigned>(static_cast<unsigned char>(byte)));
      out += digits;
    }
    return out;
  }
  std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  digits += form.encoding == Encoding::base64 ? "+/" : "-_";
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 6) {
    unsigned value = 0;
    for (size_t i = bit; i < bit + 6; ++i) {
      const unsigned byte = i / 8 < bytes.size() ? static_cast<unsigned char>(bytes[i / 8]) : 0;
      value = value * 2 + (byte >> (7 - i % 8) & 1);
    }
    out += digits[value];
  }
  while (form.padded && out.size() % 4 != 0) out += '=';
  return out;
}

/// The text of `bytes` in `form`, a character at a time.
std::string naive_write(const Form& form, std::string_view bytes) {
  std::string out = form.prefix;
  if (form.encoding == Encoding::byte_array) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (i != 0) out += form.separator;
      out += std::to_string(static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    }
    return out + form.suffix;
  }
  size_t line = 0;
  size_t limit = form.first != 0 ? form.first : form.column;
  for (const char c : naive_canonical(form, bytes)) {
    if (limit != 0 && line == limit) {
      out += form.separator;
      line = 0;
      limit = form.column;
    }
    out += c == '+' ? form.plus : c == '/' ? form.slash : c == '=' ? form.pad : std::string(1, c);
    ++line;
  }
  return out + form.suffix;
}

std::string write(const Form& form, std::string_view bytes, size_t chunk) {
  sluice::FormWriter writer(form);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += chunk) writer.write(bytes.substr(at, chunk), out);
  writer.finish(out);
  return out;
}

/// Every combination that a run can have, with the lines and literals that seams depend on.
std::vector<Form> all_forms() {
  std::vector<Form> forms;
  const auto wrapped = [&forms](const Form& form) {
    forms.push_back(form);
    for (const uint32_t column : {1U, 2U, 4U, 63U, 64U, 76U}) {
      for (const uint32_t first : {0U, 1U, 3U, 57U}) {
        if (first >= column) continue;
        for (const std::string_view separator : {"\n", "\\r\\n    "}) {
          forms.push_back(form);
          forms.back().column = column;
          forms.back().first = first;
          forms.back().separator = separator;
        }
      }
    }
  };
  for (const Encoding encoding :
       {Encoding::base64, Encoding::base64url, Encoding::hex, Encoding::hex_upper}) {
    Form form;
    form.encoding = encoding;
    wrapped(form);
    form.prefix = "data:image/png;base64,";
    wrapped(form);
    if (encoding == Encoding::hex || encoding == Encoding::hex_upper) continue;
    form.prefix = "\\x";
    form.pad = "\\u003D";
    wrapped(form);
    form.pad = "=";
    form.padded = false;
    wrapped(form);
    if (encoding == Encoding::base64url) continue;
    form.plus = "%2B";
    form.slash = "\\/";
    wrapped(form);
    form.padded = true;
    form.pad = "%3D";
    form.suffix = "\xf0\x9f\x98\x80";
    wrapped(form);
  }
  for (const std::string_view separator : {",", ", ", ",\n      "}) {
    Form form;
    form.encoding = Encoding::byte_array;
    form.prefix = "[";
    form.separator = separator;
    form.suffix = "]";
    forms.push_back(form);
  }
  return forms;
}

TEST(FormName, SaysWhatIsUnusual) {
  EXPECT_EQ(form_name({}, kPng), "");
  Form form;
  form.encoding = Encoding::base64url;
  EXPECT_EQ(form_name(form, kPng), "base64url");
  form.padded = false;
  EXPECT_EQ(form_name(form, kPng), "base64url-nopad");
  form = {};
  form.prefix = "data:image/png;base64,";
  EXPECT_EQ(form_name(form, kPng), "base64-data");
  form.column = 76;
  form.first = 54;
  form.separator = "\r\n";
  EXPECT_EQ(form_name(form, kPng), "base64-w76-f54-b0d0a-data");
  form = {};
  form.plus = "%2B";
  form.slash = "\\/";
  form.pad = "%3D";
  EXPECT_EQ(form_name(form, kPng), "base64-u253242-s5c2f-e253344");
  form = {};
  form.encoding = Encoding::byte_array;
  form.prefix = "[";
  form.separator = ",";
  form.suffix = "]";
  EXPECT_EQ(form_name(form, ""), "bytes-b2c-p5b-z5d");
}

TEST(FormName, ReadsBackEveryForm) {
  for (const Form& form : all_forms()) {
    for (const std::string_view mime : {"image/png", "application/pdf", ""}) {
      const std::string name = form_name(form, mime);
      const auto read = parse_form(name, mime);
      ASSERT_TRUE(read) << name;
      ASSERT_EQ(*read, form) << name;
    }
  }
}

TEST(FormName, PrefixSpelledOutOutlivesAChangeOfType) {
  Form form;
  form.prefix = "data:image/png;base64,";
  const auto read = parse_form(form_name(form, "image/jpeg"), "image/png");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, form);
}

TEST(FormName, RefusesWhatNoFormIsCalled) {
  const std::string_view names[] = {"base64",
                                    "base32",
                                    "-",
                                    "nopad",
                                    "base64-",
                                    "base64--nopad",
                                    "-base64",
                                    "BASE64url",
                                    "hex-hex",
                                    "base64-nopad-nopad",
                                    "base64-w76-nopad-b0a",
                                    "base64-b0a-w76",
                                    "hex-nopad",
                                    "bytes",
                                    "bytes-nopad-b2c",
                                    "bytes-w8-b2c",
                                    "hex-u2b41",
                                    "base64url-u2b41",
                                    "hex-e41",
                                    "base64-nopad-e41",
                                    "base64-w76",
                                    "base64-b0a",
                                    "base64-w0-b0a",
                                    "base64-w076-b0a",
                                    "base64-w-b0a",
                                    "base64-w7x-b0a",
                                    "base64-w+7-b0a",
                                    "base64-w1048577-b0a",
                                    "base64-w99999999999999999999-b0a",
                                    "base64-w4294967297-b0a",
                                    "base64-f3",
                                    "base64-w4-f4-b0a",
                                    "base64-w4-f5-b0a",
                                    "base64-w4-b",
                                    "base64-w4-b0",
                                    "base64-w4-b0A",
                                    "base64-w4-b0g",
                                    "base64-u2b",
                                    "base64-s2f",
                                    "base64-e3d",
                                    "base64-u2f",
                                    "base64-u3d",
                                    "base64-u41-s41",
                                    "base64-p",
                                    "base64-z",
                                    "base64-data-p41",
                                    "base64-data-data",
                                    "base64-data ",
                                    "base64-nopad\n",
                                    "base64\xff"};
  for (const auto name : names) EXPECT_FALSE(parse_form(name, kPng)) << name;
  EXPECT_FALSE(parse_form("base64-data", ""));
  EXPECT_TRUE(parse_form("base64-w1048576-b0a", ""));
}

TEST(FormName, BoundsEveryLiteral) {
  const auto hex = [](size_t bytes) {
    std::string out;
    for (size_t i = 0; i < bytes; ++i) out += "41";
    return out;
  };
  for (const std::string_view start :
       {"base64-w4-b", "base64-u", "base64-s", "base64-e", "base64-z"}) {
    EXPECT_TRUE(parse_form(std::string(start) + hex(128), "")) << start;
    EXPECT_FALSE(parse_form(std::string(start) + hex(129), "")) << start;
  }
  EXPECT_TRUE(parse_form("base64-p" + hex(256), ""));
  EXPECT_FALSE(parse_form("base64-p" + hex(257), ""));
  EXPECT_FALSE(parse_form("base64-p" + hex(1 << 20), ""));
  EXPECT_TRUE(parse_form("base64-data", std::string(243, 'a')));
  EXPECT_FALSE(parse_form("base64-data", std::string(244, 'a')));
}

TEST(FormWriter, WritesEveryFormAtEveryLength) {
  for (const Form& form : all_forms()) {
    for (size_t size = 0; size <= 80; ++size) {
      const std::string bytes = some_bytes(size);
      ASSERT_EQ(write(form, bytes, size + 1), naive_write(form, bytes))
          << form_name(form, "") << " " << size;
    }
  }
}

TEST(FormWriter, ChunksDoNotShow) {
  for (const Form& form : all_forms()) {
    const std::string bytes = some_bytes(259);
    const std::string expected = naive_write(form, bytes);
    for (const size_t chunk : {1, 2, 3, 4, 5, 7, 16, 57, 64, 255, 258}) {
      ASSERT_EQ(write(form, bytes, chunk), expected) << form_name(form, "") << " " << chunk;
    }
  }
}

TEST(FormWriter, EveryLengthInEveryChunk) {
  Form form;
  form.column = 76;
  form.separator = "\n";
  for (const Form& tried : {Form{}, form}) {
    for (size_t size = 0; size <= 258; ++size) {
      const std::string bytes = some_bytes(size);
      const std::string expected = naive_write(tried, bytes);
      for (size_t chunk = 1; chunk <= size; ++chunk)
        ASSERT_EQ(write(tried, bytes, chunk), expected) << size << " by " << chunk;
    }
  }
}

TEST(FormWriter, BlocksDoNotShow) {
  Form wrapped, spelled, list;
  wrapped.column = 76;
  wrapped.separator = "\r\n";
  spelled.plus = "\\u002B";
  list.encoding = Encoding::byte_array;
  list.separator = ",";
  // Around one and two blocks of 48 KB.
  for (const size_t size : {49'151, 49'152, 49'153, 98'305, 150'000}) {
    const std::string bytes = some_bytes(size);
    for (const Form& form : {Form{}, wrapped, spelled, list}) {
      const std::string expected = naive_write(form, bytes);
      for (const size_t chunk : {size, size_t{50'000}, size_t{65'536}}) {
        ASSERT_TRUE(write(form, bytes, chunk) == expected) << size << " by " << chunk;
      }
    }
  }
}

TEST(FormWriter, EmptyRunKeepsItsLiterals) {
  Form form;
  form.encoding = Encoding::byte_array;
  form.prefix = "[";
  form.suffix = "]";
  EXPECT_EQ(write(form, "", 1), "[]");
  EXPECT_EQ(write({}, "", 1), "");
}

}  // namespace
