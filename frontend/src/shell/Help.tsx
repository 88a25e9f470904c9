import { Dialog } from "@/components/Dialog";
import { usePageT } from "@/i18n";
import { modifier } from "./keys";

/** All shortcuts, by where they work. */
export default function Help({ onClose }: { onClose(): void }) {
  const t = usePageT();
  const s = t.shortcuts;
  const groups: [string, [string, string][]][] = [
    [
      s.global,
      [
        [`${modifier}K`, s.palette],
        ["/", s.filter],
        ["g o · j · r · f · s · e · l · a · p · b · c", s.go],
        ["n", s.newJob],
        [".", s.refresh],
        ["L", s.live],
        ["D", s.range],
        ["z", s.zone],
        ["t", s.theme],
        ["?", s.help],
        ["Esc", s.close],
      ],
    ],
    [
      s.lists,
      [
        ["j k", s.move],
        ["Enter", s.open],
        ["x", s.select],
        ["r", s.runNow],
        ["p", s.pause],
        ["e", s.edit],
        ["d", s.remove],
      ],
    ],
    [
      s.run,
      [
        ["r", s.again],
        ["[ ]", s.neighbours],
      ],
    ],
    [
      s.log,
      [
        ["f", s.follow],
        [`/ · ${modifier}F`, s.find],
        ["n N", s.findNext],
        ["g g · G", s.ends],
        ["m", s.times],
        ["w", s.wrap],
        ["Shift 1 – 4", s.levels],
        ["c", s.copyLine],
      ],
    ],
    [
      s.charts,
      [
        ["← →", s.mark],
        ["Shift ← →", s.stretch],
      ],
    ],
    [
      s.timeline,
      [
        ["← →", s.pan],
        ["+ −", s.zoom],
        ["0", s.now],
      ],
    ],
    [
      s.editor,
      [
        [`${modifier}S`, s.save],
        [`${modifier}Enter`, s.trial],
      ],
    ],
  ];
  return (
    <Dialog title={s.title} open wide text onClose={onClose}>
      <div className="keys">
        {groups.map(([title, rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {rows.map(([keys, what]) => (
                <div key={keys}>
                  <dt>
                    <kbd className="kbd">{keys}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
