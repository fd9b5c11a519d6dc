// Prints what the configuration may hold as a JSON Schema: a program of the build, not of the
// library.
#include <cstdio>
#include <string>

#include "sluice/config.h"

int main() {
  const std::string schema = sluice::config_schema_json();
  return std::puts(schema.c_str()) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}
