// Many JSON pointers followed in one walk.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/tape.h"

namespace sluice::restoring {

/// A tree of pointers (RFC 6901, and `~d<n>` for the n-th of members of one name; without it the
/// last is meant). Building and walking take time linear in the pointers and the document.
class Pointers {
 public:
  /// Adds a pointer; `tag` is what `walk` reports it as. False when it is malformed.
  bool add(std::string_view pointer, uint32_t tag);

  /// A value that pointers lead to.
  struct Match {
    size_t node = 0;
    size_t parent = 0;  ///< the container; the node itself at the root
    const std::vector<uint32_t>* tags = nullptr;
  };

  /// The values below `root` that pointers lead to, outer ones before inner ones.
  std::vector<Match> walk(const Tape& tape, size_t root) const;

 private:
  struct Step {
    std::map<std::pair<std::string, int>, size_t> next;
    std::vector<uint32_t> tags;
  };
  struct Visit {
    size_t step = 0;
    size_t node = 0;
    size_t parent = 0;
  };

  void enter_array(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const;
  void enter_object(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const;

  std::vector<Step> steps_ = std::vector<Step>(1);
};

}  // namespace sluice::restoring
