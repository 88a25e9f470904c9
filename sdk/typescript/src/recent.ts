/** The newest names, each for a while. */

import { monotonic } from "./time";

export class Recent {
  private readonly at = new Map<string, number>(); // oldest first

  constructor(
    private readonly life: number,
    private readonly most = 16_384, // more than the triggers that can be on their way
  ) {}

  get size(): number {
    this.forget();
    return this.at.size;
  }

  has(name: string): boolean {
    this.forget();
    return this.at.has(name);
  }

  add(name: string): void {
    this.at.delete(name);
    this.at.set(name, monotonic());
    if (this.at.size > this.most) {
      this.at.delete(this.at.keys().next().value ?? name);
    }
  }

  delete(name: string): void {
    this.at.delete(name);
  }

  private forget(): void {
    const oldest = monotonic() - this.life;
    for (const [name, at] of this.at) {
      if (at >= oldest) {
        return;
      }
      this.at.delete(name);
    }
  }
}
