// References in place of markers, each written down so that it can be undone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layers/document.h"
#include "layers/edits.h"
#include "layers/notes.h"

namespace sluice::layers {

/// A value of the document rewritten apart from it.
struct Rewritten {
  std::string text;
  Edits edits;
};

/// Walks values and turns their markers into references with forms.
class Referrer {
 public:
  Referrer(const Document& document, const Ledger& ledger, const Notes& notes)
      : document_(document), ledger_(ledger), notes_(notes) {}

  /// Rewrites the markers of a value. `at` is the pointer to it in the written result.
  void refer(size_t node, const std::string& at, std::vector<Splice>& splices, Edits& edits);

  /// Rewrites those of one member: its key and its value.
  void refer_member(size_t value, const std::string& at, std::vector<Splice>& splices,
                    Edits& edits);

  /// A value on its own.
  Rewritten alone(size_t node);

  /// The pointers of an object's members, in order; they tell duplicates apart.
  std::vector<std::string> members(const std::string& at, size_t object) const;

  /// The segments that references were written for, in order.
  const std::vector<uint32_t>& referred() const { return referred_; }

 private:
  void refer_string(size_t node, const std::string& at, bool key, std::vector<Splice>& splices,
                    Edits& edits);
  std::string key_of(size_t value) const;

  const Document& document_;
  const Ledger& ledger_;
  const Notes& notes_;
  std::vector<uint32_t> referred_;
};

}  // namespace sluice::layers
