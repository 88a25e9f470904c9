import { useState } from "react";
import { usePageT } from "@/i18n";

interface GroupChoiceProps {
  /** "*" is all groups, and "" none yet. */
  value: string;
  groups: string[];
  onChange(group: string): void;
}

/** No group has this name. */
const other = "?";

/** Chooses one of the known groups, all of them, or one that is typed because it has no job yet. */
export function GroupChoice({ value, groups, onChange }: GroupChoiceProps) {
  const s = usePageT().settings;
  const [typing, setTyping] = useState(false);
  if (typing)
    return (
      <span className="inp grow">
        <input
          className="mono"
          aria-label={s.group}
          required
          spellCheck={false}
          autoComplete="off"
          // biome-ignore lint/a11y/noAutofocus: it takes the place of the list that had the focus
          autoFocus
          value={value}
          onChange={(e) => onChange(e.target.value.trim())}
          onBlur={(e) => document.activeElement !== e.target && setTyping(value !== "")}
        />
      </span>
    );
  return (
    <select
      className="select grow"
      aria-label={s.group}
      required
      value={value}
      onChange={(e) => {
        setTyping(e.target.value === other);
        onChange(e.target.value === other ? "" : e.target.value);
      }}
    >
      <option value="" disabled>
        {s.chooseGroup}
      </option>
      <option value="*">{s.everywhere}</option>
      {[...new Set([...groups, value])]
        .filter((g) => g !== "" && g !== "*")
        .map((g) => (
          <option key={g} value={g}>
            {g}
          </option>
        ))}
      <option value={other}>{s.otherGroup}</option>
    </select>
  );
}
