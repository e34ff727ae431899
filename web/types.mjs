/** Writes src/api/schema.ts from the OpenAPI document on standard input (see `make web`). */

import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const WIDTH = 120;

const document = JSON.parse(await text(process.stdin));
for (const operations of Object.values(document.paths)) {
  for (const operation of Object.values(operations)) {
    // Every refusal has the same shape, and the client knows it, so leave out all 500 of them.
    operation.responses = operation.responses[200] ? { 200: operation.responses[200] } : {};
  }
}
const head = "// Generated from the server's OpenAPI document: run `make web`, do not edit.\n\n";
const written = head + astToString(await openapiTS(document, { defaultNonNullable: false }));
const biome = new URL(import.meta.resolve("@biomejs/biome/bin/biome")).pathname;
const options = { input: written, encoding: "utf8", cwd: import.meta.dirname };
const formatted = execFileSync(process.execPath, [biome, "format", "--stdin-file-path=schema.ts"], options);
await writeFile(process.argv[2] ?? "src/api/schema.ts", formatted.split("\n").map(wrapped).join("\n"));

/** Break a comment that is too long for one line; the formatter leaves comments alone. */
function wrapped(line) {
  const comment = line.length > WIDTH && /^( *)(?:\/\*\*|\*) (.*?)( \*\/)?$/.exec(line);
  if (!comment) return line;
  const [, indent, said, end] = comment;
  const lines = [];
  for (const word of said.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + 3 + last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  const body = lines.map((one) => `${indent}${end ? " " : ""}* ${one}`).join("\n");
  return end ? `${indent}/**\n${body}\n${indent} */` : body;
}
