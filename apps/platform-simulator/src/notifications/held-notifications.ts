interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
  isOvertaken: boolean;
}

// How long to hold a notification if no other notification follows on the channel. The notification is then late, but not lost.
const maxHoldMs = 2_000;

// The delay of a held notification after the notification that overtakes it. Long enough for the other notification to arrive first.
const lagMs = 100;

/** Reorders the notifications for a channel: holds a notification until the channel's next notification has been sent. */
export class HeldNotifications {
  /** The held notifications, at most one per channel. */
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
    // The timer must not delay the shutdown of the service.
    return setTimeout(() => this.release(channel), delayMs).unref();
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    this.held.delete(channel);
    held.send();
  }
}
