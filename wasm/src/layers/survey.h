// Applies the layers to a reduced document: L4 fields, L2 typed blocks, L1 links.
#pragma once

#include <string>
#include <vector>

#include "layers/result/document.h"
#include "layers/result/segment_table.h"
#include "sluice/config.h"
#include "sluice/tape.h"

namespace sluice::layers {

/// Maximum number of linked resources to read for one result.
inline constexpr size_t kMaxReads = 32;

/// A value that a field path names (a string, an array, or the array in a Buffer) and the container
/// around it.
struct Place {
  size_t node = 0;
  size_t parent = 0;
};

/// Puts markers where the layers divert more, and records in the table what the document says about
/// segments.
class Survey {
 public:
  Survey(const Config& config, const Call& call, SegmentTable& table)
      : config_(config), call_(call), table_(table) {}

  /// Reads the document as it is after all layers. Fails only if it is not valid.
  Status run(const std::string& reduced, Document& document);

 private:
  /// One text: the document, or the JSON in a text block.
  struct Work {
    const Document& document;
    bool nested = false;
    std::vector<Splice> splices{};
    NodeSet taken{};
  };

  bool quote_bare_bytes(const Document& document, std::string& quoted);
  void survey_text(Work& work, size_t text);
  void take_fields(Work& work, size_t base);
  void name_fields();
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
  SegmentTable& table_;
};

}  // namespace sluice::layers
