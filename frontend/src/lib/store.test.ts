import { expect, it } from "vitest";
import { createStore, createStoredStore } from "./store";

const numbers = (stored: unknown) =>
  Array.isArray(stored) ? stored.filter((n) => typeof n === "number") : [];

it("a store tells those who follow it of changes alone", () => {
  const store = createStore(1);
  const heard: number[] = [];
  const stop = store.subscribe(() => heard.push(store.get()));
  store.set(1);
  store.set(2);
  stop();
  store.set(3);
  expect(heard).toEqual([2]);
  expect(store.get()).toBe(3);
});

it("a stored store begins with what is stored, as far as it can be read", () => {
  localStorage.setItem("numbers", '[1,"two",3]');
  const store = createStoredStore("numbers", numbers);
  expect(store.get()).toEqual([1, 3]);
  store.set([4]);
  expect(localStorage.getItem("numbers")).toBe("[4]");
  localStorage.setItem("numbers", "[");
  expect(createStoredStore("numbers", numbers).get()).toEqual([]);
});

it("a stored store takes over what another tab stores", () => {
  const store = createStoredStore("shared", numbers);
  let heard = 0;
  store.subscribe(() => heard++);
  localStorage.setItem("shared", "[5]"); // a tab hears of no change of its own
  window.dispatchEvent(new StorageEvent("storage", { key: "another" }));
  window.dispatchEvent(new StorageEvent("storage", { key: "shared" }));
  expect(store.get()).toEqual([5]);
  expect(heard).toBe(1);
});
