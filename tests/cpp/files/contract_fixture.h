// Contracts for tests: an answer around what a test says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sluice/contract.h"

namespace sluice {

using Kind = ContractReading::Kind;

/// The display of a contract that gives none, and the end of the contract.
inline const std::string kNoDisplay =
    R"("display":{"open_canvas":false,"storage_action":"store"}})";

/// The normalised contract of an answer, or what else the reading was.
inline std::string contract_of(const std::string& text) {
  const ContractReading reading = read_contract(text);
  if (reading.kind == Kind::other) return "other";
  return reading.kind == Kind::contract ? reading.json : "invalid " + reading.json;
}

/// An answer with `members` beside its results.
inline std::string with(const std::string& members) {
  return R"({"results":{},)" + members + "}";
}

/// The rule that an answer with `members` breaks, as `field: rule`.
inline std::string breach_of(const std::string& members) {
  const ContractReading reading = read_contract(with(members));
  if (reading.kind != Kind::invalid) return "none";
  const std::string& json = reading.json;
  const size_t rule = json.find(R"(","rule":")");
  return json.substr(10, rule - 10) + ": " + json.substr(rule + 10, json.size() - rule - 12);
}

/// The artifact that comes of members beside its name, content and type.
inline std::string artifact_with(const std::string& members) {
  return R"("artifacts":[{"name":"a","b64":"","mime":"text/csv",)" + members + "}]";
}

inline std::string deferred_with(const std::string& members) {
  return R"("deferred_artifacts":[{"name":"a","path":"/p","mime":"text/csv",)" + members + "}]";
}

}  // namespace sluice
