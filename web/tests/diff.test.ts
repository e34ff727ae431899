import { expect, test } from "vitest";
import { filesOf } from "../src/pages/sessions/diff";

const PATCH = `diff --git a/src/a b.py b/src/a b.py
index 83db48f..bf269f4 100644
--- a/src/a b.py\t
+++ b/src/a b.py\t
@@ -1,3 +1,3 @@ def total
 same
-old
+new
--- looks like a head
+++ so does this
@@ -9 +9 @@
-x
\\ No newline at end of file
+y
diff --git "a/gr\\303\\266\\303\\237e.txt" "b/gr\\303\\266\\303\\237e.txt"
new file mode 100644
index 0000000..9766475
--- /dev/null
+++ "b/gr\\303\\266\\303\\237e.txt"
@@ -0,0 +1 @@
+<script>alert(1)</script>
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
`;

test("a patch is split into files", () => {
  const files = filesOf(PATCH);
  expect(files.map((file) => [file.path, file.added, file.deleted, file.note])).toEqual([
    ["src/a b.py", 3, 3, ""],
    ["größe.txt", 1, 0, "new"],
    ["logo.png", 0, 0, "binary"],
  ]);
  expect(files[0]!.lines.map((line) => line.kind)).toEqual([
    "hunk",
    "same",
    "deleted",
    "added",
    "deleted",
    "added",
    "hunk",
    "deleted",
    "note",
    "added",
  ]);
  expect(files[1]!.lines.at(-1)).toEqual({ kind: "added", text: "<script>alert(1)</script>" });
});

test("a truncated patch is read as far as it goes", () => {
  for (let at = 0; at <= PATCH.length; at++) filesOf(PATCH.slice(0, at));
  expect(filesOf("")).toEqual([]);
});
