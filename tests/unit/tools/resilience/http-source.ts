/**
 * A source over real HTTP, and work that asks it.
 * @module
 */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { adaptFetchError, fromStatus } from "../../../../web/src/tools/adapt-error.js";
import type { Attempt } from "../../../../web/src/tools/resilience/attempt.js";

export class HttpSource implements AsyncDisposable {
  readonly server: Server;

  private constructor(listener: RequestListener) {
    this.server = createServer(listener);
  }

  static async open(listener: RequestListener, port = 0): Promise<HttpSource> {
    const source = new HttpSource(listener);
    await once(source.server.listen(port, "127.0.0.1"), "listening");
    return source;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Work that asks for a path, as sources do. */
  ask(path = "/"): (attempt: Attempt) => Promise<string> {
    return asking(`http://127.0.0.1:${this.port}${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

export function asking(url: string): (attempt: Attempt) => Promise<string> {
  const place = { source: "shop" };
  return async ({ signal }) => {
    const response = await fetch(url, { signal }).catch((error: unknown) => {
      throw adaptFetchError(error, place);
    });
    if (!response.ok) throw fromStatus(response.status, response.headers, place);
    return response.text();
  };
}
