import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { jobSearch } from "@/api/jobs";

interface JobNameProps {
  label: string;
  value: string;
  bad?: boolean;
  onChange(job: string): void;
}

/** The name of another job, with suggestions from those that there are. */
export function JobName({ label, value, bad, onChange }: JobNameProps) {
  const listId = useId();
  const [focused, setFocused] = useState(false);
  const found = useQuery({ ...jobSearch(value, 12), enabled: focused }).data?.items ?? [];
  return (
    <span className={bad ? "inp grow bad" : "inp grow"}>
      <input
        className="mono"
        aria-label={label}
        aria-invalid={bad || undefined}
        placeholder="billing/send-report"
        autoComplete="off"
        spellCheck={false}
        list={listId}
        value={value}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onChange={(x) => onChange(x.target.value.trim())}
      />
      <datalist id={listId}>
        {found.map((j) => (
          <option key={j.definition.job} value={j.definition.job}>
            {j.definition.description}
          </option>
        ))}
      </datalist>
    </span>
  );
}
