/**
 * Coverage: of the core by its C++ tests (llvm-cov), of the library by its own (V8). Tables, and pages in coverage/.
 * @module
 */
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { build, buildFolder, buildNative } from "./build.mjs";
import { must, root, tool } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("test");
  await build();
  await coverCore();
  await must(process.execPath, [tool("vitest"), "run", "--project=library", "--coverage"]);
});

async function coverCore() {
  const preset = "native-coverage";
  await buildNative(preset, ["sluice_tests"]);
  const folder = join(root, "coverage/cpp");
  mkdirSync(folder, { recursive: true });
  const program = join(buildFolder(preset), "sluice_tests");
  const raw = join(folder, "tests.profraw");
  const profile = join(folder, "tests.profdata");
  await must(program, ["--gtest_brief=1"], { show: "failure", env: { LLVM_PROFILE_FILE: raw } });
  await must(llvm("llvm-profdata"), ["merge", "-sparse", raw, "-o", profile]);
  const common = [program, `-instr-profile=${profile}`, "-ignore-filename-regex=(tests|include/nlohmann|googletest)/"];
  await must(llvm("llvm-cov"), ["report", ...common]);
  await must(llvm("llvm-cov"), ["show", ...common, "-format=html", `-output-dir=${folder}`], { show: "failure" });
}

// Debian's llvm-14 package names its tools by version only.
function llvm(name) {
  const onPath = (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
  return onPath ? name : `${name}-14`;
}
