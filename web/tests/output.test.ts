import { expect, test } from "vitest";
import { marked, type Part, Printed } from "../src/pages/sessions/output";

const shown = (printed: Printed): string =>
  [...printed.blocks.flatMap((block) => block.lines), printed.last]
    .map((line) => line.map((piece) => piece.text).join(""))
    .join("\n");

/** What a server does: pages of a text, by place. */
class Source {
  constructor(readonly text: string) {}
  after(at: number, most: number): Part {
    return this.part(at, Math.min(this.text.length, at + most));
  }
  before(at: number, most: number): Part {
    let from = Math.max(0, at - most);
    if (from) from = Math.min(at, this.text.indexOf("\n", from) + 1 || at);
    return this.part(from, at);
  }
  private part(from: number, to: number): Part {
    return { text: this.text.slice(from, to), begin: String(from), end: String(to), restarted: false };
  }
}

const long = `${Array.from({ length: 4000 }, (_, number) => `line ${number} ${"x".repeat(number % 37)}`).join("\n")}\n`;

test("the text is the same however it is split into parts", () => {
  for (const size of [1, 7, 1000, 65_536]) {
    const source = new Source(long.slice(0, size === 1 ? 3000 : undefined));
    const printed = new Printed();
    for (let at = 0; at < source.text.length; at += size) printed.append(source.after(at, size));
    expect(shown(printed)).toBe(source.text);
  }
});

test("memory is bounded, and dropped output can be loaded again in both directions", () => {
  const source = new Source(long);
  const most = 40_000;
  const printed = new Printed(most);
  for (let at = 0; at < long.length; at += 5000) printed.append(source.after(at, 5000));
  const held = () => printed.blocks.reduce((sum, block) => sum + block.size, 0);
  expect(held()).toBeLessThanOrEqual(most);
  expect(long.endsWith(shown(printed))).toBe(true);
  while (!printed.whole) {
    printed.prepend(source.before(Number(printed.begin), 5000));
    expect(held()).toBeLessThanOrEqual(most);
    expect(long).toContain(shown(printed)); // no line twice, none missing
  }
  expect(long.startsWith(shown(printed))).toBe(true);
  expect(printed.detached).toBe(true);
  while (Number(printed.end) < long.length) {
    printed.append(source.after(Number(printed.end), 5000));
    expect(held()).toBeLessThanOrEqual(most);
    expect(long).toContain(shown(printed));
  }
  expect(long.endsWith(shown(printed))).toBe(true);
});

test("a colour continues across parts, even within a line", () => {
  const printed = new Printed();
  printed.append({ text: "\x1b[31mred\nsti", begin: "0", end: "1", restarted: false });
  printed.append({ text: "ll red\x1b[0m plain\n", begin: "1", end: "2", restarted: false });
  expect(printed.blocks[0]!.lines[1]).toEqual([
    { text: "still red", style: { fore: 1 } },
    { text: " plain", style: {} },
  ]);
});

test("a line without end stays bounded", () => {
  const printed = new Printed(100_000);
  for (let at = 0; at < 200; at++)
    printed.append({ text: "y".repeat(5000), begin: `${at}`, end: `${at + 1}`, restarted: false });
  expect(shown(printed).length).toBeLessThan(110_000);
});

test("a search matches across colours, ignoring case", () => {
  const line = [
    { text: "one fa", style: { fore: 1 } },
    { text: "Iled two fail", style: {} },
  ];
  const { pieces, hits } = marked(line, "FAIL");
  expect(hits).toBe(2);
  expect(pieces.filter((piece) => piece.hit).map((piece) => piece.text)).toEqual(["fa", "Il", "fail"]);
  expect(pieces.map((piece) => piece.text).join("")).toBe("one faIled two fail");
  expect(marked([{ text: "aaaa", style: {} }], "aa").pieces).toHaveLength(2);
  expect(marked(line, "").hits).toBe(0);
  expect(marked([{ text: "İstanbul fail", style: {} }], "fail").hits).toBe(1);
});
