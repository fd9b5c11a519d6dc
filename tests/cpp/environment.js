// GoogleTest reads from the environment which share of the tests is its own; Emscripten shows a program none of Node's.
Module["preRun"] = () => {
  for (const name of ["GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"]) {
    if (process.env[name] !== undefined) ENV[name] = process.env[name];
  }
};
