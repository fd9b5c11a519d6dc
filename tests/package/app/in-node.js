import { mkdtemp, rm } from "node:fs/promises";
import { createSluice, MemoryArtifactStore } from "mcp-sluice";
import * as forNode from "mcp-sluice/node";
import { roundTrip } from "./round-trip.js";

const folder = await mkdtemp("./store-");
const report = {
  node: process.versions.node,
  root: await roundTrip(createSluice, new MemoryArtifactStore()),
  files: await roundTrip(forNode.createSluice, new forNode.FileArtifactStore(folder)),
  oneLibrary: forNode.createSluice === createSluice,
};
await rm(folder, { recursive: true });
console.log(JSON.stringify(report));
