import * as Radix from "@radix-ui/react-dropdown-menu";
import { Check, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** A menu below its trigger, a button. */
export function Menu({
  trigger,
  children,
  align = "end",
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: "start" | "end";
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align={align} sideOffset={4} collisionPadding={8}>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ItemProps {
  icon?: LucideIcon;
  danger?: boolean;
  onSelect(): void;
  keys?: string;
  children: ReactNode;
}

export function MenuItem({ icon: Icon, danger, onSelect, keys, children }: ItemProps) {
  return (
    <Radix.Item className={`mi${danger ? " c-bad" : ""}`} onSelect={onSelect}>
      {Icon && <Icon size={15} aria-hidden />}
      <span className="grow">{children}</span>
      {keys && <kbd className="kbd">{keys}</kbd>}
    </Radix.Item>
  );
}

/** An item that saves a file. */
export function MenuDownload({ href, name, children }: { href: string; name: string; children: ReactNode }) {
  return (
    <Radix.Item asChild className="mi">
      <a href={href} download={name}>
        {children}
      </a>
    </Radix.Item>
  );
}

/** One of several choices, ticked when it is the present one. */
export function MenuChoice({
  on,
  stays,
  onSelect,
  children,
}: {
  on: boolean;
  /** The menu stays open, for several to be chosen. */
  stays?: boolean;
  onSelect(): void;
  children: ReactNode;
}) {
  return (
    <Radix.CheckboxItem
      className="mi"
      checked={on}
      onSelect={(e) => {
        if (stays) e.preventDefault();
        onSelect();
      }}
    >
      <span className="tick">{on && <Check size={14} aria-hidden />}</span>
      <span className="grow">{children}</span>
    </Radix.CheckboxItem>
  );
}

export const MenuLine = () => <Radix.Separator className="ml" />;
export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="mh">{children}</Radix.Label>
);
