/** Parses a git patch into files. */

export type DiffLine = { kind: "added" | "deleted" | "same" | "hunk" | "note"; text: string };
export type DiffFile = { path: string; lines: DiffLine[]; added: number; deleted: number; note: string };

export function filesOf(patch: string): DiffFile[] {
  const files: DiffFile[] = [];
  let file: DiffFile | undefined;
  let within = false; // past the first hunk header, where every line is content
  for (const line of patch.split("\n")) {
    if (line.startsWith("diff --git ")) {
      file = { path: named(line), lines: [], added: 0, deleted: 0, note: "" };
      files.push(file);
      within = false;
    } else if (!file) continue;
    else if (line.startsWith("@@ ")) {
      within = true;
      file.lines.push({ kind: "hunk", text: line });
    } else if (!within) head(file, line);
    else content(file, line);
  }
  return files;
}

/** `diff --git a/PATH b/PATH`: both paths are the same, because renames are not detected. */
function named(line: string): string {
  const rest = line.slice("diff --git ".length);
  const half = rest.slice((rest.length + 1) / 2);
  return unquoted(half).replace(/^b\//, "");
}

function head(file: DiffFile, line: string): void {
  const path = /^\+\+\+ (.*)$/.exec(line)?.[1];
  if (path && path !== "/dev/null") file.path = unquoted(path.replace(/\t$/, "")).replace(/^b\//, "");
  else if (line.startsWith("new file")) file.note = "new";
  else if (line.startsWith("deleted file")) file.note = "deleted";
  else if (line.startsWith("Binary files")) file.note = "binary";
  else if (line.startsWith("old mode") || line.startsWith("new mode")) file.note ||= "mode";
}

function content(file: DiffFile, line: string): void {
  if (line.startsWith("+")) {
    file.added++;
    file.lines.push({ kind: "added", text: line.slice(1) });
  } else if (line.startsWith("-")) {
    file.deleted++;
    file.lines.push({ kind: "deleted", text: line.slice(1) });
  } else if (line.startsWith(" ")) file.lines.push({ kind: "same", text: line.slice(1) });
  else if (line.startsWith("\\")) file.lines.push({ kind: "note", text: line.slice(2) });
}

/** Git quotes paths with unusual characters and writes their bytes as octal numbers. */
function unquoted(path: string): string {
  if (!path.startsWith('"') || !path.endsWith('"')) return path;
  const escapes: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const found of path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (found[1]) bytes.push(parseInt(found[1], 8));
    else if (found[2]) bytes.push(escapes[found[2]] ?? found[2].charCodeAt(0));
    else bytes.push(...encoder.encode(found[3]));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
