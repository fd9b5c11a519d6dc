// Texts of bytes, found by what they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::tables {

/// Finds texts of bytes by their content, and numbers them from 0 in the order in which they came.
class HashIndex {
 public:
  struct Found {
    size_t index = 0;
    bool is_new = false;
  };

  Found add(std::string_view bytes);
  size_t size() const { return ends_.size(); }
  std::string_view at(size_t index) const;
  /// Bytes of memory that it takes.
  size_t memory() const;

 private:
  void grow();

  std::vector<uint32_t> slots_;  ///< an index, from 1
  std::vector<uint32_t> hashes_;
  std::vector<size_t> ends_;
  std::string bytes_;
};

}  // namespace sluice::tables
