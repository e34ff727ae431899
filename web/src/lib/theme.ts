/** Light, dark, or the system's choice; remembered in this browser. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const NAME = "corral-theme";
const CHOICES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(CHOICES.find((choice) => choice === localStorage.getItem(NAME)) ?? "system");

export function nextTheme(): void {
  theme.value = CHOICES[(CHOICES.indexOf(theme.peek()) + 1) % CHOICES.length]!;
}

export function startTheme(): void {
  effect(() => {
    localStorage.setItem(NAME, theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
}
