import { expect, it } from "vitest";
import { createSluice, MemoryArtifactStore } from "../../../web/src/index.js";
import { base64, PDF, PNG } from "./samples.js";

it.each(["observation", "mcp"] as const)(
  "lists each artifact once, however often its bytes stand in a result: %s",
  async (dialect) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
    const image = { type: "image", mimeType: "image/png", data: base64(PNG) };
    const result = { content: [image, image], structuredContent: { picture: base64(PNG), report: base64(PDF) } };
    const { artifacts } = await sluice.transform(result, { dialect });
    expect(artifacts.filter(({ mime_type }) => mime_type === "image/png")).toHaveLength(1);
    expect(new Set(artifacts.map(({ id }) => id)).size).toBe(artifacts.length);
  },
);
