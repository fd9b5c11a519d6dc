import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { ArtifactRef } from "../../../../../web/src/index.js";
import { sha256Of } from "../../../../e2e/fixture/bytes.mjs";
import { serveFixture } from "../../../../e2e/serving.js";
import { printed } from "../../../artifacts/child.js";
import { ROOT } from "../../../cli/command.js";
import { STDIO } from "./fixture.js";

const SIZE = 64 * 1024 * 1024;
const PROGRAM = fileURLToPath(new URL("memory-program.mjs", import.meta.url));

it.each(["stdio", "http"])(
  "64 MiB of bytes arrive over %s while the process grows by less than 60 MB",
  async (transport) => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-memory-"));
    await using server = await serveFixture();
    try {
      const where = transport === "stdio" ? STDIO : server.url;
      const args = [PROGRAM, join(ROOT, "dist"), join(folder, "store"), String(SIZE), transport, where];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const { text, artifacts, growth } = JSON.parse(await printed(child)) as {
        text: string;
        artifacts: ArtifactRef[];
        growth: number;
      };
      expect(artifacts).toMatchObject([{ size_bytes: SIZE, sha256: sha256Of("pdf", SIZE) }]);
      expect(text.length).toBeLessThan(1000);
      expect(growth).toBeLessThan(60_000_000);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
