// Bytes as text of their own: as characters of Latin-1, as a literal of Python, as a dump.
#pragma once

#include "gate/run/byte_array.h"

namespace sluice::gate {

/// Reads a string up to its end, each character up to U+00FF as one byte.
class Latin1 : public ByteReader {
 public:
  Form form(bool closed) const override;

 private:
  Step open(const uint8_t*&, const uint8_t*, bool) override { return Step::full; }
  Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t*& out) override;
};

/// Reads `b'\x89PNG'` or `bytearray(b'…')` as `repr` writes it, however deeply JSON is nested in
/// strings.
class PythonBytes : public ByteReader {
 public:
  Form form(bool closed) const override;

 private:
  Step open(const uint8_t*& at, const uint8_t* end, bool final) override;
  Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t*& out) override;

  std::string prefix_, suffix_;  // in source
  char quote_ = '\'';
  size_t slashes_ = 0;  // in source, of one backslash
};

/// Reads lines of `xxd`: `00000000: 8950 4e47 0d0a 1a0a 0000 000d 4948 4452  .PNG........IHDR`.
class HexDump : public ByteReader {
 public:
  Form form(bool closed) const override;

 private:
  Step open(const uint8_t*&, const uint8_t*, bool) override { return Step::full; }
  Step element(const uint8_t*& at, const uint8_t* end, bool final, uint8_t*& out) override;

  uint64_t offset_ = 0;
  size_t slashes_ = 0;  // in source, of one backslash
  bool ends_line_ = false;
};

}  // namespace sluice::gate
