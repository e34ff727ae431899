/**
 * Splits terminal output into styled pieces of text. Colours and weights are kept; every other
 * control sequence is removed. Nothing here produces HTML.
 */

export type Style = {
  fore?: Colour;
  back?: Colour;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  strike?: true;
  inverse?: true;
};
/** One of 16 colours that the theme defines, or an exact colour as `#rrggbb`. */
export type Colour = number | string;
export type Piece = { text: string; style: Style };

const FLAGS: Record<number, keyof Style> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const ENDS: Record<number, readonly (keyof Style)[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["fore"],
  49: ["back"],
};

const SEQUENCE = new RegExp(
  [
    String.raw`\x1b\[([0-?]*)[ -/]*([@-~])`, // CSI
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`, // OSC, DCS, APC, PM, SOS
    String.raw`\x9b([0-?]*)[ -/]*([@-~])`, // CSI as one character
    String.raw`\x1b[ -/]*[0-~]?`, // two-character escapes
    String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f]`, // other control characters
  ].join("|"),
  "g",
);

// Characters that change the direction of text, which can make code look like something else.
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** Replace invisible characters that change how the rest looks with visible signs. */
export function revealed(text: string): string {
  const named = (char: string) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  return text
    .replace(TURNING, named)
    .replace(CONTROLS, (char) => (char === "\x7f" ? "␡" : String.fromCharCode(0x2400 + char.charCodeAt(0))));
}

/** Reads line by line; each line starts with the style that the previous one ended with. */
export class Ansi {
  private style: Style = {};

  /** Copy the current style: an incomplete line is read again when more of it arrives. */
  copy(): Ansi {
    const other = new Ansi();
    other.style = this.style;
    return other;
  }

  /** Return the pieces of one line (without its newline). */
  line(text: string): Piece[] {
    const pieces: Piece[] = [];
    const add = (part: string) => {
      if (part) pieces.push({ text: revealed(part), style: this.style });
    };
    const shown = lastDrawn(text);
    let from = 0;
    for (const found of shown.matchAll(SEQUENCE)) {
      add(shown.slice(from, found.index));
      from = found.index + found[0].length;
      if ((found[2] ?? found[4]) === "m") this.style = restyled(this.style, found[1] ?? found[3] ?? "");
    }
    add(shown.slice(from));
    return pieces;
  }
}

/** Return what a terminal would show of a line that was overwritten with carriage returns. */
function lastDrawn(text: string): string {
  const end = text.endsWith("\r") ? text.slice(0, -1) : text;
  const at = end.lastIndexOf("\r");
  return at < 0 ? end : end.slice(at + 1);
}

/** Remove all control sequences. */
export function plain(text: string): string {
  return lastDrawn(text).replace(SEQUENCE, "");
}

function restyled(old: Style, said: string): Style {
  const codes = said
    .replaceAll(":", ";")
    .split(";")
    .map((code) => Number(code) || 0);
  let style: Style = { ...old };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!;
    if (code === 0) style = {};
    else if (code in FLAGS) Object.assign(style, { [FLAGS[code]!]: true });
    else if (code in ENDS) for (const name of ENDS[code]!) delete style[name];
    else if (code >= 30 && code <= 37) style.fore = code - 30;
    else if (code >= 40 && code <= 47) style.back = code - 40;
    else if (code >= 90 && code <= 97) style.fore = code - 82;
    else if (code >= 100 && code <= 107) style.back = code - 92;
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1));
      at += used;
      if (colour !== undefined) style[code === 38 ? "fore" : "back"] = colour;
    }
  }
  return style;
}

function extended(codes: readonly number[]): [Colour | undefined, number] {
  const [kind, one = 0, two = 0, three = 0] = codes;
  if (kind === 2) return [hex(one, two, three), 4];
  if (kind !== 5) return [undefined, 0];
  if (one < 16) return [one, 2];
  if (one > 255) return [undefined, 2];
  if (one >= 232) return [hex(...grey(8 + (one - 232) * 10)), 2];
  const level = (value: number) => (value ? 55 + value * 40 : 0);
  const cube = one - 16;
  return [hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), 2];
}

const grey = (value: number): [number, number, number] => [value, value, value];
const hex = (...parts: [number, number, number]): string =>
  `#${parts.map((part) => Math.min(255, part).toString(16).padStart(2, "0")).join("")}`;
