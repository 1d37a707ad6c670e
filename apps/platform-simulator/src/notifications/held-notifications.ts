interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
  isOvertaken: boolean;
}

// Without a next notification on the channel, the held one is sent after this time, so that it is late but not lost.
const maxHoldMs = 2_000;

// Delay after the overtaking notification, long enough for it to arrive first.
const lagMs = 100;

/** Reorders notifications of a channel: a held one is sent after the next one. */
export class HeldNotifications {
  /** At most one per channel. */
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
    // Does not delay the shutdown of the service.
    return setTimeout(() => this.release(channel), delayMs).unref();
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    this.held.delete(channel);
    held.send();
  }
}
