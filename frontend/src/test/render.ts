import { act, createElement, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { MessagesContext } from "@/i18n";
import { en } from "@/i18n/en";

export interface Rendered {
  host: HTMLElement;
  show(node: ReactNode): void;
  remove(): void;
}

/** Renders into the page, as happy-dom has it: without a layout, in English. */
export function render(node: ReactNode): Rendered {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const host = document.body.appendChild(document.createElement("div"));
  const root = createRoot(host);
  const show = (next: ReactNode) =>
    act(() => root.render(createElement(MessagesContext, { value: en }, next)));
  show(node);
  return {
    host,
    show,
    remove: () => {
      act(() => root.unmount());
      host.remove();
    },
  };
}

/** Has an element hear of something, and React draw what comes of it. */
export function fire(target: EventTarget, type: string, more: object = {}): Event {
  const event = Object.assign(new Event(type, { bubbles: true, cancelable: true }), more);
  act(() => void target.dispatchEvent(event));
  return event;
}

/** Types a text over what a field has. React hears only of what the element's own setter wrote. */
export function type(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value")?.set?.call(field, text);
  fire(field, "input");
}

/** An element that must be there. */
export function find<T extends Element = HTMLElement>(host: ParentNode, selector: string, n = 0): T {
  const found = host.querySelectorAll<T>(selector)[n];
  if (!found) throw new Error(`there is no ${selector} (${n}) in ${(host as Element).innerHTML}`);
  return found;
}
