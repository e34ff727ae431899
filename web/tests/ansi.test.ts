import { expect, test } from "vitest";
import { Ansi, plain, revealed } from "../src/lib/ansi";

const line = (text: string) => new Ansi().line(text);

test("colours and weights become styles and continue on the next line", () => {
  expect(line("\x1b[1;31mred\x1b[0m plain")).toEqual([
    { text: "red", style: { bold: true, fore: 1 } },
    { text: " plain", style: {} },
  ]);
  expect(line("\x1b[38;5;196mx\x1b[48;2;1;2;300my")).toEqual([
    { text: "x", style: { fore: "#ff0000" } },
    { text: "y", style: { fore: "#ff0000", back: "#0102ff" } },
  ]);
  const reader = new Ansi();
  reader.line("\x1b[32mgreen");
  expect(reader.line("still\x1b[39m not")).toEqual([
    { text: "still", style: { fore: 2 } },
    { text: " not", style: {} },
  ]);
});

test.each([
  ["\x1b[2J\x1b[Hcleared", "cleared"],
  ["\x1b]0;a title\x07after", "after"],
  ["\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"],
  ["\x1bP+q544e\x1b\\device", "device"],
  ["\x9b31mC1\x9d0;t\x9c", "C1"],
  ["bell\x07\x00\x08null", "bellnull"],
  ["10%\r50%\r100%", "100%"],
  ["windows\r", "windows"],
  ["cut off \x1b[", "cut off "],
  ["cut off \x1b]0;never ends", "cut off "],
  ["\x1b[999999999999m<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
])("what a terminal would obey is taken out of %j", (text, left) => {
  expect(
    line(text)
      .map((piece) => piece.text)
      .join(""),
  ).toBe(left);
  expect(plain(text)).toBe(left);
});

test("a line of a million characters is read without quadratic time", () => {
  expect(plain("\x1b[".repeat(250_000) + "x".repeat(500_000)).length).toBeLessThan(1_000_001);
});

test("characters that change the text direction are shown and have no effect", () => {
  expect(
    new Ansi()
      .line("a\u202egpj.exe\u202c \u2066b")
      .map((piece) => piece.text)
      .join(""),
  ).toBe("a⟨U+202E⟩gpj.exe⟨U+202C⟩ ⟨U+2066⟩b");
  expect(revealed("x\x1b[31m\0\x7f\ty")).toBe("x␛[31m␀␡\ty");
});
