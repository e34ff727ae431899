/**
 * The keyboard. Components say which keys they have while they are there; `?` lists them all, and the
 * command palette offers the same list as actions.
 */

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export type Binding = {
  /** Like `n`, `?`, `Ctrl+k`, or two in a row: `g b`. Empty: only in the palette. */
  keys: string;
  label: string;
  group: string;
  run: () => void;
  /** Not in the palette: it makes no sense without the keyboard's focus. */
  quiet?: boolean;
  /** Also while typing. */
  always?: boolean;
};

export const bindings = signal<readonly Binding[]>([]);
let first = "";
let timer = 0;

/** Have these keys while the component is there; the newest binding of a key counts. */
export function useKeys(mine: readonly Binding[]): void {
  const current = useRef(mine);
  current.current = mine;
  useEffect(() => {
    const held = mine.map((binding, at) => ({ ...binding, run: () => current.current[at]?.run() }));
    bindings.value = [...bindings.peek(), ...held];
    return () => {
      bindings.value = bindings.peek().filter((binding) => !held.includes(binding));
    };
  }, [mine.map((binding) => binding.keys + binding.label).join()]);
}

/** The name of what was pressed, as bindings write it. */
export function pressed(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string {
  const key = event.key.length === 1 ? event.key : event.key.replace("Arrow", "");
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  return `${control}${event.altKey ? "Alt+" : ""}${control ? key.toLowerCase() : key}`;
}

const TYPING = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";

export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const typing = (event.target as Element | null)?.matches?.(TYPING) ?? false;
    const modal = document.querySelector("dialog[open]") !== null;
    const key = pressed(event);
    if (modal && key === "Escape") return; // the dialog closes by itself
    const usable = bindings.peek().filter((binding) => binding.always || (!typing && !modal));
    const bound = (keys: string) => usable.findLast((binding) => binding.keys === keys);
    const found = (first && bound(`${first} ${key}`)) || bound(key);
    first = "";
    clearTimeout(timer);
    if (found) {
      event.preventDefault();
      found.run();
    } else if (usable.some((binding) => binding.keys.startsWith(`${key} `))) {
      first = key;
      timer = window.setTimeout(() => (first = ""), 1500);
    }
  });
}
