/** Writes src/api/schema.ts from the OpenAPI document on standard input (see `make web`). */

import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const document = JSON.parse(await text(process.stdin));
for (const operations of Object.values(document.paths)) {
  for (const operation of Object.values(operations)) {
    // Every refusal looks the same, and the client knows how: leave them out, all 500 of them.
    operation.responses = operation.responses[200] ? { 200: operation.responses[200] } : {};
  }
}
const written = astToString(await openapiTS(document, { defaultNonNullable: false }));
const head = "// Generated from the server's OpenAPI document: run `make web`, do not edit.\n\n";
await writeFile(process.argv[2] ?? "src/api/schema.ts", head + written);
