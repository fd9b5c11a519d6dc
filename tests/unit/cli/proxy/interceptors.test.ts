/** What servers are called. */
import { expect, test } from "vitest";
import { namespaceOfCommand, namespaceOfUrl } from "../../../../web/src/cli/proxy/interceptors.js";

test.each([
  ["npx -y @modelcontextprotocol/server-filesystem@1.2.3 /data", "filesystem"],
  ["uvx mcp-server-git --repository .", "git"],
  ["node /srv/server-everything/dist/index.js stdio", "everything"],
  ["python -m weather_mcp", "weather"],
  ["docker run -i --rm mcp/github", "github"],
  ["./my.server.py", "my_server"],
  ["C:\\tools\\notes-mcp.exe", "notes"],
  ["node index.js", "index"],
])("%s is called %s", (command, name) => {
  expect(namespaceOfCommand(command.split(" "))).toBe(name);
});

test.each([
  ["https://mcp.example.com/mcp", "example"],
  ["https://example.com/", "example"],
  ["http://127.0.0.1:8080/mcp", "127_0_0_1_8080"],
  ["http://localhost:3000/mcp", "localhost_3000"],
  ["http://[::1]:8080/", "1_8080"],
])("the server at %s is called %s", (url, name) => {
  expect(namespaceOfUrl(new URL(url))).toBe(name);
});
