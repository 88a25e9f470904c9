import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { useT } from "@/i18n";
import { tip } from "./Tips";

type Look = "primary" | "ghost" | "danger" | "danger-fill";
const looks: Record<Look, string> = { primary: "pri", ghost: "gh", danger: "dng", "danger-fill": "dng-fill" };

interface ButtonProps extends ComponentProps<"button"> {
  icon?: LucideIcon;
  look?: Look;
  small?: boolean;
  /** Shows that it is at work, and takes no more clicks. */
  busy?: boolean;
  /** Whether whoever is signed in may do it. The button of what they may not is off, and says why. */
  may?: boolean;
}

export function Button({
  icon: Icon,
  look,
  small,
  busy,
  may = true,
  className = "",
  children,
  ...rest
}: ButtonProps) {
  const t = useT();
  const classes = ["btn", look && looks[look], small && "sm", className].filter(Boolean).join(" ");
  return (
    <button
      type="button"
      className={classes}
      aria-busy={busy || undefined}
      {...rest}
      {...(!may && { title: t.signIn.needs })}
      disabled={rest.disabled || busy || !may}
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
  /** Whether whoever is signed in may do it. The button of what they may not is off, and says why. */
  may?: boolean;
}

export function IconButton({
  icon: Icon,
  label,
  keys,
  size = 16,
  may = true,
  className = "",
  ...rest
}: IconButtonProps) {
  const t = useT();
  return (
    <button
      type="button"
      className={`ic ${className}`}
      aria-label={label}
      {...(may ? tip(label, keys) : tip(`${label}: ${t.signIn.needs}`))}
      {...rest}
      disabled={rest.disabled || !may}
    >
      <Icon size={size} aria-hidden />
    </button>
  );
}
