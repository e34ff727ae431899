import { describe, expect, it } from "vitest";
import { type Edge, layout } from "../src/lib/layers";

describe("layout", () => {
  it("puts each node right of all that it needs", () => {
    const edges: Edge[] = [
      ["a", "b"],
      ["b", "d"],
      ["a", "c"],
      ["c", "d"],
      ["a", "d"],
    ];
    const { places, layers } = layout(["d", "c", "b", "a"], edges);
    for (const [from, to] of edges) expect(places.get(from)!.layer).toBeLessThan(places.get(to)!.layer);
    expect(layers).toBe(3);
  });

  it("gives every node a place of its own", () => {
    const ids = Array.from({ length: 60 }, (_, at) => `t${at}`);
    const edges = ids.slice(4).map((id, at): Edge => [`t${(at * 7) % (at + 4)}`, id]);
    const { places } = layout(ids, edges);
    expect(new Set([...places.values()].map((place) => `${place.layer} ${place.row}`)).size).toBe(60);
  });

  it("draws lines that need not cross without crossing", () => {
    const { places } = layout(
      ["a", "b", "c", "x", "y", "z"],
      [
        ["a", "z"],
        ["b", "y"],
        ["c", "x"],
      ],
    );
    const row = (id: string) => places.get(id)!.row;
    expect([row("z") - row("a"), row("y") - row("b"), row("x") - row("c")]).toEqual([0, 0, 0]);
  });

  it("leaves out edges to what is not there, and ends on a circle", () => {
    const { places } = layout(
      ["a", "b"],
      [
        ["a", "b"],
        ["b", "a"],
        ["gone", "a"],
        ["a", "a"],
      ],
    );
    expect(places.size).toBe(2);
  });
});
