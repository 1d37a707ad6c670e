interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
  isOvertaken: boolean;
}

// Longest time to hold a notification if no other notification follows on the channel. The held one then goes out late, but is not lost.
const maxHoldMs = 2_000;

// Delay between the overtaking notification and the held one, so that they arrive in this order.
const lagMs = 100;

/** Reorders notifications: holds one until the next notification of the same channel has been sent. */
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
    // unref: the timer must not delay shutdown.
    return setTimeout(() => this.release(channel), delayMs).unref();
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    this.held.delete(channel);
    held.send();
  }
}
