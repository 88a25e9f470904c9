import { EditorView } from "@codemirror/view";
import { act } from "react";
import { afterEach, expect, it } from "vitest";
import { find, type Rendered, render } from "@/test/render";
import CodeMirror from "./CodeMirror";

let page: Rendered;
let heard: string[];
afterEach(() => page.remove());

const editor = (value: string) => (
  <CodeMirror label="Script" language="text" value={value} onChange={(text) => heard.push(text)} />
);
function show(value: string) {
  heard = [];
  page = render(editor(value));
}
function view(): EditorView {
  const inside = find(page.host, ".cm-host").shadowRoot;
  const found = inside && EditorView.findFromDOM(find(inside, ".cm-editor"));
  if (!found) throw new Error("there is no editor");
  return found;
}
const text = () => view().state.doc.toString();
/** Types over all that is there, as a person does: the form hears of it, and has not answered. */
const type = (insert: string) =>
  act(() => view().dispatch({ changes: { from: 0, to: view().state.doc.length, insert } }));

it("what was typed since is not taken back by a form that answers late", () => {
  show("echo old");
  type("");
  type("e");
  type("ec");
  expect(heard).toEqual(["", "e", "ec"]);
  page.show(editor("")); // the answer to the first key
  expect(text()).toBe("ec");
  page.show(editor("e"));
  type("ech");
  page.show(editor("ec"));
  expect(text()).toBe("ech");
  page.show(editor("ech"));
  expect(text()).toBe("ech");
});

it("answers that the form leaves out are not waited for", () => {
  show("");
  type("a");
  type("ab");
  type("abc");
  page.show(editor("abc")); // React drew once for three keys
  page.show(editor("what was saved")); // the edit is discarded
  expect(text()).toBe("what was saved");
});

it("a text that comes from elsewhere takes the place of what was typed", () => {
  show("mine");
  type("mine too");
  page.show(editor("theirs"));
  expect(text()).toBe("theirs");
  page.show(editor("theirs, later"));
  expect(text()).toBe("theirs, later");
});

it("a text that was typed before and is set again is taken for a new one", () => {
  show("one");
  type("two");
  type("one");
  page.show(editor("two"));
  page.show(editor("one"));
  page.show(editor("two"));
  expect(text()).toBe("two");
});
