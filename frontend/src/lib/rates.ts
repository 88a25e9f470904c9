/** How many looks back a trail goes. */
const looks = 40;

/** How fast counters grow that only grow, from looks at them. One that has fallen begins anew. */
export class Rates {
  private last = new Map<string, { at: number; count: number }>();
  private trails = new Map<string, number[]>();

  /** Takes in what the counters were at an instant, in ms. Those that are not among them are forgotten. */
  note(at: number, counts: Map<string, number>): void {
    for (const name of this.last.keys()) if (!counts.has(name)) this.forget(name);
    for (const [name, count] of counts) {
      const was = this.last.get(name);
      if (was && at <= was.at) continue;
      if (was && count < was.count) this.forget(name);
      else if (was) {
        const perSecond = ((count - was.count) * 1000) / (at - was.at);
        this.trails.set(name, [...(this.trails.get(name) ?? []), perSecond].slice(-looks));
      }
      this.last.set(name, { at, count });
    }
  }

  /** What one grew by per second between two looks, the newest last; empty before the second. */
  of(name: string): number[] {
    return this.trails.get(name) ?? [];
  }

  private forget(name: string): void {
    this.last.delete(name);
    this.trails.delete(name);
  }
}
