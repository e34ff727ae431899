/**
 * The part of a session's output that the page holds: blocks of lines, each with its begin and end
 * position, so that a block dropped at one end can be loaded again.
 */

import { Ansi, type Piece } from "../../lib/ansi";

export type Part = { text: string; begin: string; end: string; restarted: boolean };
export type Line = readonly Piece[];
/**
 * Whole lines. `carried` is how many characters of the first line come before `begin`; `left` is the
 * text before `end` that has no newline yet.
 */
export type Block = {
  readonly id: number;
  readonly lines: readonly Line[];
  readonly begin: string;
  readonly end: string;
  readonly size: number;
  readonly gap: boolean;
  readonly carried: number;
  readonly left: string;
};

export const MOST = 1_500_000; // characters kept in the page
const BLOCK = 16_000; // characters after which a new block begins
const WIDEST = 4000; // characters per line; longer lines are cut

export class Printed {
  blocks: readonly Block[] = [];
  /** The last line, if it is incomplete. */
  last: Line = [];
  /** The newest output was dropped to make room for older output. */
  detached = false;
  /** The first block is the beginning of the output. */
  whole = false;
  private ansi = new Ansi();
  private next = 0;

  constructor(private readonly most = MOST) {}

  get begin(): string {
    return this.blocks[0]?.begin ?? "";
  }

  get end(): string {
    return this.blocks.at(-1)?.end ?? "";
  }

  /** Add newer output; drop the oldest if there is too much. */
  append(part: Part): void {
    const block = this.blocks.at(-1);
    const left = part.restarted ? "" : (block?.left ?? "");
    const split = (left + part.text).split("\n");
    let rest = split.pop()!;
    if (rest.length > WIDEST) {
      split.push(rest); // it may never end, so the rest becomes a line of its own
      rest = "";
    }
    const lines = split.map((line) => this.ansi.line(cut(line)));
    this.last = rest ? this.ansi.copy().line(rest) : [];
    if (block && !part.restarted && block.size < BLOCK) {
      const joined = {
        ...block,
        lines: [...block.lines, ...lines],
        end: part.end,
        size: block.size + part.text.length,
        left: rest,
      };
      this.blocks = [...this.blocks.slice(0, -1), joined];
    } else {
      this.blocks = [...this.blocks, { ...this.block(lines, part), carried: left.length, left: rest }];
    }
    this.fit("begin");
  }

  /** Add older output; drop the newest if there is too much. */
  prepend(part: Part): void {
    if (!part.text) {
      this.whole = true;
      return;
    }
    const ansi = new Ansi();
    const split = part.text.slice(0, part.text.length - (this.blocks[0]?.carried ?? 0)).split("\n");
    if (split.at(-1) === "") split.pop();
    this.blocks = [
      this.block(
        split.map((line) => ansi.line(cut(line))),
        part,
      ),
      ...this.blocks,
    ];
    this.fit("end");
  }

  private block(lines: Line[], part: Part): Block {
    return {
      id: this.next++,
      lines,
      begin: part.begin,
      end: part.end,
      size: part.text.length,
      gap: part.restarted,
      carried: 0,
      left: "",
    };
  }

  private fit(from: "begin" | "end"): void {
    let size = this.blocks.reduce((sum, block) => sum + block.size, 0);
    const kept = [...this.blocks];
    while (size > this.most && kept.length > 1) size -= (from === "begin" ? kept.shift()! : kept.pop()!).size;
    if (kept.length === this.blocks.length) return;
    this.blocks = kept;
    if (from === "begin") {
      this.whole = false;
      return;
    }
    this.detached = true;
    this.ansi = new Ansi();
    this.last = [];
  }
}

const cut = (line: string): string =>
  line.length > WIDEST ? `${line.slice(0, WIDEST)} … (${line.length - WIDEST} more)` : line;

export type Marked = Piece & { hit?: true; starts?: boolean };

/** Split the pieces of a line at the matches of a text, whatever their colours. */
export function marked(line: Line, wanted: string): { pieces: readonly Marked[]; hits: number } {
  const text = line.map((piece) => piece.text).join("");
  const found = places(text, wanted);
  if (!found.length) return { pieces: line, hits: 0 };
  const pieces: Marked[] = [];
  let at = 0;
  for (const piece of line) {
    const end = at + piece.text.length;
    const inner = found.flatMap((from) => [from, from + wanted.length]).filter((edge) => edge > at && edge < end);
    const edges = [...new Set([at, ...inner, end])];
    for (let one = 0; one + 1 < edges.length; one++) {
      const [from, to] = [edges[one]!, edges[one + 1]!];
      const hit = found.some((start) => start <= from && from < start + wanted.length);
      pieces.push({
        text: text.slice(from, to),
        style: piece.style,
        ...(hit ? { hit: true, starts: found.includes(from) } : {}),
      });
    }
    at = end;
  }
  return { pieces, hits: found.length };
}

function places(text: string, wanted: string): number[] {
  if (!wanted) return [];
  const [low, needle] = [text.toLowerCase(), wanted.toLowerCase()];
  // Lower-casing some letters changes their length; then only exact matches are found.
  const [where, what] = low.length === text.length && needle.length === wanted.length ? [low, needle] : [text, wanted];
  const found: number[] = [];
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) found.push(at);
  return found;
}
