// The observation dialect: what a planner shows its model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json/object.h"
#include "layers/blocks.h"
#include "layers/document.h"
#include "layers/notes.h"

namespace sluice::layers {

/// Writes one observation. It is a view: it opens envelopes, shows the half that `prefer` names,
/// and adds what only the other half says. Nothing is dropped and nothing is repeated:
///
///   {"rows":[…]}                                      the text is the same JSON value
///   {"structured":{"rows":[…]},"content":[{"type":"text","text":"WARNING: …"}]}
///   {"content":"WARNING: …","structured":{"rows":[…]}}             with `prefer: content`
class Observation {
 public:
  Observation(const Config& config, const Call& call, const Document& document,
              const SegmentTable& table, const std::vector<std::string>& links);

  std::string write();

 private:
  using Ids = std::map<std::string, int>;  ///< with how often each occurs

  std::string result();
  std::string structured_half();
  std::string content_half();
  std::string contents();
  std::string whole(size_t node) const;
  std::string array(const std::vector<std::string>& items) const;
  std::string content_value(bool& sole);
  std::string show(size_t block);
  std::vector<std::string> blocks_beside(size_t half);
  bool adds_to(size_t node, const Ids& ids) const;
  bool repeats(size_t block, const Ids& ids) const;
  bool says_nothing(size_t node) const;
  std::vector<uint32_t> texts_that_say_structure() const;
  Ids ids_in(size_t node) const;
  bool is_error() const;
  Object head() const;
  std::string other_members() const;

  const Config& config_;
  const Call& call_;
  const Document& document_;
  const SegmentTable& table_;
  const std::vector<std::string>& links_;
  Notes notes_;
  Media media_;
  Shape shape_;
  std::vector<uint32_t> link_blocks_;
  std::vector<uint32_t> repeated_;  // text blocks that say what the structured half says
};

}  // namespace sluice::layers
