#include "sluice/contract.h"

#include "files/carrier.h"
#include "files/file_record.h"
#include "files/record.h"

namespace sluice {

namespace files {
namespace {

constexpr size_t kMaxFiles = 256;
constexpr Length kNotification = {0, 500};
constexpr std::array<std::string_view, 3> kModes = {"replace", "append", "split"};
constexpr std::array<std::string_view, 3> kActions = {"store", "store_and_open", "temporary"};

using ReadFile = void (*)(Record& record, Names& names);

/// Reads a list of files, which stands in the normalised contract even when it is empty.
void keep_files(Record& contract, std::string_view key, ReadFile read, Breach& breach,
                Names& names) {
  std::string list = "[";
  size_t index = 0;
  for (const size_t node : contract.elements(key, kMaxFiles, "objects")) {
    const std::string path = element_path(key, index);
    if (contract.tape()[node].type != Type::object)
      return contract.refuse(path, "must be an object");
    Record file(contract.tape(), node, path, breach);
    read(file, names);
    if (contract.broken()) return;
    if (index++ > 0) list += ',';
    list += file.out().end();
  }
  contract.out().source(key, list + ']');
}

void keep_primary_file(Record& display, const Names& names) {
  const std::optional<size_t> node = display.find("primary_file");
  if (!node) return;
  const std::string name = display.tape().string(*node);
  // No file has an empty name, so what is no string is none either.
  if (!names.has(name)) {
    return display.refuse("primary_file", "must be the name of a file in this result");
  }
  display.out().text("primary_file", name);
}

void read_display(Record& display, const Names& names) {
  display.keep_flag("open_canvas", false);
  keep_primary_file(display, names);
  display.keep_word("mode", kModes);
  display.keep_word("storage_action", kActions, kActions[0]);
  display.keep_word("category_hint", kCategories);
  display.keep_line("notification", kNotification);
}

/// Where no display is given its defaults are: it is read from an empty object.
void keep_display(Record& contract, Breach& breach, const Names& names) {
  Tape empty;
  Tape::parse("{}", empty);
  const std::optional<size_t> node = contract.find("display");
  if (node && contract.tape()[*node].type != Type::object) {
    return contract.refuse("display", "must be an object");
  }
  Record display(node ? contract.tape() : empty, node.value_or(0), "display", breach);
  read_display(display, names);
  contract.out().source("display", display.out().end());
}

std::string read(const Carrier& carrier, Breach& breach) {
  Record contract(carrier.tape(), carrier.node(), "", breach);
  Names names;
  contract.keep_object("results", true);
  contract.keep_object("meta_data", false);
  contract.keep_flag("retryable", std::nullopt);
  keep_files(contract, "artifacts", read_artifact, breach, names);
  keep_files(contract, "deferred_artifacts", read_deferred, breach, names);
  keep_display(contract, breach, names);
  return contract.out().end();
}

}  // namespace
}  // namespace files

ContractReading read_contract(std::string_view text) {
  using Kind = ContractReading::Kind;
  files::Carrier carrier;
  if (!carrier.find(text)) return {};
  files::Breach breach;
  std::string contract = files::read(carrier, breach);
  if (breach.rule.empty()) return {Kind::contract, std::move(contract)};
  return {Kind::invalid, Object().text("field", breach.field).text("rule", breach.rule).end()};
}

}  // namespace sluice
