/**
 * An API to try it with: it describes itself, and takes photos.
 * @module
 */
import { once } from "node:events";
import { createServer } from "node:http";

const WIDTH = 320;
const HEIGHT = 240;

const description = {
  openapi: "3.1.0",
  info: { title: "A camera", version: "1.0.0" },
  paths: {
    "/photos/{city}": {
      get: {
        operationId: "photo",
        summary: "A photo of a city, as it looks now.",
        parameters: [{ name: "city", in: "path", required: true, schema: { type: "string" } }],
        responses: { 200: { description: "A picture", content: { "image/bmp": {} } } },
      },
    },
  },
};

/** Starts it on this machine, where it is reached by nobody else. */
export async function serveCamera() {
  const server = createServer((request, response) => {
    if (request.url === "/openapi.json") {
      response.setHeader("content-type", "application/json").end(JSON.stringify(description));
    } else if (request.url?.startsWith("/photos/")) {
      response.setHeader("content-type", "image/bmp").end(photo());
    } else response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The camera has no port.");
  return { url: `http://127.0.0.1:${address.port}`, close: () => void server.close() };
}

/** An evening sky, three bytes for each point. */
function photo() {
  const head = Buffer.alloc(54);
  head.write("BM");
  head.writeUInt32LE(head.length + WIDTH * HEIGHT * 3, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(40, 14);
  head.writeInt32LE(WIDTH, 18);
  head.writeInt32LE(HEIGHT, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(24, 28);
  const points = Buffer.alloc(WIDTH * HEIGHT * 3, 0);
  for (let at = 0; at < points.length; at += 3) {
    const height = at / points.length;
    points.set([90 + 120 * height, 110, 230 - 160 * height], at);
  }
  return Buffer.concat([head, points]);
}
