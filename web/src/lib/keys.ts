/**
 * Keyboard shortcuts. Components register theirs while they are mounted; `?` lists them all, and the
 * command palette offers them as actions.
 */

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export type Binding = {
  /** For example `n`, `?`, `Ctrl+k`, or a sequence: `g b`. Empty: only in the palette. */
  keys: string;
  label: string;
  group: string;
  run: () => void;
  /** Not in the palette, because it acts on whatever has the focus. */
  quiet?: boolean;
  /** Active while typing, too. */
  always?: boolean;
};

export const bindings = signal<readonly Binding[]>([]);
let first = "";
let timer = 0;

/** Register keys while the component is mounted; the newest binding of a key wins. */
export function useKeys(mine: readonly Binding[]): void {
  const current = useRef(mine);
  current.current = mine;
  // Before it is painted: what is seen can be used.
  useLayoutEffect(() => {
    const held = mine.map((binding, at) => ({ ...binding, run: () => current.current[at]?.run() }));
    bindings.value = [...bindings.peek(), ...held];
    return () => {
      bindings.value = bindings.peek().filter((binding) => !held.includes(binding));
    };
  }, [mine.map((binding) => binding.keys + binding.label).join()]);
}

/** Return the name of the pressed key, in the form that bindings use. */
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
    if (modal && key === "Escape") return; // the dialog closes on its own
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
