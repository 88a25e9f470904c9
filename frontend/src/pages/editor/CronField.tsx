import { TextField } from "@/components/fields";
import { cronToSentence, parseCells, sentenceToCron } from "@/lib/cron";
import { useLang } from "@/lib/format";
import { cronInWords } from "@/lib/words";
import { CronCells } from "./CronCells";
import { SentenceBuilder } from "./SentenceBuilder";
import { useEditorT } from "./texts";

interface CronFieldProps {
  value: string;
  onChange(expression: string): void;
  error: string | undefined;
}

/** A cron expression as a sentence and as cells; each changes the other. Macros have one cell. */
export function CronField({ value, onChange, error }: CronFieldProps) {
  const t = useEditorT();
  const lang = useLang();
  const sentence = cronToSentence(value);
  const cells = parseCells(value);
  return (
    <div className="cronfield">
      {sentence ? (
        <SentenceBuilder value={sentence} onChange={(next) => onChange(sentenceToCron(next))} />
      ) : (
        <p className="hint">{t.editor.cantSay}</p>
      )}
      {cells ? (
        <CronCells value={value} onChange={onChange} bad={error !== undefined} />
      ) : (
        <TextField label={t.editor.expression} mono value={value} onChange={onChange} />
      )}
      {error ? (
        <p className="ferr" role="alert">
          {error}
        </p>
      ) : (
        <p>{cronInWords(value, t, lang)}</p>
      )}
    </div>
  );
}
