import { useNavigate } from "@tanstack/react-router";
import { CircleQuestionMark } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { whenOf } from "@/lib/when";
import { JobName } from "./JobNameField";
import "./whyform.css";

interface WhyFormProps {
  /** The job that the page is about; undefined asks for one. */
  job?: string;
  /** What is asked about already. */
  asked?: { job: string; at: string };
  /** The zone of the job, where it is known. It decides which day today is. */
  zone?: string;
}

/** Asks for a job and a time, and leads to why the job ran then or not. */
export function WhyForm({ job: fixed, asked, zone }: WhyFormProps) {
  const { t, f } = usePageWords();
  const w = t.whyForm;
  const now = useNow();
  const navigate = useNavigate();
  const id = useId();
  const [name, setName] = useState<string>();
  const [text, setText] = useState<string>();
  const [wrong, setWrong] = useState<"wrongJob" | "wrongTime">();
  const job = fixed ?? name ?? asked?.job ?? "";
  const written = text ?? asked?.at.replace("T", " ") ?? "";
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const at = whenOf(written, now, zone ?? f.zone);
    if (!/^[^/]+\/[^/]+$/.test(job) || refOf(job).group === "") return setWrong("wrongJob");
    if (!at) return setWrong("wrongTime");
    setText(undefined);
    setName(undefined);
    void navigate({ to: "/why", search: { job, at } });
  };
  return (
    <form className="whyform" onSubmit={submit} aria-label={w.title}>
      <span className="ask">
        <CircleQuestionMark size={15} aria-hidden />
        <b>{w.title}</b>
        <span className="mut">{w.hint}</span>
      </span>
      {fixed === undefined && (
        <JobName
          label={w.job}
          value={job}
          bad={wrong === "wrongJob"}
          onChange={(next) => {
            setWrong(undefined);
            setName(next);
          }}
        />
      )}
      <span className={wrong === "wrongTime" ? "inp bad when" : "inp when"}>
        <input
          className="mono"
          aria-label={w.at}
          aria-invalid={wrong === "wrongTime" || undefined}
          aria-describedby={wrong && id}
          placeholder={w.example}
          autoComplete="off"
          spellCheck={false}
          value={written}
          onChange={(e) => {
            setWrong(undefined);
            setText(e.target.value);
          }}
        />
      </span>
      <button type="submit" className="btn">
        {w.explain}
      </button>
      {wrong && (
        <p className="ferr" id={id} role="alert">
          {w[wrong]}
        </p>
      )}
    </form>
  );
}
