import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { tip } from "./Tips";

type Look = "primary" | "ghost" | "danger" | "danger-fill";
const looks: Record<Look, string> = { primary: "pri", ghost: "gh", danger: "dng", "danger-fill": "dng-fill" };

interface ButtonProps extends ComponentProps<"button"> {
  icon?: LucideIcon;
  look?: Look;
  small?: boolean;
  /** Shows that it is at work, and takes no more clicks. */
  busy?: boolean;
}

export function Button({ icon: Icon, look, small, busy, className = "", children, ...rest }: ButtonProps) {
  const classes = ["btn", look && looks[look], small && "sm", className].filter(Boolean).join(" ");
  return (
    <button
      type="button"
      className={classes}
      aria-busy={busy || undefined}
      {...rest}
      disabled={rest.disabled || busy}
    >
      {busy ? <span className="busy spin" aria-hidden /> : Icon && <Icon size={14} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  icon: LucideIcon;
  /** What it does: its name, and its tooltip. */
  label: string;
  keys?: string;
  size?: number;
}

export function IconButton({ icon: Icon, label, keys, size = 16, className = "", ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`ic ${className}`} aria-label={label} {...tip(label, keys)} {...rest}>
      <Icon size={size} aria-hidden />
    </button>
  );
}
