import { type ReactNode, useState } from "react";
import { TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { cellProblem, cronToSentence, parseCells, type Sentence, sentenceToCron } from "@/lib/cron";
import { cronInWords } from "@/lib/words";
import { CronCells } from "./CronCells";
import { SentenceBuilder } from "./SentenceBuilder";
import "./cron.css";

interface CronFieldProps {
  value: string;
  onChange(expression: string): void;
  error: string | undefined;
  /** What comes last in the sentence: in which time zone. */
  children: ReactNode;
}

/** A cron expression as a sentence and as cells; each changes the other. Macros have one cell. */
export function CronField({ value, onChange, error, children }: CronFieldProps) {
  const t = useEditorT();
  const e = t.editor;
  const sentence = cronToSentence(value);
  // While the sentence cannot say the expression, the last that it could say stays, dimmed.
  const [last, setLast] = useState<Sentence>(sentence ?? { every: "day", times: ["03:00"] });
  if (sentence && sentenceToCron(sentence) !== sentenceToCron(last)) setLast(sentence);
  const cells = parseCells(value);
  const problem = error === undefined ? undefined : cellProblem(error);
  return (
    <div className="cronfield">
      <SentenceBuilder
        value={sentence ?? last}
        dimmed={!sentence}
        onChange={(next) => onChange(sentenceToCron(next))}
      >
        {children}
      </SentenceBuilder>
      {!sentence && <p className="hint">{e.cantSay}</p>}
      {cells ? (
        <CronCells value={value} onChange={onChange} bad={error !== undefined} badCell={problem?.cell} />
      ) : (
        <TextField label={e.expression} mono value={value} onChange={onChange} />
      )}
      {error ? (
        <p className="ferr" role="alert">
          {problem ? e.cellBad(e.cells[problem.cell] ?? problem.cell, problem.text, problem.wants) : error}
        </p>
      ) : (
        <p>{cronInWords(value, t)}</p>
      )}
    </div>
  );
}
