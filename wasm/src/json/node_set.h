// A set of nodes of a tape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

/// Takes one byte for each node up to the last one in it.
class NodeSet {
 public:
  /// Inserts a node. Returns whether it was new.
  bool insert(size_t node) {
    if (node >= nodes_.size()) nodes_.resize(node + 1);
    const bool fresh = nodes_[node] == 0;
    nodes_[node] = 1;
    return fresh;
  }
  void erase(size_t node) {
    if (has(node)) nodes_[node] = 0;
  }
  bool has(size_t node) const { return node < nodes_.size() && nodes_[node] != 0; }

 private:
  std::vector<uint8_t> nodes_;
};

}  // namespace sluice
