/** Coloured lines of output as spans of plain text, never HTML. */

import type { Colour, Piece, Style } from "../lib/ansi";
import "./ansi.css";

const FLAGS = ["bold", "dim", "italic", "underline", "strike", "inverse"] as const;

/** Return the class and style of a piece. */
export function looks(style: Style): { class?: string; style?: { color?: string; background?: string } } {
  const names = FLAGS.filter((flag) => style[flag]) as string[];
  const own: { color?: string; background?: string } = {};
  const put = (colour: Colour | undefined, letter: string, property: "color" | "background") => {
    if (typeof colour === "number") names.push(`${letter}${colour}`);
    else if (colour !== undefined) own[property] = colour;
  };
  put(style.fore, "f", "color");
  put(style.back, "b", "background");
  return {
    ...(names.length ? { class: names.join(" ") } : {}),
    ...(own.color || own.background ? { style: own } : {}),
  };
}

export function AnsiLine({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((piece, at) => {
        const props = looks(piece.style);
        return props.class || props.style ? (
          <span key={at} {...props}>
            {piece.text}
          </span>
        ) : (
          piece.text
        );
      })}
    </>
  );
}
