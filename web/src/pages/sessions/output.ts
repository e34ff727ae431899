/**
 * What a session printed, as far as the page has it: blocks of lines, each with the places where it
 * begins and ends, so that what is let go at one end can be asked for again.
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

export const MOST = 1_500_000; // characters in the page, at most
const BLOCK = 16_000; // characters after which a new block begins
const WIDEST = 4000; // of one line; what is longer is cut

export class Printed {
  blocks: readonly Block[] = [];
  /** The last line, as far as it is there. */
  last: Line = [];
  /** The newest is not here any more: it was let go for what is older. */
  detached = false;
  /** Nothing is before what is here. */
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

  /** Take what comes after; what is oldest is let go if it is too much. */
  append(part: Part): void {
    const block = this.blocks.at(-1);
    const left = part.restarted ? "" : (block?.left ?? "");
    const split = (left + part.text).split("\n");
    let rest = split.pop()!;
    if (rest.length > WIDEST) {
      split.push(rest); // it may never end: what comes of it then is a line of its own
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

  /** Take what comes before; what is newest is let go if it is too much. */
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

/** Split the pieces of a line where a text is found in it, in whatever colours it stands. */
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
  // Some letters change their length when made small: then only what is written the same is found.
  const [where, what] = low.length === text.length && needle.length === wanted.length ? [low, needle] : [text, wanted];
  const found: number[] = [];
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) found.push(at);
  return found;
}
