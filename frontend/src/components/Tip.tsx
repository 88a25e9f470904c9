import * as Tooltip from "@radix-ui/react-tooltip";
import type { ReactNode } from "react";

export const TipProvider = ({ children }: { children: ReactNode }) => (
  <Tooltip.Provider delayDuration={400} skipDelayDuration={300}>
    {children}
  </Tooltip.Provider>
);

/** A tooltip on hover and focus. What it says must be found elsewhere too, or be the control's name. */
export function Tip({ text, keys, children }: { text: ReactNode; keys?: string; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tt" sideOffset={6} collisionPadding={8}>
          {text}
          {keys && <kbd className="kbd inv">{keys}</kbd>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
