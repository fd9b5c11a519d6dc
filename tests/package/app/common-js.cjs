const { createSluice } = require("mcp-sluice");
const { FileArtifactStore } = require("mcp-sluice/node");

console.log(typeof createSluice, typeof FileArtifactStore);
