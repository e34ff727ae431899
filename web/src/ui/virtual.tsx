/** Long lists and tables that render only the visible rows. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const SPARE = 6; // extra rows above and below, so that scrolling shows no gaps

/** Return which rows are visible, given that all have the same height. */
export function visible(top: number, height: number, row: number, rows: number): [number, number] {
  const from = Math.max(0, Math.floor(top / row) - SPARE);
  return [Math.min(from, rows), Math.min(rows, Math.ceil((top + height) / row) + SPARE)];
}

type ListProps<T> = {
  items: readonly T[];
  height: number; // of one row
  label: string;
  keyOf: (item: T) => string;
  render: (item: T, at: number) => ComponentChildren;
  role?: "list" | "rowgroup" | "log";
  /** Scroll this row into view when the value changes. */
  reveal?: number;
  /** Stay at the end while rows are added, if the list is scrolled there. */
  follow?: boolean;
  /** Called when the last row is nearly visible, to load more. */
  onEnd?: () => void;
};

export function VirtualList<T>({
  items,
  height,
  label,
  keyOf,
  render,
  role = "list",
  reveal,
  follow,
  onEnd,
}: ListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const atEnd = useRef(true);
  const look = () => {
    if (!box.current) return; // the observer may fire once more after unmounting
    const { scrollTop, clientHeight, scrollHeight } = box.current;
    atEnd.current = scrollTop + clientHeight >= scrollHeight - height;
    setView((old) =>
      old.top === scrollTop && old.height === clientHeight ? old : { top: scrollTop, height: clientHeight },
    );
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow && atEnd.current) box.current!.scrollTop = items.length * height;
  }, [items.length, follow]);
  useLayoutEffect(() => {
    if (reveal === undefined || reveal < 0) return;
    const { scrollTop, clientHeight } = box.current!;
    if (reveal * height < scrollTop) box.current!.scrollTop = reveal * height;
    else if ((reveal + 1) * height > scrollTop + clientHeight)
      box.current!.scrollTop = (reveal + 1) * height - clientHeight;
  }, [reveal]);
  const [from, to] = visible(view.top, view.height, height, items.length);
  const near = to >= items.length;
  useEffect(() => {
    if (near) onEnd?.();
  }, [near, items.length]);
  return (
    <div
      ref={box}
      class="virtual"
      onScroll={look}
      tabIndex={0}
      role={role === "rowgroup" ? role : "region"}
      aria-label={label}
    >
      <div class="tall" role={role === "rowgroup" ? undefined : role} style={{ height: `${items.length * height}px` }}>
        {items.slice(from, to).map((item, at) => (
          <div
            key={keyOf(item)}
            role={role === "list" ? "listitem" : undefined}
            style={{ top: `${(from + at) * height}px`, height: `${height}px` }}
            {...(role === "list" ? { "aria-setsize": items.length, "aria-posinset": from + at + 1 } : {})}
          >
            {render(item, from + at)}
          </div>
        ))}
      </div>
    </div>
  );
}

export type Column<T> = {
  name: string;
  /** A CSS grid track, such as `80px` or `1fr`. */
  width: string;
  cell: (item: T) => ComponentChildren;
  /** Makes the column sortable. */
  by?: (item: T) => string | number;
  right?: boolean;
};

type TableProps<T> = {
  label: string;
  columns: readonly Column<T>[];
  items: readonly T[];
  keyOf: (item: T) => string;
  onOpen?: (item: T) => void;
  empty?: ComponentChildren;
  minWidth?: number;
};

/** A table with sortable columns; all rows have the same height, and only the visible ones exist. */
export function Table<T>({ label, columns, items, keyOf, onOpen, empty, minWidth = 640 }: TableProps<T>) {
  const [sort, setSort] = useState<{ at: number; down: boolean } | null>(null);
  const by = sort ? columns[sort.at]?.by : undefined;
  const rows = by ? [...items].sort((one, other) => compare(by(one), by(other)) * (sort!.down ? -1 : 1)) : items;
  const tracks = {
    gridTemplateColumns: columns.map((column) => column.width).join(" "),
    minWidth: `${minWidth}px`,
    height: "100%",
  };
  const press = (at: number) =>
    setSort((old) => (old?.at !== at ? { at, down: false } : old.down ? null : { at, down: true }));
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={items.length}>
      <div role="rowgroup">
        <div class="line head" role="row" style={{ ...tracks, height: "32px" }}>
          {columns.map((column, at) => (
            <span
              key={column.name}
              role="columnheader"
              class={column.right ? "right" : ""}
              aria-sort={sort?.at !== at ? undefined : sort.down ? "descending" : "ascending"}
            >
              {column.by ? (
                <button type="button" onClick={() => press(at)}>
                  {column.name}
                  {sort?.at === at ? (sort.down ? " ↓" : " ↑") : ""}
                </button>
              ) : (
                column.name
              )}
            </span>
          ))}
        </div>
      </div>
      {rows.length === 0 && empty}
      {rows.length > 0 && (
        <VirtualList
          items={rows}
          height={36}
          label={label}
          keyOf={keyOf}
          role="rowgroup"
          render={(item) => (
            <div
              class={onOpen ? "line open" : "line"}
              role="row"
              style={tracks}
              onClick={onOpen && ((event) => !(event.target as Element).closest("a,button") && onOpen(item))}
            >
              {columns.map((column) => (
                <span key={column.name} role="cell" class={column.right ? "right cut" : "cut"}>
                  {column.cell(item)}
                </span>
              ))}
            </div>
          )}
        />
      )}
    </div>
  );
}

const compare = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number"
    ? one - other
    : String(one).localeCompare(String(other), "en", { numeric: true });
