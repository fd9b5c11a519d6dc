// The layers at work on a reduced document: L4 fields, L2 typed blocks, L1 links.
#pragma once

#include <string>
#include <vector>

#include "json/node_set.h"
#include "layers/document.h"
#include "layers/fields.h"
#include "layers/ledger.h"
#include "layers/shape.h"
#include "sluice/config.h"

namespace sluice::layers {

/// Reads of linked resources asked for in one result, at most.
inline constexpr size_t kMaxReads = 32;

/// Puts markers where further segments belong, and tells the ledger what the document says about
/// them.
class Survey {
 public:
  Survey(const Config& config, const Call& call, Ledger& ledger)
      : config_(config), call_(call), ledger_(ledger) {}

  /// Gives the document's text as it is after all layers. Fails only for a document that is not
  /// one.
  Status run(const std::string& reduced, std::string& surveyed);

 private:
  /// One text under survey: the document, or the JSON in a text block.
  struct Work {
    const Document& document;
    bool nested = false;
    std::vector<Splice> splices{};
    NodeSet taken{};
  };

  bool quote_bare_bytes(const Document& document, std::string& quoted);
  void survey_text(Work& work, size_t text);
  void take_fields(Work& work, size_t base);
  void take_field(Work& work, const Place& place, const ToolField& field);
  bool is_restored_inside(const Work& work) const;
  std::optional<uint32_t> divert(Work& work, size_t node, const ToolField& field);
  std::optional<uint32_t> divert_array(Work& work, size_t array);
  void take_blocks(Work& work, const Shape& shape);
  void take_files(Work& work, size_t base);
  void take_block(Work& work, size_t block);
  void take_resource(Work& work, size_t resource);
  std::optional<uint32_t> divert_bytes(Work& work, size_t data);
  bool is_one_run(std::string_view value) const;
  void take_bytes(Work& work, size_t holder, size_t data, std::string_view type);
  void note_links(const Document& document, const Shape& shape);
  void name_the_rest(const Document& document);
  void note_siblings(const Document& document, size_t parent, About& about, std::string_view words);

  const Config& config_;
  const Call& call_;
  Ledger& ledger_;
};

}  // namespace sluice::layers
