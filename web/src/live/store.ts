/**
 * The page's copy of the board: rows by table and id.
 *
 * Rows arrive in plain maps and reach the screen once per animation frame, so a busy herd costs one
 * repaint and a hidden tab costs none. Each row is a signal: a card is redrawn when its own row
 * changes, a list when rows are added or removed.
 */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Board, TableName, Tables } from "../api/rows";

type Row = { id: string };
type Rows<R extends Row> = Map<string, R>;
export type Change = { seq: number; set: Partial<Record<string, Row[]>>; gone: Partial<Record<string, string[]>> };

const PATIENCE_MS = 20_000;

export const NAMES: readonly TableName[] = [
  "tasks",
  "convoys",
  "sessions",
  "queue",
  "checks",
  "alerts",
  "leases",
  "messages",
  "pauses",
  "limits",
  "slots",
  "costs",
  "jobs",
  "overlaps",
  "flaky",
  "mayors",
];

/** One table as it is shown now; this is what pages read. */
export class Table<R extends Row> {
  private readonly shown = new Map<string, Signal<R | undefined>>();
  private readonly order = signal<readonly string[]>([]);
  private readonly version = signal(0);

  /** The ids, in the server's order. Changes only when rows are added or removed. */
  readonly ids: ReadonlySignal<readonly string[]> = this.order;

  /** All rows. Changes whenever any row does: for lists that sort and filter, not for cards. */
  readonly rows: ReadonlySignal<readonly R[]> = computed(() => {
    this.version.value;
    return this.order.value.map((id) => this.shown.get(id)!.peek()!);
  });

  /** Return the row with this id, or undefined. */
  row(id: string): R | undefined {
    const found = this.shown.get(id);
    if (found) return found.value;
    this.order.value; // it may arrive later
    return undefined;
  }

  /** Show these rows instead of the current ones; if `only` is given, update just those ids. */
  show(rows: Rows<R>, only?: ReadonlySet<string>): void {
    let changed = false;
    let members = false;
    const look = (id: string) => {
      const row = rows.get(id);
      const known = this.shown.get(id);
      if (row === undefined) {
        if (known === undefined) return;
        known.value = undefined; // tells components that show it
        this.shown.delete(id);
        members = true;
      } else if (known === undefined) {
        this.shown.set(id, signal<R | undefined>(row));
        members = true;
      } else if (known.peek() !== row && !same(known.peek(), row)) {
        known.value = row;
        changed = true;
      }
    };
    for (const id of only ?? [...this.shown.keys(), ...rows.keys()]) look(id);
    if (members || !only) {
      const order = [...rows.keys()];
      const before = this.order.peek();
      if (order.length !== before.length || order.some((id, at) => id !== before[at])) this.order.value = order;
    }
    if (members || changed) this.version.value++;
  }
}

/** Compare two plain values. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => same(one[name as keyof typeof one], other[name as keyof typeof other]));
}

type Shown = { [Name in TableName]: Table<Tables[Name]> };
type Known = { [Name in TableName]: Rows<Tables[Name]> };

const each = <T>(make: () => T) => Object.fromEntries(NAMES.map((name) => [name, make()]));

export class Store {
  /** The rows that are shown. */
  readonly tables = each(() => new Table<Row>()) as unknown as Shown;
  /** The event that is shown, and the newest known one. They differ while the page shows the past. */
  readonly seq = signal(-1);
  readonly newest = signal(-1);
  /** The past event that is shown; null: now. */
  readonly past = signal<number | null>(null);
  readonly log = signal("");

  private known = each(() => new Map<string, Row>()) as unknown as Known;
  private dirty = new Map<TableName, Set<string>>();
  private head = -1;
  private planned = false;
  private waiting: { seq: number; go: () => void }[] = [];

  constructor(private readonly nextFrame: (draw: () => void) => void = frame) {}

  /** The newest event whose rows have arrived. */
  get reached(): number {
    return this.head;
  }

  /** Replace the whole board. */
  replace(board: Board): void {
    this.known = read(board);
    this.head = board.seq;
    this.dirty.clear();
    batch(() => {
      this.log.value = board.log;
      this.newest.value = board.seq;
      if (this.past.peek() === null) this.showAll(this.known, board.seq);
    });
    this.arrived();
  }

  /** Wait until the rows of an event are shown, so that the person who caused it finds them. */
  reach(seq: number): Promise<void> {
    return new Promise((go) => {
      this.waiting.push({ seq, go });
      setTimeout(go, PATIENCE_MS); // the connection may be cut
      this.arrived();
    });
  }

  /** Apply a change; the next frame shows it. */
  change(change: Change): void {
    for (const name of NAMES) {
      const rows = this.known[name] as Rows<Row>;
      const touched = this.touched(name);
      for (const row of change.set[name] ?? []) {
        rows.set(row.id, row);
        touched.add(row.id);
      }
      for (const id of change.gone[name] ?? []) {
        rows.delete(id);
        touched.add(id);
      }
    }
    this.head = change.seq;
    this.arrived();
    if (this.planned || !this.dirty.size) return;
    this.planned = true;
    this.nextFrame(() => this.draw());
  }

  /** Show an earlier board until `backToNow`. */
  lookBack(board: Board): void {
    batch(() => {
      this.past.value = board.seq;
      this.showAll(read(board), board.seq);
    });
  }

  backToNow(): void {
    batch(() => {
      this.past.value = null;
      this.dirty.clear();
      this.showAll(this.known, this.head);
      this.newest.value = this.head;
    });
  }

  /** Show at once what somebody waits for: a hidden tab has no frames. */
  private arrived(): void {
    const due = this.waiting.filter((one) => one.seq <= this.head);
    if (!due.length) return;
    this.waiting = this.waiting.filter((one) => one.seq > this.head);
    this.draw();
    for (const one of due) one.go();
  }

  private touched(name: TableName): Set<string> {
    const found = this.dirty.get(name) ?? new Set<string>();
    this.dirty.set(name, found);
    return found;
  }

  private draw(): void {
    this.planned = false;
    batch(() => {
      this.newest.value = this.head;
      if (this.past.peek() !== null) return;
      this.seq.value = this.head;
      for (const [name, ids] of this.dirty) {
        if (ids.size) (this.tables[name] as Table<Row>).show(this.known[name] as Rows<Row>, ids);
      }
      this.dirty.clear();
    });
  }

  private showAll(known: Known, seq: number): void {
    this.seq.value = seq;
    for (const name of NAMES) (this.tables[name] as Table<Row>).show(known[name] as Rows<Row>);
  }
}

function read(board: Board): Known {
  return Object.fromEntries(
    NAMES.map((name) => [name, new Map((board[name] as Row[]).map((row) => [row.id, row]))]),
  ) as unknown as Known;
}

/** Draw with the next frame; a hidden tab has no frames and draws when it is shown again. */
function frame(draw: () => void): void {
  requestAnimationFrame(draw);
}
