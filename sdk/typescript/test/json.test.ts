import assert from "node:assert/strict";
import { test } from "node:test";

import { checkFinite, encode, encodeResult, NotJson, parse, stringify } from "../src/json";

const same = (text: string) => text;

test("what JSON cannot hold is refused, with its place and what to do", () => {
  const loop: Record<string, unknown> = { name: "x" };
  loop.self = { of: [loop] };
  const wrong: Array<[value: unknown, message: RegExp]> = [
    [Number.NaN, /^result is NaN, .* return null or a finite number$/],
    [{ rows: [{ ratio: Number.POSITIVE_INFINITY }] }, /^result\.rows\[0\]\.ratio is Infinity/],
    [{ all: new Map([["a", 1]]) }, /^result\.all is a Map/],
    [new Set([1]), /^result is a Set/],
    [{ done: () => 1 }, /^result\.done is a function/],
    [[1, undefined], /^result\[1\] is undefined/],
    [loop, /^result\.self\.of\[0\] refers back/],
  ];
  for (const [value, message] of wrong) {
    assert.throws(() => encode(value, "result"), (e) => e instanceof NotJson && message.test(e.message), String(message));
  }
});

test("what JSON can hold is encoded as JSON.stringify does", () => {
  const shared = { a: 1 };
  const value = { at: new Date(0), left: undefined, twice: [shared, shared], text: "ü\ud800", none: null, deep: { shared } };
  assert.equal(encode(value, "result"), JSON.stringify(value));
});

test("a result is masked, and cut above 64 KiB with a note", () => {
  assert.deepEqual(encodeResult({ a: "my hunter2" }, (t) => t.replaceAll("hunter2", "***")), { value: { a: "my ***" }, note: "" });
  assert.deepEqual(encodeResult(undefined, same), { note: "" });
  const { value, note } = encodeResult("ü".repeat(100_000), same);
  assert.match(note, /200002 bytes, more than 65536: only its beginning is kept; store it elsewhere, and return where it is$/);
  assert.ok(Buffer.byteLength(JSON.stringify(value)) < 20_000);
});

test("a bigint is a number of a result, with each digit", () => {
  const texts = ["\u00001", "\u0000\u0000", 'a"\u0000\u0000', 'a"\u00001"'];
  assert.deepEqual(JSON.parse(encode({ "\u00001": texts, few: -7n }, "result")), { "\u00001": texts, few: -7 });
  assert.equal(stringify(encodeResult({ id: 9007199254740993n }, same).value), '{"id":9007199254740993}');
});

test("a number that was a secret leaves no half of a result", () => {
  assert.match(encodeResult({ pin: 1234 }, (t) => t.replaceAll("1234", "***")).note, /left out/);
});

test("numbers of parameters are never changed in silence", () => {
  const text = String.raw`{"big":1234567890123456789,"list":[9007199254740993,-9007199254740993,9007199254740991],"text":"1234567890123456789","quote":"\\\"9007199254740993","mark":"\u0000\u000012","one":"\u00001"}`;
  assert.deepEqual(parse(text), {
    big: 1234567890123456789n,
    list: [9007199254740993n, -9007199254740993n, 9007199254740991],
    text: "1234567890123456789",
    quote: '\\"9007199254740993',
    mark: "\0\x0012",
    one: "\x001",
  });
  assert.deepEqual(parse("[0.1000, -0, 1e3, 12345678901234567.5]"), [0.1, -0, 1000, 12345678901234568]);
  assert.throws(() => checkFinite(parse('{"a":[1,{"b":1e400}]}'), "params"), /^Failure: params\.a\[1\]\.b is a number that is too large/);
  assert.throws(() => parse('{"a":12345678901234567x}'), SyntaxError);
});
