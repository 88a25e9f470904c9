import * as Radix from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { IconButton } from "./Button";
import { useOpener } from "./useOpener";

/** The first field, else the dialog itself: not the button that closes it. */
function focusFirst(e: Event): void {
  const dialog = e.currentTarget;
  if (!(dialog instanceof HTMLElement)) return;
  e.preventDefault();
  (dialog.querySelector<HTMLElement>(".body input, .body textarea, .body select") ?? dialog).focus();
}

/** Escape closes a panel that is open in the dialog, and only then the dialog. */
function closePanel(e: KeyboardEvent): void {
  const panel = document.querySelector<HTMLElement>(".dialog .rangepop.open");
  if (!panel) return;
  e.preventDefault();
  panel.hidePopover();
}

interface DialogProps {
  title: string;
  open: boolean;
  onClose(): void;
  wide?: boolean;
  /** At the right edge, as high as the window: for what one looks at beside the page. */
  drawer?: boolean;
  /** There is nothing in it but text, by which the keyboard could scroll it. */
  text?: boolean;
  children: ReactNode;
  footer?: ReactNode;
  hint?: ReactNode;
}

/**
 * A dialog that keeps the focus while it is open and gives it back. Its scrim is our
 * own: Radix's overlay writes a style element, which the content security policy forbids.
 */
export function Dialog({ title, open, onClose, wide, drawer, text, children, footer, hint }: DialogProps) {
  const t = useT();
  const opener = useOpener();
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <div className="scrim" />
        <Radix.Content
          className={`dialog${wide ? " wide" : ""}${drawer ? " drawer" : ""}`}
          onOpenAutoFocus={(e) => {
            opener.remember();
            focusFirst(e);
          }}
          onCloseAutoFocus={opener.restore}
          onEscapeKeyDown={closePanel}
          {...(hint ? {} : { "aria-describedby": undefined })}
        >
          <header>
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
            <IconButton icon={X} label={t.act.close} onClick={onClose} />
          </header>
          <div className="body" {...(text && { tabIndex: 0, role: "region", "aria-label": title })}>
            {hint && (
              <Radix.Description asChild>
                <div className="sec hint-text">{hint}</div>
              </Radix.Description>
            )}
            {children}
          </div>
          {footer && <footer>{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
