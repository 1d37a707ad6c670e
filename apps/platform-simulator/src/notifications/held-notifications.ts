interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
  isOvertaken: boolean;
}

// When nothing more happens on the channel: late, but not lost.
const maxHoldMs = 2_000;

// After the one that overtakes: long enough for that to arrive first.
const lagMs = 100;

/** Lets notifications of a channel overtake each other: what is held goes out after the next one. */
export class HeldNotifications {
  /** At most one of each channel. */
  private readonly held = new Map<string, Held>();

  pass(channel: string, order: 'in order' | 'after the next', send: () => void): void {
    const earlier = this.held.get(channel);
    if (order === 'after the next' && !earlier) {
      this.held.set(channel, { send, timer: this.releaseIn(maxHoldMs, channel), isOvertaken: false });
      return;
    }
    send();
    if (!earlier || earlier.isOvertaken) return;
    clearTimeout(earlier.timer);
    earlier.isOvertaken = true;
    earlier.timer = this.releaseIn(lagMs, channel);
  }

  private releaseIn(delayMs: number, channel: string): NodeJS.Timeout {
    // A service that ends does not wait for it.
    return setTimeout(() => this.release(channel), delayMs).unref();
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    this.held.delete(channel);
    held.send();
  }
}
