import { expect, test } from "vitest";
import { written } from "../src/pages/mayor/answers";

test("the plan in an answer is separated from the text around it", () => {
  const plan = '{"convoy": {"title": "Good"}, "task": [{"key": "a"}, {"key": "b"}]}';
  for (const text of [
    `Here it is.\n\n${plan}\n\nIs that fine?`,
    `Here it is.\n\`\`\`json\n${plan}\n\`\`\`\nIs that fine?`,
  ]) {
    const found = written(text);
    expect(found.words).toBe("Here it is.\n\nIs that fine?");
    expect(JSON.parse(found.plan)).toEqual(JSON.parse(plan));
    expect([found.tasks, found.cancels]).toEqual([2, 0]);
  }
  expect(written('{"cancel": ["a"]}')).toMatchObject({ words: "", tasks: 0, cancels: 1 });
});

test.each(["Because of {braces} here.", "```js\nlet x = {};\n```", '{"answer": 42}', "{{{", "", '{"task": [', "null"])(
  "%j stays words",
  (text) => {
    expect(written(text)).toMatchObject({ words: text.trim(), plan: "" });
  },
);

test("unclosed braces are read without quadratic time", () => {
  expect(written("{".repeat(200_000)).plan).toBe("");
  expect(written("```\n".repeat(50_000)).plan).toBe("");
});
