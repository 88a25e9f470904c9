import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { CopyButton } from "./Copy";
import { Dialog } from "./Dialog";
import { Ago } from "./Time";

interface RevealProps {
  title: string;
  hint: string;
  secret: string;
  /** When it ceases to work; absent for never. */
  expires?: string;
  onClose(): void;
  /** What to do with it. */
  children?: ReactNode;
}

/** A secret that is shown this once. */
export function Reveal({ title, hint, secret, expires, onClose, children }: RevealProps) {
  const t = useT();
  return (
    <Dialog
      title={title}
      hint={hint}
      open
      wide
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          {t.act.done}
        </Button>
      }
    >
      <code className="reveal mono" tabIndex={0}>
        {secret}
      </code>
      <div className="row g3">
        <CopyButton text={secret} label={t.act.copy} />
        {expires && (
          <span className="mut">
            {t.act.expires} <Ago at={expires} />
          </span>
        )}
      </div>
      {children}
    </Dialog>
  );
}
