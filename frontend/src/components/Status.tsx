import {
  AlarmClockOff,
  Ban,
  CalendarX2,
  CircleCheck,
  CircleSlash2,
  CircleX,
  Clock,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  SkipForward,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import type { Status as RunStatus } from "@/api/schema.gen";
import { useT } from "@/i18n";
import { type Tone, tones } from "@/lib/status";

export const statusIcons: Record<RunStatus, LucideIcon> = {
  pending: Clock,
  queued: Hourglass,
  running: LoaderCircle,
  succeeded: CircleCheck,
  failed: CircleX,
  timed_out: AlarmClockOff,
  cancelled: Ban,
  lost: Unplug,
  skipped: SkipForward,
  missed: CalendarX2,
};

/** A run's status: icon, word and colour together, so that none has to be seen alone. */
export function Status({ status, pill, bare }: { status: RunStatus; pill?: boolean; bare?: boolean }) {
  const t = useT();
  const Icon = statusIcons[status];
  return (
    <span className={`st c-${tones[status]}${pill ? " pill" : ""}`}>
      <Icon size={14} className={status === "running" ? "spin" : undefined} aria-hidden={!bare} />
      {bare ? <span className="sr">{t.status[status]}</span> : t.status[status]}
    </span>
  );
}

/** Any other state, in the same shape. */
export function Mark({
  tone,
  icon: Icon,
  children,
  pill,
}: {
  tone: Tone;
  icon: LucideIcon;
  children: React.ReactNode;
  pill?: boolean;
}) {
  return (
    <span className={`st c-${tone}${pill ? " pill" : ""}`}>
      <Icon size={14} aria-hidden />
      {children}
    </span>
  );
}

const instanceLooks = {
  online: ["ok", CircleCheck],
  draining: ["warn", Hourglass],
  cordoned: ["idle", CircleSlash2],
  lost: ["lost", Unplug],
  incompatible: ["bad", TriangleAlert],
  empty: ["lost", CircleSlash2],
} as const;

/** The state of an instance, or of a whole group. */
export function InstanceState({ state, pill }: { state: keyof typeof instanceLooks; pill?: boolean }) {
  const t = useT();
  const [tone, icon] = instanceLooks[state];
  return (
    <Mark tone={tone} icon={icon} pill={pill}>
      {t.executors.states[state]}
    </Mark>
  );
}
